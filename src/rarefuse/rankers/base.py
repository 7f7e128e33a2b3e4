"""What every ranker takes and gives.

A ranker scores Q queries against D candidates twice: with all annotations (`ordinary`) and with
what the case's own publication alone supports taken away (`lopo`). It never sees a diagnosis.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.ontology.arrays import flatten

ORDINARY = "ordinary"
LOPO = "lopo"


@dataclass(frozen=True)
class Queries:
    """Rankable cases, sorted by publication so that one publication's cases stand together.

    Parameters
    ----------
    case_ids : list of str
        Length Q.
    observed_ptr : ndarray of int64, shape (Q + 1,)
        Where each case's observed terms begin.
    observed : ndarray of int32
        Ontology rows of observed terms.
    publications : list of str or None
        Source publication of each case; None has nothing to leave out.
    excluded_ptr : ndarray of int64, shape (Q + 1,)
        Where each case's excluded terms begin.
    excluded : ndarray of int32
        Ontology rows of terms that were looked for and not found.
    """

    case_ids: list[str]
    observed_ptr: NDArray[np.int64]
    observed: NDArray[np.int32]
    publications: list[str | None]
    excluded_ptr: NDArray[np.int64]
    excluded: NDArray[np.int32]

    def __len__(self) -> int:
        """Count the cases."""
        return len(self.case_ids)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Observed terms of each case, shape (Q,)."""
        return np.diff(self.observed_ptr)

    def slice(self, start: int, stop: int) -> "Queries":
        """Cases `start` to `stop` as queries of their own."""
        ptr = self.observed_ptr[start : stop + 1]
        excluded_ptr = self.excluded_ptr[start : stop + 1]
        return Queries(
            self.case_ids[start:stop],
            ptr - ptr[0],
            self.observed[ptr[0] : ptr[-1]],
            self.publications[start:stop],
            excluded_ptr - excluded_ptr[0],
            self.excluded[excluded_ptr[0] : excluded_ptr[-1]],
        )

    def without_excluded(self) -> "Queries":
        """Return the same cases as if nothing had been excluded."""
        return replace(
            self,
            excluded_ptr=np.zeros_like(self.excluded_ptr),
            excluded=np.empty(0, np.int32),
        )


@dataclass(frozen=True)
class Columns:
    """Profiles to score, each against a range of queries.

    The ordinary protocol has one column a candidate, against all queries; LOPO has one a
    (publication, touched disease), against that publication's queries. Both run the same kernels.

    Parameters
    ----------
    disease : ndarray of int32, shape (C,)
        Candidate that the column belongs to.
    ptr : ndarray of int64, shape (C + 1,)
        Where each column's direct annotations begin.
    terms : ndarray of int32
        Ontology rows of direct annotations.
    numerator, denominator : ndarray of int32
        Counts behind each annotation's frequency, aligned with `terms`.
    start, stop : ndarray of int64, shape (C,)
        Range of queries that the column is scored against.
    """

    disease: NDArray[np.int32]
    ptr: NDArray[np.int64]
    terms: NDArray[np.int32]
    numerator: NDArray[np.int32]
    denominator: NDArray[np.int32]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]

    def __len__(self) -> int:
        """Count the columns."""
        return len(self.disease)

    def slice(self, begin: int, end: int) -> "Columns":
        """Columns `begin` to `end`."""
        return Columns(
            self.disease[begin:end],
            self.ptr[begin : end + 1],
            self.terms,
            self.numerator,
            self.denominator,
            self.start[begin:end],
            self.stop[begin:end],
        )

    def by_query(self, n_queries: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Range of columns that each query is scored against.

        Columns with the same queries stand together, so a range is enough.

        Returns
        -------
        first, last : ndarray of int64, shape (n_queries,)
            Columns ``first[q]`` to ``last[q]`` (exclusive); an empty range where there is none.
        """
        first = np.zeros(n_queries, np.int64)
        last = np.zeros(n_queries, np.int64)
        if not len(self):
            return first, last
        change = np.flatnonzero(np.diff(self.start, prepend=-1))
        for begin, end in zip(change, [*change[1:], len(self)], strict=True):
            first[self.start[begin] : self.stop[begin]] = begin
            last[self.start[begin] : self.stop[begin]] = end
        return first, last


@dataclass
class Scores:
    """Scores of Q queries against D candidates.

    Parameters
    ----------
    score : ndarray of float64, shape (Q, D)
        Larger is better.
    p_value : ndarray of float64, shape (Q, D), or None
        Where given it orders first, smaller is better, and the score breaks its ties.
    order : ndarray of int32, shape (D,)
        Position that breaks full ties, smaller first.
    """

    score: NDArray[np.float64]
    p_value: NDArray[np.float64] | None
    order: NDArray[np.int32]


class Task(NamedTuple):
    """Arrays of a scoring job, as the compiled kernels take them.

    Fields are those of `Columns`, `Queries` and the ontology: C columns, Q queries, T terms, D
    candidates. Kernels write ``score[query, disease]`` and ``p_value[query, disease]``, which are
    arguments of their own: numba drops writes to a tuple's arrays in a parallel loop.
    """

    disease: NDArray[np.int32]
    column_ptr: NDArray[np.int64]
    column_terms: NDArray[np.int32]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    query_ptr: NDArray[np.int64]
    query_terms: NDArray[np.int32]
    ic: NDArray[np.float32]
    parent_ptr: NDArray[np.int32]
    parents: NDArray[np.int32]


class Ranker(Protocol):
    """A ranker: scores for both protocols.

    `lopo` may overwrite and return what `ordinary` gave, which is what keeps memory at one score
    table; a caller that still needs the ordinary scores uses them first.
    """

    def ordinary(self, knowledge: Knowledge, queries: Queries) -> Scores:
        """Scores with all annotations."""
        ...

    def lopo(
        self, knowledge: Knowledge, queries: Queries, columns: Columns, scores: Scores
    ) -> Scores:
        """Scores with each case's own publication left out."""
        ...


def build_queries(
    knowledge: Knowledge,
    case_ids: Sequence[str],
    observed: Sequence[Sequence[str]],
    publications: Sequence[str | None],
    excluded: Sequence[Sequence[str]] | None = None,
) -> Queries:
    """Queries of the cases with at least one observed term, sorted by publication then case.

    Parameters
    ----------
    case_ids, observed, publications
        Of each case: its id, its observed terms and its source publication.
    excluded : sequence or None
        Excluded terms of each case; None for none in any.
    """
    index = knowledge.ontology.index
    rankable = [i for i, terms in enumerate(observed) if len(terms)]
    rankable.sort(key=lambda i: (publications[i] or "", case_ids[i]))
    ptr, flat = flatten([[index[t] for t in observed[i]] for i in rankable])
    excluded_ptr, excluded_flat = flatten(
        [[] if excluded is None else [index[t] for t in excluded[i]] for i in rankable]
    )
    return Queries(
        [case_ids[i] for i in rankable],
        ptr,
        flat,
        [publications[i] for i in rankable],
        excluded_ptr,
        excluded_flat,
    )


def corpus_queries(knowledge: Knowledge, view: pl.DataFrame, cases: pl.DataFrame) -> Queries:
    """Queries of a corpus's rankable cases.

    Parameters
    ----------
    view : polars.DataFrame
        `VIEW`: all that is seen of a case.
    cases : polars.DataFrame
        `CASES`, of which the publication is taken: it says what LOPO removes.
    """
    publication = dict(cases.select("case_id", "publication_id").iter_rows())
    case_ids = view["case_id"].to_list()
    return build_queries(
        knowledge,
        case_ids,
        view["observed"].to_list(),
        [publication[case_id] for case_id in case_ids],
        view["excluded"].to_list(),
    )


def base_columns(knowledge: Knowledge, queries: Queries) -> Columns:
    """Every candidate's whole profile against every query."""
    n = len(knowledge.disease_ids)
    return Columns(
        np.arange(n, dtype=np.int32),
        knowledge.profile_ptr,
        knowledge.profile_terms,
        knowledge.numerator,
        knowledge.denominator,
        np.zeros(n, np.int64),
        np.full(n, len(queries), np.int64),
    )


def lopo_columns(knowledge: Knowledge, queries: Queries, removed: pl.DataFrame) -> Columns:
    """Remaining profiles of the diseases that each publication touches.

    Parameters
    ----------
    removed : polars.DataFrame
        `REMOVED` for at least the publications of `queries`.

    Returns
    -------
    Columns
        By publication, then disease.
    """
    ranges: dict[str, tuple[int, int]] = {}
    for i, publication in enumerate(queries.publications):
        if publication is not None:
            ranges[publication] = (ranges.get(publication, (i, i))[0], i + 1)
    gone: dict[tuple[str, int], set[int]] = {}
    term_index, disease_index = knowledge.ontology.index, knowledge.disease_index
    for publication, disease, term in removed.select(
        "publication_id", "disease_id", "term_id"
    ).iter_rows():
        if publication in ranges:
            gone.setdefault((publication, disease_index[disease]), set()).add(term_index[term])
    keys = sorted(gone)
    ptr, kept = flatten(
        [
            [
                i
                for i in range(knowledge.profile_ptr[disease], knowledge.profile_ptr[disease + 1])
                if int(knowledge.profile_terms[i]) not in gone[publication, disease]
            ]
            for publication, disease in keys
        ]
    )
    return Columns(
        np.array([disease for _, disease in keys], np.int32),
        ptr,
        knowledge.profile_terms[kept],
        knowledge.numerator[kept],
        knowledge.denominator[kept],
        np.array([ranges[publication][0] for publication, _ in keys], np.int64),
        np.array([ranges[publication][1] for publication, _ in keys], np.int64),
    )


def make_task(knowledge: Knowledge, queries: Queries, columns: Columns) -> Task:
    """Arrays of scoring `columns` against `queries`.

    Information content is given in single precision, as the reference tool stores its pair
    similarities (REFERENCE_PHENOMIZER).
    """
    return Task(
        columns.disease,
        columns.ptr,
        columns.terms,
        columns.start,
        columns.stop,
        queries.observed_ptr,
        queries.observed,
        knowledge.ic.astype(np.float32),
        knowledge.ontology.parent_ptr,
        knowledge.ontology.parents,
    )
