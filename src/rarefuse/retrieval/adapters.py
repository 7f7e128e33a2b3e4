"""Adapters from a query's text vector into an embedding (HYEM_SPEC 5): linear or two layers."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from rarefuse import seeds
from rarefuse.errors import InputError
from rarefuse.retrieval.embeddings import EUCLIDEAN
from rarefuse.retrieval.learning import (
    batches,
    euclidean_distance,
    radius_excess,
    tangent_distance,
    torch_generator,
)

LINEAR, MLP = SHAPES = ("linear", "mlp")


@dataclass(frozen=True)
class AdapterOptions:
    """Hyperparameters; the defaults are the reference's.

    The budget of the adapter stays at `radius` whatever the embedding's is, as there.
    """

    hidden: int = 128
    negatives: int = 50
    temperature: float = 1.0
    radius: float = 3.0
    budget_weight: float = 0.1
    rate: float = 1e-3
    batch: int = 256
    epochs: int = 5


def network(
    shape: str, inputs: int, hidden: int, outputs: int, generator: torch.Generator
) -> torch.nn.Sequential:
    """Linear map, or linear, ReLU, linear; PyTorch's usual start drawn from `generator`."""
    if shape not in SHAPES:
        raise InputError("unknown network", found=shape, expected=f"one of {', '.join(SHAPES)}")
    sizes = [inputs, outputs] if shape == LINEAR else [inputs, hidden, outputs]
    layers: list[torch.nn.Module] = []
    for i, o in pairwise(sizes):
        if layers:
            layers.append(torch.nn.ReLU())
        layer = torch.nn.Linear(i, o)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.uniform_(-(i**-0.5), i**-0.5, generator=generator)
        layers.append(layer)
    return torch.nn.Sequential(*layers)


def train_adapter(
    shape: str,
    space: str,
    table: NDArray[np.float32],
    vectors: NDArray[np.float32],
    relevant: Sequence[Sequence[int]],
    seed: int,
    options: AdapterOptions,
) -> torch.nn.Sequential:
    """Train an adapter into a frozen table.

    Parameters
    ----------
    shape : str
        ``linear`` or ``mlp``.
    space : str
        Embedding; ``euclidean`` has the Euclidean distance and no budget.
    table : ndarray, shape (N, d)
    vectors : ndarray, shape (Q, d_e)
        Text vectors of the training queries.
    relevant : sequence of sequence of int
        Rows that each query should find; one is drawn at random every time.
    """
    draw = seeds.generator(seed, "adapter", space, shape)
    generator = torch_generator(seed, "adapter", space, shape)
    net = network(shape, vectors.shape[1], options.hidden, table.shape[1], generator)
    optimiser = torch.optim.Adam(net.parameters(), lr=options.rate)
    nodes, inputs = torch.from_numpy(table), torch.from_numpy(vectors)
    distance = euclidean_distance if space == EUCLIDEAN else tangent_distance
    first = torch.zeros(min(options.batch, len(vectors)), dtype=torch.int64)
    for _ in range(options.epochs):
        for batch in batches(len(vectors), options.batch, draw):
            positive = [relevant[i][int(draw.integers(len(relevant[i])))] for i in batch]
            negative = draw.integers(len(table), size=(len(batch), options.negatives))
            candidates = np.concatenate([np.array(positive)[:, None], negative], axis=1)
            u = net(inputs[torch.from_numpy(batch)])
            logits = -distance(u[:, None], nodes[torch.from_numpy(candidates)])
            loss = torch.nn.functional.cross_entropy(logits / options.temperature, first)
            if space != EUCLIDEAN:
                loss = loss + options.budget_weight * radius_excess(u, options.radius)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return net


def apply(net: torch.nn.Sequential, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Outputs of a network for text vectors."""
    with torch.no_grad():
        outputs: NDArray[np.float32] = net(torch.from_numpy(vectors)).numpy()
    return outputs
