"""The rankers' lists of some patients, the same as the pipeline's, under ordinary or LOPO rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse.annotations.lopo import REMOVED
from rarefuse.diagnose.case import Patient
from rarefuse.diagnose.library import Library
from rarefuse.diagnose.narrow import Narrow, narrow
from rarefuse.diagnose.nulls import Nulls, fill, one_case, open_nulls
from rarefuse.fusion.evidence import Protocol, make_protocol
from rarefuse.rankers.background import make_groups
from rarefuse.rankers.base import Columns, Queries, Ranker, Scores, build_queries, lopo_columns
from rarefuse.rankers.catalogue import make_ranker
from rarefuse.rankers.likelihood import NaiveBayes, background_logs
from rarefuse.rankers.phenomizer import Phenomizer
from rarefuse.rankers.run import rankings_frame
from rarefuse.rankers.semantic import Resnik

FEW = 100
"""Up to so many patients are scored one by one; with more, sampling every null once is quicker."""

Publications = tuple[str, ...]


@dataclass
class Ranked:
    """Lists of Q patients, in the order of their queries.

    Parameters
    ----------
    queries : Queries
        Case ids are the patients' positions, as text.
    order : list of int
        Position of each query's patient.
    columns : Columns
        Profiles that the excluded publications leave; none for the ordinary protocol.
    protocol : Protocol
        For the evidence on single candidates.
    lists : dict of str to polars.DataFrame
        Ranker → `RANKINGS`.
    p_values : list of Scores
        Phenomizer's scores: one entry for all queries, or one a query; empty without that ranker.
    nulls : Nulls or None
        What counts further p-values where they are one a query.
    """

    queries: Queries
    order: list[int]
    columns: Columns
    protocol: Protocol
    lists: dict[str, pl.DataFrame]
    p_values: list[Scores]
    nulls: Nulls | None

    def p_value(self, library: Library, query: int, rows: NDArray[np.int32]) -> list[float] | None:
        """Phenomizer's p-values of some candidates of one query; None where it did not rank."""
        if not self.p_values:
            return None
        if len(self.p_values) == 1 and self.nulls is None:
            table, row = self.p_values[0].p_value, query
        else:
            scores = self.p_values[query]
            assert self.nulls is not None
            fill(library, self.queries.slice(query, query + 1), self.nulls, rows, scores)
            table, row = scores.p_value, 0
        assert table is not None
        return [float(p) for p in table[row, rows]]


def removed_for(library: Library, publications: Sequence[Publications]) -> pl.DataFrame:
    """What each set of publications alone supports (`REMOVED`), as LOPO removes it.

    A relation goes if it cites some publication and none outside the set; for a set of one that is
    the pipeline's rule. The set, joined by ``+``, stands where the publication does.
    """
    knowledge = library.knowledge
    counts = np.diff(library.pmid_ptr)
    disease = np.repeat(np.arange(len(knowledge.disease_ids)), np.diff(knowledge.profile_ptr))
    relation = np.repeat(np.arange(len(counts)), counts)
    rows = []
    for some in sorted(set(publications) - {()}):
        numbers = [int(publication.removeprefix("PMID:")) for publication in some]
        # PMIDs beyond 32 bits are cited nowhere.
        inside = np.isin(library.pmids, [n for n in numbers if n < 1 << 31])
        held = np.bincount(relation[inside], minlength=len(counts))
        for i in np.flatnonzero((held == counts) & (counts > 0)):
            term = knowledge.ontology.term_ids[knowledge.profile_terms[i]]
            rows.append((tag(some), knowledge.disease_ids[disease[i]], term))
    return pl.DataFrame(rows, schema=REMOVED.dtypes, orient="row")


def tag(publications: Publications) -> str | None:
    """A set of publications as queries name it; None for none."""
    return "+".join(publications) or None


def rank_patients(
    library: Library,
    rankers: Mapping[str, tuple[str, Mapping[str, Any]]],
    patients: Sequence[Patient],
    publications: Sequence[Publications],
    depth: int,
    cache: Path | None = None,
) -> Ranked:
    """Rank some patients.

    Parameters
    ----------
    rankers : mapping
        Ranker id → method and options (`rarefuse.rankers.catalogue.resolve_options`).
    patients : sequence of Patient
        Each with an observed term.
    publications : sequence of tuple of str
        Publications to leave out, sorted PMIDs, of each patient.
    depth : int
        Places of every list.
    cache : Path, optional
        Folder of the cache.
    """
    knowledge = library.knowledge
    queries = build_queries(
        knowledge,
        [f"{i:06d}" for i in range(len(patients))],
        [patient.observed for patient in patients],
        [tag(some) for some in publications],
        [patient.excluded for patient in patients],
    )
    removed = removed_for(library, publications)
    columns = lopo_columns(knowledge, queries, removed)
    made = {name: make_ranker(method, options) for name, (method, options) in rankers.items()}
    single = len(queries) <= FEW
    cuts = [
        (narrow(library, queries.slice(i, i + 1)), _columns_of(columns, i))
        for i in range(len(queries) if single else 0)
    ]
    background = np.array([_background(library, queries, i, *cuts[i]) for i in range(len(cuts))])
    lists: dict[str, pl.DataFrame] = {}
    p_values: list[Scores] = []
    nulls = None
    for name, ranker in made.items():
        if single and _has_nulls(ranker):
            nulls = open_nulls(library, ranker, cache)
            found = [
                one_case(library, cut, queries.slice(i, i + 1), touched, nulls, depth)
                for i, (cut, touched) in enumerate(cuts)
            ]
            p_values = found
        elif single and isinstance(ranker, Resnik | NaiveBayes):
            found = [
                _both(ranker, cut.knowledge, cut.queries(queries.slice(i, i + 1)),
                      cut.columns(touched, knowledge.ontology))
                for i, (cut, touched) in enumerate(cuts)
            ]  # fmt: skip
        else:
            found = [_both(ranker, knowledge, queries, columns)]
            if isinstance(ranker, Phenomizer):
                p_values = found
        lists[name] = _frames(knowledge, queries, found, depth)
    return Ranked(
        queries,
        [int(case_id) for case_id in queries.case_ids],
        columns,
        make_protocol(knowledge, queries, removed, background if single else None),
        lists,
        p_values,
        nulls,
    )


def _has_nulls(ranker: object) -> bool:
    return (
        isinstance(ranker, Phenomizer)
        and ranker.null == "sampled"
        and ranker.max_query_size is not None
    )


def _both(ranker: Ranker, knowledge: Any, queries: Queries, columns: Columns) -> Scores:
    scores = ranker.ordinary(knowledge, queries)
    return ranker.lopo(knowledge, queries, columns, scores) if len(columns) else scores


def _columns_of(columns: Columns, query: int) -> Columns:
    """Columns that one query is scored against, as those of a query that stands alone."""
    own = np.flatnonzero((columns.start <= query) & (query < columns.stop))
    if not len(own):
        return columns.slice(0, 0)
    part = columns.slice(int(own[0]), int(own[-1]) + 1)
    begin, end = part.ptr[0], part.ptr[-1]
    return Columns(
        part.disease,
        part.ptr - begin,
        part.terms[begin:end],
        part.numerator[begin:end],
        part.denominator[begin:end],
        np.zeros(len(own), np.int64),
        np.ones(len(own), np.int64),
    )


def _background(
    library: Library, queries: Queries, query: int, cut: Narrow, touched: Columns
) -> float:
    """Log probability of a patient's observed terms under the backgrounds of its protocol."""
    own = cut.queries(queries.slice(query, query + 1)).without_excluded()
    columns = cut.columns(touched, library.knowledge.ontology) if len(touched) else None
    groups = make_groups(1, columns)
    return float(background_logs(cut.knowledge, own, columns, groups)[0])


def _frames(knowledge: Any, queries: Queries, found: list[Scores], depth: int) -> pl.DataFrame:
    if len(found) == 1:
        return rankings_frame(knowledge, queries.case_ids, found[0], depth)
    return pl.concat(
        [
            rankings_frame(knowledge, [case], scores, depth)
            for case, scores in zip(queries.case_ids, found, strict=True)
        ]
    )
