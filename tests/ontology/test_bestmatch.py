import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.annotations.knowledge import information_content
from rarefuse.ontology.arrays import Ontology, depths, flatten
from rarefuse.ontology.bestmatch import best_match_column, best_match_table


def make_ontology(parents):
    """Ontology of terms 0 … T - 1 with the given parent rows; term 0 is the root."""
    ptr, flat = flatten(parents)
    ptr = ptr.astype(np.int32)
    ids = [f"HP:{i:07d}" for i in range(len(parents))]
    return Ontology(ids, ids, ptr, flat, depths(ptr, flat, 0), {})


def column_of(ontology, ic, profile):
    closed = np.empty(len(ic), np.bool_)
    column = np.empty(len(ic), np.float32)
    best_match_column(
        np.array(profile, np.int32),
        ic.astype(np.float32),
        ontology.parent_ptr,
        ontology.parents,
        closed,
        column,
    )
    return column


def brute_force(ontology, ic, profile):
    """max IC over the common ancestors of t and the profile, from the definition."""
    above = [set(ontology.ancestors_of(t).tolist()) for t in range(len(ic))]
    held = set().union(*(above[t] for t in profile))
    ic = ic.astype(np.float32)
    return np.array([max((ic[a] for a in up & held), default=0) for up in above], np.float32)


@st.composite
def worlds(draw):
    """A random DAG with several parents and roots, and profiles that give its IC."""
    n = draw(st.integers(1, 12))
    parents = [[]]
    for t in range(1, n):
        parents.append(draw(st.lists(st.integers(0, t - 1), max_size=3, unique=True)))
    profile = st.lists(st.integers(0, n - 1), max_size=5, unique=True)
    return make_ontology(parents), draw(st.lists(profile, min_size=1, max_size=5))


def ic_of(ontology, profiles):
    return information_content(ontology, [np.array(p, np.int32) for p in profiles])[1]


@pytest.fixture(scope="module")
def toy():
    """Root 0; 1 and 2 below it; 3 below 1; 4 below 1 and 2; 5 below 4."""
    return make_ontology([[], [0], [0], [1], [1, 2], [4]])


def test_by_hand(toy):
    # Profiles {3}, {5}, {2}; closed: {3,1,0}, {5,4,1,2,0}, {2,0}.
    # Diseases a term: 0:3, 1:2, 2:2, 3:1, 4:1, 5:1, so that
    # IC = ln(3/3), ln(3/2), ln(3/2), ln 3, ln 3, ln 3.
    ic = ic_of(toy, [[3], [5], [2]])
    half, one = math.log(1.5), math.log(3)
    # Against {3}: 0, 1 and 3 are in the closed profile; 2 shares only 0; 4 and 5 share 1.
    assert column_of(toy, ic, [3]) == pytest.approx([0, half, 0, one, half, half])
    # Against {5}: all but 3 are in it; 3 shares 1.
    assert column_of(toy, ic, [5]) == pytest.approx([0, half, half, half, one, one])
    # Against {2}: 1 and 3 share only 0; 4 and 5 share 2.
    assert column_of(toy, ic, [2]) == pytest.approx([0, 0, half, 0, half, half])
    assert column_of(toy, ic, []).tolist() == [0] * 6


def test_the_table_has_one_row_a_profile(toy):
    ic = ic_of(toy, [[3], [5], [2]])
    ptr, flat = flatten([[3], [], [2, 5]])
    table = best_match_table(ptr, flat, ic.astype(np.float32), toy.parent_ptr, toy.parents)
    assert table.tolist() == [column_of(toy, ic, p).tolist() for p in ([3], [], [2, 5])]


@given(worlds())
@settings(deadline=None, max_examples=150)
def test_a_column_is_the_maximum_over_common_ancestors(world):
    ontology, profiles = world
    ic = ic_of(ontology, profiles)
    for profile in profiles:
        assert column_of(ontology, ic, profile).tolist() == (
            brute_force(ontology, ic, profile).tolist()
        )


@given(worlds(), st.data())
@settings(deadline=None, max_examples=100)
def test_more_terms_never_lower_a_match_and_their_order_is_nothing(world, data):
    ontology, profiles = world
    ic = ic_of(ontology, profiles)
    profile = data.draw(st.sampled_from(profiles))
    part = profile[: data.draw(st.integers(0, len(profile)))]
    whole = column_of(ontology, ic, profile)
    assert (column_of(ontology, ic, part) <= whole).all()
    shuffled = data.draw(st.permutations(profile))
    assert column_of(ontology, ic, shuffled).tolist() == whole.tolist()
