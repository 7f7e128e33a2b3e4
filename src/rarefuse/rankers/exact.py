"""Exact null distribution of the Resnik score, without Monte Carlo noise.

The number of ways to choose k different terms with best-match sum s follows from a polynomial
product over the distinct values v of a column, n_v terms having each:

    F(x, y) = prod_v sum_j C(n_v, j) x^(j·v) y^j,

whose coefficient of x^s y^k is that number. All summands are positive, so the far tail keeps its
relative precision (a Fourier transform would lose it below 1e-16). The terms of value 0, most of
them, enter last and without a shift. Cost a column: distinct values × K² / 2 × range of sums.
"""

import numpy as np
from numpy.typing import NDArray

from rarefuse.compiled import njit, prange
from rarefuse.rankers.base import Task
from rarefuse.rankers.semantic import fill_column, largest_size, mean_best_match, query_terms


@njit(cache=True, nogil=True)
def binomial(n: int, k: int) -> float:
    """Binomial coefficient as a float."""
    result = 1.0
    for i in range(k):
        result = result * (n - i) / (i + 1)
    return result


@njit(cache=True, nogil=True)
def exact_tails(counts: NDArray[np.int64], largest: int, tails: NDArray[np.float64]) -> None:
    """Tail probabilities of sums of terms drawn without replacement.

    Parameters
    ----------
    counts : ndarray of int64, shape (V,)
        Terms of each value 0 … V - 1, in grid steps; together all terms drawn from.
    largest : int
        Largest query size K.
    tails : ndarray of float64, shape (K + 1, K·(V - 1) + 2)
        Afterwards ``tails[k, s]`` = P(sum of k different terms ≥ s) for k from 1.
    """
    tails[:] = 0.0
    tails[0, 0] = 1.0
    n_terms = counts.sum()
    seen = 0
    top = np.zeros(largest + 1, np.int64)
    for value in range(1, len(counts)):
        n = counts[value]
        if n == 0:
            continue
        seen += n
        for k in range(min(largest, seen), 0, -1):
            for j in range(1, min(k, n) + 1):
                if k - j > seen - n:
                    continue
                ways = binomial(n, j)
                shift = j * value
                width = top[k - j] + 1
                into = tails[k, shift : shift + width]
                source = tails[k - j, :width]
                for s in range(width):
                    into[s] += ways * source[s]
        for k in range(min(largest, seen), 0, -1):
            best = 0
            for j in range(1, min(k, n) + 1):
                if k - j <= seen - n:
                    best = max(best, top[k - j] + j * value)
            top[k] = max(top[k], best)
    for k in range(largest, 0, -1):
        for j in range(1, min(k, counts[0]) + 1):
            ways = binomial(counts[0], j)
            width = top[k - j] + 1
            for s in range(width):
                tails[k, s] += ways * tails[k - j, s]
            # Not only k - 1: with fewer than k - 1 other terms that size had no sums until now.
            top[k] = max(top[k], width - 1)
    for k in range(1, largest + 1):
        all_ways = binomial(n_terms, k)
        above = 0.0
        for s in range(top[k], -1, -1):
            above += tails[k, s]
            tails[k, s] = above / all_ways


@njit(cache=True, nogil=True, parallel=True)
def exact_columns(
    task: Task,
    cap: int,
    grid: float,
    chunks: int,
    score: NDArray[np.float64],
    p_value: NDArray[np.float64],
) -> None:
    """Write score and exact p-value of every column against its queries.

    As `sampled_columns`, with P(random query scores at least as high) in place of its estimate.
    `cap` is the largest size with a null of its own, `grid` the steps a nat to which best matches
    are rounded.
    """
    n_columns, n_terms = len(task.disease), len(task.ic)
    top_value = 0
    for t in range(n_terms):
        top_value = max(top_value, int(task.ic[t] * grid + 0.5))
    for chunk in prange(chunks):
        closed = np.empty(n_terms, np.bool_)
        column = np.empty(n_terms, np.float32)
        value = np.empty(n_terms, np.int64)
        tails = np.zeros((cap + 1, cap * top_value + 2))
        for c in range(chunk * n_columns // chunks, (chunk + 1) * n_columns // chunks):
            fill_column(task, c, closed, column)
            counts = np.zeros(top_value + 1, np.int64)
            for t in range(n_terms):
                value[t] = int(column[t] * grid + 0.5)
                counts[value[t]] += 1
            largest = largest_size(task, c, cap)
            exact_tails(counts, largest, tails[: largest + 1])
            for q in range(task.start[c], task.stop[c]):
                own = query_terms(task, q)
                size = min(cap, len(own))
                total = 0
                for term in own:
                    total += value[term]
                reach = (total * size + len(own) - 1) // len(own)
                score[q, task.disease[c]] = mean_best_match(column, own)
                p_value[q, task.disease[c]] = min(1.0, tails[size, reach])
