"""Recall and reciprocal rank under the tie policies, against hand-computed places."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarefuse.errors import InputError
from rarefuse.evaluation.metrics import TIE_POLICIES, recall_at, reciprocal_rank

# Case 0: alone at place 1. Case 1: tied over 1..4, native place 2. Case 2: tied over 3..4, native
# place 3. Case 3: no candidate.
RANK = np.array([1, 2, 3, 0])
FIRST = np.array([1, 1, 3, 0])
LAST = np.array([1, 4, 4, 0])
PLACES = (RANK, FIRST, LAST)


@pytest.mark.parametrize(
    ("k", "policy", "expected"),
    [
        (1, "native", [1, 0, 0, 0]),
        (3, "native", [1, 1, 1, 0]),
        (1, "worst", [1, 0, 0, 0]),
        (3, "worst", [1, 0, 0, 0]),
        (4, "worst", [1, 1, 1, 0]),
        # One of four places is at most 1; three of four and one of two are at most 3.
        (1, "averaged", [1, 1 / 4, 0, 0]),
        (3, "averaged", [1, 3 / 4, 1 / 2, 0]),
        (100, "averaged", [1, 1, 1, 0]),
    ],
)
def test_recall(k, policy, expected):
    assert recall_at(k, *PLACES, policy).tolist() == expected


def test_reciprocal_rank():
    assert reciprocal_rank(*PLACES, "native").tolist() == [1, 1 / 2, 1 / 3, 0]
    assert reciprocal_rank(*PLACES, "worst").tolist() == [1, 1 / 4, 1 / 4, 0]
    averaged = reciprocal_rank(*PLACES, "averaged")
    # (1 + 1/2 + 1/3 + 1/4) / 4 and (1/3 + 1/4) / 2.
    assert averaged == pytest.approx([1, 25 / 48, 7 / 24, 0])


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(0, 30), st.integers(0, 30)), min_size=1),
    st.integers(1, 60),
)
def test_policies_agree_without_ties_and_worst_is_never_better(blocks, k):
    first = np.array([f for f, _, _ in blocks])
    last = first + np.array([w for _, w, _ in blocks])
    rank = np.minimum(first + np.array([o for _, _, o in blocks]), last)
    worst = recall_at(k, rank, first, last, "worst")
    assert (worst <= recall_at(k, rank, first, last, "native")).all()
    assert (worst <= recall_at(k, rank, first, last, "averaged")).all()
    for metric in (lambda *a: recall_at(k, *a), reciprocal_rank):
        alone = [metric(rank, rank, rank, policy) for policy in TIE_POLICIES]
        assert alone[0] == pytest.approx(alone[1])
        assert alone[0] == pytest.approx(alone[2])


def test_unknown_policy():
    with pytest.raises(InputError, match="tie policy"):
        recall_at(1, *PLACES, "lucky")
    with pytest.raises(InputError, match="tie policy"):
        reciprocal_rank(*PLACES, "lucky")
