"""The reference Phenomizer's null model with every quirk (phenol 1.3.3, Phenomiser 2019).

What it does otherwise than `sampled` (REFERENCE_PHENOMIZER): every disease and every size has
random queries of its own; 99,999 are drawn where 100,000 were asked for, and their counts divided
by 100,000; scores are means in double precision, rounded half up to three decimals; the p-value
interpolates with half the *gap* between neighbouring scores as its weight where half of the
difference in probability was meant; a p-value can be 0; full ties stand in the iteration order of
a Java ``HashMap``. The reference's generator is unseeded; ours is seeded for each disease and
size, so that both protocols see the same draws.
"""

import numpy as np
from numpy.typing import NDArray

from rarefuse.compiled import njit, prange
from rarefuse.rankers.base import Task
from rarefuse.rankers.semantic import fill_column, mean_best_match, query_terms

DECIMALS = 1000.0


@njit(cache=True, nogil=True)
def reference_p_value(
    keys: NDArray[np.float64], cumulative: NDArray[np.float64], score: float
) -> float:
    """p-value of a score under a counted null distribution.

    Parameters
    ----------
    keys : ndarray of float64, shape (M,)
        Distinct rounded scores, ascending; the first is 0.0.
    cumulative : ndarray of float64, shape (M,)
        F(key): share of random queries that score at most that much.
    score : float
        Score of the query, not rounded.

    Returns
    -------
    float
        1 at or below the first key, 0 at or above the last, otherwise, between prev ≤ S < next,
        ``1 - (F(prev) + (next - prev) / 2 · (F(next) - F(prev)))``.
    """
    if score <= keys[0]:
        return 1.0
    if score >= keys[-1]:
        return 0.0
    after = np.searchsorted(keys, score, side="right")
    gap = (keys[after] - keys[after - 1]) / 2.0
    return 1.0 - (cumulative[after - 1] + gap * (cumulative[after] - cumulative[after - 1]))


@njit(cache=True, nogil=True)
def _next(state: NDArray[np.uint64]) -> np.uint64:
    """One step of SplitMix64 (Steele, Lea and Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def count_reference(
    column: NDArray[np.float32],
    size: int,
    draws: int,
    state: NDArray[np.uint64],
    histogram: NDArray[np.int64],
) -> None:
    """Count rounded scores of random queries of one size against one column.

    Adds to ``histogram[round_half_up(1000 · mean)]``.
    """
    n_terms = np.uint64(len(column))
    chosen = np.empty(size, np.int64)
    for _ in range(draws):
        total = 0.0
        for j in range(size):
            while True:
                term = np.int64(((_next(state) >> np.uint64(32)) * n_terms) >> np.uint64(32))
                fresh = True
                for i in range(j):
                    if chosen[i] == term:
                        fresh = False
                if fresh:
                    break
            chosen[j] = term
            total += np.float64(column[term])
        histogram[np.int64(total / size * DECIMALS + 0.5)] += 1


@njit(cache=True, nogil=True, parallel=True)
def reference_columns(
    task: Task,
    samples: int,
    cap: int,
    seed: int,
    chunks: int,
    score: NDArray[np.float64],
    p_value: NDArray[np.float64],
) -> None:
    """Write score and p-value of every column against its queries, the reference's way.

    `samples` is the nominal number of random queries, `cap` the largest size with a null of its
    own. Cost: columns × samples × sizes in use × mean size.
    """
    bins = int(np.max(task.ic) * DECIMALS) + 3
    n_columns, n_terms = len(task.disease), len(task.ic)
    for chunk in prange(chunks):
        closed = np.empty(n_terms, np.bool_)
        column = np.empty(n_terms, np.float32)
        state = np.empty(1, np.uint64)
        for c in range(chunk * n_columns // chunks, (chunk + 1) * n_columns // chunks):
            fill_column(task, c, closed, column)
            used = np.zeros(cap + 1, np.bool_)
            for q in range(task.start[c], task.stop[c]):
                used[min(cap, len(query_terms(task, q)))] = True
            for size in range(1, cap + 1):
                if not used[size]:
                    continue
                state[0] = np.uint64(seed)
                for part in (np.uint64(task.disease[c]), np.uint64(size)):
                    state[0] = _next(state) ^ (part * np.uint64(0xD1342543DE82EF95))
                histogram = np.zeros(bins, np.int64)
                count_reference(column, size, samples - 1, state, histogram)
                keys, cumulative = distribution(histogram, samples)
                for q in range(task.start[c], task.stop[c]):
                    own = query_terms(task, q)
                    if min(cap, len(own)) == size:
                        s = mean_best_match(column, own)
                        score[q, task.disease[c]] = s
                        p_value[q, task.disease[c]] = reference_p_value(keys, cumulative, s)


@njit(cache=True, nogil=True)
def distribution(
    histogram: NDArray[np.int64], samples: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distinct rounded scores and the share of random queries at or below each.

    The first is 0.0 even if no query scored it; shares are of the nominal number of `samples`.
    """
    keys = np.empty(len(histogram))
    cumulative = np.empty(len(histogram))
    m = 0
    below = 0
    for b in range(len(histogram)):
        if histogram[b] > 0 or b == 0:
            below += histogram[b]
            keys[m] = b / DECIMALS
            cumulative[m] = below / samples
            m += 1
    return keys[:m], cumulative[:m]
