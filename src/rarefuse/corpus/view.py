"""The closed view: all that any system may see of a case, and how it reads as text."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from rarefuse import artifacts
from rarefuse.artifacts import Column, Schema
from rarefuse.corpus.cases import CASES
from rarefuse.ontology import Ontology, read_ontology

VIEW = Schema(
    "view",
    (
        Column("case_id", pl.String, "hashed case id; rows are sorted by it"),
        Column("sex", pl.String, "FEMALE, MALE, OTHER_SEX or null", nullable=True),
        Column("age_days", pl.Float64, "age at last encounter", "day", nullable=True),
        Column("onset", pl.String, "canonical HPO label or ISO 8601 duration", nullable=True),
        Column("observed", pl.List(pl.String), "HP CURIEs"),
        Column("observed_labels", pl.List(pl.String), "their canonical labels, same order"),
        Column("excluded", pl.List(pl.String), "HP CURIEs"),
        Column("excluded_labels", pl.List(pl.String), "their canonical labels, same order"),
    ),
    key=("case_id",),
)


def close_view(cases: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    """Keep what a system may see (FUSION_SPEC section 3; paper A.1).

    Parameters
    ----------
    cases : polars.DataFrame
        `CASES`.
    ontology : Ontology
        Gives the canonical labels; no label of the source record is used.

    Returns
    -------
    polars.DataFrame
        `VIEW`, sorted by the hash, so that not even the order of the records shows.
    """
    label = dict(zip(ontology.term_ids, ontology.labels, strict=True))

    def labels(column: str) -> pl.Series:
        return pl.Series(
            f"{column}_labels",
            [[label[term] for term in terms] for terms in cases[column].to_list()],
            dtype=pl.List(pl.String),
        )

    onset = [
        label.get(ontology.resolve(text).term_id or "")
        if text is not None and text.startswith("HP:")
        else text
        for text in cases["onset"].to_list()
    ]
    return (
        cases.with_columns(
            labels("observed"), labels("excluded"), pl.Series("onset", onset, dtype=pl.String)
        )
        .select(VIEW.names)
        .sort("case_id")
    )


def render(case: Mapping[str, Any]) -> str:
    """One case of the view as the text that a reader of it gets, one field a line."""
    lines = [f"case: {case['case_id']}"]
    if case["sex"] is not None:
        lines.append(f"sex: {case['sex']}")
    if case["age_days"] is not None:
        lines.append(f"age: {case['age_days']:.0f} days")
    if case["onset"] is not None:
        lines.append(f"onset: {case['onset']}")
    for kind in ("observed", "excluded"):
        lines += [
            f"{kind}: {term} {label}"
            for term, label in zip(case[kind], case[f"{kind}_labels"], strict=True)
        ]
    return "\n".join(lines)


def view_stage(*, cases: Path, terms: Path, aliases: Path, view: Path) -> None:
    """Close the view and write `VIEW`."""
    closed = close_view(artifacts.read(cases, CASES), read_ontology(terms, aliases))
    artifacts.write(closed, VIEW, view)
