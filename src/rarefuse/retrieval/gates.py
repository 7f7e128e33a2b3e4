"""Gates of the reference: how hierarchical is a query (HYEM_SPEC 6)? Keyword rule, linear, MLP."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from rarefuse import seeds
from rarefuse.retrieval.adapters import apply, network
from rarefuse.retrieval.learning import batches, torch_generator

RULE = "rule"
KEYWORDS = re.compile(
    r"\b(parents?|ancestors?|superclass(es)?|broader|category|taxonomy|is-a|type of|subtypes?"
    r"|belongs to)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class GateOptions:
    """Hyperparameters; the defaults are the reference's. Dropout is of the hidden layer."""

    hidden: int = 128
    dropout: float = 0.1
    rate: float = 1e-3
    decay: float = 1e-4
    batch: int = 256
    epochs: int = 5


def rule_gate(texts: Sequence[str]) -> NDArray[np.float64]:
    """1 for a text with a keyword of hierarchy, else 0."""
    return np.array([float(bool(KEYWORDS.search(text))) for text in texts])


def train_gate(
    shape: str,
    vectors: NDArray[np.float32],
    hierarchical: NDArray[np.bool_],
    seed: int,
    options: GateOptions,
) -> torch.nn.Sequential:
    """Logistic gate (``linear``) or one with a hidden layer (``mlp``) on text vectors."""
    draw = seeds.generator(seed, "gate", shape)
    generator = torch_generator(seed, "gate", shape)
    net = network(shape, vectors.shape[1], options.hidden, 1, generator)
    optimiser = torch.optim.AdamW(net.parameters(), lr=options.rate, weight_decay=options.decay)
    inputs, targets = torch.from_numpy(vectors), torch.from_numpy(hierarchical.astype(np.float32))
    keep = 1.0 - options.dropout
    for _ in range(options.epochs):
        for batch in batches(len(vectors), options.batch, draw):
            rows = torch.from_numpy(batch)
            hidden = inputs[rows]
            for layer in net:
                hidden = layer(hidden)
                if isinstance(layer, torch.nn.ReLU):
                    drop = torch.rand(hidden.shape, generator=generator) < keep
                    hidden = hidden * drop / keep
            loss = torch.nn.functional.binary_cross_entropy_with_logits(hidden[:, 0], targets[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return net


def gate_weights(net: torch.nn.Sequential, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """α(q) in 0..1 of text vectors."""
    logits = apply(net, vectors)[:, 0].astype(np.float64)
    return 1.0 / (1.0 + np.exp(-logits))
