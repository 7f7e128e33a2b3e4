"""The part of the knowledge that one case's scores depend on: the ancestors of its terms.

A semantic score needs of a profile only which ancestors of the query its closure holds, and a
naive Bayes score only the largest frequency at or below each query term. Both are kept by a
profile that is closed and then cut to those ancestors, so that the rankers' own kernels give the
same bits over some 150 terms as over all 19,810.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.diagnose.library import Closed, Library, close_counts
from rarefuse.ontology.arrays import Ontology, flatten
from rarefuse.rankers.base import Columns, Queries


@dataclass(frozen=True)
class Narrow:
    """Knowledge cut to some terms.

    Parameters
    ----------
    knowledge : Knowledge
        D candidates over the kept terms; profiles are closed.
    kept : ndarray of int32
        Ontology rows of the kept terms, ascending.
    """

    knowledge: Knowledge
    kept: NDArray[np.int32]

    def rows(self, terms: NDArray[np.int32]) -> NDArray[np.int32]:
        """Rows of kept terms in the cut knowledge."""
        return np.searchsorted(self.kept, terms).astype(np.int32)

    def queries(self, queries: Queries) -> Queries:
        """The same queries; their terms must be kept ones."""
        return replace(
            queries,
            observed=self.rows(queries.observed),
            excluded=self.rows(queries.excluded),
        )

    def columns(self, columns: Columns, ontology: Ontology) -> Columns:
        """The same columns, closed and cut."""
        closed = Closed(
            *close_counts(
                columns.ptr,
                columns.terms,
                columns.numerator,
                columns.denominator,
                ontology.parent_ptr,
                ontology.parents,
            )
        )
        there = np.isin(closed.terms, self.kept)
        ptr = np.concatenate([[0], np.cumsum(there)])[closed.ptr]
        return replace(
            columns,
            ptr=ptr,
            terms=self.rows(closed.terms[there]),
            numerator=closed.numerator[there],
            denominator=closed.denominator[there],
        )


def ancestors(ontology: Ontology, rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Ascending rows of some terms and all their ancestors."""
    seen = set(rows.tolist())
    todo = list(seen)
    while todo:
        for parent in ontology.parents_of(todo.pop()).tolist():
            if parent not in seen:
                seen.add(parent)
                todo.append(parent)
    return np.array(sorted(seen), np.int32)


def narrow(library: Library, queries: Queries) -> Narrow:
    """Cut the knowledge to the ancestors of the queries' terms, observed and excluded."""
    whole, index = library.knowledge, library.by_term
    ontology = whole.ontology
    kept = ancestors(ontology, np.concatenate([queries.observed, queries.excluded]))
    spans = [np.arange(index.ptr[t], index.ptr[t + 1]) for t in kept]
    rows = np.concatenate(spans) if spans else np.empty(0, np.int64)
    term = np.repeat(np.arange(len(kept), dtype=np.int32), [len(span) for span in spans])
    disease = index.terms[rows]
    order = np.argsort(disease, kind="stable")  # terms stay ascending within a disease
    ptr = np.searchsorted(disease[order], np.arange(len(whole.disease_ids) + 1)).astype(np.int64)
    parent_ptr, parents = flatten(
        [np.searchsorted(kept, ontology.parents_of(t)).tolist() for t in kept]
    )
    cut = Ontology(
        [ontology.term_ids[t] for t in kept],
        [ontology.labels[t] for t in kept],
        parent_ptr.astype(np.int32),
        parents,
        ontology.depth[kept],
        {},
    )
    knowledge = Knowledge(
        cut,
        whole.disease_ids,
        ptr,
        term[order],
        whole.first_rows,
        whole.ic[kept],
        index.numerator[rows][order],
        index.denominator[rows][order],
    )
    return Narrow(knowledge, kept)
