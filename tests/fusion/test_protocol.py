"""Folds, hold-outs and samples: who is trained on what."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.errors import InputError
from rarefuse.fusion.catalogue import component_of, hold_outs
from rarefuse.fusion.protocol import (
    allot,
    profile_folds,
    publication_folds,
    sample_rows,
    split_folds,
)

FAMILIES = {"a1": "A", "a2": "A", "b": "B", "c": "C 2"}


@settings(deadline=None)
@given(
    groups=st.lists(st.sampled_from([f"PMID:{i}" for i in range(12)]), min_size=30, max_size=80),
    n_folds=st.integers(3, 5),
)
def test_publications_never_cross_sides_and_every_case_is_tested_once(groups, n_folds):
    if len(set(groups)) < n_folds:
        return
    folds = publication_folds(groups, n_folds, 0.2, 1)
    tested = np.sort(np.concatenate([fold.test for fold in folds]))
    assert tested.tolist() == list(range(len(groups)))
    for fold in folds:
        sides = [{groups[i] for i in side} for side in (fold.train, fold.validation, fold.test)]
        assert len(set.union(*sides)) == sum(map(len, sides))
        n = len(fold.train) + len(fold.validation) + len(fold.test)
        assert n == len(groups)


def test_profiles_never_cross_folds():
    random = np.random.default_rng(1)
    profiles = [f"p{i}" for i in random.integers(0, 60, 120)]
    diagnoses = [f"d{i}" for i in random.integers(0, 6, 120)]
    folds = profile_folds(diagnoses, profiles, 5, 1)
    assert np.sort(np.concatenate([f.test for f in folds])).tolist() == list(range(120))
    for i, fold in enumerate(folds):
        assert fold.validation.tolist() == folds[(i + 1) % 5].test.tolist()
        sides = [{profiles[j] for j in s} for s in (fold.train, fold.validation, fold.test)]
        assert len(set.union(*sides)) == sum(map(len, sides))


def test_splits_are_one_fold():
    (fold,) = split_folds(["test", "train", "validation", "train"])
    assert (fold.train.tolist(), fold.validation.tolist(), fold.test.tolist()) == ([1, 3], [2], [0])


def test_too_few_groups_are_refused():
    with pytest.raises(InputError, match="cannot be parted"):
        publication_folds(["PMID:1", "PMID:2"] * 5, 5, 0.2, 1)


def test_a_targets_whole_family_is_held_out():
    held = hold_outs(FAMILIES, list(FAMILIES), list(FAMILIES), False)
    assert held["a1"].arms == ("b", "c")
    assert held["a1"] == held["a2"]
    assert held["c"].name == "without-C-2"
    assert all(h.complete for h in held.values())


def test_a_test_only_arm_is_never_trained_on_and_changes_no_other_fit():
    before = hold_outs(FAMILIES, ["a1", "b"], ["a1", "b"], False)
    after = hold_outs({**FAMILIES, "new": "N"}, ["a1", "b", "new"], ["a1", "b"], False)
    assert after["new"].arms == ("a1", "b")
    assert after["new"].name == "all"
    assert {arm: after[arm] for arm in before} == before


def test_one_family_alone_cannot_be_held_out_and_says_so():
    held = hold_outs(FAMILIES, ["a1", "a2"], ["a1", "a2"], False)
    assert held["a1"].arms == ("a1", "a2")
    assert not held["a1"].complete


def test_own_family_trains_on_everybody():
    held = hold_outs(FAMILIES, ["a1"], ["a1", "b"], True)
    assert held["a1"].arms == ("a1", "b")
    assert held["a1"].complete


def test_no_arm_to_train_on_is_refused():
    with pytest.raises(InputError, match="no language model to train"):
        hold_outs(FAMILIES, ["b"], [], False)


@settings(deadline=None)
@given(budget=st.integers(0, 60), available=st.lists(st.integers(0, 20), min_size=1, max_size=6))
def test_a_budget_is_shared_as_evenly_as_can_be(budget, available):
    shares = allot(budget, available)
    assert sum(shares) == min(budget, sum(available))
    assert all(0 <= s <= n for s, n in zip(shares, available, strict=True))
    short = [s for s, n in zip(shares, available, strict=True) if s < n]
    if short:  # who could give more gives as much as anybody, to one
        assert max(shares) - min(short) <= 1


def test_rows_are_sampled_without_replacement_and_by_name():
    usable = [np.arange(10), np.arange(10, 13)]
    one = sample_rows(usable, 8, 1, "fold0", "train")
    assert len(one) == len(set(one.tolist())) == 8
    assert (one >= 10).sum() == 3
    assert one.tolist() == sample_rows(usable, 8, 1, "fold0", "train").tolist()
    assert one.tolist() != sample_rows(usable, 8, 2, "fold0", "train").tolist()


@pytest.mark.parametrize(
    "name, ranker, depth, full",
    [
        ("phenomizer", "phenomizer", None, False),
        ("phenomizer.top10", "phenomizer", 10, False),
        ("phenomizer.full", "phenomizer", None, True),
        ("phenomizer.seed3.top50", "phenomizer.seed3", 50, False),
    ],
)
def test_components_are_read_from_their_names(name, ranker, depth, full):
    found = component_of(name)
    assert (found.ranker, found.depth, found.full) == (ranker, depth, full)
