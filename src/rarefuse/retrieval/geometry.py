"""Hyperbolic space of curvature -1 in Lorentz coordinates and in normal coordinates at the origin.

A point is ``y`` in R^(d+1) with <y, y>_L = -1 and y0 > 0; its normal coordinates are
``u = log_0(y)`` in R^d, whose length is the point's distance from the origin, its radius. All of
it is in double precision. Source: HYEM_SPEC 1 and 8; Lee, Introduction to Riemannian Manifolds.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Real = NDArray[np.floating[Any]]


def lorentz_product(x: Real, y: Real) -> Array:
    """<x, y>_L = -x0 y0 + Σ xi yi over the last axis."""
    product = np.asarray(x, np.float64) * np.asarray(y, np.float64)
    return product[..., 1:].sum(-1) - product[..., 0]


def exp_origin(u: Real) -> Array:
    """Points of normal coordinates: (cosh|u|, sinh|u| u/|u|), shape (…, d) → (…, d + 1)."""
    u = np.asarray(u, np.float64)
    radius = np.linalg.norm(u, axis=-1, keepdims=True)
    return np.concatenate([np.cosh(radius), _sinhc(radius) * u], axis=-1)


def log_origin(y: Real) -> Array:
    """Normal coordinates of points, shape (…, d + 1) → (…, d).

    The radius is taken as arsinh of the spatial length, which stays exact near the origin where
    arcosh(y0) loses half its digits.
    """
    y = np.asarray(y, np.float64)
    length = np.linalg.norm(y[..., 1:], axis=-1, keepdims=True)
    return y[..., 1:] / _sinhc(np.arcsinh(length))


def on_hyperboloid(space: Real) -> Array:
    """Points with given spatial coordinates: y0 = sqrt(1 + |y_space|²)."""
    space = np.asarray(space, np.float64)
    return np.concatenate(
        [np.sqrt(1.0 + (space**2).sum(-1, keepdims=True)), space], axis=-1
    )  # fmt: skip


def distance(u: Real, v: Real) -> Array:
    """Distance of points given in normal coordinates; the last axis is d, the others broadcast.

    With ru = |u|, rv = |v| and a the angle between them,
    cosh d - 1 = 2 sinh²((ru - rv)/2) + sinh ru sinh rv (1 - cos a),  1 - cos a = |û - v̂|²/2,
    and arcosh(1 + t) = log1p(t + sqrt(t (t + 2))): no cancellation for close points.
    """
    u, v = np.asarray(u, np.float64), np.asarray(v, np.float64)
    ru, rv = np.linalg.norm(u, axis=-1), np.linalg.norm(v, axis=-1)
    gap = _unit(u, ru) - _unit(v, rv)
    excess = 2.0 * np.sinh((ru - rv) / 2.0) ** 2
    excess += np.sinh(ru) * np.sinh(rv) * 0.5 * (gap**2).sum(-1)
    return np.log1p(excess + np.sqrt(excess * (excess + 2.0)))


def distances(u: Real, v: Real) -> Array:
    """Distances of all pairs: (m, d) and (n, d) in normal coordinates → (m, n).

    One matrix product. Close pairs lose digits that `distance` keeps: about 1e-8·cosh(radius).
    """
    excess = -(inner_product_query(exp_origin(u)) @ exp_origin(v).T) - 1.0
    excess = np.maximum(excess, 0.0)
    return np.log1p(excess + np.sqrt(excess * (excess + 2.0)))


def inner_product_query(x: Real) -> Array:
    """(-x0, x1, …, xd): its ordinary inner product with a point y is <x, y>_L.

    d(x, y) = arcosh(-<x, y>_L) falls as that product grows, so the largest inner product is the
    nearest point, exactly.
    """
    flipped = np.array(x, np.float64)
    flipped[..., 0] *= -1.0
    return flipped


def centroid(points: Real, weights: Real, origin: Real | float | np.floating[Any] = 0.0) -> Array:
    """Lorentz centroid: Σ w_i x_i + c o, scaled back onto the hyperboloid.

    Parameters
    ----------
    points : ndarray, shape (…, k, d + 1)
    weights : ndarray, shape (…, k)
        Non-negative, not all zero.
    origin : float or ndarray, shape (…)
        c ≥ 0. It draws the centroid towards the origin o along the geodesic between them, which
        in a hierarchy is the way to what is more general.

    Returns
    -------
    ndarray, shape (…, d + 1)

    Notes
    -----
    A sum of future-directed timelike vectors is one, so it can always be scaled back (Law et al.,
    2019, equation 11). The scale does not change the order of inner products.
    """
    total = (np.asarray(weights, np.float64)[..., None] * points).sum(-2)
    total[..., 0] += origin
    return total / np.sqrt(-lorentz_product(total, total))[..., None]


def distortion(radius: Real | float | np.floating[Any]) -> Array:
    """κ(R) = sinh(R)/R: |u - v| ≤ d(u, v) ≤ κ(R) |u - v| for |u|, |v| ≤ R (Theorem 1)."""
    return _sinhc(np.asarray(radius, np.float64))


def oversampling(radius: float, k: int) -> int:
    """The paper's L_th = ⌈κ(R) k⌉, a heuristic: it supposes counts that grow linearly."""
    return math.ceil(float(distortion(radius)) * k)


def needed_radius(depth: float, branching: float, dimension: int) -> float:
    """R = D ln b / (d - 1): room for a tree of that depth and branching (Proposition 3)."""
    return depth * math.log(branching) / (dimension - 1)


def poincare(y: Real) -> Array:
    """Poincaré ball coordinates y_space/(1 + y0) of points."""
    return y[..., 1:] / (1.0 + y[..., :1])


def certified(kth_distance: Real, last_tangent_distance: Real) -> NDArray[np.bool_]:
    """Whether the k nearest of the candidates are the k nearest of all.

    Parameters
    ----------
    kth_distance : ndarray
        Hyperbolic distance of the k-th nearest candidate.
    last_tangent_distance : ndarray
        Euclidean distance, in normal coordinates, of the farthest candidate. The candidates must
        be the exact nearest in normal coordinates.

    Notes
    -----
    What is no candidate is at least that far in normal coordinates, and by Theorem 1 at least as
    far in hyperbolic distance: so nothing outside can be nearer than the k-th.
    """
    return np.asarray(kth_distance) <= np.asarray(last_tangent_distance)


def _sinhc(radius: Real) -> Array:
    """sinh(r)/r, 1 at 0; by its series below 1e-3, where that is exact in double precision."""
    radius = np.asarray(radius, np.float64)
    small = np.abs(radius) < 1e-3
    safe = np.where(small, 1.0, radius)
    series = 1.0 + radius**2 / 6.0 + radius**4 / 120.0
    return np.where(small, series, np.sinh(safe) / safe)


def _unit(u: Real, radius: Real) -> Array:
    """Directions; at the origin itself any will do, since sinh 0 = 0 takes it out."""
    safe = np.where(radius > 0.0, radius, 1.0)
    return u / safe[..., None]
