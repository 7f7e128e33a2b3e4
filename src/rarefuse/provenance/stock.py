"""Our rankers beside the stock programs that they stand for."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.evaluation.base import (
    NOT_APPLICABLE,
    Evaluation,
    Row,
    paired_rows,
    subsets_by_split,
)
from rarefuse.evaluation.metrics import NATIVE
from rarefuse.provenance.subsets import emptied, with_overlap
from rarefuse.rankers.base import LOPO, ORDINARY
from rarefuse.rankers.run import RANKINGS
from rarefuse.rankers.stock.answers import FAILURES

DEPTH = 10
"""Places over which two lists are compared."""


def kendall_tau(one: list[str], other: list[str]) -> float:
    """Kendall's tau over what two lists without ties share.

    Returns
    -------
    float
        Concordant less discordant pairs over all pairs, -1 to 1; NaN below two shared items.
    """
    place = {item: i for i, item in enumerate(other)}
    shared = np.array([place[item] for item in one if item in place])
    n = len(shared)
    if n < 2:
        return float("nan")
    later = shared[None, :] - shared[:, None]
    return float(np.sign(later[np.triu_indices(n, 1)]).sum() / (n * (n - 1) / 2))


def stock_table(evaluation: Evaluation) -> Iterator[Row]:
    """Native rankers against stock programs (ours).

    The option ``pairs`` lists (native, stock). Each of the two has its recall and reciprocal rank;
    ``stock - native`` is their paired difference; ``against`` rows compare the two answers to the
    same case: share with the same gold rank (both missing it counts as the same), median distance
    of the gold ranks where both have one, share with the same first disease, mean share of the
    first ten in common, and mean Kendall's tau over what the first ten share (cases that share two
    at least). Under LOPO a gold disease that is left without any annotation has no rank in these
    rows: a port puts it last, a program has not heard of it. A case that the program gave no usable
    answer for is a miss, and counted.
    """
    pairs = [(native, stock) for native, stock in evaluation.options["pairs"]]
    metrics = evaluation.short_metrics()
    without_profile = with_overlap(evaluation).filter(emptied())["case_id"]
    for subset, cases in subsets_by_split(evaluation.eligible()).items():
        systems = [
            (ranker, NATIVE, ranker, NATIVE)
            for ranker in dict.fromkeys(r for p in pairs for r in p)
        ]
        yield from paired_rows(evaluation, "stock_comparison", subset, cases, systems, metrics)
        for native, stock in pairs:
            for protocol in (ORDINARY, LOPO):
                yield from _differences(evaluation, native, stock, protocol, subset, cases, metrics)
                yield from _agreement(
                    evaluation, native, stock, protocol, subset, cases,
                    without_profile if protocol == LOPO else without_profile.clear(),
                )  # fmt: skip
                yield from _failed(evaluation, stock, protocol, subset, cases)


def _differences(
    evaluation: Evaluation,
    native: str,
    stock: str,
    protocol: str,
    subset: str,
    cases: pl.DataFrame,
    metrics: list[str],
) -> Iterator[Row]:
    one = evaluation.measured(native, protocol, cases, NATIVE)
    other = evaluation.measured(stock, protocol, cases, NATIVE)
    bootstrap = evaluation.bootstrap(cases, subset)
    changes = bootstrap.estimates(np.stack([other[m] - one[m] for m in metrics]))
    for metric, e in zip(metrics, changes, strict=True):
        yield Row(
            "stock_comparison", stock, protocol, f"minus {native}", subset, metric, e.value,
            e.low, e.high, cases.height,
        )  # fmt: skip


def _agreement(
    evaluation: Evaluation,
    native: str,
    stock: str,
    protocol: str,
    subset: str,
    cases: pl.DataFrame,
    without_profile: pl.Series,
) -> Iterator[Row]:
    missed = cases["case_id"].is_in(without_profile.implode()).to_numpy()
    ranks = [
        np.where(missed, 0, evaluation.gold_ranks(ranker, protocol, cases)[0])
        for ranker in (native, stock)
    ]
    one, other = (_first(evaluation, ranker, protocol, cases) for ranker in (native, stock))
    pairs = list(zip(one, other, strict=True))
    per_case: dict[str, NDArray[np.float64]] = {
        "same_gold_rank_share": (ranks[0] == ranks[1]).astype(np.float64),
        "same_first_share": np.array([float(a[:1] == b[:1] != []) for a, b in pairs]),
        "overlap@10_mean": np.array([len(set(a) & set(b)) / DEPTH for a, b in pairs]),
        "kendall@10_mean": np.array([kendall_tau(a, b) for a, b in pairs]),
    }
    for metric, values in per_case.items():
        known = ~np.isnan(values)
        if not known.any():
            continue
        part = cases.filter(pl.Series(known))
        (e,) = evaluation.bootstrap(part, subset).estimates(values[None, known])
        yield Row(
            "stock_comparison", stock, protocol, f"against {native}", subset, metric, e.value,
            e.low, e.high, part.height,
        )  # fmt: skip
    both = (ranks[0] > 0) & (ranks[1] > 0)
    if both.any():
        yield Row(
            "stock_comparison", stock, protocol, f"against {native}", subset,
            "gold_rank_distance_median", float(np.median(np.abs(ranks[0] - ranks[1])[both])),
            None, None, int(both.sum()),
        )  # fmt: skip


def _failed(
    evaluation: Evaluation, stock: str, protocol: str, subset: str, cases: pl.DataFrame
) -> Iterator[Row]:
    path = evaluation.corpus / "rankings" / stock / "failures.parquet"
    failed = artifacts.read(path, FAILURES).filter(
        pl.col("protocol") == protocol, pl.col("case_id").is_in(cases["case_id"].implode())
    )
    yield Row(
        "stock_comparison", stock, protocol, NOT_APPLICABLE, subset, "unanswered_cases",
        float(failed.height), None, None, cases.height,
    )  # fmt: skip


def _first(
    evaluation: Evaluation, ranker: str, protocol: str, cases: pl.DataFrame
) -> list[list[str]]:
    """First diseases of each case's list, empty where there is none."""
    path = evaluation.corpus / "rankings" / ranker / f"{protocol}.parquet"
    lists = (
        artifacts.read(path, RANKINGS)
        .filter(pl.col("rank") <= DEPTH)
        .group_by("case_id", maintain_order=True)
        .agg("disease_id")
    )
    found = dict(lists.iter_rows())
    return [found.get(case, []) for case in cases["case_id"].to_list()]
