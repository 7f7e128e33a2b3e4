import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.rankers.base import Scores
from rarefuse.rankers.order import java_hash_order, neutral_order, places, top_lists
from rarefuse.rankers.phenomizer import Phenomizer
from rarefuse.rankers.semantic import Resnik


def scores_of(score, p_value=None, order=None):
    score = np.array(score, np.float64)
    if p_value is not None:
        p_value = np.array(p_value, np.float64)
    if order is None:
        order = range(score.shape[1])
    return Scores(score, p_value, np.array(order, np.int32))


@st.composite
def tied_scores(draw):
    """Few different values, so that most candidates are tied; any positions."""
    q, d = draw(st.integers(1, 3)), draw(st.integers(1, 14))
    table = st.lists(st.lists(st.integers(0, 2), min_size=d, max_size=d), min_size=q, max_size=q)
    p_value = draw(st.one_of(st.none(), table))
    return scores_of(draw(table), p_value, draw(st.permutations(range(d))))


def sorted_rows(scores, q):
    """Candidates in order, and the first and last one-based place of each one's tie block."""
    s = scores.score[q]
    p = np.zeros_like(s) if scores.p_value is None else scores.p_value[q]
    order = np.lexsort((scores.order, -s, p))
    keys = [(p[d], s[d]) for d in order]
    first = [keys.index(key) + 1 for key in keys]
    last = [len(keys) - keys[::-1].index(key) for key in keys]
    return order, first, last


@given(tied_scores(), st.integers(1, 20))
@settings(deadline=None, max_examples=150)
def test_lists_are_the_first_places_of_a_full_sort(scores, depth):
    top, first, last = top_lists(scores, depth)
    stored = min(depth, scores.score.shape[1])
    assert top.shape == first.shape == last.shape == (scores.score.shape[0], stored)
    for q in range(len(top)):
        order, begins, ends = sorted_rows(scores, q)
        assert top[q].tolist() == order[:stored].tolist()
        assert first[q].tolist() == begins[:stored]
        assert last[q].tolist() == ends[:stored]


@given(tied_scores(), st.data())
@settings(deadline=None, max_examples=150)
def test_a_candidates_place_is_that_of_a_full_sort(scores, data):
    n, d = scores.score.shape
    wanted = data.draw(st.lists(st.integers(-1, d - 1), min_size=n, max_size=n))
    found = places(scores, np.array(wanted, np.int32))
    for q, candidate in enumerate(wanted):
        order, begins, ends = sorted_rows(scores, q)
        if candidate < 0:
            assert found[q].tolist() == [0, 0, 0]
        else:
            at = order.tolist().index(candidate)
            assert found[q].tolist() == [at + 1, begins[at], ends[at]]


def test_by_hand_with_a_block_that_goes_on_beyond_the_list():
    # p 0.1 before 0.2, whatever the score; candidates 1, 2, 4, 5 are one block, 0 the best.
    scores = scores_of(
        [[1.0, 5.0, 5.0, 9.0, 5.0, 5.0]],
        [[0.1, 0.2, 0.2, 0.3, 0.2, 0.2]],
        [5, 4, 3, 2, 1, 0],
    )
    top, first, last = top_lists(scores, 3)
    assert top.tolist() == [[0, 5, 4]]
    assert first.tolist() == [[1, 2, 2]]
    assert last.tolist() == [[1, 5, 5]]  # the block's end, though the list ends at 3
    wanted = np.array([1], np.int32)
    assert places(scores, wanted).tolist() == [[5, 2, 5]]
    assert places(scores, np.array([3], np.int32)).tolist() == [[6, 6, 6]]
    assert places(scores, np.array([-1], np.int32)).tolist() == [[0, 0, 0]]


def test_without_p_values_the_score_orders():
    top, first, last = top_lists(scores_of([[1.0, 3.0, 3.0, 2.0]], order=[0, 2, 1, 3]), 4)
    assert (top.tolist(), first.tolist(), last.tolist()) == (
        [[2, 1, 3, 0]],
        [[1, 1, 3, 4]],
        [[2, 2, 3, 4]],
    )


def test_java_order_by_hand():
    # String.hashCode of one character is its code: b 98, q 113, a 97; h is 31 more: 129, 144, 128.
    # Capacity 16: buckets 129 & 15 = 1, 144 & 15 = 0, 128 & 15 = 0; q was inserted before a.
    assert java_hash_order(["b", "q", "a"], [2, 3, 7]).tolist() == [2, 0, 1]
    assert java_hash_order(["b", "q", "a"], [2, 7, 3]).tolist() == [2, 1, 0]


def test_java_order_doubles_the_capacity_above_three_quarters():
    # Codes 97 to 108, h = 128 to 139: buckets 0 to 11. q: h = 144, bucket 0 of 16 but 16 of 32.
    letters = [chr(code) for code in range(97, 109)]
    eleven, twelve = [*letters[:11], "q"], [*letters, "q"]
    insertion = list(range(13))
    # 12 entries are three quarters of 16: q stands second, behind a (inserted before it).
    assert java_hash_order(eleven, insertion[:12]).tolist() == [0, *range(2, 12), 1]
    # The 13th entry makes 32 buckets: q goes to the end.
    assert java_hash_order(twelve, insertion).tolist() == list(range(13))


def test_java_order_of_a_negative_hash():
    # The well-known "polygenelubricants" hashes to -2^31, that is 0x80000000; h = 0x8000001F.
    # h >>> 16 = 0x8000, so h ^ (h >>> 16) ends in 0x801F: bucket 15 of 16. a stands in bucket 0
    # and o (111 + 31 = 142 = 0x8E) in bucket 14.
    names = ["polygenelubricants", "o", "a"]
    assert java_hash_order(names, [0, 1, 2]).tolist() == [2, 1, 0]


def test_java_order_uses_the_high_half_of_the_hash():
    # hashCode("OMIM:1"): O 79, M 77, I 73, M 77, : 58, 1 49, each step times 31 plus the next:
    # 79, 2526, 78379, 2429826, 75324664, 2335064633; h = 2335064664 = 0x8B2E5258.
    # 0x5258 ^ 0x8B2E = 0xD976: bucket 6. "g" has h = 103 + 31 = 134, bucket 6; without the high
    # half OMIM:1 would be in bucket 8, behind "i" (136), in place of before it.
    assert java_hash_order(["g", "i", "OMIM:1"], [3, 1, 2]).tolist() == [1, 2, 0]


def test_the_neutral_order_is_a_permutation_of_its_own_that_depends_on_names_only():
    names = [f"OMIM:{n}" for n in range(100_000, 100_500)]
    order = neutral_order(names)
    assert sorted(order.tolist()) == list(range(500))
    # Relative order does not depend on who else is there, or on the order of the list.
    some = neutral_order(names[::-5])
    assert np.argsort(np.argsort(order[::-5])).tolist() == some.tolist()
    # And it is not that of the numbers: rank correlation with them, standard error 0.045.
    assert abs(np.corrcoef(order, np.arange(500))[0, 1]) < 0.15


def test_positions_break_ties_only(toy, queries_of):
    queries = queries_of(toy, [0])  # every disease scores 0 against the root
    plain = Resnik().ordinary(toy, queries)
    assert plain.order.tolist() == neutral_order(toy.disease_ids).tolist()
    java = Phenomizer("reference", samples=10).ordinary(toy, queries)
    assert java.order.tolist() == java_hash_order(toy.disease_ids, toy.first_rows).tolist()
    assert np.argsort(plain.order).tolist() == top_lists(plain, 3)[0][0].tolist()


@pytest.mark.parametrize("depth", [1, 3, 100])
def test_all_tied_is_one_block(depth):
    top, first, last = top_lists(scores_of([[0.0] * 5], order=[4, 3, 2, 1, 0]), depth)
    stored = min(depth, 5)
    assert top.tolist() == [[4, 3, 2, 1, 0][:stored]]
    assert first.tolist() == [[1] * stored]
    assert last.tolist() == [[5] * stored]
