"""Choose, for each annotation that LOPO removes, an independent one of the same disease to remove.

The paper's control for mere loss of annotations (section 6.1, Table 2, appendix A.3): as many
annotations go, alike in information content, depth, branch and share of the profile, but supported
by other publications.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from rarefuse import artifacts
from rarefuse.annotations.knowledge import INFORMATION_CONTENT
from rarefuse.annotations.relations import DISEASES, RELATIONS
from rarefuse.artifacts import Column, Schema
from rarefuse.corpus.cases import CASES
from rarefuse.ontology import Ontology, read_ontology
from rarefuse.ontology.arrays import PHENOTYPIC_ABNORMALITY

_PROPERTIES = (
    ("ic", pl.Float64, "information content", "nat"),
    ("depth", pl.Int16, "depth below HP:0000118", "edge"),
    ("log_contribution", pl.Float64, "ln(1 + terms that it alone adds to the closed profile)", ""),
)

DELETIONS = Schema(
    "deletions",
    (
        Column("publication_id", pl.String, "source publication of the cases"),
        Column("disease_id", pl.String, "their gold disease"),
        Column("removed_id", pl.String, "source-exclusive annotation"),
        Column("matched_id", pl.String, "independent annotation that is removed in its place"),
        Column("same_branch", pl.Boolean, "they share a child of HP:0000118 above them"),
        *(
            Column(f"{side}_{name}", dtype, f"{text} of the {side} annotation", unit)
            for side in ("removed", "matched")
            for name, dtype, text, unit in _PROPERTIES
        ),
    ),
    key=("publication_id", "disease_id", "removed_id"),
)
"""Pairs of annotations, sorted by their key; `matched_id` is distinct for a publication and
disease. Publications and diseases whose pool is too small are not in it."""

Properties = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]


def unique_contribution(ontology: Ontology, profile: NDArray[np.int32]) -> NDArray[np.int64]:
    """Terms of the ancestor-closed profile that only one annotation accounts for.

    Parameters
    ----------
    profile : ndarray of int32, shape (P,)
        Direct annotations, ontology rows.

    Returns
    -------
    ndarray of int64, shape (P,)
        By how many terms the closed profile shrinks if that annotation goes; 0 for one that is
        an ancestor of another.
    """
    closures = [ontology.closure(profile[i : i + 1]) for i in range(len(profile))]
    carriers = np.bincount(
        np.concatenate([*closures, np.empty(0, np.int32)]).astype(np.int64),
        minlength=len(ontology.term_ids),
    )
    return np.array([int((carriers[terms] == 1).sum()) for terms in closures], np.int64)


def major_branches(ontology: Ontology) -> NDArray[np.bool_]:
    """Whether each term lies at or below each child of HP:0000118, shape (terms, children)."""
    root = ontology.index[PHENOTYPIC_ABNORMALITY]
    children = [row for row in range(len(ontology.term_ids)) if root in ontology.parents_of(row)]
    column = {row: i for i, row in enumerate(children)}
    branches = np.zeros((len(ontology.term_ids), len(children)), np.bool_)
    for row in range(len(ontology.term_ids)):  # topological order: parents are filled
        for parent in ontology.parents_of(row):
            branches[row] |= branches[parent]
        if row in column:
            branches[row, column[row]] = True
    return branches


def assignment(cost: NDArray[np.float64]) -> NDArray[np.int64]:
    """Distinct column for each row with the smallest total cost.

    Parameters
    ----------
    cost : ndarray of float64, shape (K, P)
        K at most P.

    Returns
    -------
    ndarray of int64, shape (K,)
    """
    return linear_sum_assignment(cost)[1].astype(np.int64)


def cost_matrix(
    removed: Properties, pool: Properties, scale: Sequence[float]
) -> NDArray[np.float64]:
    """Dissimilarity of annotations.

    The sum of the absolute differences in information content, depth and log contribution, each
    in standard deviations, and 1 where no major branch is shared: the paper names the four
    variables and not their weights.

    Parameters
    ----------
    removed, pool : tuple of arrays
        Information content, depth, log contribution, each of shape (K,) or (P,), and major
        branches, shape (K, B) or (P, B).
    scale : sequence of float
        Standard deviations of the first three.

    Returns
    -------
    ndarray of float64, shape (K, P)
    """
    numbers = zip(removed[:3], pool[:3], scale, strict=True)
    distance = sum(
        np.abs(a[:, None].astype(float) - b[None, :]) / (s or 1.0) for a, b, s in numbers
    )
    shared = removed[3].astype(np.int64) @ pool[3].astype(np.int64).T > 0
    return np.asarray(distance + ~shared, np.float64)


def _groups(
    cases: pl.DataFrame, profiles: dict[str, list[tuple[str, list[str]]]]
) -> Iterator[tuple[str, str, list[int], list[int]]]:
    """Publication, gold disease, positions of its exclusive and of its independent annotations."""
    pairs = (
        cases.filter(pl.col("observed").list.len() > 0, pl.col("publication_id").is_not_null())
        .select("publication_id", "gold_id")
        .unique()
        .sort("publication_id", "gold_id")
    )
    for publication, disease in pairs.iter_rows():
        profile = profiles.get(disease, [])
        exclusive = [i for i, (_, pmids) in enumerate(profile) if pmids == [publication]]
        if exclusive:
            pool = [i for i, (_, pmids) in enumerate(profile) if pmids and publication not in pmids]
            yield publication, disease, exclusive, pool


def match_deletions(
    cases: pl.DataFrame,
    relations: pl.DataFrame,
    ontology: Ontology,
    ic: NDArray[np.float64],
) -> pl.DataFrame:
    """Match the source-exclusive annotations of every publication and gold disease.

    Independent annotations are those that cite publications but not the case's. A disease with
    fewer of them than exclusive ones is left out. Findings of patients and ranks play no part.

    Parameters
    ----------
    cases, relations : polars.DataFrame
        `CASES`, `RELATIONS`.
    ic : ndarray of float64, shape (T,)
        Information content by ontology row.

    Returns
    -------
    polars.DataFrame
        `DELETIONS`. Cost: one assignment, O(K² P), a publication and disease.
    """
    profiles: dict[str, list[tuple[str, list[str]]]] = {}
    for disease, term, pmids in relations.select("disease_id", "term_id", "pmids").iter_rows():
        profiles.setdefault(disease, []).append((term, pmids))
    branches, depths = major_branches(ontology), np.asarray(ontology.depth)
    matchable = [g for g in _groups(cases, profiles) if len(g[3]) >= len(g[2])]

    def properties(disease: str) -> tuple[list[str], Properties]:
        terms = [term for term, _ in profiles[disease]]
        rows = np.array([ontology.index[t] for t in terms], np.int32)
        contribution = np.log1p(unique_contribution(ontology, rows))
        return terms, (ic[rows], depths[rows].astype(np.int64), contribution, branches[rows])

    known = {disease: properties(disease) for disease in {g[1] for g in matchable}}
    # Standard deviations over every annotation that takes part, so that no variable outweighs
    # another by its unit.
    taking_part = [(known[g[1]][1], [*g[2], *g[3]]) for g in matchable]
    scale = [
        float(np.concatenate([p[i][rows] for p, rows in taking_part]).std()) if taking_part else 1.0
        for i in range(3)
    ]
    out = []
    for publication, disease, exclusive, pool in matchable:
        terms, (content, depth, contribution, branch) = known[disease]
        sides = [
            (content[rows], depth[rows], contribution[rows], branch[rows])
            for rows in (exclusive, pool)
        ]
        chosen = assignment(cost_matrix(sides[0], sides[1], scale))
        for i, column in zip(exclusive, chosen, strict=True):
            j = pool[column]
            numbers = [
                value
                for row in (i, j)
                for value in (float(content[row]), int(depth[row]), float(contribution[row]))
            ]
            same = bool((branch[i] & branch[j]).any())
            out.append((publication, disease, terms[i], terms[j], same, *numbers))
    return pl.DataFrame(out, schema=DELETIONS.dtypes, orient="row").sort(*DELETIONS.key)


def deletions_stage(*, cases: Path, knowledge: Path, output: Path) -> None:
    """Write `DELETIONS` for a corpus."""
    diseases = artifacts.read(knowledge / "diseases.parquet", DISEASES)["disease_id"]
    frame = match_deletions(
        artifacts.read(cases, CASES).filter(pl.col("gold_id").is_in(diseases.implode())),
        artifacts.read(knowledge / "relations.parquet", RELATIONS),
        read_ontology(knowledge / "terms.parquet", knowledge / "aliases.parquet"),
        artifacts.read(knowledge / "information_content.parquet", INFORMATION_CONTENT)[
            "ic"
        ].to_numpy(),
    )
    artifacts.write(frame, DELETIONS, output)
