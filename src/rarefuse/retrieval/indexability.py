"""What a radius budget does to a tangent index, and what the indexes cost.

Recall at 10 of the tangent index with L candidates against the exact hyperbolic order, with the
share of queries whose candidates are certified to suffice; the Lorentz index beside it; size and
latency of every index; the closed forms of the theory.
"""

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rarefuse.evaluation.base import NOT_APPLICABLE, Row
from rarefuse.retrieval import geometry
from rarefuse.retrieval.indexes import Index, build_index

K = 10
LENGTHS = (10, 20, 50, 100, 200, 500, 1000)
EF = (32, 100, 200)


def exact_neighbours(
    points: NDArray[np.float64], queries: NDArray[np.float64], k: int = K
) -> NDArray[np.int64]:
    """First k rows by hyperbolic distance in double precision, shape (Q, k)."""
    products = geometry.inner_product_query(queries) @ points.T
    order: NDArray[np.int64] = np.argsort(-products, axis=1, kind="stable")[:, :k]
    return order


def recall(found: NDArray[np.int64], truth: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share of the true rows among the found, per query."""
    return np.array([np.isin(t, f).mean() for f, t in zip(found, truth, strict=True)])


def indexability_rows(
    name: str, table: NDArray[np.float32], queries: NDArray[np.float64], budget: float
) -> Iterator[Row]:
    """Recall against L, certificates, and the Lorentz indexes, for one table.

    Parameters
    ----------
    name : str
        What the table is, the rows' variant.
    table : ndarray, shape (N, d)
        Normal coordinates.
    queries : ndarray, shape (Q, d + 1)
        Lorentz points.
    budget : float
        R.
    """
    points = geometry.exp_origin(table)
    truth = exact_neighbours(points, queries)
    asked = geometry.log_origin(queries)
    ids = [str(row) for row in range(len(table))]
    n = len(queries)
    radii = np.linalg.norm(table, axis=1)

    def row(system: str, metric: str, value: float, sd: float | None = None) -> Row:
        return Row(
            "indexability", system, NOT_APPLICABLE, name, "all", metric, value, None, None, n, sd
        )

    yield row("table", "radius mean", float(radii.mean()))
    yield row("table", "radius max", float(radii.max()))
    yield row("table", "share of budget", float(radii.mean() / budget))
    yield row("theory", "kappa", float(geometry.distortion(budget)))
    yield row("theory", "L_th", float(geometry.oversampling(budget, K)))
    for kind in ("tangent-flat", "tangent-hnsw"):
        index = build_index(kind, table, ids, NOT_APPLICABLE)
        for length in LENGTHS:
            if length > len(table):
                continue
            _, found = index.search(asked, length)
            kept = recall(found, truth)
            yield row(kind, f"recall@10 L={length}", float(kept.mean()), float(kept.std()))
            if kind == "tangent-flat":
                near = geometry.distance(asked[:, None], table[found])
                last = np.linalg.norm(asked - table[found[:, -1]].astype(np.float64), axis=1)
                sure = geometry.certified(np.sort(near, axis=1)[:, K - 1], last)
                yield row(kind, f"certified L={length}", float(sure.mean()))
                wrong = float((sure & (kept < 1.0) & _apart(points, queries, found, truth)).mean())
                yield row(kind, f"wrongly certified L={length}", wrong)
    for kind, breadths in (("lorentz-flat", (None,)), ("lorentz-hnsw", EF)):
        index = build_index(kind, table, ids, NOT_APPLICABLE)
        for ef in breadths:
            kept = recall(index.search(queries, K, ef=ef)[1], truth)
            metric = "recall@10" if ef is None else f"recall@10 ef={ef}"
            yield row(kind, metric, float(kept.mean()), float(kept.std()))


def _apart(
    points: NDArray[np.float64],
    queries: NDArray[np.float64],
    found: NDArray[np.int64],
    truth: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Whether what is missing is truly nearer than what was found, and not at the same distance."""
    products = geometry.inner_product_query(queries) @ points.T
    best = -np.sort(-np.take_along_axis(products, found, axis=1), axis=1)[:, :K]
    ideal = np.take_along_axis(products, truth, axis=1)
    differs: NDArray[np.bool_] = (ideal[:, -1] - best[:, -1]) > 1e-6 * np.abs(ideal[:, -1])
    return differs


ROUNDS = 5


def latencies(works: Sequence[Callable[[int], object]], n: int) -> list[float]:
    """Milliseconds a call of each work, one call at a time, the best mean of `ROUNDS` over n calls.

    The works take turns, so that what else the machine does falls on all of them.
    """
    best = [np.inf] * len(works)
    for _ in range(ROUNDS):
        for place, work in enumerate(works):
            start = time.perf_counter()
            for i in range(n):
                work(i)
            best[place] = min(best[place], (time.perf_counter() - start) / n * 1e3)
    return best


def efficiency_rows(
    systems: Sequence[tuple[str, Sequence[Index], Callable[[int], object]]], n: int
) -> Iterator[Row]:
    """Size of the indexes and milliseconds a query, vectors given, one thread.

    Parameters
    ----------
    systems : sequence of (name, indexes, work)
        `work(i)` answers query i from its vectors.
    n : int
        Queries.
    """
    spent = latencies([work for _, _, work in systems], n)
    for (name, indexes, _), ms in zip(systems, spent, strict=True):
        size = sum(index.megabytes for index in indexes)
        for metric, value in (("index MB", size), ("ms a query", ms)):
            none = NOT_APPLICABLE
            yield Row("efficiency", name, none, none, "all", metric, value, None, None, n)


def theory_rows() -> Iterator[Row]:
    """κ(R) with its asymptote e^R/(2R), and R(D) by dimension and branching (paper, Figure 6)."""

    def row(variant: str, metric: str, value: float) -> Row:
        return Row(
            "theory", "closed form", NOT_APPLICABLE, variant, "all", metric, value, None, None, 0
        )

    for radius in np.arange(0.0, 7.01, 0.25):
        yield row(f"R={radius:g}", "kappa", float(geometry.distortion(radius)))
        if radius:
            yield row(f"R={radius:g}", "asymptote", float(np.exp(radius) / (2 * radius)))
    for depth in range(5, 51, 5):
        for dimension in (8, 16, 32, 64, 128, 256):
            for branching in (2, 3, 5, 10, 20):
                needed = geometry.needed_radius(depth, branching, dimension)
                variant = f"D={depth} d={dimension} b={branching}"
                yield row(variant, "needed radius", needed)
                yield row(variant, "kappa", float(geometry.distortion(needed)))
