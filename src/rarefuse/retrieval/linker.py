"""Retrieval through Lorentz centroids: link the mention, move the point, rank, merge by intent.

1. Link. A mention's nodes by the larger of the cosines of label and of label with definition.
2. Move. Its place is the Lorentz centroid of the linked nodes, drawn towards the origin by what the
   intent's table learned. A mention that is a node's name word for word is that node alone.
3. Rank by inner product with the Lorentz points: the exact hyperbolic order. For a mention that is
   no known name, the distance is mixed with the cosine of mention and candidate (paper, equation
   4, with learned scales in place of z-scores).
4. Merge the lists of the families by their probabilities: Σ π / (K + rank). A sure gate leaves one
   list as it is, an unsure one interleaves.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rarefuse.retrieval.geometry import centroid
from rarefuse.retrieval.indexes import Index
from rarefuse.retrieval.templates import ENTITY, FAMILIES, HIERARCHY, SIBLING

LINKED = 15  # nodes that a place is made of
SHARPNESS = 0.1  # temperature of the link's softmax over cosines
EXACT = 0.9995  # cosine of a mention that is a name word for word
POOL = 50  # candidates of the hyperbolic index, and of the text index
MERGE = 10.0  # K of the merge
NEGLIGIBLE = 0.02  # a family less probable is not searched


@dataclass(frozen=True)
class Mixing:
    """Scale of the cosine beside the distance, for one intent.

    score = -d(q, x)/τ + β cos(m, x)
    """

    temperature: float
    beta: float


@dataclass(frozen=True)
class Linker:
    """What a search needs.

    Parameters
    ----------
    text : Index
        Labels, then labels with definitions, then perhaps synonyms: M ≥ 2 N rows.
    vectors : ndarray of float32, shape (M, d_e)
        The same vectors, for scoring.
    owner : ndarray of int64, shape (M,)
        Node of every row of the text index.
    spaces : dict
        Intent → Lorentz index.
    points : dict
        Intent → ndarray of float64, shape (N, d + 1).
    origin : dict
        Intent → c.
    mixing : dict
        Intent → `Mixing`.
    """

    text: Index
    vectors: NDArray[np.float32]
    owner: NDArray[np.int64]
    spaces: dict[str, Index]
    points: dict[str, NDArray[np.float64]]
    origin: dict[str, float]
    mixing: dict[str, Mixing]

    @property
    def size(self) -> int:
        """Nodes."""
        return len(next(iter(self.points.values())))

    def entities(
        self, mention: NDArray[np.float32], hidden: int = -1
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Nodes of a mention by cosine, best first, `hidden` left out.

        Returns
        -------
        rows : ndarray of int64
        cosines : ndarray of float64
        """
        cosines, found = self.text.search(mention[None], min(2 * POOL, len(self.owner)))
        rows = np.where(found[0] < 0, -1, self.owner[found[0]])
        kept = (found[0] >= 0) & (rows != hidden)
        rows, cosines = rows[kept], cosines[0][kept]
        # The first of a node's hits is its larger cosine.
        _, first = np.unique(rows, return_index=True)
        first.sort()
        return rows[first], cosines[first].astype(np.float64)

    def place(
        self, intent: str, rows: NDArray[np.int64], cosines: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Lorentz point of linked nodes, shape (d + 1,)."""
        rows, cosines = rows[:LINKED], cosines[:LINKED]
        if cosines[0] >= EXACT:
            rows, cosines = rows[:1], cosines[:1]
        weights = np.exp((cosines - cosines[0]) / SHARPNESS)
        return centroid(self.points[intent][rows], weights / weights.sum(), self.origin[intent])

    def related(
        self,
        intent: str,
        mention: NDArray[np.float32],
        rows: NDArray[np.int64],
        cosines: NDArray[np.float64],
        hidden: int = -1,
    ) -> NDArray[np.int64]:
        """Nodes that an intent asks for, best first; `hidden` left out."""
        here = self.place(intent, rows, cosines)
        if cosines[0] >= EXACT:
            _, found = self.spaces[intent].search(here[None], min(POOL, self.size))
            return found[0][(found[0] >= 0) & (found[0] != hidden)]
        candidates = self.candidates(intent, here, rows, hidden)
        scores = self.mixed(intent, mention, here, candidates)
        return candidates[np.argsort(-scores, kind="stable")]

    def candidates(
        self, intent: str, here: NDArray[np.float64], rows: NDArray[np.int64], hidden: int = -1
    ) -> NDArray[np.int64]:
        """Nodes near a place, and those of the text index: ascending, `hidden` left out."""
        _, found = self.spaces[intent].search(here[None], min(POOL, self.size))
        together = np.union1d(found[0], rows)
        return together[(together >= 0) & (together != hidden)]

    def mixed(
        self,
        intent: str,
        mention: NDArray[np.float32],
        here: NDArray[np.float64],
        candidates: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Mixed score of candidates."""
        apart, cosine = self.features(intent, mention, here, candidates)
        mixing = self.mixing[intent]
        return -apart / mixing.temperature + mixing.beta * cosine

    def features(
        self,
        intent: str,
        mention: NDArray[np.float32],
        here: NDArray[np.float64],
        candidates: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Hyperbolic distance from `here` and cosine with the mention, of every candidate."""
        points = self.points[intent][candidates]
        excess = np.maximum(here[0] * points[:, 0] - points[:, 1:] @ here[1:], 1.0)
        label = self.vectors[candidates] @ mention
        definition = self.vectors[candidates + self.size] @ mention
        return np.arccosh(excess), np.maximum(label, definition).astype(np.float64)

    def search(
        self,
        mention: NDArray[np.float32],
        probabilities: NDArray[np.float64],
        k: int,
        hidden: int = -1,
    ) -> NDArray[np.int64]:
        """First k nodes of a query.

        Parameters
        ----------
        mention : ndarray, shape (d_e,)
            Vector of the mention.
        probabilities : ndarray, shape (3,)
            Of `FAMILIES`.
        k : int
        hidden : int
            Row that must not be used: inductive track. -1 for none.
        """
        rows, cosines = self.entities(mention, hidden)
        lists, weights = [], []
        for family, weight in zip(FAMILIES, probabilities, strict=True):
            if weight < NEGLIGIBLE:
                continue
            lists.append(
                rows if family == ENTITY
                else self.related(family, mention, rows, cosines, hidden)
            )  # fmt: skip
            weights.append(float(weight))
        if len(lists) == 1:
            return lists[0][:k]
        return merge(lists, weights, k)


def merge(
    lists: list[NDArray[np.int64]], weights: list[float], k: int, constant: float = MERGE
) -> NDArray[np.int64]:
    """Order by Σ weight / (constant + rank); ties by the node's row."""
    nodes = np.unique(np.concatenate(lists))
    score = np.zeros(len(nodes))
    for rows, weight in zip(lists, weights, strict=True):
        score[np.searchsorted(nodes, rows)] += weight / (constant + np.arange(1, len(rows) + 1))
    return nodes[np.argsort(-score, kind="stable")[:k]]


RELATED = (HIERARCHY, SIBLING)


def make_linker(
    text: Index,
    owner: NDArray[np.int64],
    spaces: dict[str, Index],
    origin: dict[str, float],
    mixing: dict[str, Mixing],
) -> Linker:
    """Linker of indexes: everything else is in them."""
    return Linker(
        text,
        text.vectors(),
        owner,
        spaces,
        {intent: space.vectors().astype(np.float64) for intent, space in spaces.items()},
        origin,
        mixing,
    )
