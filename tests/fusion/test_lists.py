"""Unions, their order, and ranking by weights, on lists that can be read."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.fusion.lists import (
    fused_score,
    index_lists,
    make_union,
    order_by_score,
    places_by_score,
    vocabulary_of,
)


def test_lists_come_from_a_ranking_in_its_order():
    ranking = pl.DataFrame(
        {"case_id": ["b", "a", "a", "a"], "rank": [1, 2, 1, 3], "disease_id": ["x", "y", "x", "z"]}
    )
    found = index_lists(ranking, ["a", "b", "c"], vocabulary_of(["x", "y", "z"]), 2)
    assert found.disease.tolist() == [[0, 1], [0, -1], [-1, -1]]
    assert found.score.tolist() == [[1.0, 0.5], [1.0, 0.0], [0.0, 0.0]]
    assert found.length.tolist() == [2, 1, 0]


def test_a_union_holds_the_ontology_list_then_what_the_llm_adds(union_of):
    union = union_of([[7, 5, 3]], [[5, 9]])
    assert union.disease.tolist() == [[7, 5, 3, 9, -1]]
    assert union.ontology.tolist() == [[1, 1 / 2, 1 / 3, 0, 0]]
    assert union.llm.tolist() == [[0, 1, 0, 1 / 2, 0]]
    assert union.places(np.array([9], np.int32)).tolist() == [3]
    assert union.places(np.array([8], np.int32)).tolist() == [-1]


def test_kappa_flattens_the_decay(union_of):
    union = union_of([[7, 5]], [[5]], kappa=60)
    assert union.ontology[0, :2].tolist() == [1 / 61, 1 / 62]
    assert union.llm[0, :2].tolist() == [0, 1 / 61]


def test_equal_scores_keep_the_ontology_order_then_the_llms(union_of):
    # w = 1/2: 7 and 9 both score 1/2, 5 and 8 both 1/4.
    union = union_of([[7, 5]], [[9, 8]])
    half = np.full(1, 0.5)
    score = fused_score(union, half, half)
    assert union.disease[0, order_by_score(union, score)[0]].tolist() == [7, 9, 5, 8]
    for disease, places in ((7, [1, 1, 2]), (9, [2, 1, 2]), (5, [3, 3, 4]), (8, [4, 3, 4])):
        gold = union.places(np.array([disease], np.int32))
        assert places_by_score(union, score, gold)[0].tolist() == places
    assert places_by_score(union, score, np.array([-1])).tolist() == [[0, 0, 0]]


@given(data=st.data())
@settings(deadline=None)
def test_places_are_those_of_the_sorted_list(pairs, union_of, data):
    cases = data.draw(st.lists(pairs(least=1), min_size=1, max_size=4))
    union = union_of(*zip(*cases, strict=True))
    w = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(cases), max_size=len(cases))))
    score = fused_score(union, w, 1 - w)
    order = order_by_score(union, score)
    for column in range(union.disease.shape[1]):
        gold = np.where(union.disease[:, column] >= 0, column, -1)
        for i, (rank, first, last) in enumerate(places_by_score(union, score, gold)):
            if gold[i] >= 0:
                assert order[i, rank - 1] == column
                tied = np.flatnonzero(score[i, order[i]] == score[i, column])
                tied = tied[union.disease[i, order[i][tied]] >= 0]
                assert (first, last) == (tied[0] + 1, tied[-1] + 1)


@given(data=st.data())
@settings(deadline=None)
def test_swapping_the_lists_swaps_the_weights_and_leaves_every_score(pairs, lists, data):
    one, other = data.draw(pairs())
    a, b = lists(one, depth=6), lists(other, depth=6)
    w = np.array([data.draw(st.floats(0, 1))])
    there, back = make_union(a, b, 0.0), make_union(b, a, 0.0)
    known = dict(zip(there.disease[0], fused_score(there, w, 1 - w)[0], strict=True))
    swapped = dict(zip(back.disease[0], fused_score(back, 1 - w, w)[0], strict=True))
    assert known == pytest.approx(swapped, abs=0)
