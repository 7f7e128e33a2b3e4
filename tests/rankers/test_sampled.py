import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.errors import InputError
from rarefuse.rankers.phenomizer import Phenomizer
from rarefuse.rankers.sampled import chunk_count, draw_queries


def counted_p_values(known, queries, table, samples, cap, seed):
    """Count over the same draws, from the definition, in whole thousandths of a nat."""
    value = np.floor(table * np.float32(1000) + np.float32(0.5)).astype(np.int64)
    cap = min(cap, int(queries.sizes.max()))
    draws = draw_queries(len(known.ic), samples, cap, seed).astype(np.int64)
    p = np.empty((len(queries), len(value)))
    for q in range(len(queries)):
        own = queries.observed[queries.observed_ptr[q] : queries.observed_ptr[q + 1]]
        size = min(cap, len(own))
        for d in range(len(value)):
            # Mean against mean: sum / size >= own sum / own length, without division.
            null = value[d][draws[:, :size]].sum(axis=1) * len(own)
            p[q, d] = (1 + (null >= value[d][own].sum() * size).sum()) / (1 + samples)
    return p


@given(st.data())
@settings(deadline=None, max_examples=80)
def test_p_values_are_counts_over_the_draws(worlds, matches_of, data):
    world = data.draw(worlds)
    known, queries = world.knowledge, world.queries
    cap, seed = data.draw(st.integers(1, 5)), data.draw(st.integers(0, 99))
    scores = Phenomizer("sampled", 64, cap, seed).ordinary(known, queries)
    wanted = counted_p_values(known, queries, matches_of(known), 64, cap, seed)
    assert scores.p_value.tolist() == wanted.tolist()


def test_the_definition_by_hand(knowledge_of, queries_of):
    # Root 0 and its child 1; profiles {1} and {0}: IC(1) = ln 2, so disease 1 matches term 1
    # with 0.693 and the root with 0. Without a cap, a query of both terms: every draw of two is
    # that query, so p = (1 + N) / (1 + N) = 1. Query {1}: p = (1 + draws of 1) / (1 + N).
    # Disease 2 matches nothing above 0: p = 1.
    known = knowledge_of([[], [0]], [[1], [0]])
    queries = queries_of(known, [1], [0, 1])
    scores = Phenomizer("sampled", samples=99, seed=5).ordinary(known, queries)
    ones = int((draw_queries(2, 99, 2, 5)[:, 0] == 1).sum())
    assert 20 < ones < 80
    assert scores.p_value.tolist() == [[(1 + ones) / 100, 1], [1, 1]]


def test_a_query_longer_than_the_cap_is_compared_mean_with_mean(knowledge_of, queries_of):
    # Stars 1 to 4 below the root; profiles {1}, {2}, {3}, {4}: IC = ln 4 each, 0 for the root.
    # Cap 1: draws are single terms. Query {1, 2, 3} has mean ln 4 / 3 against disease 1, which
    # only a draw of term 1 (mean ln 4) reaches: 1.386 as against 1.386 / 3.
    known = knowledge_of([[], *[[0]] * 4], [[1], [2], [3], [4]])
    queries = queries_of(known, [1, 2, 3])
    scores = Phenomizer("sampled", samples=1000, max_query_size=1).ordinary(known, queries)
    drawn = np.bincount(draw_queries(5, 1000, 1, 1)[:, 0], minlength=5)
    assert scores.p_value[0, :3].tolist() == [(1 + n) / 1001 for n in drawn[1:4]]
    assert scores.p_value[0, 3] == 1  # nothing matches
    assert scores.score[0, 0] == pytest.approx(np.log(4) / 3)  # the score is that of all terms
    free = Phenomizer("sampled", samples=1000, max_query_size=None).ordinary(known, queries)
    # Three of five terms hold term 1 with probability 3/5, against 1/5: another null.
    assert free.p_value[0, 0] == pytest.approx(0.6, abs=0.08)
    assert scores.p_value[0, 0] == pytest.approx(0.2, abs=0.07)


def test_a_capped_mean_between_two_steps_is_reached_by_the_upper_one(knowledge_of, queries_of):
    # Terms worth 0, 1 and 2 thousandths, all in the profile. Query {1, 2} has mean 1.5; of
    # single draws only term 2 reaches that, a draw of term 1 does not.
    known = knowledge_of([[], [0], [0]], [[1, 2]], ic=[0, 0.001, 0.002])
    queries = queries_of(known, [1, 2])
    drawn = np.bincount(draw_queries(3, 300, 1, 1)[:, 0], minlength=3)
    counted = Phenomizer("sampled", samples=300, max_query_size=1).ordinary(known, queries)
    assert counted.p_value.tolist() == [[(1 + drawn[2]) / 301]]
    exact = Phenomizer("exact", max_query_size=1).ordinary(known, queries)
    assert exact.p_value[0, 0] == pytest.approx(1 / 3)


@pytest.mark.parametrize("n_terms, size", [(5, 5), (12, 10), (19_810, 10)])
def test_draws_are_without_replacement_and_from_all_terms(n_terms, size):
    draws = draw_queries(n_terms, 500, size, seed=3)
    assert draws.shape == (500, size)
    ordered = np.sort(draws, axis=1)
    assert (ordered[:, 1:] != ordered[:, :-1]).all()
    assert draws.max() < n_terms
    assert len(np.unique(draws)) > 0.2 * n_terms


def test_every_position_is_uniform():
    draws = draw_queries(7, 70_000, 4, seed=2)
    for j in range(4):
        counts = np.bincount(draws[:, j], minlength=7)
        # Chi-square with 6 degrees of freedom: 99.9 % lie below 22.5.
        assert ((counts - 10_000) ** 2 / 10_000).sum() < 22.5
    # And so is every ordered pair of different terms: 42 cells, 41 degrees: 99.9 % below 74.7.
    pairs = np.bincount(draws[:, 0].astype(int) * 7 + draws[:, 3], minlength=49)
    assert (pairs[:: 7 + 1] == 0).all()
    pairs = np.delete(pairs, slice(None, None, 7 + 1))
    assert ((pairs - 70_000 / 42) ** 2 / (70_000 / 42)).sum() < 74.7


def test_first_positions_do_not_depend_on_the_size_and_seeds_matter():
    ten = draw_queries(300, 1000, 10, seed=4)
    assert np.array_equal(draw_queries(300, 1000, 3, seed=4), ten[:, :3])
    assert not np.array_equal(draw_queries(300, 1000, 3, seed=5), ten[:, :3])


def test_draws_take_the_narrowest_type_that_holds_them():
    assert draw_queries(65_536, 10, 2, seed=1).dtype == np.uint16
    wide = draw_queries(65_537, 10, 2, seed=1)
    assert wide.dtype == np.uint32
    assert draw_queries(1 << 20, 200, 1, seed=1).max() > 65_536


def test_the_largest_term_of_the_narrow_type_can_be_drawn():
    # 65,536 terms: the last is 65,535, which a type one bit short would wrap.
    draws = draw_queries(65_536, 400_000, 1, seed=1)
    assert draws.max() == 65_535


def test_results_do_not_depend_on_what_else_is_asked(toy, queries_of):
    ranker = Phenomizer("sampled", samples=200, max_query_size=3)
    terms = [[1, 2, 3], [4], [5, 3]]
    together = ranker.ordinary(toy, queries_of(toy, *terms)).p_value
    alone = [ranker.ordinary(toy, queries_of(toy, each)).p_value[0] for each in terms]
    assert together.tolist() == [row.tolist() for row in alone]


def test_chunks_are_never_more_than_columns():
    assert chunk_count(0) == 1
    assert chunk_count(1) == 1
    assert 1 <= chunk_count(10_000) <= 10_000


def test_an_unknown_null_is_refused():
    with pytest.raises(InputError, match="unknown null model") as caught:
        Phenomizer("guessed")
    assert caught.value.expected == "sampled, exact, reference"
