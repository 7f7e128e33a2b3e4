"""Matched deletion: the pool, the properties, an assignment checked against all permutations."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rarefuse.annotations.relations import RELATIONS
from rarefuse.corpus.cases import CASES
from rarefuse.ontology.arrays import Ontology, depths, flatten
from rarefuse.provenance.matched import standardised_difference
from rarefuse.provenance.matching import (
    assignment,
    cost_matrix,
    major_branches,
    match_deletions,
    unique_contribution,
)

# 118 over branches A (2) and B (3); 4 and 5 below A, 6 below B, 7 below both 5 and 6.
NAMES = [f"HP:{i:07d}" for i in (118, 2, 3, 4, 5, 6, 7)]
ROOT, A, B, A1, A2, B1, AB = range(7)


@pytest.fixture(scope="module")
def branched():
    ptr, flat = flatten([[], [ROOT], [ROOT], [A], [A], [B], [A2, B1]])
    ptr = ptr.astype("int32")
    return Ontology(NAMES, NAMES, ptr, flat, depths(ptr, flat, 0), {})


def test_unique_contribution(branched):
    # A1 brings itself; A is above it and brings nothing; AB brings itself, A2, B1 and B.
    profile = np.array([A, A1, AB], np.int32)
    assert unique_contribution(branched, profile).tolist() == [0, 1, 4]
    # Alone, an annotation brings all of its ancestors.
    assert unique_contribution(branched, np.array([AB], np.int32)).tolist() == [6]
    assert unique_contribution(branched, np.empty(0, np.int32)).tolist() == []


def test_major_branches(branched):
    found = major_branches(branched)
    assert found[ROOT].tolist() == [False, False]
    assert found[A1].tolist() == [True, False]
    assert found[B].tolist() == [False, True]
    assert found[AB].tolist() == [True, True]


def test_cost_by_hand():
    def side(ic, depth, contribution, branch):
        return np.array(ic), np.array(depth), np.array(contribution), np.array(branch)

    removed = side([2.0], [3], [0.0], [[True, False]])
    pool = side([3.0, 2.0], [5, 3], [0.5, 0.0], [[True, True], [False, True]])
    # First: 1/2 + 2/4 + 0.5/1 with a branch in common; second alike in all numbers, but elsewhere.
    assert cost_matrix(removed, pool, (2.0, 4.0, 1.0)).tolist() == [[1.5, 1.0]]
    # A variable that never varies cannot tell annotations apart.
    assert cost_matrix(removed, removed, (0.0, 0.0, 0.0)).tolist() == [[0.0]]


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda k: st.integers(k, 5).flatmap(
            lambda p: arrays.arrays(float, (k, p), elements=st.floats(0, 100, width=32))
        )
    )
)
def test_assignment_is_optimal_and_uses_nothing_twice(cost):
    chosen = assignment(cost)
    k, p = cost.shape
    assert len(set(chosen.tolist())) == k
    best = min(sum(cost[i, j] for i, j in enumerate(order)) for order in permutations(range(p), k))
    assert cost[np.arange(k), chosen].sum() == pytest.approx(best)


def cases(*rows):
    full = [
        (f"c{i}", f"c{i}", publication, gold, None, None, None, None, observed, [])
        for i, (publication, gold, observed) in enumerate(rows)
    ]
    return pl.DataFrame(full, schema=CASES.dtypes, orient="row")


def relations(**profiles):
    return pl.DataFrame(
        [
            (disease.replace("_", ":"), NAMES[term], sorted(pmids), [2], 1, 1)
            for disease, profile in profiles.items()
            for term, pmids in profile.items()
        ],
        schema=RELATIONS.dtypes,
        orient="row",
    )


def test_pool_is_independent_and_large_enough(branched):
    known = relations(
        # One exclusive to PMID:1. Not in the pool: B1, which PMID:1 supports too, and A, which
        # no publication supports.
        OMIM_1={A1: ["PMID:1"], A2: ["PMID:2"], B1: ["PMID:1", "PMID:2"], A: []},
        # Two exclusive, one independent: not enough.
        OMIM_2={A1: ["PMID:1"], A2: ["PMID:1"], B1: ["PMID:3"]},
        # Nothing exclusive.
        OMIM_3={A1: ["PMID:1", "PMID:2"], A2: ["PMID:2"]},
    )
    rows = [("PMID:1", f"OMIM:{i}", [NAMES[A]]) for i in (1, 2, 3)]
    rows += [("PMID:1", "OMIM:1", [NAMES[B]]), (None, "OMIM:1", [NAMES[A]])]
    found = match_deletions(cases(*rows), known, branched, np.arange(7.0))
    assert found.height == 1
    (pair,) = found.iter_rows(named=True)
    assert (pair["publication_id"], pair["disease_id"]) == ("PMID:1", "OMIM:1")
    assert (pair["removed_id"], pair["matched_id"]) == (NAMES[A1], NAMES[A2])
    assert (pair["removed_ic"], pair["matched_ic"]) == (3.0, 4.0)
    assert (pair["removed_depth"], pair["matched_depth"]) == (2, 2)
    assert pair["same_branch"]
    # In the profile {A1, A2, B1, A}, A1 and A2 bring one term each: ln 2.
    assert pair["removed_log_contribution"] == pytest.approx(np.log(2))


def test_a_pair_of_two_branches_says_so(branched):
    """A1 lies below A alone and B1 below B alone; AB lies below both, so it shares A with A1."""
    rows = [("PMID:1", "OMIM:1", [NAMES[A]]), ("PMID:1", "OMIM:2", [NAMES[A]])]
    known = relations(
        OMIM_1={A1: ["PMID:1"], B1: ["PMID:2"]}, OMIM_2={A1: ["PMID:1"], AB: ["PMID:2"]}
    )
    found = match_deletions(cases(*rows), known, branched, np.arange(7.0))
    assert found.select("matched_id", "same_branch").rows() == [
        (NAMES[B1], False),
        (NAMES[AB], True),
    ]


def test_a_case_with_nothing_observed_does_not_take_part(branched):
    known = relations(OMIM_1={A1: ["PMID:1"], A2: ["PMID:2"]})
    assert match_deletions(cases(("PMID:1", "OMIM:1", [])), known, branched, np.ones(7)).is_empty()


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.integers(1, 6),
        st.lists(st.sampled_from(["PMID:1", "PMID:2", "PMID:3"]), max_size=3, unique=True),
        min_size=1,
    )
)
def test_every_pair_is_one_exclusive_and_one_independent_annotation(profile):
    ptr, flat = flatten([[], [ROOT], [ROOT], [A], [A], [B], [A2, B1]])
    ptr = ptr.astype("int32")
    ontology = Ontology(NAMES, NAMES, ptr, flat, depths(ptr, flat, 0), {})
    found = match_deletions(
        cases(("PMID:1", "OMIM:1", [NAMES[A]])),
        relations(OMIM_1=profile),
        ontology,
        np.linspace(0, 3, 7),
    )
    exclusive = {NAMES[t] for t, p in profile.items() if p == ["PMID:1"]}
    pool = {NAMES[t] for t, p in profile.items() if p and "PMID:1" not in p}
    if not exclusive or len(pool) < len(exclusive):
        assert found.is_empty()
    else:
        assert set(found["removed_id"]) == exclusive
        assert set(found["matched_id"]) <= pool
        assert found["matched_id"].is_unique().all()


def test_standardised_difference():
    # Means 2 and 4, variances 1 and 3: -2 / sqrt(2).
    a, b = np.array([1.0, 3.0]), np.array([4 - 3**0.5, 4 + 3**0.5])
    assert standardised_difference(a, b) == pytest.approx(-(2**0.5))
    assert standardised_difference(np.ones(3), np.ones(3)) == 0.0
