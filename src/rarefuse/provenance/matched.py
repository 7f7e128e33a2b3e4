"""A case's own annotations deleted, against as many alike ones of other publications."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.corpus.cases import CASES
from rarefuse.evaluation.base import (
    CHANGE,
    NOT_APPLICABLE,
    Evaluation,
    Row,
    subsets_by_split,
)
from rarefuse.evaluation.metrics import NATIVE
from rarefuse.provenance.deletion_ranks import CONDITIONS
from rarefuse.provenance.matching import DELETIONS
from rarefuse.rankers.base import LOPO, ORDINARY


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
