"""What every trained part shares: seeded generators, minibatches, differentiable distances."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rarefuse import seeds

EXCESS = 1e-7  # least cosh d - 1 whose distance still has a gradient


def torch_generator(seed: int, *names: str | int) -> torch.Generator:
    """Torch generator of a stage, seeded like `rarefuse.seeds.generator`."""
    word = int(seeds.generator(seed, *names).integers(2**63 - 1))
    return torch.Generator().manual_seed(word)


def batches(n: int, size: int, draw: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Shuffled full batches of 0 … n - 1; a rest is dropped, as in the reference.

    With fewer than `size` there is one batch of them all.
    """
    order = draw.permutation(n)
    size = min(size, n)
    for start in range(0, n - size + 1, max(size, 1)):
        yield order[start : start + size]


def tangent_distance(u: Tensor, v: Tensor) -> Tensor:
    """Hyperbolic distance in normal coordinates over the last axis, as `geometry.distance`."""
    ru, rv = u.norm(dim=-1).clamp_min(1e-9), v.norm(dim=-1).clamp_min(1e-9)
    gap = u / ru[..., None] - v / rv[..., None]
    excess = 2.0 * torch.sinh((ru - rv) / 2.0) ** 2
    excess = excess + torch.sinh(ru) * torch.sinh(rv) * 0.5 * (gap**2).sum(-1)
    excess = excess.clamp_min(EXCESS)
    return torch.log1p(excess + torch.sqrt(excess * (excess + 2.0)))


def euclidean_distance(u: Tensor, v: Tensor) -> Tensor:
    """Euclidean distance over the last axis, differentiable at 0."""
    return ((u - v) ** 2).sum(-1).clamp_min(1e-12).sqrt()


def radius_excess(u: Tensor, budget: float) -> Tensor:
    """Mean of relu(|u| - R)²: the reference's soft budget (HYEM_SPEC 2)."""
    return (torch.relu(u.norm(dim=-1) - budget) ** 2).mean()


@dataclass(frozen=True)
class RelationMask:
    """Which nodes are related to each node, as bits: N²/8 bytes.

    Parameters
    ----------
    bits : ndarray of uint8, shape (N, ⌈N/8⌉)
    """

    bits: NDArray[np.uint8]

    @classmethod
    def of(cls, related: list[list[int]]) -> "RelationMask":
        """Mask of `related`; every node is related to itself."""
        n = len(related)
        bits = np.zeros((n, (n + 7) // 8), np.uint8)
        for row, others in enumerate(related):
            columns = np.array([row, *others], np.int64)
            np.bitwise_or.at(bits[row], columns >> 3, (1 << (columns & 7)).astype(np.uint8))
        return cls(bits)

    def lookup(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Tensor:
        """Boolean (len(rows), len(columns))."""
        words = self.bits[rows][:, columns >> 3]
        return torch.from_numpy(((words >> (columns & 7).astype(np.uint8)) & 1).astype(bool))
