"""Retrieval through Lorentz centroids: link the mention, move the point, rank, merge by intent.

1. Link. A mention's nodes by the larger of the cosines of label and of label with definition; it
   is a node's name if the cosine is 1.
   Asked for the entity itself, the two cosines count together.
2. A name: the node's point, drawn towards the origin by what the intent's table learned, is the
   query; the inner products with the Lorentz points rank in the exact hyperbolic order.
3. No name: the Lorentz centroid of the neighbours is its place, and the evidence around it is
   weighed (`rarefuse.retrieval.unseen`).
4. Merge the lists of the families by their probabilities: Σ π / (K + rank). A sure gate leaves one
   list as it is, an unsure one interleaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rarefuse.retrieval.geometry import centroid
from rarefuse.retrieval.indexes import Index
from rarefuse.retrieval.subsets import Subset
from rarefuse.retrieval.templates import ENTITY, FAMILIES, HIERARCHY, SIBLING
from rarefuse.retrieval.unseen import (
    NEIGHBOURS,
    UnseenModel,
    covering_order,
    evidence,
    likely_parents,
    link_weights,
    place_distances,
    votes,
)

RELATED = (HIERARCHY, SIBLING)
EXACT = 0.9995  # cosine of a mention that is a name word for word
POOL = 50  # candidates of the hyperbolic index, and of the text index
MERGE = 10.0  # K of the merge by intent
NEGLIGIBLE = 0.1  # a family less probable is not searched
SHORT = 32  # results, and breadth of the graph search, that are enough for a name


TextHit = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Cosines and rows of the text index for one mention, best first."""


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
    moved : dict
        Intent → ndarray of float64, shape (N, d + 1): each node's query point, drawn to the origin.
    origin, temperature : dict
        Intent → c, τ.
    parents, children : list of list of int
        Of every node.
    unseen : UnseenModel
    """

    text: Index
    vectors: NDArray[np.float32]
    owner: NDArray[np.int64]
    spaces: dict[str, Index]
    points: dict[str, NDArray[np.float64]]
    moved: dict[str, NDArray[np.float64]]
    origin: dict[str, float]
    temperature: dict[str, float]
    parents: Sequence[Sequence[int]]
    children: Sequence[Sequence[int]]
    unseen: UnseenModel

    @property
    def size(self) -> int:
        """Nodes."""
        return len(self.parents)

    def hits(self, vectors: NDArray[np.float32], *, thorough: bool | None = None) -> list[TextHit]:
        """Cosines and rows of the text index for mentions' vectors, one entry a mention.

        A short list is enough for a name word for word, and where nothing but the entity itself is
        asked for. A thorough one is needed for any other mention, where nodes are hidden, and where
        many terms are wanted. By default it depends on the mention.
        """
        found = [] if thorough else self._text(vectors, SHORT, SHORT)
        if thorough is False:
            return found
        unnamed = [i for i in range(len(vectors)) if thorough or found[i][0][0] < EXACT]
        if not unnamed:
            return found
        longer = dict(zip(unnamed, self._text(vectors[unnamed], 2 * POOL, None), strict=True))
        return [longer[i] if i in longer else found[i] for i in range(len(vectors))]

    def _text(self, vectors: NDArray[np.float32], k: int, breadth: int | None) -> list[TextHit]:
        cosines, rows = self.text.search(vectors, min(k, len(self.owner)), ef=breadth)
        return list(zip(cosines.astype(np.float64), rows, strict=True))

    def entities(
        self, hit: TextHit, hidden: int = -1
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Nodes of a mention by cosine, best first, `hidden` left out.

        Parameters
        ----------
        hit : tuple
            Entry of `hits`.
        hidden : int

        Returns
        -------
        rows : ndarray of int64
        cosines : ndarray of float64
        """
        cosines, found = hit
        rows = np.where(found < 0, -1, self.owner[found])
        kept = (found >= 0) & (rows != hidden)
        rows, cosines = rows[kept], cosines[kept]
        # The first of a node's hits is its larger cosine.
        _, first = np.unique(rows, return_index=True)
        first.sort()
        return rows[first], cosines[first]

    def by_name(
        self, vector: NDArray[np.float32], rows: NDArray[np.int64], cosines: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Nodes that a mention may name: word for word first, then by both cosines together.

        The definition counts a second time, since a mention may paraphrase it; the validation part
        prefers this to the larger cosine alone.
        """
        together = cosines + self.vectors[rows + self.size] @ vector
        return rows[np.lexsort((-together, cosines < EXACT))]

    @staticmethod
    def named(rows: NDArray[np.int64], cosines: NDArray[np.float64]) -> int:
        """Node whose text a mention is word for word, or -1."""
        return int(rows[0]) if cosines[0] >= EXACT else -1

    def related(
        self,
        intent: str,
        vector: NDArray[np.float32],
        rows: NDArray[np.int64],
        cosines: NDArray[np.float64],
        hidden: int = -1,
    ) -> NDArray[np.int64]:
        """Nodes that an intent asks for, best first; `hidden` left out."""
        node = self.named(rows, cosines)
        if node >= 0:
            here = self.moved[intent][node : node + 1]
            _, found = self.spaces[intent].search(here, min(SHORT, self.size), ef=SHORT)
            return found[0][(found[0] >= 0) & (found[0] != hidden)]
        parents, known = self.parent_evidence(vector, rows, cosines, hidden)
        scores = known @ np.array(self.unseen.weights)
        if intent == HIERARCHY:
            return parents[np.argsort(-scores, kind="stable")]
        model = self.unseen
        by_text, by_parent = self.sibling_lists(
            vector, rows, parents, scores, model.sibling_repeat, hidden
        )
        weights = [1.0, model.sibling_weight]
        return merge([by_text, by_parent], weights, POOL, model.sibling_constant)

    def parent_evidence(
        self,
        vector: NDArray[np.float32],
        rows: NDArray[np.int64],
        cosines: NDArray[np.float64],
        hidden: int = -1,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Candidate parents of an unknown mention, ascending, and the evidence for each."""
        weights = link_weights(cosines)
        near = rows[:NEIGHBOURS]
        here = centroid(self.points[HIERARCHY][near], weights, self.origin[HIERARCHY])
        first, second = votes(near.tolist(), weights, self.parents, hidden)
        _, found = self.spaces[HIERARCHY].search(here[None], min(POOL, self.size))
        voted = np.array([*first, *second], np.int64)
        pool = np.unique(np.concatenate([found[0], rows, voted]))
        pool = pool[(pool >= 0) & (pool != hidden)]
        apart = place_distances(here, self.points[HIERARCHY][pool])
        label, text = self._cosines(vector, pool)
        known = evidence(pool, apart / self.temperature[HIERARCHY], text, label, first, second)
        return pool, known

    def sibling_lists(
        self,
        vector: NDArray[np.float32],
        rows: NDArray[np.int64],
        parents: NDArray[np.int64],
        scores: NDArray[np.float64],
        repeat: float,
        hidden: int = -1,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The same nodes by cosine of label and definition together, and by likely parents."""
        likely, chance = likely_parents(parents, scores)
        children = [np.array(self.children[p], np.int64) for p in likely.tolist()]
        pool = np.unique(np.concatenate([rows, *children]))
        pool = pool[pool != hidden]
        label, _ = self._cosines(vector, pool)
        both = label + self.vectors[pool + self.size] @ vector
        below = np.zeros((len(pool), len(likely)), bool)
        for place, own in enumerate(children):
            below[np.searchsorted(pool, own[own != hidden]), place] = True
        return (
            pool[np.argsort(-both, kind="stable")],
            pool[covering_order(below, chance, label, repeat)],
        )

    def _cosines(
        self, vector: NDArray[np.float32], pool: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        label = (self.vectors[pool] @ vector).astype(np.float64)
        return label, np.maximum(label, self.vectors[pool + self.size] @ vector)

    def search(
        self,
        vector: NDArray[np.float32],
        probabilities: NDArray[np.float64],
        k: int,
        hidden: int = -1,
        hit: TextHit | None = None,
    ) -> NDArray[np.int64]:
        """First k nodes of a query.

        Parameters
        ----------
        vector : ndarray, shape (d_e,)
            Of the mention.
        probabilities : ndarray, shape (3,)
            Of `FAMILIES`.
        k : int
        hidden : int
            Row that must not be used: inductive track. -1 for none.
        hit : tuple, optional
            Entry of `hits`, where it is known already.
        """
        asked = [
            (family, float(weight))
            for family, weight in zip(FAMILIES, probabilities, strict=True)
            if weight >= NEGLIGIBLE
        ]
        if hit is None:
            related = any(family != ENTITY for family, _ in asked)
            (hit,) = self.hits(vector[None], thorough=hidden >= 0 or (None if related else False))
        rows, cosines = self.entities(hit, hidden)
        lists = [
            self.by_name(vector, rows, cosines)
            if family == ENTITY
            else self.related(family, vector, rows, cosines, hidden)
            for family, _ in asked
        ]
        if len(lists) == 1:
            return lists[0][:k]
        return merge(lists, [weight for _, weight in asked], k)


def merge(
    lists: list[NDArray[np.int64]], weights: list[float], k: int, constant: float = MERGE
) -> NDArray[np.int64]:
    """Order by Σ weight / (constant + rank); ties by the node's row."""
    nodes = np.unique(np.concatenate(lists))
    score = np.zeros(len(nodes))
    for rows, weight in zip(lists, weights, strict=True):
        score[np.searchsorted(nodes, rows)] += weight / (constant + np.arange(1, len(rows) + 1))
    return nodes[np.argsort(-score, kind="stable")[:k]]


def make_linker(
    subset: Subset,
    text: Index,
    owner: NDArray[np.int64],
    spaces: dict[str, Index],
    origin: dict[str, float],
    temperature: dict[str, float],
    unseen: UnseenModel,
) -> Linker:
    """Linker of indexes: the vectors and points are in them."""
    points = {intent: space.vectors().astype(np.float64) for intent, space in spaces.items()}
    return Linker(
        text,
        text.vectors(),
        owner,
        spaces,
        points,
        {i: centroid(x[:, None], np.ones((len(x), 1)), origin[i]) for i, x in points.items()},
        origin,
        temperature,
        subset.parents,
        subset.children,
        unseen,
    )
