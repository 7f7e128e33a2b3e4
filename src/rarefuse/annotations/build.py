"""Build what the rankers know from an ontology and an annotation release."""

from pathlib import Path

import polars as pl

from rarefuse import artifacts
from rarefuse.annotations.hpoa import ANNOTATIONS, read_hpoa
from rarefuse.annotations.knowledge import (
    INFORMATION_CONTENT,
    information_content,
    profiles_of,
)
from rarefuse.annotations.relations import DISEASES, PROBLEMS, RELATIONS, build_relations
from rarefuse.ontology import read_ontology


def annotations_stage(
    *,
    hpoa: Path,
    terms: Path,
    aliases: Path,
    keep_zero_frequency: bool,
    annotations: Path,
    diseases: Path,
    relations: Path,
    information_content_path: Path,
    problems: Path,
) -> None:
    """Read an HPOA release and write what the rankers know."""
    ontology = read_ontology(terms, aliases)
    rows = read_hpoa(hpoa)
    built = build_relations(rows, ontology, keep_zero_frequency=keep_zero_frequency)
    counts, ic = information_content(
        ontology, profiles_of(built.diseases, built.relations, ontology)
    )
    artifacts.write(rows, ANNOTATIONS, annotations)
    artifacts.write(built.diseases, DISEASES, diseases)
    artifacts.write(built.relations, RELATIONS, relations)
    artifacts.write(built.problems, PROBLEMS, problems)
    artifacts.write(
        pl.DataFrame(
            {"term_id": ontology.term_ids, "n_diseases": counts, "ic": ic},
            schema=INFORMATION_CONTENT.dtypes,
        ),
        INFORMATION_CONTENT,
        information_content_path,
    )
