"""Search modes of the reference (HYEM_SPEC 7): text, tangent with rerank, routing, soft mix.

Every mode takes queries in rows and returns ranked rows of the index, best first, -1 for padding.
"""

import numpy as np
from numpy.typing import NDArray

from rarefuse.retrieval.geometry import distance
from rarefuse.retrieval.indexes import Index

CANDIDATES = 200  # L_h = L_e
ROUTE_AT = 0.5
SPREAD = 1e-6  # added to a standard deviation

Rows = NDArray[np.int64]


def text_search(index: Index, vectors: NDArray[np.float32], k: int) -> Rows:
    """Nearest by cosine."""
    return index.search(vectors, k)[1]


def tangent_search(
    index: Index,
    table: NDArray[np.float32],
    points: NDArray[np.float32],
    k: int,
    candidates: int = CANDIDATES,
) -> Rows:
    """Nearest in normal coordinates, reranked by hyperbolic distance.

    Parameters
    ----------
    index : Index
        Tangent index of `table`.
    table : ndarray, shape (N, d)
        Normal coordinates of the nodes.
    points : ndarray, shape (Q, d)
        Normal coordinates of the queries.
    """
    found = index.search(points, min(candidates, len(table)))[1]
    apart = np.where(found < 0, np.inf, distance(points[:, None], table[found]))
    order = np.argsort(apart, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(found, order, axis=1)


def hard_route(alpha: NDArray[np.float64], hyperbolic: Rows, text: Rows) -> Rows:
    """The hyperbolic list where α ≥ 0.5, else the text list."""
    return np.where(alpha[:, None] >= ROUTE_AT, hyperbolic, text)


def pooled(*lists: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of several candidate lists of one query, ascending, none twice, no padding."""
    together = np.unique(np.concatenate(lists))
    return together[together >= 0]


def standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """z-scores over one query's candidates, population standard deviation."""
    return (values - values.mean()) / (values.std() + SPREAD)


def soft_mix(
    text_index: Index,
    tangent_index: Index,
    nodes: NDArray[np.float32],
    table: NDArray[np.float32],
    vectors: NDArray[np.float32],
    points: NDArray[np.float32],
    alpha: NDArray[np.float64],
    k: int,
    *,
    candidates: int = CANDIDATES,
    pool: tuple[str, ...] = ("text", "tangent"),
) -> Rows:
    """Candidates of both indexes by α z(-d_H) + (1 - α) z(cosine) (paper, equation 4).

    Parameters
    ----------
    nodes : ndarray, shape (N, d_e)
        Text vectors of the nodes.
    table : ndarray, shape (N, d)
        Their normal coordinates.
    vectors, points, alpha
        Text vectors, normal coordinates and gate weights of the queries.
    candidates : int
        From each index.
    pool : tuple of str
        Which indexes give candidates; the scoring stays the same, so that pooling can be studied
        by itself.
    """
    n = min(candidates, len(table))
    by_text = text_index.search(vectors, n)[1]
    by_point = tangent_index.search(points, n)[1]
    lists = [x for name, x in (("text", by_text), ("tangent", by_point)) if name in pool]
    found = np.full((len(vectors), k), -1, np.int64)
    for i, weight in enumerate(alpha):
        rows = pooled(*(x[i] for x in lists))
        score = weight * standardised(-distance(points[i], table[rows]))
        score += (1.0 - weight) * standardised((nodes[rows] @ vectors[i]).astype(np.float64))
        best = rows[np.argsort(-score, kind="stable")[:k]]
        found[i, : len(best)] = best
    return found
