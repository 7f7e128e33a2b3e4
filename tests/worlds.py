"""Small worlds of terms, diseases, publications and cases, drawn and by hand; a pytest plugin."""

from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from hypothesis import strategies as st

from rarefuse.annotations.knowledge import Knowledge, information_content
from rarefuse.annotations.lopo import REMOVED
from rarefuse.ontology.arrays import Ontology, depths, flatten
from rarefuse.rankers.base import build_queries

PUBLICATIONS = ["PMID:1", "PMID:2", "PMID:3"]


def make_knowledge(parents, profiles, ic=None):
    """Knowledge of terms 0 … T - 1 (HP:0000000 …) and diseases OMIM:1 … OMIM:D.

    A profile is a list of terms, or maps terms to (numerator, denominator); without, 1/1.
    """
    ptr, flat = flatten(parents)
    ptr = ptr.astype(np.int32)
    ids = [f"HP:{t:07d}" for t in range(len(parents))]
    ontology = Ontology(ids, ids, ptr, flat, depths(ptr, flat, 0), {})
    counts = [[p[t] if isinstance(p, dict) else (1, 1) for t in sorted(p)] for p in profiles]
    numerator, denominator = (flatten([[c[i] for c in p] for p in counts])[1] for i in (0, 1))
    profiles = [np.array(sorted(p), np.int32) for p in profiles]
    if ic is None:
        ic = information_content(ontology, profiles)[1]
    names = [f"OMIM:{d}" for d in range(1, len(profiles) + 1)]
    rows = list(range(2, len(profiles) + 2))
    ic = np.asarray(ic, np.float64)
    return Knowledge(ontology, names, *flatten(profiles), rows, ic, numerator, denominator)


def make_queries(knowledge, *queries, publications=None, excluded=None):
    """Queries of term rows; case ids keep the order they are given in."""
    ids = knowledge.ontology.term_ids
    return build_queries(
        knowledge,
        [f"case{i:03d}" for i in range(len(queries))],
        [[ids[t] for t in query] for query in queries],
        publications or [None] * len(queries),
        None if excluded is None else [[ids[t] for t in query] for query in excluded],
    )


def brute_force_matches(knowledge):
    """m_d(t) of every disease from the definition, single precision, shape (D, T)."""
    ontology, ic = knowledge.ontology, knowledge.ic.astype(np.float32)
    above = [set(ontology.ancestors_of(t).tolist()) for t in range(len(ic))]
    table = np.zeros((len(knowledge.disease_ids), len(ic)), np.float32)
    for d in range(len(table)):
        held = set().union(*(above[t] for t in knowledge.profile(d)))
        table[d] = [max((ic[a] for a in up & held), default=0) for up in above]
    return table


@dataclass(frozen=True)
class World:
    """Knowledge with publications behind its relations, and cases with publications."""

    parents: list
    profiles: list  # of {term: set of publications}
    cases: list  # of (terms, publication)
    counts: list = None  # of {term: (numerator, denominator)}; without, 1/1
    excluded: list = None  # of terms, one list a case

    def _knowledge(self, profiles, ic=None):
        if self.counts is not None:
            profiles = [
                {t: own[t] for t in profile}
                for profile, own in zip(profiles, self.counts, strict=True)
            ]
        return make_knowledge(self.parents, profiles, ic)

    @property
    def knowledge(self):
        return self._knowledge([list(profile) for profile in self.profiles])

    @property
    def queries(self):
        terms, publications = zip(*self.cases, strict=True)
        return make_queries(
            self.knowledge, *terms, publications=list(publications), excluded=self.excluded
        )

    @property
    def removed(self):
        rows = [
            (refs_only, f"OMIM:{d}", f"HP:{t:07d}")
            for d, profile in enumerate(self.profiles, start=1)
            for t, refs in profile.items()
            if len(refs) == 1
            for refs_only in refs
        ]
        return pl.DataFrame(sorted(rows), schema=REMOVED.dtypes, orient="row")

    def without(self, publication):
        """Knowledge filtered from scratch, with the information content of the whole."""
        profiles = [
            [t for t, refs in profile.items() if refs != {publication}] for profile in self.profiles
        ]
        return self._knowledge(profiles, self.knowledge.ic)

    def touched(self, publication):
        return [d for d, profile in enumerate(self.profiles) if {publication} in profile.values()]


@st.composite
def random_worlds(draw):
    n = draw(st.integers(2, 9))
    parents = [[]] + [
        draw(st.lists(st.integers(0, t - 1), min_size=1, max_size=2, unique=True))
        for t in range(1, n)
    ]
    term = st.integers(0, n - 1)
    refs = st.sets(st.sampled_from(PUBLICATIONS), max_size=2)
    profiles = draw(st.lists(st.dictionaries(term, refs, max_size=4), min_size=1, max_size=4))
    case = st.tuples(
        st.lists(term, min_size=1, max_size=5, unique=True),
        st.sampled_from([None, *PUBLICATIONS]),
    )
    return World(parents, profiles, draw(st.lists(case, min_size=1, max_size=6)))


@st.composite
def random_counted_worlds(draw):
    """Worlds with frequencies, absent annotations and excluded terms."""
    world = draw(random_worlds())
    term = st.integers(0, len(world.parents) - 1)
    count = st.integers(1, 50).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m)))
    counts = [{t: draw(count) for t in profile} for profile in world.profiles]
    excluded = [
        [t for t in draw(st.lists(term, max_size=4, unique=True)) if t not in terms]
        for terms, _ in world.cases
    ]
    return World(world.parents, world.profiles, world.cases, counts, excluded)


@pytest.fixture(scope="session")
def worlds():
    return random_worlds()


@pytest.fixture(scope="session")
def counted_worlds():
    return random_counted_worlds()


@pytest.fixture(scope="session")
def knowledge_of():
    return make_knowledge


@pytest.fixture(scope="session")
def queries_of():
    return make_queries


@pytest.fixture(scope="session")
def matches_of():
    return brute_force_matches


@pytest.fixture(scope="session")
def toy():
    r"""Root 0; 1 and 2 below it; 3 below 1; 4 below 1 and 2; 5 below 4.

    Profiles {3}, {5}, {2}, closed {3,1,0}, {5,4,1,2,0}, {2,0}: diseases a term 3, 2, 2, 1, 1, 1;
    IC = 0, ln(3/2), ln(3/2), ln 3, ln 3, ln 3.
    """
    return make_knowledge([[], [0], [0], [1], [1, 2], [4]], [[3], [5], [2]])
