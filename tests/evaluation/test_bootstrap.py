"""The clustered, paired bootstrap."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.evaluation.bootstrap import ClusterBootstrap, cluster_bootstrap

SETTINGS = {"resamples": 500, "level": 0.95, "seed": 1, "name": "all"}


def test_resampled_mean_by_hand():
    # Clusters a (cases 0, 1) and b (case 2). Drawing a twice: (1 + 0 + 1 + 0) / 4; a and b once
    # each: (1 + 0 + 1) / 3; b twice: 1.
    bootstrap = ClusterBootstrap(
        np.array([0, 0, 1]), np.array([[2, 0], [1, 1], [0, 2]], np.float32), 0.95
    )
    means = bootstrap.resampled_means(np.array([[1.0, 0.0, 1.0]]))
    assert means[0] == pytest.approx([1 / 2, 2 / 3, 1.0])


def test_weights_draw_as_many_clusters_as_there_are():
    bootstrap = cluster_bootstrap(["x", "y", "y", "z"], **SETTINGS)
    assert bootstrap.weights.shape == (500, 3)
    assert (bootstrap.weights.sum(axis=1) == 3).all()
    assert bootstrap.weights.mean(axis=0) == pytest.approx([1, 1, 1], abs=0.15)


def test_interval_is_wider_when_cases_of_a_cluster_agree():
    # 100 cases, half of them hits: in 10 clusters of equal cases, or each its own cluster.
    values = np.repeat([1.0, 0.0], 50)[None, :]
    (together,) = cluster_bootstrap([str(i // 10) for i in range(100)], **SETTINGS).estimates(
        values
    )
    (apart,) = cluster_bootstrap([str(i) for i in range(100)], **SETTINGS).estimates(values)
    assert together.value == apart.value == 0.5
    # Standard errors: sqrt(.25 / 10) = .158 against sqrt(.25 / 100) = .05.
    assert (together.high - together.low) / (apart.high - apart.low) == pytest.approx(3.16, rel=0.2)


def test_interval_covers_like_the_normal_one():
    random = np.random.default_rng(0)
    values = random.normal(size=400)[None, :]
    (estimate,) = cluster_bootstrap([str(i) for i in range(400)], **SETTINGS).estimates(values)
    half = 1.96 * values.std() / 20
    assert estimate.low == pytest.approx(values.mean() - half, abs=0.02)
    assert estimate.high == pytest.approx(values.mean() + half, abs=0.02)


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1), st.floats(0, 1)), min_size=2))
@settings(max_examples=50, deadline=None)
def test_resamples_are_paired(cases):
    clusters = [str(c) for c, _, _ in cases]
    one = np.array([a for _, a, _ in cases])
    other = np.array([b for _, _, b in cases])
    bootstrap = cluster_bootstrap(clusters, **{**SETTINGS, "resamples": 20})
    a, b, difference = bootstrap.resampled_means(np.stack([one, other, one - other]))
    assert a - b == pytest.approx(difference, abs=1e-9)


def test_same_name_same_resamples():
    clusters = ["a", "b", "c"]
    first = cluster_bootstrap(clusters, **SETTINGS).weights
    assert (first == cluster_bootstrap(clusters, **SETTINGS).weights).all()
    assert (first != cluster_bootstrap(clusters, **{**SETTINGS, "name": "test"}).weights).any()
