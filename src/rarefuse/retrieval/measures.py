"""Measures of a ranked list of ten (HYEM_SPEC 11).

Hits at k (something relevant among the first k), the reciprocal rank of the first relevant within
ten, nDCG at 10 with binary gains, and for Q-H the F1 of the whole list against all ancestors.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse.artifacts import Column, Schema
from rarefuse.retrieval.templates import ENTITY, HIERARCHY

DEPTH = 10
METRICS = ("hits@1", "hits@5", "hits@10", "mrr", "ndcg@10", "ancestor_f1")

LISTS = Schema(
    "lists",
    (
        Column("system", pl.String, "what made the list"),
        Column("track", pl.String, "'transductive', or 'inductive': the node asked about hidden"),
        Column("seed", pl.Int32, "seed of the training"),
        Column("query_id", pl.String, "as in `queries`"),
        Column("rows", pl.List(pl.Int32), "first ten rows of `nodes`, best first"),
    ),
    key=("system", "track", "seed", "query_id"),
)


def measure(lists: pl.DataFrame, queries: pl.DataFrame) -> pl.DataFrame:
    """Measures of every list.

    Parameters
    ----------
    lists : polars.DataFrame
        `LISTS`, or columns query_id and rows at least.
    queries : polars.DataFrame
        `QUERIES`.

    Returns
    -------
    polars.DataFrame
        `lists` without rows, with condition, split, family, node and the columns `METRICS`;
        ancestor_f1 is null but for Q-H.
    """
    joined = lists.join(
        queries.select("query_id", "condition", "split", "family", "node", "relevant", "ancestors"),
        on="query_id",
        how="left",
        maintain_order="left",
    )
    values = np.array(
        [
            _measures(*row)
            for row in joined.select("rows", "relevant", "ancestors", "family").iter_rows()
        ]
    ).reshape(-1, len(METRICS))
    return joined.drop("rows", "relevant", "ancestors").with_columns(
        pl.Series(name, values[:, i]).fill_nan(None) for i, name in enumerate(METRICS)
    )


def _measures(
    rows: list[int], relevant: list[int], ancestors: list[int], family: str
) -> tuple[float, ...]:
    good, above = set(relevant), set(ancestors)
    gains = [row in good for row in rows[:DEPTH]]
    places = [i for i, gain in enumerate(gains) if gain]
    first = places[0] if places else None
    ideal = sum(1.0 / np.log2(i + 2) for i in range(min(len(good), DEPTH)))
    gained = sum(1.0 / np.log2(i + 2) for i in places)
    f1 = np.nan
    if family == HIERARCHY:
        f1 = 2.0 * len(above.intersection(rows)) / (len(rows) + len(above))
    return (
        *(float(first is not None and first < k) for k in (1, 5, 10)),
        0.0 if first is None else 1.0 / (first + 1),
        gained / ideal,
        f1,
    )


def mean(measured: pl.DataFrame, metric: str) -> float | None:
    """Mean of a measure; None where no query has it."""
    values = measured[metric].drop_nulls().to_numpy()
    return float(values.mean()) if len(values) else None


def without(rows: NDArray[np.int64], focus: int, k: int = DEPTH) -> list[int]:
    """First k of a list without padding (-1) and without the node asked about."""
    return [row for row in rows.tolist() if row >= 0 and row != focus][:k]


def hides_focus(family: str) -> bool:
    """Whether the node asked about is taken out of the list: all families but Q-E."""
    return family != ENTITY
