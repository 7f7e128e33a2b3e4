"""Naive Bayes likelihood ratios: how much likelier a disease makes the terms than the background.

Score, in nats: the sum over observed terms t of ln(max(F_d(t), floor) / background(t)), and with
excluded terms also of ln((1 - min(F_d(t), 0.99)) / (1 - min(background(t), 0.99))). F_d(t) and
background(t) are those of `rarefuse.rankers.background`, the background at least 1e-4
(FUSION_SPEC section 4).

A query's backgrounds are the same for all diseases, so they shift its scores but do not order them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.compiled import njit, prange
from rarefuse.errors import InputError
from rarefuse.rankers.background import (
    LEAST_BACKGROUND,
    Groups,
    Profiles,
    backgrounds,
    frequency_column,
    grid_logs,
    make_groups,
    make_profiles,
    on_grid,
)
from rarefuse.rankers.base import Columns, Queries, Scores, base_columns
from rarefuse.rankers.semantic import empty_scores

LARGEST_FREQUENCY = 0.99
"""Frequencies are no larger where their complement is taken, so that no disease is ruled out."""


@njit(cache=True, nogil=True, parallel=True)
def naive_bayes_columns(
    profiles: Profiles,
    floor: float,
    observed_ptr: NDArray[np.int64],
    observed: NDArray[np.int32],
    excluded_ptr: NDArray[np.int64],
    excluded: NDArray[np.int32],
    background: NDArray[np.float64],
    score: NDArray[np.float64],
) -> None:
    """Write ``score[query, disease]`` of every column against its queries.

    Parameters
    ----------
    profiles : Profiles
        C columns.
    floor : float
        Least frequency.
    observed_ptr, observed, excluded_ptr, excluded : ndarray
        Terms of the Q queries.
    background : ndarray of float64, shape (Q,)
        The background's log probability of each query in nats, to be subtracted.
    score : ndarray of float64, shape (Q, D)
        Minus infinity where a column is empty.
    """
    n_terms = len(profiles.parent_ptr) - 1
    least = on_grid(np.log(floor))
    for c in prange(len(profiles.disease)):
        d = profiles.disease[c]
        if profiles.ptr[c] == profiles.ptr[c + 1]:
            for q in range(profiles.start[c], profiles.stop[c]):
                score[q, d] = -np.inf
            continue
        present = np.empty(n_terms)
        absent = np.empty(n_terms)
        frequency_column(profiles, c, present)
        for t in range(n_terms):
            f = present[t]
            absent[t] = on_grid(np.log(1.0 - min(f, LARGEST_FREQUENCY))) if f > 0.0 else 0.0
            present[t] = on_grid(np.log(f)) if f > floor else least
        for q in range(profiles.start[c], profiles.stop[c]):
            total = 0.0
            for i in range(observed_ptr[q], observed_ptr[q + 1]):
                total += present[observed[i]]
            for i in range(excluded_ptr[q], excluded_ptr[q + 1]):
                total += absent[excluded[i]]
            score[q, d] = total - background[q]


@dataclass(frozen=True)
class NaiveBayes:
    """Sum of log likelihood ratios of a case's terms, as if they were independent.

    A disease without annotations, or that LOPO leaves without any, is no candidate: it scores minus
    infinity and stands last. Equal scores stand in the neutral order.

    Parameters
    ----------
    excluded : bool
        Whether excluded terms count too.
    floor : float
        Least frequency of an observed term, in 0 … 1; that of a term that the disease is not
        annotated with.

    Raises
    ------
    InputError
        If `floor` is no probability above 0.
    """

    excluded: bool = False
    floor: float = 0.01

    def __post_init__(self) -> None:
        """Refuse a floor that has no logarithm."""
        if not 0.0 < self.floor <= 1.0:
            raise InputError(
                "the least frequency of naive Bayes is out of range",
                where="config, rankers",
                found=f"floor: {self.floor}",
                expected="a number above 0, at most 1",
            )

    def ordinary(self, knowledge: Knowledge, queries: Queries) -> Scores:
        """Scores with all annotations."""
        queries = self._seen(queries)
        scores = empty_scores(knowledge, queries)
        shift = background_logs(knowledge, queries, None, make_groups(len(queries)))
        self._fill(knowledge, queries, base_columns(knowledge, queries), shift, scores)
        return scores

    def lopo(
        self, knowledge: Knowledge, queries: Queries, columns: Columns, scores: Scores
    ) -> Scores:
        """Scores with the touched profiles and the backgrounds rebuilt, in place of the ordinary.

        Sums are exact, so exchanging a query's backgrounds in a finished score gives the bits that
        scoring anew would.
        """
        queries = self._seen(queries)
        before = background_logs(knowledge, queries, None, make_groups(len(queries)))
        groups = make_groups(len(queries), columns)
        after = background_logs(knowledge, queries, columns, groups)
        changed = np.flatnonzero(before != after)
        for q in changed:
            scores.score[q] += before[q] - after[q]
        self._fill(knowledge, queries, columns, after, scores)
        return scores

    def _seen(self, queries: Queries) -> Queries:
        return queries if self.excluded else queries.without_excluded()

    def _fill(
        self,
        knowledge: Knowledge,
        queries: Queries,
        columns: Columns,
        shift: NDArray[np.float64],
        scores: Scores,
    ) -> None:
        naive_bayes_columns(
            make_profiles(knowledge, columns),
            self.floor,
            queries.observed_ptr,
            queries.observed,
            queries.excluded_ptr,
            queries.excluded,
            shift,
            scores.score,
        )


def background_logs(
    knowledge: Knowledge, queries: Queries, columns: Columns | None, groups: Groups
) -> NDArray[np.float64]:
    """Log probability of each query under the backgrounds of its group, in nats.

    Returns
    -------
    ndarray of float64, shape (Q,)
        Sum over observed terms of ln(background) and over excluded ones of ln(1 - background), each
        rounded to the grid of `on_grid`.
    """
    n_terms = len(knowledge.ontology.term_ids)
    asked = [
        (query, groups.of_query[query] * n_terms + terms)
        for ptr, terms in (
            (queries.observed_ptr, queries.observed),
            (queries.excluded_ptr, queries.excluded),
        )
        for query in [np.repeat(np.arange(len(queries)), np.diff(ptr))]
    ]
    slots = np.unique(np.concatenate([slot for _, slot in asked]))
    mean = backgrounds(
        knowledge, queries, columns, groups, slots // n_terms, (slots % n_terms).astype(np.int32)
    )
    mean = np.maximum(mean, LEAST_BACKGROUND)
    total = np.zeros(len(queries))
    for (query, slot), values in zip(
        asked, (mean, 1.0 - np.minimum(mean, LARGEST_FREQUENCY)), strict=True
    ):
        logs = grid_logs(values)[np.searchsorted(slots, slot)]
        total += np.bincount(query, weights=logs, minlength=len(queries))
    return total
