"""What each group of evidence added to a candidate's score, and the terms behind it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rarefuse.compiled import njit, prange
from rarefuse.fusion.evidence import Protocol, pair_columns
from rarefuse.ontology.bestmatch import close_profile
from rarefuse.rankers.background import Profiles, make_profiles
from rarefuse.rerank.columns import GROUPS
from rarefuse.rerank.model import Shapes, to_levels


def contributions(shapes: Sequence[Shapes], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over some scorers of each group's part of the score.

    Parameters
    ----------
    shapes : sequence of Shapes
        Scorers with the same columns.
    values : ndarray of float64, shape (N, F)
        Evidence.

    Returns
    -------
    ndarray of float64, shape (N, len(GROUPS))
        In log odds, against an ordinary candidate. A candidate's score is its row's sum.
    """
    total = np.zeros((len(values), len(GROUPS)))
    for one in shapes:
        group_of = np.array([GROUPS.index(c.group) for c in one.columns])
        _add_by_group(to_levels(values, one.cuts), one.tables, group_of, total)
    return total / len(shapes)


@njit(cache=True, nogil=True, parallel=True)
def _add_by_group(
    levels: NDArray[np.uint8],
    tables: NDArray[np.float64],
    group_of: NDArray[np.int64],
    total: NDArray[np.float64],
) -> None:
    for i in prange(levels.shape[0]):
        for f in range(levels.shape[1]):
            total[i, group_of[f]] += tables[f, levels[i, f]]


def annotated_terms(
    protocol: Protocol, query: NDArray[np.int64], disease: NDArray[np.int32]
) -> tuple[list[list[str]], list[list[str]]]:
    """Findings of each case that its candidates are annotated with, exactly or by a descendant.

    Parameters
    ----------
    query, disease : ndarray, shape (P,)
        Pairs, as in `rarefuse.fusion.evidence.pair_evidence`.

    Returns
    -------
    observed, excluded : list of list of str
        HP CURIEs of each pair, in the case's order.
    """
    queries = protocol.queries
    profiles = make_profiles(protocol.knowledge, protocol.columns)
    slot = pair_columns(protocol, query, disease)
    pairs = np.argsort(slot, kind="stable")
    columns, begins = np.unique(slot[pairs], return_index=True)
    names = protocol.knowledge.ontology.term_ids
    result = []
    for ptr, terms in (
        (queries.observed_ptr, queries.observed),
        (queries.excluded_ptr, queries.excluded),
    ):
        starts = np.concatenate([[0], np.cumsum(np.diff(ptr)[query])]).astype(np.int64)
        held = np.zeros(starts[-1], np.bool_)
        _mark_held(
            profiles, columns, np.append(begins, len(query)), pairs, ptr[query], terms, starts, held
        )
        result.append(
            [
                [names[terms[ptr[q] + i]] for i in np.flatnonzero(held[begin:end])]
                for q, begin, end in zip(query, starts[:-1], starts[1:], strict=True)
            ]
        )
    return result[0], result[1]


@njit(cache=True, nogil=True, parallel=True)
def _mark_held(
    profiles: Profiles,
    columns: NDArray[np.int64],
    pair_ptr: NDArray[np.int64],
    pairs: NDArray[np.int64],
    first_term: NDArray[np.int64],
    terms: NDArray[np.int32],
    starts: NDArray[np.int64],
    held: NDArray[np.bool_],
) -> None:
    """Mark the terms of each pair that are in its ancestor-closed profile."""
    n_terms = len(profiles.parent_ptr) - 1
    for u in prange(len(columns)):
        c = columns[u]
        closed = np.empty(n_terms, np.bool_)
        own = profiles.terms[profiles.ptr[c] : profiles.ptr[c + 1]]
        close_profile(own, profiles.parent_ptr, profiles.parents, closed)
        for k in range(pair_ptr[u], pair_ptr[u + 1]):
            p = pairs[k]
            for i in range(starts[p + 1] - starts[p]):
                held[starts[p] + i] = closed[terms[first_term[p] + i]]
