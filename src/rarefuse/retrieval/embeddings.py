"""Node embeddings of the reference and of its baselines (HYEM_SPEC 3, 12).

``hyem``       normal coordinates, margin loss over is-a edges, soft radius budget
``no-budget``  the same without the budget
``euclidean``  the same loss in Euclidean space, no radial term
``hgcn``       two graph convolutions in the tangent space at the origin, the same loss full-batch
``cones``      entailment cones (Ganea et al., 2018), which the paper leaves as a placeholder
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rarefuse import seeds
from rarefuse.errors import InputError
from rarefuse.retrieval.learning import (
    batches,
    euclidean_distance,
    radius_excess,
    tangent_distance,
    torch_generator,
)

HYEM, NO_BUDGET, EUCLIDEAN, HGCN, CONES = SPACES = (
    "hyem", "no-budget", "euclidean", "hgcn", "cones",
)  # fmt: skip


@dataclass(frozen=True)
class EmbeddingOptions:
    """Hyperparameters; the defaults are the reference's.

    Parameters
    ----------
    dimension : int
        d.
    radius : float
        R, in units of hyperbolic length.
    epochs, batch, rate
        Of Adam over the edges. ``hgcn`` is full-batch and takes `hgcn_epochs`.
    negatives : int
        Uniform negatives an edge.
    margin, radial_gap : float
        Of the ranking loss; by how much a child should be farther out than its parent.
    radial_weight, budget_weight : float
        λ of the radial term and of the budget.
    """

    dimension: int = 32
    radius: float = 3.0
    epochs: int = 10
    batch: int = 1024
    rate: float = 1e-2
    negatives: int = 10
    margin: float = 1.0
    radial_gap: float = 0.1
    radial_weight: float = 0.1
    budget_weight: float = 0.1
    hgcn_epochs: int = 50


def train_embedding(
    space: str, n: int, edges: NDArray[np.int32], seed: int, options: EmbeddingOptions
) -> NDArray[np.float32]:
    """Normal coordinates (Euclidean vectors for ``euclidean``) of every node, shape (n, d).

    Parameters
    ----------
    space : str
        One of `SPACES`.
    n : int
        Nodes.
    edges : ndarray of int32, shape (E, 2)
        Parent and child rows.
    seed : int
        Of the initial table, the negatives and the order.

    Raises
    ------
    InputError
        On an unknown space.
    """
    if space in (HYEM, NO_BUDGET, EUCLIDEAN):
        return _table(space, n, edges, seed, options)
    if space == HGCN:
        return _hgcn(n, edges, seed, options)
    if space == CONES:
        return _cones(n, edges, seed, options)
    raise InputError(
        "unknown embedding", found=space, expected=f"one of {', '.join(SPACES)}"
    )  # fmt: skip


def _initial(n: int, seed: int, options: EmbeddingOptions) -> torch.nn.Parameter:
    generator = torch_generator(seed, "table")
    return torch.nn.Parameter(0.01 * torch.randn(n, options.dimension, generator=generator))


def _ranking(
    distance: Callable[[Tensor, Tensor], Tensor],
    parent: Tensor,
    child: Tensor,
    negative: Tensor,
    margin: float,
) -> Tensor:
    """Mean of relu(m + d(p, c) - d(p, n_k)): (B, d), (B, d), (B, K, d)."""
    positive = distance(parent, child)
    return torch.relu(margin + positive[:, None] - distance(parent[:, None], negative)).mean()


def _table(
    space: str, n: int, edges: NDArray[np.int32], seed: int, options: EmbeddingOptions
) -> NDArray[np.float32]:
    draw = seeds.generator(seed, "embedding")
    table = _initial(n, seed, options)
    optimiser = torch.optim.Adam([table], lr=options.rate)
    distance = euclidean_distance if space == EUCLIDEAN else tangent_distance
    for _ in range(options.epochs):
        for batch in batches(len(edges), options.batch, draw):
            rows = torch.from_numpy(edges[batch].astype(np.int64))
            negative = torch.from_numpy(draw.integers(n, size=(len(batch), options.negatives)))
            parent, child = table[rows[:, 0]], table[rows[:, 1]]
            loss = _ranking(distance, parent, child, table[negative], options.margin)
            if space != EUCLIDEAN:
                gap = options.radial_gap + parent.norm(dim=-1) - child.norm(dim=-1)
                loss = loss + options.radial_weight * torch.relu(gap).mean()
            if space == HYEM:
                both = torch.cat([parent, child])
                loss = loss + options.budget_weight * radius_excess(both, options.radius)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return table.detach().numpy()


def _hgcn(
    n: int, edges: NDArray[np.int32], seed: int, options: EmbeddingOptions
) -> NDArray[np.float32]:
    """Learnable features, twice (D^-1/2 (A + I) D^-1/2 → linear → ReLU), the last ReLU kept."""
    generator, draw = torch_generator(seed, "hgcn"), seeds.generator(seed, "hgcn")
    features = _initial(n, seed, options)
    layers = [torch.nn.Linear(options.dimension, options.dimension) for _ in range(2)]
    bound = 1.0 / math.sqrt(options.dimension)
    with torch.no_grad():
        for layer in layers:
            layer.weight.uniform_(-bound, bound, generator=generator)
            layer.bias.uniform_(-bound, bound, generator=generator)
    both = np.concatenate([edges, edges[:, ::-1], np.repeat(np.arange(n)[:, None], 2, 1)])
    degree = np.bincount(both[:, 0], minlength=n)
    weight = 1.0 / np.sqrt(degree[both[:, 0]] * degree[both[:, 1]])
    adjacency = torch.sparse_coo_tensor(
        torch.from_numpy(both.T.astype(np.int64)), torch.from_numpy(weight.astype(np.float32)),
        (n, n), check_invariants=True,
    ).coalesce()  # fmt: skip
    optimiser = torch.optim.Adam(
        [features, *(p for layer in layers for p in layer.parameters())], lr=options.rate
    )

    def forward() -> Tensor:
        hidden: Tensor = features
        for layer in layers:
            hidden = torch.relu(layer(torch.sparse.mm(adjacency, hidden)))
        return hidden

    parents, children = (torch.from_numpy(edges[:, i].astype(np.int64)) for i in (0, 1))
    for _ in range(options.hgcn_epochs):
        u = forward()
        negative = torch.from_numpy(draw.integers(n, size=(len(edges), options.negatives)))
        gap = options.radial_gap + u[parents].norm(dim=-1) - u[children].norm(dim=-1)
        loss = _ranking(tangent_distance, u[parents], u[children], u[negative], options.margin)
        loss = loss + options.radial_weight * torch.relu(gap).mean()
        loss = loss + options.budget_weight * radius_excess(u, options.radius)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return forward().detach().numpy()


CONE_APERTURE = 0.1  # K of ψ(x) = arcsin(K (1 - |x|²)/|x|)
CONE_MARGIN = 0.01


def _cones(
    n: int, edges: NDArray[np.int32], seed: int, options: EmbeddingOptions
) -> NDArray[np.float32]:
    """Hyperbolic entailment cones in the Poincaré ball (Ganea et al. 2018, equations 26, 28, 32).

    A child should lie in its parent's cone: E(p, c) = relu(Ξ(p, c) - ψ(p)) is pulled to 0 for
    edges and pushed over a margin for negatives. Returned in normal coordinates.
    """
    draw = seeds.generator(seed, "cones")
    inner = (math.sqrt(1 + 4 * CONE_APERTURE**2) - 1) / (2 * CONE_APERTURE) + 1e-3
    outer = math.tanh(options.radius / 2.0)
    if outer <= inner:
        raise InputError(
            "the radius budget is too small for entailment cones",
            found=str(options.radius),
            expected=f"more than {2 * math.atanh(inner):.2f}",
        )
    raw = _initial(n, seed, options)
    optimiser = torch.optim.Adam([raw], lr=options.rate)

    def ball(v: Tensor) -> Tensor:
        length = v.norm(dim=-1, keepdim=True).clamp_min(1e-9)
        return (inner + (outer - inner) * torch.tanh(length)) * v / length

    def energy(x: Tensor, y: Tensor) -> Tensor:
        xx, yy, xy = (x**2).sum(-1), (y**2).sum(-1), (x * y).sum(-1)
        gap = ((x - y) ** 2).sum(-1).clamp_min(1e-12).sqrt()
        below = xx.sqrt() * gap * (1 + xx * yy - 2 * xy).clamp_min(1e-12).sqrt()
        cosine = (xy * (1 + xx) - xx * (1 + yy)) / below.clamp_min(1e-9)
        angle = torch.acos(cosine.clamp(-1 + 1e-5, 1 - 1e-5))
        width = torch.asin((CONE_APERTURE * (1 - xx) / xx.sqrt()).clamp(-1 + 1e-5, 1 - 1e-5))
        return torch.relu(angle - width)

    for _ in range(options.epochs):
        for batch in batches(len(edges), options.batch, draw):
            rows = torch.from_numpy(edges[batch].astype(np.int64))
            negative = torch.from_numpy(draw.integers(n, size=(len(batch), options.negatives)))
            parent, child = ball(raw[rows[:, 0]]), ball(raw[rows[:, 1]])
            wrong = torch.relu(CONE_MARGIN - energy(parent[:, None], ball(raw[negative])))
            loss = energy(parent, child).mean() + wrong.mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    with torch.no_grad():
        x = ball(raw)
        length = x.norm(dim=-1, keepdim=True)
        return (2 * torch.atanh(length) * x / length).numpy()
