"""Rank the gold disease with its source-exclusive annotations deleted, or matched ones instead."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from rarefuse import artifacts
from rarefuse.compiled import use_threads
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.view import VIEW
from rarefuse.provenance.matching import DELETIONS
from rarefuse.rankers.base import LOPO
from rarefuse.rankers.catalogue import make_ranker
from rarefuse.rankers.run import GOLD_RANKS, rank_corpus, read_knowledge

SOURCE_DELETION = "source_deletion"
MATCHED_DELETION = "matched_deletion"
CONDITIONS = {SOURCE_DELETION: "removed_id", MATCHED_DELETION: "matched_id"}
"""Condition → column of `DELETIONS` with the annotations that go, from the gold disease alone."""


def rank_deletions_stage(
    *,
    knowledge: Path,
    corpus: Path,
    deletions: Path,
    method: str,
    options: Mapping[str, Any],
    gold_ranks: Path,
    threads: int,
) -> None:
    """Rank the matched cases under both conditions and write where their gold disease stands.

    Parameters
    ----------
    knowledge, corpus : Path
        Folders.
    deletions : Path
        Artifact `DELETIONS`.
    method, options
        See `rarefuse.rankers.catalogue`.
    gold_ranks : Path
        Folder to write ``source_deletion.parquet`` and ``matched_deletion.parquet`` into, as
        `GOLD_RANKS`.
    """
    use_threads(threads)
    ranker, known = make_ranker(method, options), read_knowledge(knowledge)
    pairs = artifacts.read(deletions, DELETIONS)
    group = pl.concat_str("publication_id", pl.col("disease_id"), separator=" ")
    # LOPO's machinery with a group of cases (publication and gold disease) for a publication:
    # only that disease is edited, and only for these cases.
    cases = (
        artifacts.read(corpus / "cases.parquet", CASES)
        .with_columns(publication_id=pl.concat_str("publication_id", "gold_id", separator=" "))
        .filter(pl.col("publication_id").is_in(pairs.select(group).to_series().unique().implode()))
    )
    view = artifacts.read(corpus / "view.parquet", VIEW).join(cases, on="case_id", how="semi")
    for condition, column in CONDITIONS.items():
        removed = pairs.select(
            group.alias("publication_id"), "disease_id", pl.col(column).alias("term_id")
        )
        ranked = rank_corpus(ranker, known, view, cases, removed, 1)[LOPO][1]
        artifacts.write(ranked, GOLD_RANKS, gold_ranks / f"{condition}.parquet")
