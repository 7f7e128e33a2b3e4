"""Rank the gold disease with its source-exclusive annotations deleted, or matched ones instead."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numba
import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.view import VIEW
from rarefuse.evaluation.base import (
    CHANGE,
    NOT_APPLICABLE,
    Evaluation,
    Row,
    subsets_by_split,
)
from rarefuse.evaluation.metrics import NATIVE
from rarefuse.provenance.matching import DELETIONS
from rarefuse.rankers.base import LOPO, ORDINARY
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
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
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


def matched_deletion_table(evaluation: Evaluation) -> Iterator[Row]:
    """Deleting a case's own annotations against deleting as many others (paper, Table 2).

    Cases are those whose gold disease has enough independent annotations. Protocols are the usual
    two, the two deletions from the gold disease alone, and each one's paired change from the
    ordinary protocol. Rows of system ``hpoa`` describe the matching: pairs, how often matched
    annotations are close, and standardised mean differences (removed minus matched, in standard
    deviations pooled over both).
    """
    deletions = artifacts.read(evaluation.corpus / "deletions.parquet", DELETIONS)
    cases = (
        evaluation.eligible()
        .join(
            artifacts.read(evaluation.corpus / "cases.parquet", CASES).select(
                "case_id", "publication_id", pl.col("gold_id").alias("disease_id")
            ),
            on="case_id",
        )
        .join(deletions, on=["publication_id", "disease_id"], how="semi")
        .sort("case_id")
    )
    for subset, part in subsets_by_split(cases).items() if cases.height else ():
        pairs = deletions.join(part, on=["publication_id", "disease_id"], how="semi")
        for metric, value in _balance(pairs).items():
            yield Row(
                "matched_deletion", "hpoa", NOT_APPLICABLE, NOT_APPLICABLE, subset, metric, value,
                None, None, pairs.height,
            )  # fmt: skip
        bootstrap = evaluation.bootstrap(part, f"{subset}: matched deletion")
        for ranker in evaluation.rankers:
            measured = {
                protocol: evaluation.measured(ranker, protocol, part, NATIVE)
                for protocol in (ORDINARY, LOPO, *CONDITIONS)
            }
            for metric in evaluation.short_metrics():
                values = {protocol: found[metric] for protocol, found in measured.items()}
                base = values[ORDINARY]
                values[CHANGE] = values[LOPO] - base
                for condition in CONDITIONS:
                    values[f"{condition} - {ORDINARY}"] = values[condition] - base
                for protocol, e in zip(
                    values, bootstrap.estimates(np.stack(list(values.values()))), strict=True
                ):
                    yield Row(
                        "matched_deletion", ranker, protocol, NATIVE, subset, metric, e.value,
                        e.low, e.high, part.height,
                    )  # fmt: skip


def _balance(pairs: pl.DataFrame) -> dict[str, float]:
    sides = {
        name: (
            pairs[f"removed_{name}"].to_numpy().astype(float),
            pairs[f"matched_{name}"].to_numpy().astype(float),
        )
        for name in ("ic", "depth", "log_contribution")
    }
    within = {name: float((np.abs(a - b) <= 1.0).mean()) for name, (a, b) in sides.items()}
    return {
        "matched_pairs": float(pairs.height),
        "matched_groups": float(pairs.select("publication_id", "disease_id").n_unique()),
        "within_one_ic_share": within["ic"],
        "within_one_level_share": within["depth"],
        "same_branch_share": float(pairs["same_branch"].to_numpy().mean()),
        **{f"smd_{name}": standardised_difference(a, b) for name, (a, b) in sides.items()},
    }


def standardised_difference(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Mean of `a` minus mean of `b` over the root of their mean variance; 0 where none varies."""
    spread = float(np.sqrt((a.var() + b.var()) / 2.0))
    return float(a.mean() - b.mean()) / spread if spread else 0.0
