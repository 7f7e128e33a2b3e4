from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.rankers.phenomizer import Phenomizer
from rarefuse.rankers.reference import count_reference, reference_p_value

KEYS = np.array([0.0, 1.0, 1.5, 3.5])
CUMULATIVE = np.array([0.5, 0.8, 0.9, 1.0])


@pytest.mark.parametrize(
    "score, p",
    [
        (-1.0, 1.0),
        (0.0, 1.0),  # at the first key
        # Between 0 and 1 the weight is half the gap, 0.5, wherever the score stands:
        # 1 - (0.5 + 0.5 · (0.8 - 0.5)) = 0.35.
        (1e-9, 0.35),
        (0.5, 0.35),
        (0.999, 0.35),
        # A score at a key belongs to the gap above it: weight 0.25,
        # 1 - (0.8 + 0.25 · (0.9 - 0.8)) = 0.175. Linear interpolation would give 0.2 here.
        (1.0, 0.175),
        (1.2, 0.175),
        # A gap of 2 has weight 1, all of the difference: 1 - (0.9 + 1 · 0.1) = 0.
        (1.5, 0.0),
        (3.4, 0.0),
        (3.5, 0.0),  # at the last key
        (9.0, 0.0),
    ],
)
def test_the_quirk_by_hand(score, p):
    assert reference_p_value(KEYS, CUMULATIVE, score) == pytest.approx(p, abs=1e-15)


def test_a_gap_above_two_gives_a_negative_p_value():
    # 1 - (0.5 + 4/2 · (0.9 - 0.5)) = -0.3: no probability, but what the reference computes.
    keys, cumulative = np.array([0.0, 4.0, 5.0]), np.array([0.5, 0.9, 1.0])
    assert reference_p_value(keys, cumulative, 2.0) == pytest.approx(-0.3)


def test_a_null_of_zeros_only_gives_one_or_zero():
    keys, cumulative = np.array([0.0]), np.array([0.99999])
    assert reference_p_value(keys, cumulative, 0.0) == 1.0
    assert reference_p_value(keys, cumulative, 0.1) == 0.0


def count(column, size, draws, seed=1):
    column = np.array(column, np.float32)
    histogram = np.zeros(int(column.max() * 1000) + 3, np.int64)
    count_reference(column, size, draws, np.array([seed], np.uint64), histogram)
    return histogram


def test_means_are_rounded_half_up_to_three_decimals():
    # 0.0625 and 0.1875 are exact in binary: 62.5 → 63 and 187.5 → 188 thousandths, where half to
    # even would give 62 and 188, and cutting off 62 and 187.
    assert np.flatnonzero(count([0.0625] * 3, 2, 10)).tolist() == [63]
    assert np.flatnonzero(count([0.1875] * 3, 1, 10)).tolist() == [188]
    # The mean is rounded, not its summands: (1 + 2) / 2 = 1.5, and thirds of 1 go down.
    assert np.flatnonzero(count([1, 2], 2, 10)).tolist() == [1500]
    assert np.flatnonzero(count([1, 0, 0], 3, 10)).tolist() == [333]


def test_terms_of_a_query_are_different():
    # A query of all terms has one sum, if it is one.
    assert np.flatnonzero(count([0, 1, 2, 4], 4, 500)).tolist() == [1750]
    # Pairs of 0, 1 and 10: means 0.5, 5 and 5.5, but never 0, 1 or 10.
    histogram = count([0, 1, 10], 2, 30_000)
    assert np.flatnonzero(histogram).tolist() == [500, 5000, 5500]
    # Each pair a third: chi-square, 2 degrees of freedom, 99.9 % below 13.8.
    counts = histogram[[500, 5000, 5500]]
    assert counts.sum() == 30_000
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 13.8


@pytest.mark.parametrize("seed", [0, 1, 2, 1 << 63])
def test_terms_are_drawn_uniformly(seed):
    counts = count([t / 1000 for t in range(50)], 1, 100_000, seed)[:50]
    assert counts.sum() == 100_000
    # Chi-square, 49 degrees of freedom: 99.9 % lie below 85.4.
    assert ((counts - 2_000) ** 2 / 2_000).sum() < 85.4


def test_one_query_fewer_is_drawn_than_the_counts_are_divided_by(knowledge_of, queries_of):
    # One term of IC ln 3 = 1.09861: every draw has the key 1.099, just above the score. Three of
    # the nominal four are drawn, so F(0) = 0, F(1.099) = 3/4, and
    # p = 1 - (0 + 1.099 / 2 · 3/4) = 0.587875.
    known = knowledge_of([[]], [[0]], ic=[np.log(3)])
    scores = Phenomizer("reference", samples=4).ordinary(known, queries_of(known, [0]))
    assert scores.p_value.tolist() == [[pytest.approx(0.587875, abs=1e-12)]]


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_p_values_come_from_each_diseases_own_counts(worlds, matches_of, data):
    """F of neighbouring keys, up to sampling, is that of all queries of the size."""
    world = data.draw(worlds)
    known, queries = world.knowledge, world.queries
    samples = 20_000
    scores = Phenomizer("reference", samples=samples, max_query_size=3).ordinary(known, queries)
    table = matches_of(known).astype(np.float64)
    cap = min(3, int(queries.sizes.max()))
    for q in range(len(queries)):
        own = queries.observed[queries.observed_ptr[q] : queries.observed_ptr[q + 1]]
        size = min(cap, len(own))
        for d in range(len(table)):
            null = [sum(c) / size for c in combinations(table[d].tolist(), size)]
            null = np.floor(np.array(null) * 1000 + 0.5) / 1000
            keys, counts = np.unique(np.append(null, 0.0), return_counts=True)
            counts[0] -= 1  # a key 0 is always there
            # 20,000 draws miss none of at most 84 choices in practice.
            share = np.cumsum(counts) / len(null)
            wanted = reference_p_value(keys, share, scores.score[q, d])
            # Gaps stay below 2 · ln 4, so the weight is below 1.4: 7 standard errors.
            assert scores.p_value[q, d] == pytest.approx(wanted, abs=7 * 2.4 * 0.5 / samples**0.5)
