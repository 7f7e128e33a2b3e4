"""Relations: one (disease, HPO term) pair each, with all the publications behind it."""

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from rarefuse.annotations.frequency import parse_frequency
from rarefuse.annotations.pmid import not_quite_pmids, pmids_of
from rarefuse.artifacts import Column, Schema
from rarefuse.errors import InputError
from rarefuse.ontology import Ontology

RELATIONS = Schema(
    "relations",
    (
        Column("disease_id", pl.String, "OMIM CURIE; rows are in the order of `diseases`"),
        Column("term_id", pl.String, "current HP CURIE; by ontology row within a disease"),
        Column("pmids", pl.List(pl.String), "publications of all its rows, distinct, sorted"),
        Column("rows", pl.List(pl.Int32), "lines of phenotype.hpoa that state it"),
        Column("numerator", pl.Int32, "patients with the finding, summed over rows", "patient"),
        Column("denominator", pl.Int32, "patients examined, summed over rows", "patient"),
    ),
    key=("disease_id", "term_id"),
)

DISEASES = Schema(
    "diseases",
    (
        Column("disease_id", pl.String, "candidate; rows are in candidate order, by OMIM number"),
        Column("name", pl.String, "name in its first row of phenotype.hpoa"),
        Column("n_relations", pl.Int32, "direct annotations after mapping to current terms"),
        Column("first_row", pl.Int32, "line of its first row in phenotype.hpoa"),
    ),
    key=("disease_id",),
)

PROBLEMS = Schema(
    "annotation_problems",
    (
        Column("row", pl.Int32, "line in phenotype.hpoa"),
        Column("reason", pl.String, "what was mended or left out, a fixed phrase"),
        Column("detail", pl.String, "what stood there"),
    ),
)


@dataclass(frozen=True)
class Relations:
    """Candidate diseases, their relations, and what was mended or left out on the way."""

    diseases: pl.DataFrame
    relations: pl.DataFrame
    problems: pl.DataFrame


def phenotype_rows(annotations: pl.DataFrame) -> pl.DataFrame:
    """Rows that define the candidate space: OMIM, aspect P, qualifier other than NOT."""
    return annotations.filter(
        pl.col("database_id").str.starts_with("OMIM:"),
        pl.col("aspect") == "P",
        pl.col("qualifier") != "NOT",
    )


def candidate_order(disease_ids: list[str]) -> list[str]:
    """Sort CURIEs by prefix and number: the stable order that breaks ties of score."""
    return sorted(
        disease_ids,
        key=lambda curie: (curie.split(":")[0], int(re.sub(r"\D", "", curie) or 0), curie),
    )


def build_relations(
    annotations: pl.DataFrame, ontology: Ontology, *, keep_zero_frequency: bool = True
) -> Relations:
    """Pool the rows of HPOA into relations.

    Parameters
    ----------
    annotations : polars.DataFrame
        `ANNOTATIONS`.
    ontology : Ontology
        Maps alt ids and replaced terms to current ones.
    keep_zero_frequency : bool
        Whether rows with a count of 0/n are relations like any other, as in the reference tool.

    Returns
    -------
    Relations
        A pair in several rows is pooled whatever their counts, sexes and onsets; its
        publications are those of all rows. A row whose term has no current one is left out and
        counted; its disease stays a candidate.
    """
    rows = phenotype_rows(annotations)
    if rows.is_empty():
        raise InputError(
            "the annotation file has no row to rank by",
            found=f"{annotations.height} rows, none with OMIM, aspect P and no NOT",
            expected="phenotype.hpoa of a release",
        )
    problems: list[tuple[int, str, str]] = []
    pooled: dict[tuple[str, int], tuple[set[str], list[int], list[int]]] = {}
    first_seen: dict[str, tuple[str, int]] = {}
    columns = ("row", "database_id", "disease_name", "hpo_id", "reference", "frequency")
    counts = {text: parse_frequency(text) for text in rows["frequency"].unique().to_list()}
    publications = {text: pmids_of(text) for text in rows["reference"].unique().to_list()}
    resolved = {term: ontology.resolve(term) for term in rows["hpo_id"].unique().to_list()}
    for row, disease, name, term, reference, frequency in rows.select(columns).iter_rows():
        first_seen.setdefault(disease, (name, row))
        found = resolved[term]
        if found.term_id is None:
            reason = "obsolete term" if found.status == "obsolete" else "unknown term"
            problems.append((row, f"{reason}, row left out", term))
            continue
        if found.status != "current":
            problems.append((row, f"term mapped ({found.status})", f"{term} → {found.term_id}"))
        if not ontology.is_phenotypic(found.term_id):
            problems.append((row, "term outside Phenotypic abnormality, row left out", term))
            continue
        for part in not_quite_pmids(reference):
            problems.append((row, "reference is not a PMID", part))
        count = counts[frequency]
        if count.problem:
            problems.append((row, count.problem, frequency))
        if count.numerator == 0 and not keep_zero_frequency:
            problems.append((row, "frequency 0, row left out", frequency))
            continue
        pmids, lines, sums = pooled.setdefault(
            (disease, ontology.index[found.term_id]), (set(), [], [0, 0])
        )
        pmids.update(publications[reference])
        lines.append(row)
        sums[0] += count.numerator
        sums[1] += count.denominator

    order = {disease: i for i, disease in enumerate(candidate_order(list(first_seen)))}
    pairs = sorted(pooled, key=lambda pair: (order[pair[0]], pair[1]))
    relations = pl.DataFrame(
        [
            (disease, ontology.term_ids[term], sorted(pmids), lines, *sums)
            for disease, term in pairs
            for pmids, lines, sums in [pooled[disease, term]]
        ],
        schema=RELATIONS.dtypes,
        orient="row",
    )
    n_relations = np.bincount([order[disease] for disease, _ in pairs], minlength=len(order))
    diseases = pl.DataFrame(
        [
            (disease, first_seen[disease][0], int(n), first_seen[disease][1])
            for disease, n in zip(order, n_relations, strict=True)
        ],
        schema=DISEASES.dtypes,
        orient="row",
    )
    return Relations(
        diseases, relations, pl.DataFrame(problems, schema=PROBLEMS.dtypes, orient="row")
    )
