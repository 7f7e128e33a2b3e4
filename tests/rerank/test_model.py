"""The loss by hand and by finite differences; directions; levels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.rerank.columns import EvidenceColumn
from rarefuse.rerank.model import (
    LEVELS,
    PIECES,
    RAMPS,
    Shapes,
    Training,
    find_cuts,
    fit_slopes,
    listwise_loss,
    make_shapes,
    mean_loss,
    score_values,
    to_levels,
)

UP, DOWN = EvidenceColumn("a", "ranks", 1), EvidenceColumn("b", "ranks", -1)


def random_training(seed=0, cases=40, candidates=6):
    random = np.random.default_rng(seed)
    values = random.normal(size=(cases * candidates, 2))
    gold = np.arange(cases) * candidates + random.integers(candidates, size=cases)
    values[gold, 0] += 1.5
    right = np.zeros(len(values), bool)
    right[gold] = True
    cuts = find_cuts(values, right)
    ptr = np.arange(cases + 1) * candidates
    return Training(to_levels(values, cuts), ptr, gold), cuts, values


def test_loss_by_hand():
    levels = np.array([[0], [255], [10], [0], [255]], np.uint8)
    tables = np.zeros((1, LEVELS), np.float32)
    tables[0, 255], tables[0, 10] = math.log(3), math.log(2)
    gradient = np.empty((1, LEVELS))
    # Shares 1/6, 3/6, 2/6 and 1/4, 3/4; the diagnoses are the second and the fourth.
    loss = listwise_loss(levels, np.array([0, 3, 5]), np.array([1, 3]), tables, gradient)
    assert loss == pytest.approx(math.log(2) + math.log(4))
    assert gradient[0, 0] == pytest.approx(1 / 6 + 1 / 4 - 1)
    assert gradient[0, 10] == pytest.approx(1 / 3)
    assert gradient[0, 255] == pytest.approx(1 / 2 - 1 + 3 / 4)


def test_gradient_is_that_of_finite_differences():
    training, _, _ = random_training()
    random = np.random.default_rng(1)
    tables = random.normal(size=(2, LEVELS)).astype(np.float32)
    gradient, unused = np.empty((2, LEVELS)), np.empty((2, LEVELS))
    listwise_loss(*training, tables, gradient)
    step = 0.05
    for f, level in ((0, int(training.levels[3, 0])), (1, int(training.levels[8, 1]))):
        losses = []
        for sign in (1, -1):
            moved = tables.copy()
            moved[f, level] += sign * step
            losses.append(listwise_loss(*training, moved, unused))
        assert gradient[f, level] == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=0.02)


def test_shapes_keep_their_directions_and_the_control_does_not():
    training, _, _ = random_training()
    columns = (EvidenceColumn("a", "ranks", -1), EvidenceColumn("b", "ranks", 1))
    against = fit_slopes(training, columns, 1.0)
    assert (against[0] <= 0).all()
    assert (against[1] >= 0).all()
    free = fit_slopes(training, columns, 1.0, monotone=False)
    assert free[0].sum() > 0.5
    assert mean_loss(training, free) < mean_loss(training, against)


def test_the_optimum_does_not_depend_on_the_start():
    training, _, _ = random_training()
    flat = fit_slopes(training, (UP, DOWN), 3.0, iterations=300)
    start = np.random.default_rng(2).random((2, PIECES)) * np.array([[1.0], [-1.0]])
    other = fit_slopes(training, (UP, DOWN), 3.0, start, iterations=300)
    assert other == pytest.approx(flat, abs=0.02)


def test_a_fit_puts_diagnoses_first_more_often_than_chance():
    training, cuts, values = random_training()
    slopes = fit_slopes(training, (UP, DOWN), 1.0)
    score = score_values(make_shapes((UP, DOWN), cuts, slopes, training.levels), values)
    firsts = training.ptr[:-1] + score.reshape(-1, 6).argmax(axis=1)
    assert (firsts == training.gold).mean() > 0.5


def test_an_ordinary_candidate_gets_nothing():
    training, cuts, _ = random_training()
    slopes = fit_slopes(training, (UP, DOWN), 1.0)
    shapes = make_shapes((UP, DOWN), cuts, slopes, training.levels)
    for f in range(2):
        middle = np.sort(training.levels[:, f])[(len(training.levels) - 1) // 2]
        assert shapes.tables[f, middle] == 0


def test_levels_by_hand():
    cuts = np.zeros((1, LEVELS - 1))
    cuts[0, 200:] = 5.0
    assert to_levels(np.array([[-1.0], [0.0], [4.9], [5.0]]), cuts)[:, 0].tolist() == [
        0,
        200,
        200,
        255,
    ]
    assert RAMPS[0].sum() == 0
    assert RAMPS[-1].sum() == PIECES


@given(st.permutations(range(12)))
@settings(deadline=None)
def test_permuted_candidates_have_permuted_scores(order):
    random = np.random.default_rng(4)
    values = random.normal(size=(12, 2))
    shapes = Shapes((UP, DOWN), np.sort(random.normal(size=(2, 255))), random.normal(size=(2, 256)))
    score = score_values(shapes, values)
    assert score_values(shapes, values[list(order)]).tolist() == score[list(order)].tolist()


@given(st.floats(0.25, 8), st.integers(-100, 100))
@settings(deadline=None)
def test_rescaled_training_and_values_have_the_same_levels(scale, shift):
    """A column's unit and origin do not matter: levels are places among the training values."""
    values = np.random.default_rng(6).integers(-64, 64, (300, 1)).astype(float)
    right = np.arange(300) % 10 == 0
    scale = 2.0 ** round(math.log2(scale))
    moved = values * scale + shift
    before = to_levels(values, find_cuts(values, right))
    assert to_levels(moved, find_cuts(moved, right)).tolist() == before.tolist()
