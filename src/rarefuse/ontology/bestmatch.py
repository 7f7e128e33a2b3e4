"""The best-match table m_d(t): the largest information content that term and profile share.

m_d(t) = max IC over the common ancestors of t and the profile of d. Since a term's ancestors are
itself and its parents' ancestors, m_d(t) = IC(t) if t is in d's ancestor-closed profile, else the
maximum over t's parents (0 at a root outside the profile). With terms in topological order one
backward pass closes the profile and one forward pass fills the column: O(T + edges) a disease,
whatever the size of the profile.
"""

import numpy as np
from numpy.typing import NDArray

from rarefuse.compiled import njit, prange


@njit(cache=True, nogil=True)
def close_profile(
    profile: NDArray[np.int32],
    parent_ptr: NDArray[np.int32],
    parents: NDArray[np.int32],
    closed: NDArray[np.bool_],
) -> None:
    """Mark a profile's terms and their ancestors; arguments as in `best_match_column`."""
    closed[:] = False
    for term in profile:
        closed[term] = True
    for term in range(len(closed) - 1, -1, -1):
        if closed[term]:
            for i in range(parent_ptr[term], parent_ptr[term + 1]):
                closed[parents[i]] = True


@njit(cache=True, nogil=True)
def best_match_column(
    profile: NDArray[np.int32],
    ic: NDArray[np.float32],
    parent_ptr: NDArray[np.int32],
    parents: NDArray[np.int32],
    closed: NDArray[np.bool_],
    column: NDArray[np.float32],
) -> None:
    """Fill the column of one profile.

    Parameters
    ----------
    profile : ndarray of int32, shape (P,)
        Ontology rows of the profile's terms, in any order; may be empty.
    ic : ndarray of float32, shape (T,)
        Information content in nats, terms in topological order. Single precision, as the
        reference stores its pair similarities (REFERENCE_PHENOMIZER).
    parent_ptr, parents : ndarray of int32
        Parents of term t at ``parents[parent_ptr[t]:parent_ptr[t + 1]]``.
    closed : ndarray of bool, shape (T,)
        Work space; afterwards the ancestor-closed profile.
    column : ndarray of float32, shape (T,)
        Afterwards m_d(t) in nats.
    """
    close_profile(profile, parent_ptr, parents, closed)
    for term in range(len(ic)):
        if closed[term]:
            column[term] = ic[term]
        else:
            best = np.float32(0.0)
            for i in range(parent_ptr[term], parent_ptr[term + 1]):
                best = max(best, column[parents[i]])
            column[term] = best


@njit(cache=True, nogil=True, parallel=True)
def best_match_table(
    profile_ptr: NDArray[np.int64],
    profile_terms: NDArray[np.int32],
    ic: NDArray[np.float32],
    parent_ptr: NDArray[np.int32],
    parents: NDArray[np.int32],
) -> NDArray[np.float32]:
    """Columns of several profiles as rows of one array, shape (D, T), in nats.

    4·D·T bytes: 0.68 GB for 8,553 profiles over 19,810 terms. The rankers never hold it whole;
    they make a column, use it and forget it.
    """
    n = len(profile_ptr) - 1
    table = np.empty((n, len(ic)), np.float32)
    for d in prange(n):
        closed = np.empty(len(ic), np.bool_)
        best_match_column(
            profile_terms[profile_ptr[d] : profile_ptr[d + 1]],
            ic,
            parent_ptr,
            parents,
            closed,
            table[d],
        )
    return table
