"""The bare semantic scores: Resnik query-to-disease, and its symmetric best-match average."""

from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.ontology.bestmatch import best_match_column
from rarefuse.rankers.base import Columns, Queries, Scores, base_columns
from rarefuse.rankers.order import neutral_order


def empty_scores(knowledge: Knowledge, queries: Queries, *, p_value: bool = False) -> Scores:
    """Unfilled tables of the right shape, with the neutral order for full ties."""
    shape = (len(queries), len(knowledge.disease_ids))
    return Scores(
        np.empty(shape),
        np.empty(shape) if p_value else None,
        neutral_order(knowledge.disease_ids),
    )


@njit(cache=True, nogil=True)
def mean_best_match(column: NDArray[np.float32], terms: NDArray[np.int32]) -> float:
    """Mean of m_d(t) over the terms of a query, in nats.

    Single-precision summands are summed exactly in double precision (for fewer than 2^20 terms),
    so the sum does not depend on their order and equal scores are equal bits.
    """
    total = 0.0
    for term in terms:
        total += np.float64(column[term])
    return total / len(terms)


@njit(cache=True, nogil=True, parallel=True)
def resnik_columns(
    disease: NDArray[np.int32],
    ptr: NDArray[np.int64],
    terms: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    query_ptr: NDArray[np.int64],
    query_terms: NDArray[np.int32],
    ic: NDArray[np.float32],
    parent_ptr: NDArray[np.int32],
    parents: NDArray[np.int32],
    score: NDArray[np.float64],
) -> None:
    """Write the Resnik score of every column against its queries into ``score[query, disease]``.

    Arrays as in `Columns`, `Queries` and `best_match_column`. O(C·(T + terms of the queries)).
    """
    for c in prange(len(disease)):
        closed = np.empty(len(ic), np.bool_)
        column = np.empty(len(ic), np.float32)
        best_match_column(terms[ptr[c] : ptr[c + 1]], ic, parent_ptr, parents, closed, column)
        for q in range(start[c], stop[c]):
            score[q, disease[c]] = mean_best_match(
                column, query_terms[query_ptr[q] : query_ptr[q + 1]]
            )


@njit(cache=True, nogil=True, parallel=True)
def disease_side_columns(
    disease: NDArray[np.int32],
    ptr: NDArray[np.int64],
    terms: NDArray[np.int32],
    first_column: NDArray[np.int64],
    last_column: NDArray[np.int64],
    query_ptr: NDArray[np.int64],
    query_terms: NDArray[np.int32],
    ic: NDArray[np.float32],
    parent_ptr: NDArray[np.int32],
    parents: NDArray[np.int32],
    score: NDArray[np.float64],
) -> None:
    """Average the disease-to-query best matches into ``score``.

    The query takes the profile's part: one column of the best-match table a query, looked up at
    the direct annotations of each candidate. Query q is scored against the columns
    ``first_column[q]`` to ``last_column[q]`` (exclusive). ``score`` holds the query-to-disease
    side and afterwards the mean of both; an empty profile scores 0.
    """
    for q in prange(len(query_ptr) - 1):
        closed = np.empty(len(ic), np.bool_)
        column = np.empty(len(ic), np.float32)
        best_match_column(
            query_terms[query_ptr[q] : query_ptr[q + 1]], ic, parent_ptr, parents, closed, column
        )
        for c in range(first_column[q], last_column[q]):
            own = terms[ptr[c] : ptr[c + 1]]
            if len(own) == 0:
                score[q, disease[c]] = 0.0
            else:
                score[q, disease[c]] = (score[q, disease[c]] + mean_best_match(column, own)) / 2.0


def _fill_resnik(knowledge: Knowledge, queries: Queries, columns: Columns, scores: Scores) -> None:
    ontology = knowledge.ontology
    resnik_columns(
        columns.disease,
        columns.ptr,
        columns.terms,
        columns.start,
        columns.stop,
        queries.observed_ptr,
        queries.observed,
        knowledge.ic.astype(np.float32),
        ontology.parent_ptr,
        ontology.parents,
        scores.score,
    )


def _fill_disease_side(
    knowledge: Knowledge, queries: Queries, columns: Columns, scores: Scores
) -> None:
    first, last = columns.by_query(len(queries))
    ontology = knowledge.ontology
    disease_side_columns(
        columns.disease,
        columns.ptr,
        columns.terms,
        first,
        last,
        queries.observed_ptr,
        queries.observed,
        knowledge.ic.astype(np.float32),
        ontology.parent_ptr,
        ontology.parents,
        scores.score,
    )


@dataclass(frozen=True)
class Resnik:
    """Mean over the query terms of m_d(t) (FUSION_SPEC section 4; Köhler et al. 2009)."""

    def ordinary(self, knowledge: Knowledge, queries: Queries) -> Scores:
        """Scores with all annotations."""
        scores = empty_scores(knowledge, queries)
        _fill_resnik(knowledge, queries, base_columns(knowledge, queries), scores)
        return scores

    def lopo(
        self, knowledge: Knowledge, queries: Queries, columns: Columns, scores: Scores
    ) -> Scores:
        """Scores with touched profiles rebuilt, in place of the ordinary ones."""
        _fill_resnik(knowledge, queries, columns, scores)
        return scores


@dataclass(frozen=True)
class BestMatchAverage:
    """Mean of the query-to-disease and disease-to-query best-match averages.

    The disease side runs over direct annotations; an empty profile scores 0.
    """

    def ordinary(self, knowledge: Knowledge, queries: Queries) -> Scores:
        """Scores with all annotations."""
        columns = base_columns(knowledge, queries)
        scores = empty_scores(knowledge, queries)
        _fill_resnik(knowledge, queries, columns, scores)
        _fill_disease_side(knowledge, queries, columns, scores)
        return scores

    def lopo(
        self, knowledge: Knowledge, queries: Queries, columns: Columns, scores: Scores
    ) -> Scores:
        """Scores with touched profiles rebuilt, in place of the ordinary ones."""
        _fill_resnik(knowledge, queries, columns, scores)
        _fill_disease_side(knowledge, queries, columns, scores)
        return scores
