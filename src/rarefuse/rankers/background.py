"""Frequencies of terms in diseases, and their means over all candidates, the backgrounds.

F_d(t) is the largest pooled frequency of disease d's annotations at or below term t, 0 where there
is none; an absent annotation, one with a numerator of 0, counts for nothing. The background of t is
the mean of F_d(t) over the candidates (REFERENCE_LIRICAL).

Both are sums of many summands that LOPO changes a few of. Frequencies are therefore summed as whole
multiples of 2^-40, which integers add without rounding: what LOPO gets by taking a publication's
annotations out of the sum is, bit for bit, what summing the filtered annotations would give. In the
same way logarithms are rounded to multiples of 2^-32 nat, so that their sums are exact: equal
products are equal bits, whatever the order of a query's terms.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.compiled import njit, prange
from rarefuse.rankers.base import Columns, Queries, base_columns

FREQUENCY_UNITS = float(1 << 40)
"""Units of frequency in 1. Sums over up to 2^22 candidates fit an int64."""
LOG_UNITS = float(1 << 32)
"""Units of log likelihood ratio in 1 nat. Sums are exact below 2^20 nat."""
LEAST_BACKGROUND = 1e-4


class Profiles(NamedTuple):
    """Direct annotations with frequencies, and the ontology, as the compiled kernels take them.

    Fields are those of `Columns` (C columns) and of the ontology (T terms).
    """

    disease: NDArray[np.int32]
    ptr: NDArray[np.int64]
    terms: NDArray[np.int32]
    numerator: NDArray[np.int32]
    denominator: NDArray[np.int32]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    parent_ptr: NDArray[np.int32]
    parents: NDArray[np.int32]


class Groups(NamedTuple):
    """Queries that share their backgrounds: those of one publication that LOPO removes from.

    Parameters
    ----------
    of_query : ndarray of int64, shape (Q,)
        Group of each query; 0 is the group of all that nothing is removed for.
    column_ptr : ndarray of int64, shape (G + 1,)
        Touched columns of each group; group 0 has none.
    """

    of_query: NDArray[np.int64]
    column_ptr: NDArray[np.int64]


def make_profiles(knowledge: Knowledge, columns: Columns) -> Profiles:
    """Arrays of some columns."""
    return Profiles(
        columns.disease,
        columns.ptr,
        columns.terms,
        columns.numerator,
        columns.denominator,
        columns.start,
        columns.stop,
        knowledge.ontology.parent_ptr,
        knowledge.ontology.parents,
    )


def make_groups(n_queries: int, columns: Columns | None = None) -> Groups:
    """Group the queries by the columns that they are scored against.

    Parameters
    ----------
    n_queries : int
        Q.
    columns : Columns or None
        As `lopo_columns` gives them; None for the ordinary protocol, which has one group.
    """
    of_query = np.zeros(n_queries, np.int64)
    if columns is None or not len(columns):
        return Groups(of_query, np.zeros(2, np.int64))
    first, last = columns.by_query(n_queries)
    touched = last > first
    begins = np.unique(first[touched])
    of_query[touched] = np.searchsorted(begins, first[touched]) + 1
    return Groups(of_query, np.concatenate([[0], begins, [len(columns)]]))


def backgrounds(
    knowledge: Knowledge,
    queries: Queries,
    columns: Columns | None,
    groups: Groups,
    wanted_group: NDArray[np.int64],
    wanted_term: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Background of some terms in some groups.

    A candidate without any annotation, or left without one, is no candidate in that group: it is
    not counted in the mean.

    Parameters
    ----------
    columns : Columns or None
        What remains of each group's touched diseases; None where there is but group 0.
    wanted_group : ndarray of int64, shape (W,)
        Groups, ascending.
    wanted_term : ndarray of int32, shape (W,)
        Ontology rows.

    Returns
    -------
    ndarray of float64, shape (W,)
        Mean frequency in 0 … 1, without a least value.
    """
    everyone = make_profiles(knowledge, base_columns(knowledge, queries))
    n_terms = len(knowledge.ontology.term_ids)
    totals = frequency_totals(everyone, n_terms, 16)
    wanted_ptr = np.searchsorted(wanted_group, np.arange(len(groups.column_ptr)))
    result = np.empty(len(wanted_term))
    group_backgrounds(
        everyone,
        everyone if columns is None else make_profiles(knowledge, columns),
        totals,
        int(np.count_nonzero(np.diff(knowledge.profile_ptr))),
        groups.column_ptr,
        wanted_ptr,
        wanted_term,
        result,
    )
    return result


@njit(cache=True, nogil=True)
def on_grid(x: float) -> float:
    """Round a logarithm to a multiple of 2^-32 nat."""
    return np.rint(x * LOG_UNITS) / LOG_UNITS


@njit(cache=True, nogil=True)
def grid_logs(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logarithm of each value, rounded to the grid; minus infinity for 0 and less."""
    logs = np.empty(len(values))
    for i in range(len(values)):
        logs[i] = on_grid(np.log(values[i])) if values[i] > 0.0 else -np.inf
    return logs


@njit(cache=True, nogil=True)
def frequency_column(profiles: Profiles, c: int, column: NDArray[np.float64]) -> None:
    """Fill `column`, shape (T,), with F_d(t) of column `c`; O(T + edges below the profile)."""
    column[:] = 0.0
    for i in range(profiles.ptr[c], profiles.ptr[c + 1]):
        column[profiles.terms[i]] = profiles.numerator[i] / profiles.denominator[i]
    for t in range(len(column) - 1, -1, -1):
        if column[t] > 0.0:
            for i in range(profiles.parent_ptr[t], profiles.parent_ptr[t + 1]):
                p = profiles.parents[i]
                column[p] = max(column[p], column[t])


@njit(cache=True, nogil=True)
def add_units(column: NDArray[np.float64], sign: int, totals: NDArray[np.int64]) -> None:
    """Add a column of frequencies, times 1 or -1, to totals in units of 2^-40."""
    for t in range(len(column)):
        if column[t] > 0.0:
            totals[t] += sign * np.int64(np.rint(column[t] * FREQUENCY_UNITS))


@njit(cache=True, nogil=True, parallel=True)
def frequency_totals(profiles: Profiles, n_terms: int, chunks: int) -> NDArray[np.int64]:
    """Sum of F_d(t) over the columns, in units of 2^-40, shape (T,)."""
    partial = np.zeros((chunks, n_terms), np.int64)
    for k in prange(chunks):
        column = np.empty(n_terms)
        for c in range(k, len(profiles.disease), chunks):
            frequency_column(profiles, c, column)
            add_units(column, 1, partial[k])
    return partial.sum(axis=0)


@njit(cache=True, nogil=True, parallel=True)
def group_backgrounds(
    everyone: Profiles,
    touched: Profiles,
    totals: NDArray[np.int64],
    n_candidates: int,
    column_ptr: NDArray[np.int64],
    wanted_ptr: NDArray[np.int64],
    wanted_term: NDArray[np.int32],
    result: NDArray[np.float64],
) -> None:
    """Write each group's mean frequencies of its wanted terms into `result`, shape (W,).

    Parameters
    ----------
    everyone, touched : Profiles
        Whole profiles, one a candidate in candidate order, and what is left of them.
    totals : ndarray of int64, shape (T,)
        `frequency_totals` of `everyone`.
    n_candidates : int
        Candidates with an annotation.
    column_ptr : ndarray of int64, shape (G + 1,)
        Columns of `touched` of each group.
    wanted_ptr : ndarray of int64, shape (G + 1,)
        Entries of `wanted_term` of each group.
    """
    for g in prange(len(column_ptr) - 1):
        own = totals.copy()
        column = np.empty(len(totals))
        left = n_candidates
        for c in range(column_ptr[g], column_ptr[g + 1]):
            frequency_column(everyone, touched.disease[c], column)
            add_units(column, -1, own)
            frequency_column(touched, c, column)
            add_units(column, 1, own)
            if touched.ptr[c] == touched.ptr[c + 1]:
                left -= 1
        for i in range(wanted_ptr[g], wanted_ptr[g + 1]):
            result[i] = own[wanted_term[i]] / FREQUENCY_UNITS / max(1, left)
