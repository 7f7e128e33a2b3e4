"""Why a candidate stands where it stands: each finding beside the annotation that explains it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rarefuse.diagnose.library import Library

EXACT, BELOW, ABOVE, RELATED, NOTHING = (
    "the same term",
    "annotation is more specific",
    "annotation is more general",
    "related through a common ancestor",
    "no informative common ancestor",
)
"""How a finding and the annotation that explains it best are related."""


@dataclass(frozen=True)
class Term:
    """An HPO term with its label."""

    id: str
    label: str


@dataclass(frozen=True)
class Match:
    """A finding and the annotation that explains it best.

    Parameters
    ----------
    query : Term
        The patient's finding.
    relation : str
        How the two are related.
    annotation : Term or None
        Direct annotation of the disease at or below the common ancestor: the finding itself where
        the disease has it, else the ancestor itself, else the most frequent one.
    ancestor : Term or None
        Most informative common ancestor.
    information_content : float
        Of the ancestor, in nats; 0 without one.
    numerator, denominator : int or None
        Patients with the annotation and patients examined, pooled over its rows.
    publications : list of str
        PMIDs that the annotation rests on, excluded ones taken away.
    """

    query: Term
    relation: str
    annotation: Term | None = None
    ancestor: Term | None = None
    information_content: float = 0.0
    numerator: int | None = None
    denominator: int | None = None
    publications: list[str] | None = None


class Explainer:
    """Matches findings with profiles.

    Parameters
    ----------
    library : Library
        Knowledge with publications.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._above: dict[int, tuple[int, ...]] = {}
        self._terms: dict[int, Term] = {}

    def term(self, row: int) -> Term:
        """A term by its row."""
        if row not in self._terms:
            ontology = self._library.knowledge.ontology
            self._terms[row] = Term(ontology.term_ids[row], ontology.labels[row])
        return self._terms[row]

    def above(self, row: int) -> tuple[int, ...]:
        """Rows of a term and its ancestors, the most informative first, then the most specific."""
        if row not in self._above:
            ontology, ic = self._library.knowledge.ontology, self._library.knowledge.ic
            seen = {row}
            todo = [row]
            while todo:
                for parent in ontology.parents_of(todo.pop()).tolist():
                    if parent not in seen:
                        seen.add(parent)
                        todo.append(parent)
            self._above[row] = tuple(sorted(seen, key=lambda t: (-ic[t], -t)))
        return self._above[row]

    def explain(
        self,
        disease: int,
        observed: NDArray[np.int32],
        excluded: NDArray[np.int32],
        profile: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
        without: frozenset[str],
    ) -> tuple[list[Match], list[Match]]:
        """Match a patient's findings with one candidate's profile.

        Parameters
        ----------
        disease : int
            Candidate row.
        observed, excluded : ndarray of int32
            Ontology rows of the findings.
        profile : tuple of ndarray
            Ontology rows, numerators and denominators of the annotations that the protocol leaves.
        without : frozenset of str
            Publications left out; an annotation that stays rests on others.

        Returns
        -------
        matches : list of Match
            One an observed finding, in order.
        contradictions : list of Match
            Excluded findings that the disease is annotated with, exactly or by a descendant, and
            that a patient had.
        """
        terms, numerator, denominator = (part.tolist() for part in profile)
        holders: dict[int, list[int]] = {}
        for i, term in enumerate(terms):
            for ancestor in self.above(term):
                holders.setdefault(ancestor, []).append(i)

        def match(query: int, ancestor: int, among: list[int]) -> Match:
            def quality(i: int) -> tuple[bool, bool, float, int]:
                frequency = numerator[i] / max(1, denominator[i])
                return terms[i] == query, terms[i] == ancestor, frequency, -i

            best = max(among, key=quality)
            term = terms[best]
            relation = (
                EXACT
                if term == query
                else BELOW
                if ancestor == query
                else ABOVE
                if ancestor == term
                else RELATED
            )
            start = self._library.knowledge.profile_ptr[disease]
            whole = self._library.knowledge.profile(disease)
            row = int(start + np.searchsorted(whole, term))
            publications = self._library.publications(row)
            return Match(
                self.term(query),
                relation,
                self.term(term),
                self.term(ancestor),
                float(self._library.knowledge.ic[ancestor]),
                numerator[best],
                denominator[best],
                [p for p in publications if p not in without],
            )

        depth = self._library.knowledge.ontology.depth
        matches = []
        for query in observed.tolist():
            common = next((t for t in self.above(query) if t in holders), None)
            # That both are phenotypic abnormalities says nothing.
            if common is None or depth[common] <= 0:
                matches.append(Match(self.term(query), NOTHING))
            else:
                matches.append(match(query, common, holders[common]))
        # Where none of the patients examined had a finding, its absence contradicts nothing.
        seen = {
            query: [i for i in holders.get(query, ()) if numerator[i] > 0]
            for query in excluded.tolist()
        }
        return matches, [match(query, query, among) for query, among in seen.items() if among]
