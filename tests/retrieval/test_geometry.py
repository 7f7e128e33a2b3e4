"""Geometry against mpmath at 60 digits, against geoopt, and against what the theory promises."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarefuse.retrieval import geometry as g

mpmath.mp.dps = 60
RADII = [0.0, 1e-9, 1e-5, 0.1, 1.0, 5.0, 12.0]


def points(seed, n, d, radius):
    draw = np.random.default_rng(seed)
    u = draw.normal(size=(n, d))
    return u / np.linalg.norm(u, axis=1, keepdims=True) * draw.random((n, 1)) * radius


def exact_distance(u, v):
    u, v = [mpmath.mpf(x) for x in u], [mpmath.mpf(x) for x in v]
    ru, rv = (mpmath.sqrt(sum(x * x for x in w)) for w in (u, v))
    product = sum(a * b for a, b in zip(u, v, strict=True))
    cosine = product / (ru * rv) if ru and rv else mpmath.mpf(1)
    z = mpmath.cosh(ru) * mpmath.cosh(rv) - mpmath.sinh(ru) * mpmath.sinh(rv) * cosine
    return mpmath.acosh(max(z, mpmath.mpf(1)))


@pytest.mark.parametrize("radius", RADII)
def test_distance_against_mpmath(radius):
    u, v = points(1, 12, 5, radius), points(2, 12, 5, radius)
    for a, b, found in zip(u, v, g.distance(u, v), strict=True):
        assert float(exact_distance(a, b)) == pytest.approx(found, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("gap", [1e-4, 1e-8, 1e-12])
def test_close_points_keep_their_digits(gap):
    """arcosh of a number near 1 would lose half of them."""
    u = np.array([2.0, 1.0, 0.5])
    v = u + gap * np.array([0.3, -1.0, 0.7])
    assert float(exact_distance(u, v)) == pytest.approx(
        float(g.distance(u, v)), rel=1e-3 * 1e-12 / gap + 1e-9
    )


def test_against_geoopt():
    geoopt = pytest.importorskip("geoopt")
    torch = pytest.importorskip("torch")
    manifold = geoopt.Lorentz(k=torch.tensor(1.0, dtype=torch.float64))
    u, v = points(3, 50, 8, 3.0), points(4, 50, 8, 3.0)
    x, y = g.exp_origin(u), g.exp_origin(v)
    tangent = np.concatenate([np.zeros((50, 1)), u], axis=1)
    np.testing.assert_allclose(manifold.expmap0(torch.from_numpy(tangent)).numpy(), x, rtol=1e-10)
    theirs = manifold.dist(torch.from_numpy(x), torch.from_numpy(y)).numpy()
    np.testing.assert_allclose(g.distance(u, v), theirs, rtol=1e-7)
    np.testing.assert_allclose(
        g.lorentz_product(x, y),
        manifold.inner(None, torch.from_numpy(x), torch.from_numpy(y)).numpy(),
        rtol=1e-9,
    )  # fmt: skip
    back = manifold.logmap0(torch.from_numpy(x)).numpy()[:, 1:]
    np.testing.assert_allclose(g.log_origin(x), back, atol=1e-6)


@pytest.mark.parametrize("radius", RADII)
def test_log_inverts_exp(radius):
    u = points(5, 20, 6, radius)
    x = g.exp_origin(u)
    np.testing.assert_allclose(
        g.lorentz_product(x, x), -1.0, rtol=1e-9, atol=np.cosh(radius) ** 2 * 1e-14
    )
    np.testing.assert_allclose(g.log_origin(x), u, rtol=1e-10, atol=1e-15)


def test_matrix_of_distances_agrees():
    u, v = points(6, 7, 4, 4.0), points(7, 9, 4, 4.0)
    np.testing.assert_allclose(g.distances(u, v), g.distance(u[:, None], v[None]), rtol=1e-7)


def test_distance_of_points_on_one_ray_is_the_difference_of_radii():
    direction = np.array([0.6, 0.8])
    assert float(g.distance(3.0 * direction, 1.0 * direction)) == pytest.approx(2.0)
    assert float(g.distance(3.0 * direction, -1.0 * direction)) == pytest.approx(4.0)


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 8.0), st.integers(2, 40))
def test_bounds_of_theorem_1(seed, radius, d):
    """|u - v| ≤ d(u, v) ≤ κ(R) |u - v|."""
    u, v = points(seed, 30, d, radius), points(seed + 1, 30, d, radius)
    flat = np.linalg.norm(u - v, axis=1)
    curved = g.distance(u, v)
    assert (flat <= curved * (1 + 1e-12)).all()
    assert (curved <= g.distortion(radius) * flat * (1 + 1e-12)).all()


def test_kappa():
    """sinh(R)/R; the plot label 29.5 for R = 5 in the reference's repository is wrong."""
    for radius, expected in ((2, 1.813), (3, 3.339), (4, 6.822), (5, 14.84)):
        assert float(g.distortion(radius)) == pytest.approx(expected, abs=5e-3)
    assert float(g.distortion(0.0)) == 1.0
    assert float(g.distortion(1e-3)) == pytest.approx(float(g.distortion(0.999e-3)), rel=1e-8)
    assert [g.oversampling(r, 10) for r in (2, 3, 4, 5)] == [19, 34, 69, 149]


def test_needed_radius():
    assert g.needed_radius(20, 5, 32) == pytest.approx(1.04, abs=0.005)
    assert g.needed_radius(10, 3, 32) == pytest.approx(0.35, abs=0.005)
    assert g.needed_radius(15, 4, 32) == pytest.approx(0.67, abs=0.005)


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 8.0))
def test_inner_products_rank_like_distances(seed, radius):
    u, q = points(seed, 40, 6, radius), points(seed + 1, 1, 6, radius)
    products = g.inner_product_query(g.exp_origin(q)) @ g.exp_origin(u).T
    apart = g.distance(q, u)
    order = np.argsort(-products[0], kind="stable")
    assert (np.diff(apart[order]) > -1e-6).all()


def test_centroid_of_a_point_and_the_origin_lies_between_them():
    u = np.array([[3.0, 0.0]])
    x = g.exp_origin(u)
    assert np.allclose(g.centroid(x, np.ones(1)), x[0])
    radii = [
        float(np.linalg.norm(g.log_origin(g.centroid(x, np.ones(1), c)))) for c in (0.1, 1.0, 10.0)
    ]
    assert 3.0 > radii[0] > radii[1] > radii[2] > 0.0
    assert np.allclose(g.log_origin(g.centroid(x, np.ones(1), 1.0)) / radii[1], [1.0, 0.0])
    # With as much weight on the origin, it is half-way.
    assert radii[1] == pytest.approx(1.5)


def test_centroid_is_on_the_hyperboloid_and_symmetric():
    x = g.exp_origin(points(8, 6, 4, 5.0))
    weights = np.arange(1.0, 7.0)
    middle = g.centroid(x, weights, 0.3)
    assert g.lorentz_product(middle, middle) == pytest.approx(-1.0)
    np.testing.assert_allclose(g.centroid(x[::-1], weights[::-1], 0.3), middle)


def test_poincare_radius_is_tanh_of_half():
    x = g.exp_origin(np.array([[0.0, 2.0]]))
    assert np.linalg.norm(g.poincare(x)) == pytest.approx(np.tanh(1.0))
    np.testing.assert_allclose(g.on_hyperboloid(x[:, 1:]), x)


@given(st.integers(0, 2**32 - 1), st.floats(0.2, 6.0), st.integers(5, 30))
def test_the_certificate_never_claims_wrongly(seed, radius, candidates):
    u, q = points(seed, 200, 5, radius), points(seed + 1, 1, 5, radius)[0]
    flat, curved = np.linalg.norm(u - q, axis=1), g.distance(q, u)
    pool = np.argsort(flat, kind="stable")[:candidates]
    best = pool[np.argsort(curved[pool], kind="stable")[:5]]
    if g.certified(curved[best[-1]], flat[pool[-1]]):
        truth = np.sort(curved)[:5]
        np.testing.assert_allclose(np.sort(curved[best]), truth)
