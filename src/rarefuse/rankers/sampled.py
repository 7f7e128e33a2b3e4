"""Null distribution of the Resnik score by shared Monte Carlo sampling, and its p-values.

The score of a random query is a mean of entries of one column of the best-match table. One set
of N random queries serves every candidate, every size (size k uses the first k draws) and both
protocols, so candidates are compared under common random numbers, and a column costs N·K look-ups
in 40 kB. Cost grows with candidates × samples × largest size and hardly with the number of terms
(as long as a column fits the processor's first cache) or of queries.
"""

import numpy as np
from numpy.typing import NDArray

from rarefuse import seeds
from rarefuse.compiled import get_num_threads, njit, prange
from rarefuse.rankers.base import Task
from rarefuse.rankers.semantic import fill_column, largest_size, query_terms

GRID = 1000
"""Steps a nat: a term's best match is rounded to 0.001 before null scores are compared."""


def draw_queries(n_terms: int, samples: int, size: int, seed: int) -> NDArray[np.unsignedinteger]:
    """Random queries without replacement, shared by all candidates.

    Parameters
    ----------
    n_terms : int
        Terms to draw from, uniformly: all live terms of the ontology.
    samples, size : int
        Number of queries and terms in each.
    seed : int
        Seed of the ranker. Position j of every query has its own stream, so that the first
        positions do not depend on `size`.

    Returns
    -------
    ndarray of uint16 (uint32 above 65,535 terms), shape (samples, size)
    """
    dtype = np.uint16 if n_terms <= 1 << 16 else np.uint32
    draws = np.empty((samples, size), dtype)
    for j in range(size):
        random = seeds.generator(seed, "null draws", j)
        todo = np.arange(samples)
        while len(todo):
            draws[todo, j] = random.integers(0, n_terms, len(todo))
            repeated = (draws[todo, :j] == draws[todo, j : j + 1]).any(axis=1)
            todo = todo[repeated]
    return draws


@njit(cache=True, nogil=True)
def most_steps(ic: NDArray[np.float32]) -> int:
    """Grid steps of the largest best match that there can be."""
    top = 0
    for t in range(len(ic)):
        top = max(top, int(ic[t] * GRID + 0.5))
    return top


@njit(cache=True, nogil=True)
def fill_steps(
    task: Task,
    c: int,
    closed: NDArray[np.bool_],
    column: NDArray[np.float32],
    value: NDArray[np.uint16],
) -> None:
    """Write a column of the best-match table, in nats and in grid steps; all of shape (T,)."""
    fill_column(task, c, closed, column)
    for t in range(len(column)):
        value[t] = np.uint16(column[t] * np.float32(GRID) + np.float32(0.5))


@njit(cache=True, nogil=True, parallel=True)
def sampled_columns(
    task: Task,
    draws: NDArray[np.unsignedinteger],
    chunks: int,
    score: NDArray[np.float64],
    p_value: NDArray[np.float64],
) -> None:
    """Write score and p-value of every column against its queries.

    ``p = (1 + #{random queries scoring at least as high}) / (1 + N)``: with N samples a p-value of
    0 cannot be known, and this one is valid (Phipson and Smyth 2010); the order it gives is that
    of the plain share. A query longer than the draws is compared, mean with mean, with the null of
    the largest size (the reference tool's cap).

    Parameters
    ----------
    task : Task
        Columns and queries.
    draws : ndarray of unsigned int, shape (N, K)
        From `draw_queries`.
    chunks : int
        Parts to divide the columns into for the threads; each holds one histogram of
        K × K·max(IC)·1000 counts.
    score, p_value : ndarray of float64, shape (Q, D)
        Written to where a column meets its queries.
    """
    n_samples, cap = draws.shape
    n_columns, n_terms = len(task.disease), len(task.ic)
    top_value = most_steps(task.ic)
    for chunk in prange(chunks):
        closed = np.empty(n_terms, np.bool_)
        column = np.empty(n_terms, np.float32)
        value = np.empty(n_terms, np.uint16)
        histogram = np.zeros((cap, cap * top_value + 2), np.int32)
        # A chunk's columns are neighbours, so that its writes share cache lines.
        for c in range(chunk * n_columns // chunks, (chunk + 1) * n_columns // chunks):
            fill_steps(task, c, closed, column, value)
            largest = largest_size(task, c, cap)
            top = count_sums(value, draws, largest, histogram)
            for k in range(largest):
                for b in range(min(top, (k + 1) * top_value) - 1, -1, -1):
                    histogram[k, b] += histogram[k, b + 1]
            for q in range(task.start[c], task.stop[c]):
                own = query_terms(task, q)
                size = min(cap, len(own))
                total = np.int64(0)
                mean = 0.0
                for term in own:
                    mean += np.float64(column[term])
                    total += np.int64(value[term])
                # The smallest sum of `size` draws whose mean is at least the query's.
                reach = (total * size + len(own) - 1) // len(own)
                above = histogram[size - 1, reach]
                score[q, task.disease[c]] = mean / len(own)
                p_value[q, task.disease[c]] = (1.0 + above) / (1.0 + n_samples)
            for k in range(largest):
                histogram[k, : min(top, (k + 1) * top_value) + 1] = 0


@njit(cache=True, nogil=True)
def count_sums(
    value: NDArray[np.uint16],
    draws: NDArray[np.unsignedinteger],
    largest: int,
    histogram: NDArray[np.int32],
) -> int:
    """Count, for each size up to `largest`, the sums of the first terms of every random query.

    Adds to ``histogram[size - 1, sum]`` and returns the largest sum seen. This loop is where the
    time goes; unsigned indices spare it the test for negative ones.
    """
    top = np.uint32(0)
    for i in range(draws.shape[0]):
        total = np.uint32(0)
        for k in range(largest):
            total = np.uint32(total + value[draws[i, k]])
            histogram[k, total] += np.int32(1)
        top = max(top, total)
    return int(top)


def chunk_count(n_columns: int) -> int:
    """Parts to divide columns into: some a thread, so that uneven ones even out."""
    return int(max(1, min(n_columns, 4 * get_num_threads())))
