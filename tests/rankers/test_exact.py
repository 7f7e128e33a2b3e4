import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.rankers.exact import binomial, exact_tails
from rarefuse.rankers.phenomizer import Phenomizer


def tails_of(values, largest):
    counts = np.bincount(values, minlength=max(values) + 1).astype(np.int64)
    tails = np.full((largest + 1, largest * (len(counts) - 1) + 2), np.nan)
    exact_tails(counts, largest, tails)
    return tails


def enumerated(values, k, s):
    sums = [sum(chosen) for chosen in combinations(values, k)]
    return sum(total >= s for total in sums) / len(sums)


def test_by_hand():
    # Values 0, 0, 1, 2. Pairs: 0+0, 0+1 twice, 0+2 twice, 1+2: sums 0, 1, 1, 2, 2, 3.
    tails = tails_of([0, 0, 1, 2], 2)
    assert tails[2, :5] == pytest.approx([1, 5 / 6, 3 / 6, 1 / 6, 0])
    assert tails[1, :4] == pytest.approx([1, 2 / 4, 1 / 4, 0])


def test_fewer_matching_terms_than_a_query_has():
    # One term of value 5 among five: of the ten triples six hold it.
    tails = tails_of([0, 0, 0, 0, 5], 3)
    assert tails[3, :7] == pytest.approx([1, 0.6, 0.6, 0.6, 0.6, 0.6, 0])


@given(st.lists(st.sampled_from([0, 0, 0, 1, 2, 3, 7]), min_size=1, max_size=9), st.data())
@settings(deadline=None, max_examples=150)
def test_tails_are_those_of_all_choices(values, data):
    largest = data.draw(st.integers(1, min(5, len(values))))
    tails = tails_of(values, largest)
    for k in range(1, largest + 1):
        wanted = [enumerated(values, k, s) for s in range(tails.shape[1])]
        np.testing.assert_allclose(tails[k], wanted, rtol=1e-12, atol=0)


def test_a_far_tail_keeps_its_relative_precision():
    # 200 terms, one each of 1 to 10 and zeros: the largest sum of ten, 55, has one way among all.
    tails = tails_of([*range(1, 11), *[0] * 190], 10)
    assert tails[10, 55] == pytest.approx(1 / math.comb(200, 10), rel=1e-12)
    # 54 or more: also {0, 2, …, 10}, with 190 zeros to choose from.
    assert tails[10, 54] == pytest.approx(191 / math.comb(200, 10), rel=1e-12)


def test_binomials_are_exact_enough():
    for n, k in ((5, 0), (5, 2), (5, 7), (19_810, 10)):
        assert binomial(n, k) == pytest.approx(math.comb(n, k), rel=1e-13)


@given(st.data())
@settings(deadline=None, max_examples=80)
def test_p_values_are_shares_of_all_queries(worlds, matches_of, data):
    world = data.draw(worlds)
    known, queries = world.knowledge, world.queries
    cap = min(data.draw(st.integers(1, 5)), int(queries.sizes.max()))
    scores = Phenomizer("exact", max_query_size=cap).ordinary(known, queries)
    value = np.floor(matches_of(known).astype(np.float64) * 1000 + 0.5).astype(int)
    for q in range(len(queries)):
        own = queries.observed[queries.observed_ptr[q] : queries.observed_ptr[q + 1]]
        size = min(cap, len(own))
        for d, row in enumerate(value.tolist()):
            # The least whole sum whose mean reaches the query's.
            reach = -(-sum(row[t] for t in own) * size // len(own))
            wanted = enumerated(row, size, reach)
            assert scores.p_value[q, d] == pytest.approx(wanted, rel=1e-12)


def test_sampling_agrees_within_its_error(knowledge_of, queries_of):
    # A binary tree of 15 terms, a disease at each leaf and three with two annotations.
    parents = [[], *[[(t - 1) // 2] for t in range(1, 15)]]
    known = knowledge_of(parents, [*[[t] for t in range(7, 15)], [7, 14], [3, 9], [5, 6]])
    queries = queries_of(known, [7], [8, 12], [3, 9, 14], [1, 7, 10, 13])
    samples = 200_000
    exact = Phenomizer("exact").ordinary(known, queries).p_value
    counted = Phenomizer("sampled", samples=samples).ordinary(known, queries).p_value
    share = (counted * (1 + samples) - 1) / samples
    error = np.sqrt(exact * (1 - exact) / samples)
    sure = error == 0
    assert (share[sure] == exact[sure]).all()
    z = ((share - exact)[~sure]) / error[~sure]
    assert len(z) > 30
    assert np.abs(z).max() < 4.5
    assert 0.5 < z.std() < 1.5
