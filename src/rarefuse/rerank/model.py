"""An additive, monotone scorer: one shape function a column, found by a convex listwise fit.

A value becomes one of 256 levels, its place among the training candidates' values; the score of a
candidate is the sum over columns f of T[f, level]. T[f] is piecewise linear in the level, rises or
falls in the column's direction only, and is 0 at the level of an ordinary candidate, so that a
contribution reads as more or less than nothing in particular.

The loss is the listwise cross-entropy: -ln of the softmax share that the diagnosis has among its
case's candidates. With slopes as parameters it is convex, with the penalty strictly so: there is
one optimum and no initialisation to be lucky with.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rarefuse.compiled import njit, prange
from rarefuse.rerank.columns import EvidenceColumn

LEVELS = 256
PIECES = 11
"""Linear pieces of a shape function."""
RAMPS = np.clip(
    np.arange(LEVELS)[:, None] / (LEVELS - 1) * PIECES - np.arange(PIECES)[None, :], 0.0, 1.0
)
"""Shape (256, pieces): how far each level has come along each piece."""
CHUNKS = 8
"""Parts that cases are summed in, fixed so that the sum does not depend on threads."""


@dataclass(frozen=True)
class Shapes:
    """A fitted scorer.

    Parameters
    ----------
    columns : tuple of EvidenceColumn
        F columns.
    cuts : ndarray of float64, shape (F, 255)
        Ascending; a value's level is how many of its column's cuts are at or below it.
    tables : ndarray of float64, shape (F, 256)
        Contribution of each level, in log odds.
    """

    columns: tuple[EvidenceColumn, ...]
    cuts: NDArray[np.float64]
    tables: NDArray[np.float64]


class Training(NamedTuple):
    """Cases that train: N candidates of Q cases, each with its diagnosis among them.

    Parameters
    ----------
    levels : ndarray of uint8, shape (N, F)
        Levels of the values.
    ptr : ndarray of int64, shape (Q + 1,)
        Where each case's candidates begin.
    gold : ndarray of int64, shape (Q,)
        Row of each diagnosis.
    """

    levels: NDArray[np.uint8]
    ptr: NDArray[np.int64]
    gold: NDArray[np.int64]


def find_cuts(values: NDArray[np.float64], gold: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Cuts at quantiles of the training candidates' values, half of them the diagnoses'.

    Parameters
    ----------
    values : ndarray of float64, shape (N, F)
        Evidence.
    gold : ndarray of bool, shape (N,)
        Whether each candidate is the diagnosis.
    """
    half = LEVELS // 2
    shares = [np.arange(1, n + 1) / (n + 1) for n in (half, LEVELS - 1 - half)]
    both = [
        np.quantile(values[rows], share, axis=0, method="lower")
        for rows, share in zip((gold, ~gold), shares, strict=True)
    ]
    return np.ascontiguousarray(np.sort(np.concatenate(both), axis=0).T)


@njit(cache=True, nogil=True, parallel=True)
def to_levels(values: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Level of every value, shape (N, F)."""
    levels = np.empty(values.shape, np.uint8)
    for i in prange(values.shape[0]):
        for f in range(values.shape[1]):
            levels[i, f] = np.searchsorted(cuts[f], values[i, f], side="right")
    return levels


@njit(cache=True, nogil=True, parallel=True)
def total_scores(levels: NDArray[np.uint8], tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of the contributions of each candidate's levels, shape (N,)."""
    total = np.zeros(levels.shape[0])
    for i in prange(levels.shape[0]):
        for f in range(levels.shape[1]):
            total[i] += tables[f, levels[i, f]]
    return total


def score_values(shapes: Shapes, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score of every candidate, shape (N,), in log odds up to a constant of the case."""
    return total_scores(to_levels(values, shapes.cuts), shapes.tables)


@njit(cache=True, nogil=True, parallel=True)
def listwise_loss(
    levels: NDArray[np.uint8],
    ptr: NDArray[np.int64],
    gold: NDArray[np.int64],
    tables: NDArray[np.float32],
    gradient: NDArray[np.float64],
) -> float:
    """Sum over the cases of the listwise cross-entropy, and its gradient by level.

    Parameters
    ----------
    levels, ptr, gold
        As in `Training`.
    tables : ndarray of float32, shape (F, 256)
        Contributions.
    gradient : ndarray of float64, shape (F, 256)
        Afterwards the gradient with respect to `tables`.
    """
    n_cases, n_columns = len(ptr) - 1, levels.shape[1]
    parts = np.zeros((CHUNKS, n_columns, LEVELS), np.float32)
    losses = np.zeros(CHUNKS)
    for k in prange(CHUNKS):
        for q in range(n_cases * k // CHUNKS, n_cases * (k + 1) // CHUNKS):
            begin, end = ptr[q], ptr[q + 1]
            scores = np.zeros(end - begin, np.float32)
            for i in range(begin, end):
                score = np.float32(0.0)
                for f in range(n_columns):
                    score += tables[f, levels[i, f]]
                scores[i - begin] = score
            largest = scores.max()
            total = np.exp(scores - largest).sum()
            losses[k] += np.log(total) + largest - scores[gold[q] - begin]
            for i in range(begin, end):
                g = np.exp(scores[i - begin] - largest) / total
                if i == gold[q]:
                    g -= 1.0
                if abs(g) > 1e-6:
                    for f in range(n_columns):
                        parts[k, f, levels[i, f]] += g
    gradient[:] = 0.0
    for k in range(CHUNKS):
        gradient += parts[k]
    return losses.sum()


def fit_slopes(
    training: Training,
    columns: tuple[EvidenceColumn, ...],
    penalty: float,
    start: NDArray[np.float64] | None = None,
    *,
    iterations: int = 60,
    monotone: bool = True,
) -> NDArray[np.float64]:
    """Minimise the mean loss plus the penalty.

    Parameters
    ----------
    penalty : float
        Of the squared slopes and of the squared change between neighbouring ones, in cases.
    start : ndarray of float64, shape (F, pieces), optional
        Slopes to start from; flat by default.
    iterations : int
        At most so many steps of L-BFGS-B.
    monotone : bool
        False lets every column count in both directions: the control.

    Returns
    -------
    ndarray of float64, shape (F, pieces)
        Rise of each shape function over each piece.
    """
    from scipy.optimize import minimize  # slow to import, and scoring needs none

    shape = (len(columns), PIECES)
    gradient = np.empty((len(columns), LEVELS))
    n_cases = len(training.gold)

    def objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        slopes = flat.reshape(shape)
        tables = np.ascontiguousarray((slopes @ RAMPS.T).astype(np.float32))
        loss = listwise_loss(*training, tables, gradient)
        change = np.diff(slopes, axis=1)
        loss += penalty * (0.5 * (slopes**2).sum() + (change**2).sum())
        slope_gradient = gradient @ RAMPS + penalty * slopes
        slope_gradient[:, 1:] += 2.0 * penalty * change
        slope_gradient[:, :-1] -= 2.0 * penalty * change
        return loss / n_cases, slope_gradient.ravel() / n_cases

    either = {1: (0.0, None), -1: (None, 0.0)}
    bounds = [either[c.direction] for c in columns for _ in range(PIECES)] if monotone else None
    result = minimize(
        objective,
        np.zeros(shape).ravel() if start is None else start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": iterations, "maxcor": 15},
    )
    return np.asarray(result.x, np.float64).reshape(shape)


def mean_loss(training: Training, slopes: NDArray[np.float64]) -> float:
    """Mean listwise cross-entropy of some cases, in nats."""
    tables = np.ascontiguousarray((slopes @ RAMPS.T).astype(np.float32))
    loss = listwise_loss(*training, tables, np.empty((len(slopes), LEVELS)))
    return float(loss) / max(1, len(training.gold))


def make_shapes(
    columns: tuple[EvidenceColumn, ...],
    cuts: NDArray[np.float64],
    slopes: NDArray[np.float64],
    levels: NDArray[np.uint8],
) -> Shapes:
    """Shape functions, each 0 at the median level of the training candidates."""
    tables = slopes @ RAMPS.T
    ordinary = np.quantile(levels, 0.5, axis=0, method="lower").astype(np.int64)
    return Shapes(columns, cuts, tables - tables[np.arange(len(tables)), ordinary][:, None])


def as_metadata(shapes: Shapes) -> list[dict[str, Any]]:
    """Columns as plain values, for the checkpoint."""
    return [column._asdict() for column in shapes.columns]


def without_group(shapes: Shapes, group: str) -> Shapes:
    """Return the same scorer with one group's contributions at 0."""
    tables = shapes.tables.copy()
    tables[[c.group == group for c in shapes.columns]] = 0.0
    return replace(shapes, tables=tables)
