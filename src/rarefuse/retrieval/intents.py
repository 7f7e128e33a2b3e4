"""Which of the three families a query belongs to, from its frame: the query without its mention.

A multinomial logistic map on the frame's sentence vector, learned from the training templates and
misspelt copies of them. Its temperature is set on templates that it was not fitted to (folds over
whole templates), so that a wording it has not met gets a probability and not a verdict. A query
that is nothing but a mention asks for that entity.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from rarefuse import seeds
from rarefuse.retrieval.mentions import STUB
from rarefuse.retrieval.queries import misspell
from rarefuse.retrieval.templates import FAMILIES, TRAINING
from rarefuse.retrieval.tensors import reading, write_tensors

MISSPELT = 3  # misspelt copies of a frame
DECAY = 1e-3
FOLDS = 5
TEMPERATURES = tuple(float(t) for t in np.geomspace(0.2, 5.0, 33))


@dataclass(frozen=True)
class IntentGate:
    """Weights of the map.

    Parameters
    ----------
    weight : ndarray of float32, shape (d_e, 3)
    bias : ndarray of float32, shape (3,)
        Both divided by the temperature.
    """

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]

    def probabilities(
        self, vectors: NDArray[np.float32], frames: Sequence[str]
    ) -> NDArray[np.float64]:
        """Probability of each of `FAMILIES`, shape (Q, 3)."""
        found = _softmax(vectors.astype(np.float64) @ self.weight + self.bias)
        bare = np.array([frame == STUB for frame in frames])
        found[bare] = (1.0, 0.0, 0.0)
        return found


def training_frames(seed: int) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Frames of the training templates, with misspelt copies.

    Returns
    -------
    frames : list of str
    family : ndarray of int64
        Place in `FAMILIES`.
    template : ndarray of int64
        Which template each came from.
    """
    draw = seeds.generator(seed, "intents")
    frames, family, template = [], [], []
    number = 0
    for place, name in enumerate(FAMILIES):
        for text in dict.fromkeys(TRAINING[name]):
            number += 1
            if text == "{}":
                continue
            copies = [text.format(STUB)]
            before, _, after = text.partition("{}")
            for _ in range(MISSPELT):
                parts = [misspell(p, max(1, round(len(p) / 20)), draw) for p in (before, after)]
                copies.append(" ".join(f"{parts[0]}{STUB}{parts[1]}".split()))
            frames += copies
            family += [place] * len(copies)
            template += [number] * len(copies)
    return frames, np.array(family), np.array(template)


def train_intents(
    vectors: NDArray[np.float32],
    family: NDArray[np.int64],
    template: NDArray[np.int64],
    seed: int,
) -> IntentGate:
    """Fit the map, and its temperature on left-out templates.

    Parameters
    ----------
    vectors : ndarray, shape (n, d_e)
        Of `training_frames`.
    family, template : ndarray of int64, shape (n,)
    """
    names = np.unique(template)
    fold = seeds.generator(seed, "intents", "folds").permutation(len(names)) % FOLDS
    of = fold[np.searchsorted(names, template)]
    logits = np.zeros((len(vectors), len(FAMILIES)))
    for k in range(FOLDS):
        weight, bias = _fit(vectors[of != k], family[of != k])
        logits[of == k] = vectors[of == k] @ weight + bias
    rows = np.arange(len(family))
    loss = [-np.log(_softmax(logits / t)[rows, family] + 1e-12).mean() for t in TEMPERATURES]
    temperature = TEMPERATURES[int(np.argmin(loss))]
    weight, bias = _fit(vectors, family)
    return IntentGate(
        (weight / temperature).astype(np.float32), (bias / temperature).astype(np.float32)
    )


def _fit(
    vectors: NDArray[np.float32], family: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    inputs, target = torch.from_numpy(vectors).double(), torch.from_numpy(family)
    weight = torch.zeros(inputs.shape[1], len(FAMILIES), dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(len(FAMILIES), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([weight, bias], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(inputs @ weight + bias, target)
        loss = loss + DECAY * (weight**2).sum()
        loss.backward()
        return loss

    optimiser.step(closure)
    return weight.detach().numpy(), bias.detach().numpy()


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    result: NDArray[np.float64] = shifted / shifted.sum(axis=1, keepdims=True)
    return result


def write_gate(gate: IntentGate, path: Path) -> None:
    """Write a gate as safetensors."""
    write_tensors({"weight": gate.weight, "bias": gate.bias}, path)


def read_gate(path: Path) -> IntentGate:
    """Read what `write_gate` wrote."""
    with reading(path, "the intent gate") as file:
        return IntentGate(file.get_tensor("weight"), file.get_tensor("bias"))
