"""Lorentz tables whose query point is a centroid drawn towards the origin.

A query asks about one or several linked nodes v with weights w. Its point is the Lorentz centroid
of Σ w_v x_v + c o (`geometry.centroid`): with c = 0 the linked place itself, with larger c a place
nearer to the origin, which is where the more general terms are. Ranking is by hyperbolic distance,
that is by the inner product with (-q0, q1, …, qd), exactly. There is one table an intent, or one
joint table with one c an intent.

A table is trained by a softmax over -d(q, x)/τ: the positives are an anchor's ancestors, parents
three times as often (hierarchy), or its siblings; known relatives are no negatives. A parent should
also be nearer than another ancestor, by a logistic loss on pairs of positives. Radii are
R tanh(|v|/R): the budget cannot be passed, and a mean radius under `fill`·R costs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import geoopt
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rarefuse import seeds
from rarefuse.retrieval.learning import RelationMask, torch_generator
from rarefuse.retrieval.subsets import Subset
from rarefuse.retrieval.templates import HIERARCHY, SIBLING

PARENT_WEIGHT = 3.0
INTENTS = (HIERARCHY, SIBLING)


@dataclass(frozen=True)
class CentroidOptions:
    """Hyperparameters.

    Parameters
    ----------
    dimension : int
        d.
    radius : float
        R, the budget: no point is farther from the origin.
    fill : float
        Share of R that the mean radius should reach.
    epochs : float
        Passes over the anchors; `min_steps` steps are taken at least.
    min_steps, batch, negatives, positives : int
        Steps, anchors a step, shared uniform negatives, sampled positives an anchor.
    rate : float
        Peak of Adam's cosine schedule.
    temperature, origin : float
        Where τ and c start; both are learned.
    neighbour_share : float
        Share of anchors whose own point is replaced by their text neighbours' centroid, where
        neighbours are given: so the table also serves terms that it has never seen.
    """

    dimension: int = 32
    radius: float = 5.0
    fill: float = 0.88
    epochs: float = 12.0
    min_steps: int = 400
    batch: int = 256
    negatives: int = 1024
    positives: int = 8
    rate: float = 0.05
    temperature: float = 0.3
    origin: float = 0.5
    neighbour_share: float = 0.5


@dataclass(frozen=True)
class Relations:
    """Positives of every node, flat, for sampling in one go.

    Parameters
    ----------
    ptr : ndarray of int64, shape (N + 1,)
    rows : ndarray of int64
        Related rows.
    cumulative : ndarray of float64, shape (len(rows) + 1,)
        Running sum of the weights, 0 first.
    """

    ptr: NDArray[np.int64]
    rows: NDArray[np.int64]
    cumulative: NDArray[np.float64]

    @classmethod
    def of(cls, related: Sequence[dict[int, float]]) -> "Relations":
        """Relations of row → weight dictionaries."""
        ptr = np.cumsum([0, *(len(r) for r in related)])
        rows = np.array([row for r in related for row in r], np.int64)
        weights = [w for r in related for w in r.values()]
        return cls(ptr, rows, np.concatenate([[0.0], np.cumsum(weights)]))

    def sample(
        self, anchors: NDArray[np.int64], k: int, draw: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """K related rows of each anchor by weight, with replacement, and their weights.

        Both of shape (len(anchors), k).
        """
        low, high = self.cumulative[self.ptr[anchors]], self.cumulative[self.ptr[anchors + 1]]
        at = low[:, None] + draw.random((len(anchors), k)) * (high - low)[:, None]
        found = np.searchsorted(self.cumulative, at, side="right") - 1
        # Rounding may carry a draw over the edge of its own list.
        found = np.clip(found, self.ptr[anchors][:, None], self.ptr[anchors + 1][:, None] - 1)
        return self.rows[found], self.cumulative[found + 1] - self.cumulative[found]

    def lists(self) -> list[list[int]]:
        """Related rows of every node."""
        return [self.rows[a:b].tolist() for a, b in zip(self.ptr[:-1], self.ptr[1:], strict=True)]


def relations(subset: Subset, intent: str) -> Relations:
    """What a query of an intent should find, for every node of a subset."""
    n = subset.nodes.height
    if intent == SIBLING:
        return Relations.of([dict.fromkeys(sorted(subset.siblings(row)), 1.0) for row in range(n)])
    return Relations.of(
        [
            {a: PARENT_WEIGHT if a in subset.parents[row] else 1.0 for a in sorted(above)}
            for row, above in enumerate(subset.ancestors)
        ]
    )


@dataclass(frozen=True)
class Neighbours:
    """Text neighbours of every node, itself not among them.

    Parameters
    ----------
    rows : ndarray of int64, shape (N, k)
    weights : ndarray of float32, shape (N, k)
        Non-negative, each row sums to 1.
    """

    rows: NDArray[np.int64]
    weights: NDArray[np.float32]


@dataclass(frozen=True)
class CentroidTable:
    """A trained table.

    Parameters
    ----------
    u : ndarray of float32, shape (N, d)
        Normal coordinates.
    origin : dict
        Intent → c.
    temperature : dict
        Intent → τ.
    """

    u: NDArray[np.float32]
    origin: dict[str, float]
    temperature: dict[str, float]


@dataclass(frozen=True)
class Task:
    """What one intent trains: whom each anchor should find, and who is no negative."""

    intent: str
    related: Relations
    mask: RelationMask


def train_centroid(
    subset: Subset,
    intents: Sequence[str],
    seed: int,
    options: CentroidOptions,
    *,
    neighbours: Neighbours | None = None,
) -> CentroidTable:
    """Train one table for one or several intents.

    Parameters
    ----------
    subset : Subset
        Its nodes and edges; what is hidden must not be in its edges.
    intents : sequence of str
        `HIERARCHY`, `SIBLING` or both.
    seed : int
    options : CentroidOptions
    neighbours : Neighbours, optional
        For terms that will be asked about without being in the table.
    """
    tasks = []
    for intent in intents:
        related = relations(subset, intent)
        tasks.append(Task(intent, related, RelationMask.of(related.lists())))
    start = starting_table(subset, seed, intents, options)
    return fit(start, tasks, seed, options, neighbours=neighbours)


def fit(
    start: Tensor,
    tasks: Sequence[Task],
    seed: int,
    options: CentroidOptions,
    *,
    neighbours: Neighbours | None = None,
    known: NDArray[np.bool_] | None = None,
    learned: CentroidTable | None = None,
) -> CentroidTable:
    """Descend from a starting table.

    Parameters
    ----------
    start : Tensor, shape (N, d)
        Before the map to radii R tanh(|v|/R).
    tasks : sequence of Task
    seed : int
    options : CentroidOptions
    neighbours : Neighbours, optional
    known : ndarray of bool, shape (N,), optional
        Rows that stay where they are and are the only negatives (`rarefuse.retrieval.foldin`).
    learned : CentroidTable, optional
        Whose c and τ to start from.
    """
    n, names = len(start), [task.intent for task in tasks]
    draw = seeds.generator(seed, "centroid", *names, "fit" if known is None else "fold in")
    manifold = geoopt.Lorentz(k=1.0)
    raw = torch.nn.Parameter(start.clone())
    origin = [learned.origin[t] if learned else options.origin for t in names]
    tau = [learned.temperature[t] if learned else options.temperature for t in names]
    drawn = torch.nn.Parameter(torch.tensor([_softplus_inverse(c) for c in origin]))
    log_tau = torch.nn.Parameter(torch.tensor(tau).log())
    groups: list[dict[str, Any]] = [{"params": [raw]}]
    if known is None:
        groups.append({"params": [drawn, log_tau], "lr": SCALARS_RATE})
    optimiser = geoopt.optim.RiemannianAdam(groups, lr=options.rate)
    pool = np.arange(n) if known is None else np.flatnonzero(known)
    fixed = None if known is None else torch.from_numpy(known)
    count = min(options.negatives, len(pool))

    def points(rows: NDArray[np.int64]) -> Tensor:
        u = _within(raw[torch.from_numpy(rows)], options.radius)
        return manifold.expmap0(torch.cat([torch.zeros_like(u[..., :1]), u], -1))

    anchors = [np.flatnonzero(np.diff(task.related.ptr)) for task in tasks]
    steps = max(options.min_steps, round(options.epochs * n / options.batch))
    for step in range(steps):
        rate = options.rate * 0.5 * (1.0 + math.cos(math.pi * step / steps))
        optimiser.param_groups[0]["lr"] = rate
        loss = torch.zeros(())
        for i, task in enumerate(tasks):
            if not len(anchors[i]):
                continue
            batch = draw.choice(anchors[i], min(options.batch, len(anchors[i])), replace=False)
            negatives = pool[draw.integers(len(pool), size=count)]
            positives, weights = task.related.sample(batch, options.positives, draw)
            own = points(batch)
            if neighbours is not None:
                around = points(neighbours.rows[batch].ravel()).view(len(batch), -1, own.shape[1])
                mean = (torch.from_numpy(neighbours.weights[batch])[..., None] * around).sum(1)
                swap = torch.from_numpy(draw.random(len(batch)) < options.neighbour_share)
                own = torch.where(swap[:, None], mean, own)
            query = _query(own, torch.nn.functional.softplus(drawn[i]))
            tau_i = log_tau[i].exp()
            apart = _arcosh(-(query @ points(negatives).T)) / tau_i
            near = points(positives.ravel()).view(len(batch), options.positives, -1)
            close = _arcosh(-(query[:, None] * near).sum(-1)) / tau_i
            apart = apart.masked_fill(task.mask.lookup(batch, negatives), math.inf)
            rest = torch.logsumexp(-apart, -1, keepdim=True) + math.log(len(pool) / count)
            loss = loss + (torch.logaddexp(-close, rest) + close).mean()
            loss = loss + _order_loss(close, weights)
        if known is None:
            some = raw[torch.from_numpy(draw.integers(n, size=count))]
            mean_radius = _within(some, options.radius).norm(dim=-1).mean()
            loss = loss + torch.relu(options.fill * options.radius - mean_radius) ** 2
        optimiser.zero_grad()
        loss.backward()
        if fixed is not None and raw.grad is not None:
            raw.grad[fixed] = 0.0
        optimiser.step()
    with torch.no_grad():
        return CentroidTable(
            _within(raw, options.radius).numpy(),
            {t: float(torch.nn.functional.softplus(drawn[i])) for i, t in enumerate(names)},
            {t: float(log_tau[i].exp()) for i, t in enumerate(names)},
        )


ROUNDING = 1e-3  # of differences of a running sum of weights
SCALARS_RATE = 1e-2  # of c and τ
SPREAD = 0.6  # of a child's direction around its parents'
NEAREST = 0.4  # share of the starting radius that a root has


def starting_table(
    subset: Subset,
    seed: int,
    intents: Sequence[str],
    options: CentroidOptions,
    given: Tensor | None = None,
    known: NDArray[np.bool_] | None = None,
) -> Tensor:
    """Starting table: children around their parents' direction, farther out with depth.

    Rows that are `known` are those of `given`.
    """
    generator = torch_generator(seed, "centroid", *intents)
    noise = torch.randn(subset.nodes.height, options.dimension, generator=generator)
    noise = torch.nn.functional.normalize(noise, dim=-1)
    direction = noise.clone()
    if given is not None and known is not None:
        direction[known] = torch.nn.functional.normalize(given[known], dim=-1)
    for row in subset.downwards:
        if subset.parents[row] and (known is None or not known[row]):
            mean = direction[subset.parents[row]].mean(0)
            direction[row] = torch.nn.functional.normalize(mean, dim=0) + SPREAD * noise[row]
            direction[row] /= direction[row].norm()
    depth = torch.tensor(subset.nodes["depth"].to_list(), dtype=torch.float32)
    share = NEAREST + (1.0 - NEAREST) * depth / max(float(depth.max()), 1.0)
    start = direction * (share * options.radius * options.fill)[:, None]
    if given is not None and known is not None:
        start[known] = given[known]
    return start


def _within(raw: Tensor, budget: float) -> Tensor:
    """Normal coordinates of length R tanh(|v|/R)."""
    length = raw.norm(dim=-1, keepdim=True).clamp_min(1e-9)
    return budget * torch.tanh(length / budget) * raw / length


def _query(point: Tensor, origin: Tensor) -> Tensor:
    """Inner-product query of the centroid of a point (or a sum of points) and c o."""
    time, space = point[:, :1] + origin, point[:, 1:]
    length = (time**2 - (space**2).sum(-1, keepdim=True)).clamp_min(1e-9).sqrt()
    return torch.cat([-time, space], -1) / length


def _order_loss(close: Tensor, weights: NDArray[np.float64]) -> Tensor:
    """Mean over positives of softplus(d_i - d_j) for every pair where i weighs more than j."""
    heavier = torch.from_numpy(weights[:, :, None] > weights[:, None, :] + ROUNDING)
    pairs = torch.nn.functional.softplus(close[:, :, None] - close[:, None, :])
    return (pairs * heavier).sum() / close.numel()


def _arcosh(z: Tensor) -> Tensor:
    return torch.acosh(z.clamp_min(1.0 + 1e-5))


def _softplus_inverse(value: float) -> float:
    return math.log(math.expm1(value))
