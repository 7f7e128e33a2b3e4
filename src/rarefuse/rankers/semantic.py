"""The bare semantic scores: Resnik query-to-disease, and its symmetric best-match average."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.compiled import njit, prange
from rarefuse.ontology.bestmatch import best_match_column
from rarefuse.rankers.base import Columns, Queries, Scores, Task, base_columns, make_task
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


@njit(cache=True, nogil=True)
def fill_column(task: Task, c: int, closed: NDArray[np.bool_], column: NDArray[np.float32]) -> None:
    """Best matches of column `c` of a task; work space and result as in `best_match_column`."""
    best_match_column(
        task.column_terms[task.column_ptr[c] : task.column_ptr[c + 1]],
        task.ic,
        task.parent_ptr,
        task.parents,
        closed,
        column,
    )


@njit(cache=True, nogil=True)
def query_terms(task: Task, q: int) -> NDArray[np.int32]:
    """Terms of query `q` of a task."""
    return task.query_terms[task.query_ptr[q] : task.query_ptr[q + 1]]


@njit(cache=True, nogil=True)
def largest_size(task: Task, c: int, cap: int) -> int:
    """Terms of the largest query that column `c` is scored against, at most `cap`."""
    largest = 0
    for q in range(task.start[c], task.stop[c]):
        largest = max(largest, min(cap, int(task.query_ptr[q + 1] - task.query_ptr[q])))
    return largest


@njit(cache=True, nogil=True, parallel=True)
def resnik_columns(task: Task, score: NDArray[np.float64]) -> None:
    """Write the Resnik score of every column against its queries; O(C·(T + terms of queries))."""
    for c in prange(len(task.disease)):
        closed = np.empty(len(task.ic), np.bool_)
        column = np.empty(len(task.ic), np.float32)
        fill_column(task, c, closed, column)
        for q in range(task.start[c], task.stop[c]):
            score[q, task.disease[c]] = mean_best_match(column, query_terms(task, q))


@njit(cache=True, nogil=True, parallel=True)
def disease_side_columns(
    task: Task,
    first_column: NDArray[np.int64],
    last_column: NDArray[np.int64],
    score: NDArray[np.float64],
) -> None:
    """Average the disease-to-query best matches into the scores.

    The query takes the profile's part: one column of the best-match table a query, looked up at
    the direct annotations of each candidate. Query q is scored against the columns
    ``first_column[q]`` to ``last_column[q]`` (exclusive). ``score`` holds the query-to-disease
    side and afterwards the mean of both; an empty profile scores 0.
    """
    for q in prange(len(task.query_ptr) - 1):
        closed = np.empty(len(task.ic), np.bool_)
        column = np.empty(len(task.ic), np.float32)
        best_match_column(
            query_terms(task, q), task.ic, task.parent_ptr, task.parents, closed, column
        )
        for c in range(first_column[q], last_column[q]):
            own = task.column_terms[task.column_ptr[c] : task.column_ptr[c + 1]]
            d = task.disease[c]
            if len(own) == 0:
                score[q, d] = 0.0
            else:
                score[q, d] = (score[q, d] + mean_best_match(column, own)) / 2.0


@dataclass(frozen=True)
class Resnik:
    """Mean over the query terms of m_d(t) (FUSION_SPEC section 4; Köhler et al. 2009)."""

    def ordinary(self, knowledge: Knowledge, queries: Queries) -> Scores:
        """Scores with all annotations."""
        scores = empty_scores(knowledge, queries)
        return self.lopo(knowledge, queries, base_columns(knowledge, queries), scores)

    def lopo(
        self, knowledge: Knowledge, queries: Queries, columns: Columns, scores: Scores
    ) -> Scores:
        """Scores with touched profiles rebuilt, in place of the ordinary ones."""
        resnik_columns(make_task(knowledge, queries, columns), scores.score)
        return scores


@dataclass(frozen=True)
class BestMatchAverage:
    """Mean of the query-to-disease and disease-to-query best-match averages.

    The disease side runs over direct annotations; an empty profile scores 0.
    """

    def ordinary(self, knowledge: Knowledge, queries: Queries) -> Scores:
        """Scores with all annotations."""
        scores = empty_scores(knowledge, queries)
        return self.lopo(knowledge, queries, base_columns(knowledge, queries), scores)

    def lopo(
        self, knowledge: Knowledge, queries: Queries, columns: Columns, scores: Scores
    ) -> Scores:
        """Scores with touched profiles rebuilt, in place of the ordinary ones."""
        task = make_task(knowledge, queries, columns)
        resnik_columns(task, scores.score)
        disease_side_columns(task, *columns.by_query(len(queries)), scores.score)
        return scores
