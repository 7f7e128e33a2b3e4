"""Answers about a mention that is no known name, from what lies around it in text and hierarchy.

Parents and ancestors. The mention's text neighbours give it a place in the hierarchy's table.
Candidates are scored by a linear model of six kinds of evidence, fitted by a listwise softmax on
the validation part, every asked term hidden:

1. minus the hyperbolic distance from the place, in units of the table's τ and ten;
2. cosine of mention and candidate, the larger of label and label with definition; 3. of its label;
4. vote: the neighbours' weights that the candidate is a parent of; 5. its square root;
6. the weights of the neighbours whose grandparent it is.

Siblings. The softmax of those scores is a distribution over parents. Since one parent is right and
which one is uncertain, the likeliest parents are answered in turn, each by its child most like the
mention, as in search diversification (IA-Select, Agrawal et al. 2009). Merged with the cosine's
order by reciprocal ranks (`linker.merge`). Validation chooses how soon a parent is answered again,
the weight and the constant of the merge.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from rarefuse.retrieval.geometry import inner_product_query

SHARPNESS = 0.1  # temperature of the neighbours' softmax over cosines
NEIGHBOURS = 15
LIKELY = 20  # parents that siblings are looked up under
COVERED = 12  # places of a list that are given so
RIDGE = 1e-3
MERGES = tuple((w, k) for k in (3.0, 10.0, 30.0) for w in (0.0, 0.5, 1.0, 2.0, 4.0))
"""Weights and constants of the merge that validation chooses from."""
REPEATS = (0.0, 0.5, 1.0)
"""Shares of a parent's probability left after each answered child, to choose from."""


@dataclass(frozen=True)
class UnseenModel:
    """Learned scales.

    Parameters
    ----------
    weights : tuple of float
        Of the six kinds of evidence.
    sibling_weight, sibling_constant : float
        Of the merge.
    sibling_repeat : float
        Share of a parent's probability that is left after each answered child.
    """

    weights: tuple[float, ...] = (0.52, 4.34, 3.10, -0.50, 6.35, 2.31)
    sibling_weight: float = 1.0
    sibling_constant: float = 3.0
    sibling_repeat: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "UnseenModel":
        """Inverse of `as_dict`."""
        return cls(**{**values, "weights": tuple(values["weights"])})


def link_weights(cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of the first neighbours, summing to 1."""
    raised = np.exp((cosines[:NEIGHBOURS] - cosines[0]) / SHARPNESS)
    weights: NDArray[np.float64] = raised / raised.sum()
    return weights


def votes(
    rows: Sequence[int],
    weights: NDArray[np.float64],
    parents: Sequence[Sequence[int]],
    hidden: int = -1,
) -> tuple[dict[int, float], dict[int, float]]:
    """Weight of the neighbours below each parent, and below each grandparent.

    Nothing is reached through the edges of `hidden`.
    """
    first: dict[int, float] = {}
    second: dict[int, float] = {}
    for row, weight in zip(rows, weights.tolist(), strict=True):
        for parent in parents[row]:
            if parent == hidden:
                continue
            first[parent] = first.get(parent, 0.0) + weight
            for above in parents[parent]:
                second[above] = second.get(above, 0.0) + weight
    return first, second


def evidence(
    candidates: NDArray[np.int64],
    distances: NDArray[np.float64],
    cosines: NDArray[np.float64],
    label_cosines: NDArray[np.float64],
    first: dict[int, float],
    second: dict[int, float],
) -> NDArray[np.float64]:
    """Evidence of every candidate parent, shape (n, 6); distances in units of τ."""
    vote = np.array([first.get(row, 0.0) for row in candidates.tolist()])
    above = np.array([second.get(row, 0.0) for row in candidates.tolist()])
    return np.stack([-distances / 10.0, cosines, label_cosines, vote, np.sqrt(vote), above], axis=1)


def place_distances(
    here: NDArray[np.float64], points: NDArray[np.float64]
) -> NDArray[np.float64]:  # fmt: skip
    """Hyperbolic distances of Lorentz points from one."""
    return np.arccosh(np.maximum(-(points @ inner_product_query(here)), 1.0))


def likely_parents(
    parents: NDArray[np.int64], scores: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The likeliest parents, best first, and the probability of each by the softmax of all."""
    raised = np.exp(scores - scores.max())
    order = np.argsort(-scores, kind="stable")[:LIKELY]
    return parents[order], raised[order] / raised.sum()


def covering_order(
    below: NDArray[np.bool_],
    chance: NDArray[np.float64],
    similarity: NDArray[np.float64],
    repeat: float = 0.0,
) -> NDArray[np.int64]:
    """Order of nodes that soon has a child of the right parent, whichever parent that is.

    Each place goes to the node whose parents are likeliest to be still unanswered, ties to the
    more similar. After the first places, or once all parents are answered, by probability alone.

    Parameters
    ----------
    below : ndarray of bool, shape (n, p)
        Which node is a child of which parent.
    chance : ndarray, shape (p,)
        Probabilities of the parents, positive.
    similarity : ndarray, shape (n,)
        Cosines.
    repeat : float
        Share of a parent's probability that is left after each of its children; 0 to 1.
    """
    left, free, order = chance.copy(), np.ones(len(below), bool), []
    for _ in range(min(COVERED, len(below))):
        gain = np.where(free, below @ left, 0.0)
        best = gain.max()
        if best <= 0.0:
            break
        ties = np.flatnonzero(gain == best)
        chosen = int(ties[np.argmax(similarity[ties])])
        order.append(chosen)
        free[chosen] = False
        left[below[chosen]] *= repeat
    rest = np.lexsort((-similarity, -(below @ chance)))
    return np.concatenate([np.array(order, np.int64), rest[free[rest]]])


def fit_weights(
    lists: Sequence[tuple[NDArray[np.float64], NDArray[np.bool_]]],
) -> tuple[float, ...]:  # fmt: skip
    """Weights of the evidence by the likelihood of the true parents among the candidates.

    Parameters
    ----------
    lists : sequence of (evidence, whether a parent)
        One entry a query; those without a true parent among the candidates teach nothing.
    """
    usable = [(x, y) for x, y in lists if y.any()]
    if not usable:
        return UnseenModel().weights

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = RIDGE * float(weights @ weights), 2.0 * RIDGE * weights
        for x, y in usable:
            z = x @ weights
            z = np.exp(z - z.max())
            all_of, good = z / z.sum(), np.where(y, z, 0.0)
            share = good.sum() / z.sum()
            total -= np.log(max(share, 1e-300)) / len(usable)
            slope = slope - (x.T @ (good / max(good.sum(), 1e-300) - all_of)) / len(usable)
        return total, slope

    start = np.zeros(usable[0][0].shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B")
    return tuple(float(w) for w in found.x)
