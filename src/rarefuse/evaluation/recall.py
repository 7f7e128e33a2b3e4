"""Recall before and after LOPO, and what ties have to do with it."""

from collections.abc import Iterator

import polars as pl

from rarefuse import artifacts
from rarefuse.evaluation.base import Evaluation, Row, paired_rows, subsets_by_split
from rarefuse.evaluation.metrics import NATIVE
from rarefuse.rankers.base import LOPO, ORDINARY
from rarefuse.rankers.run import RANKINGS


def recall_table(evaluation: Evaluation) -> Iterator[Row]:
    """Recall and reciprocal rank before and after LOPO (paper, Table 1)."""
    for subset, cases in subsets_by_split(evaluation.eligible()).items():
        systems = [(ranker, NATIVE, ranker, NATIVE) for ranker in evaluation.rankers]
        yield from paired_rows(evaluation, "recall", subset, cases, systems)


def ties_table(evaluation: Evaluation) -> Iterator[Row]:
    """The same under the three tie policies, and how often rank 1 is a tie (appendix A.3)."""
    metrics = evaluation.short_metrics()
    for subset, cases in subsets_by_split(evaluation.eligible()).items():
        systems = evaluation.under_tie_policies()
        yield from paired_rows(evaluation, "ties", subset, cases, systems, metrics)
        for ranker in evaluation.rankers:
            for protocol in (ORDINARY, LOPO):
                path = evaluation.corpus / "rankings" / ranker / f"{protocol}.parquet"
                first = artifacts.read(path, RANKINGS).filter(pl.col("rank") == 1)
                block = (
                    first.join(cases.select("case_id"), on="case_id", how="semi")["tie_last"]
                    .to_numpy()
                    .astype(float)
                )
                for metric, value in (
                    ("rank1_tied_share", float((block > 1).mean())),
                    ("rank1_tie_mean", float(block.mean())),
                    ("rank1_tie_max", float(block.max())),
                ):
                    yield Row(
                        "ties", ranker, protocol, NATIVE, subset, metric, value, None, None,
                        len(block), None,
                    )  # fmt: skip
