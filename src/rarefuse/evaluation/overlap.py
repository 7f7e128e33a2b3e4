"""Statistics of publication-source overlap over cases, with intervals (paper, Table 10)."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from rarefuse.annotations.overlap import emptied
from rarefuse.evaluation.bootstrap import ClusterBootstrap, Estimate


class Statistic(NamedTuple):
    """One statistic; the median has no interval."""

    metric: str
    value: float
    low: float | None
    high: float | None
    n: int


def overlap_statistics(
    overlap: pl.DataFrame, bootstrap: Callable[[pl.DataFrame], ClusterBootstrap]
) -> Iterator[Statistic]:
    """Overlap share, source-exclusive shares and covered query terms.

    Parameters
    ----------
    overlap : polars.DataFrame
        `rarefuse.annotations.overlap.OVERLAP`, with what `bootstrap` needs besides.
    bootstrap : callable
        Resamples of a frame's cases.

    Yields
    ------
    Statistic
        Shares in 0..1. Nothing where no case has overlap to tell; no covered terms where no case
        has an observed term.
    """
    if overlap.is_empty():
        return
    means = {
        "overlap_share": overlap.with_columns(x=pl.col("overlap").cast(pl.Float64)),
        "exclusive_share_mean": overlap.with_columns(x="exclusive_share"),
        "entirely_exclusive_share": overlap.with_columns(x=emptied().cast(pl.Float64)),
        "query_terms_covered_mean": overlap.with_columns(x="covered_share").drop_nulls("x"),
    }
    for metric, frame in means.items():
        if not frame.is_empty():
            e = mean_of(frame["x"], bootstrap(frame))
            yield Statistic(metric, e.value, e.low, e.high, frame.height)
    median = float(np.median(overlap["exclusive_share"].to_numpy()))
    yield Statistic("exclusive_share_median", median, None, None, overlap.height)


def mean_of(values: pl.Series, bootstrap: ClusterBootstrap) -> Estimate:
    """Mean of one value a case, with its interval."""
    (estimate,) = bootstrap.estimates(values.cast(pl.Float64).to_numpy()[None, :])
    return estimate
