"""Map the names of one arm: its ranking, an explanation of every name, the gold ranks."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from rarefuse import artifacts
from rarefuse.artifacts import Column, Schema
from rarefuse.corpus.cases import CASES
from rarefuse.llm.answers import NAMES
from rarefuse.naming.lexicon import CROSSWALK, LEXICON
from rarefuse.naming.mapper import OUTSIDE, Mapper, Match
from rarefuse.rankers.run import GOLD_RANKS

BY_ID, BY_CROSSWALK = "id in the answer", "crosswalk of the id in the answer"

_EXPLANATION = (
    Column("matched_form", pl.String, "form of the lexicon that was met", nullable=True),
    Column("source", pl.String, "where the form comes from", nullable=True),
)

RANKING = Schema(
    "llm_ranking",
    (
        Column("case_id", pl.String, "case; rows are sorted by case_id, rank"),
        Column("rank", pl.Int64, "place in the list of mapped diseases, from 1 without gaps"),
        Column("disease_id", pl.String, "candidate"),
        Column("name_rank", pl.Int64, "place of its first name in the answer"),
        Column("name", pl.String, "that name as written", nullable=True),
        *_EXPLANATION,
        Column("rule", pl.String, "what made them meet"),
    ),
    key=("case_id", "rank"),
)
"""An arm's list, C_L of the paper. `rank` is the one-based position of a disease in it (paper,
section 4.1): names without a match and repeats take no place. `name_rank` is the place that counts
if they do."""

MAPPING = Schema(
    "mapping",
    (
        Column("case_id", pl.String, "case; rows are sorted by case_id, rank"),
        Column("rank", pl.Int64, "place of the name in the answer"),
        Column("name", pl.String, "as written; null if the answer gave only an id", nullable=True),
        Column("disease_id", pl.String, "candidate; null without a match", nullable=True),
        *_EXPLANATION,
        Column("rule", pl.String, "what made them meet; null without a match", nullable=True),
        Column("reason", pl.String, "why there is no match; null with one", nullable=True),
    ),
    key=("case_id", "rank"),
)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the cycle collector from walking the lexicon again and again; no cycles are made."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def map_names(
    names: pl.DataFrame, mapper: Mapper, crosswalk: pl.DataFrame, candidates: Sequence[str]
) -> pl.DataFrame:
    """Explain every name of an arm.

    An id that the answer itself gave counts before its name: a candidate as it is, another by the
    crosswalk; if neither leads to a candidate, the name is mapped.

    Parameters
    ----------
    names : polars.DataFrame
        `NAMES`.
    crosswalk : polars.DataFrame
        `CROSSWALK`.
    candidates : sequence of str
        Candidate diseases.

    Returns
    -------
    polars.DataFrame
        `MAPPING`.
    """
    known = set(candidates)
    walk = dict(crosswalk.iter_rows())

    def explain(name: str | None, curie: str | None) -> Match:
        if curie in known:
            return Match(curie, curie, None, BY_ID)
        if curie is not None and curie in walk:
            return Match(walk[curie], curie, None, BY_CROSSWALK)
        found = mapper.match(name)
        if curie is not None and name is None:
            return Match(None, curie, reason=OUTSIDE)
        return found

    unique = names.select("name", "disease_id").unique(maintain_order=True)
    with _without_collector():
        explained = [explain(*row) for row in unique.iter_rows()]
    frame = unique.rename({"disease_id": "given"}).with_columns(
        pl.Series("disease_id", [m.disease_id for m in explained], pl.String),
        pl.Series("matched_form", [m.form for m in explained], pl.String),
        pl.Series("source", [m.source for m in explained], pl.String),
        pl.Series("rule", [m.rule for m in explained], pl.String),
        pl.Series("reason", [m.reason for m in explained], pl.String),
    )
    return (
        names.rename({"disease_id": "given"})
        .join(frame, on=["name", "given"], how="left", nulls_equal=True)
        .select(MAPPING.names)
        .sort("case_id", "rank")
    )


def ranking_of(mapping: pl.DataFrame) -> pl.DataFrame:
    """List of every case: mapped diseases in the order of their first names.

    Returns
    -------
    polars.DataFrame
        `RANKING`.
    """
    return (
        mapping.filter(pl.col("disease_id").is_not_null())
        .sort("case_id", "rank")
        .unique(["case_id", "disease_id"], keep="first", maintain_order=True)
        .rename({"rank": "name_rank"})
        .with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("case_id"))
        .select(RANKING.names)
    )


def gold_ranks_of(ranking: pl.DataFrame, cases: pl.DataFrame, place: str = "rank") -> pl.DataFrame:
    """Place of every rankable case's diagnosis in its list; an absent one has none.

    Parameters
    ----------
    ranking : polars.DataFrame
        `RANKING`.
    cases : polars.DataFrame
        `CASES`; those without an observed term are left out, as for the rankers.
    place : str
        ``rank`` or ``name_rank``.

    Returns
    -------
    polars.DataFrame
        `GOLD_RANKS`; an LLM's list has no ties.
    """
    return (
        cases.filter(pl.col("observed").list.len() > 0)
        .select("case_id", disease_id="gold_id")
        .join(ranking, on=["case_id", "disease_id"], how="left")
        .select("case_id", *(pl.col(place).cast(pl.Int32).alias(n) for n in GOLD_RANKS.names[1:]))
        .sort("case_id")
    )


def mapping_stage(
    *,
    names: Path,
    lexicon: Path,
    crosswalk: Path,
    cases: Path,
    level: str,
    rules: Sequence[str] | None,
    mapping: Path,
    ranking: Path,
    gold_ranks: Path,
) -> None:
    """Map an arm's `NAMES` and write `MAPPING`, `RANKING` and `GOLD_RANKS`."""
    forms = artifacts.read(lexicon, LEXICON)
    candidates = forms.filter(pl.col("candidate"))["disease_id"].unique().to_list()
    explained = map_names(
        artifacts.read(names, NAMES),
        Mapper(forms, level, rules),
        artifacts.read(crosswalk, CROSSWALK),
        candidates,
    )
    listed = ranking_of(explained)
    artifacts.write(explained, MAPPING, mapping)
    artifacts.write(listed, RANKING, ranking)
    artifacts.write(gold_ranks_of(listed, artifacts.read(cases, CASES)), GOLD_RANKS, gold_ranks)
