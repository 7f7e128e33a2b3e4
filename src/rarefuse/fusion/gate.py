"""The gate and its learned controls: how a weight comes of two feature vectors (paper, 4.2, A.4).

The gate is one scorer g applied to both vectors: w_T = sigmoid(g(phi_T) - g(phi_L)), w_L = 1 - w_T.
Swapping the lists swaps the weights. Its controls are the linear shared scorer, and models of the
two vectors one after the other (78 inputs): an asymmetric MLP that gives a continuous weight, and
routers that choose one list.

Fits are kept stacked: a layer of M fits is one array, so that many small fits run as one.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save
from scipy.special import expit

from rarefuse.artifacts import replacing, write_text
from rarefuse.errors import InputError
from rarefuse.fusion.features import FEATURE_NAMES, Features, columns_of

SHARED, CONCATENATED = "shared", "concatenated"
LISTWISE, ROUTER = "listwise", "router"


@dataclass(frozen=True)
class Method:
    """An architecture and what it is trained for.

    Parameters
    ----------
    inputs : str
        ``shared``: one scorer of either vector; ``concatenated``: one of both together.
    hidden : tuple of int
        Units of the ReLU layers.
    loss : str
        ``listwise``: cross-entropy of the fused candidates; ``router``: which list's first
        candidate is right, on rows where exactly one is.
    columns : tuple of int
        Columns of the feature vectors that are used.
    """

    inputs: str
    hidden: tuple[int, ...]
    loss: str
    columns: tuple[int, ...] = tuple(range(len(FEATURE_NAMES)))

    @property
    def sizes(self) -> list[int]:
        """Units of every layer, inputs and output included."""
        width = len(self.columns) * (2 if self.inputs == CONCATENATED else 1)
        return [width, *self.hidden, 1]

    @property
    def n_parameters(self) -> int:
        """Weights and biases."""
        return sum((a + 1) * b for a, b in pairwise(self.sizes))


def _without(*groups: str) -> Method:
    dropped = set(columns_of(*groups))
    kept = tuple(c for c in range(len(FEATURE_NAMES)) if c not in dropped)
    return Method(SHARED, (48, 24), LISTWISE, kept)


METHODS = {
    "gate": Method(SHARED, (48, 24), LISTWISE),
    "linear-shared": Method(SHARED, (), LISTWISE),
    "asymmetric": Method(CONCATENATED, (32, 16), LISTWISE),
    "logistic-router": Method(CONCATENATED, (), ROUTER),
    "mlp-router": Method(CONCATENATED, (32, 16), ROUTER),
    "without-context": _without("context"),
    "without-shape": _without("shape"),
    "without-support": _without("support"),
    "without-cross": _without("agreement", "cross"),
    "support-and-cross": _without("context", "shape"),
}
"""Learned methods: 3,121 parameters in the gate, 3,073 in the MLPs of 78 inputs; the last five
are the gate without a group of features, the very last with 21 features."""


@dataclass
class Fits:
    """M fits of one method.

    Parameters
    ----------
    method : str
        Key of `METHODS`.
    keys : list of str
        Name of each fit, such as ``fold0.seed1``.
    mean, sd : ndarray of float64, shape (M, F)
        Of each used feature over both vectors of the training rows; 1e-6 is added to sd.
    weights, biases : list of ndarray of float32
        A layer's shapes are (M, inputs, outputs) and (M, outputs).
    alpha : ndarray of float64, shape (M,)
        Shrinks w_T toward 1/2: 1/2 + alpha (w_T - 1/2); 1 leaves it.
    """

    method: str
    keys: list[str]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    weights: list[NDArray[np.float32]]
    biases: list[NDArray[np.float32]]
    alpha: NDArray[np.float64]

    def outputs(self, fit: int, features: Features) -> NDArray[np.float64]:
        """g(phi_T) - g(phi_L), or the output of the concatenated vectors, shape (N,)."""
        method = METHODS[self.method]
        columns = list(method.columns)
        both = [
            (x[:, columns] - self.mean[fit]) / (self.sd[fit] + 1e-6)
            for x in (features.ontology, features.llm)
        ]
        if method.inputs == CONCATENATED:
            return self._forward(fit, np.concatenate(both, axis=1))
        return self._forward(fit, both[0]) - self._forward(fit, both[1])

    def _forward(self, fit: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
        last = len(self.weights) - 1
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = x @ weight[fit].astype(np.float64) + bias[fit]
            if layer < last:
                x = np.maximum(x, 0.0)
        return x[:, 0]

    def list_weights(
        self, fit: int, features: Features
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """w_T and w_L of every case, each of shape (N,).

        A router gives 1 to the list it chooses and 0 to the other, whose own candidates then come
        behind.
        """
        out = self.outputs(fit, features)
        if METHODS[self.method].loss == ROUTER:
            chosen = (out >= 0).astype(float)
            return chosen, 1.0 - chosen
        alpha = self.alpha[fit]
        # Each from its own sigmoid: with the lists swapped the two are swapped, bit for bit.
        w_t, w_l = expit(out), expit(-out)
        return 0.5 + alpha * (w_t - 0.5), 0.5 + alpha * (w_l - 0.5)


def save_fits(
    fits: Sequence[Fits], meta: Mapping[str, Any], tensors: Path, description: Path
) -> None:
    """Write fits as safetensors, and as JSON what they are.

    Parameters
    ----------
    fits : sequence of Fits
        Of different methods.
    meta : mapping
        What else is to be known of them; JSON.
    tensors, description : Path
        Files to write.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for some in fits:
        arrays[f"{some.method}/mean"] = some.mean
        arrays[f"{some.method}/sd"] = some.sd
        arrays[f"{some.method}/alpha"] = some.alpha
        for layer, (weight, bias) in enumerate(zip(some.weights, some.biases, strict=True)):
            arrays[f"{some.method}/weight{layer}"] = weight
            arrays[f"{some.method}/bias{layer}"] = bias
    content = save({name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)})
    with replacing(tensors) as temporary:
        temporary.write_bytes(content)
    described = {
        **meta,
        "features": list(FEATURE_NAMES),
        "methods": {some.method: {"fits": some.keys} for some in fits},
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    write_text(json.dumps(described, indent=1, sort_keys=True) + "\n", description)


def load_fits(tensors: Path, description: Path) -> tuple[dict[str, Fits], dict[str, Any]]:
    """Read what `save_fits` wrote.

    Returns
    -------
    fits : dict
        Method → fits.
    meta : dict
        The description.

    Raises
    ------
    InputError
        If the description's features are not those of this version in this order, if the tensors
        are not those described, or if a method's shapes are not its own.
    """
    try:
        meta = json.loads(Path(description).read_text(encoding="utf-8"))
        if missing := [key for key in ("features", "methods", "sha256") if key not in meta]:
            raise ValueError(f"the description has no {', '.join(missing)}")
        content = Path(tensors).read_bytes()
        arrays = load(content)
    except (OSError, ValueError, TypeError, SafetensorError) as error:
        raise InputError(
            "a checkpoint cannot be read",
            where=f"{tensors}, {description}",
            found=str(error).splitlines()[0],
            expected="a safetensors file and its JSON description",
            todo="run the workflow so that it is made again",
        ) from error
    if meta["features"] != list(FEATURE_NAMES):
        found = meta["features"] or []
        changed = [n for n in found if n not in FEATURE_NAMES] or ["the same in another order"]
        raise InputError(
            "a checkpoint was trained on other features",
            where=str(description),
            found=f"{len(found)} features, unknown: {', '.join(changed)}",
            expected=f"the {len(FEATURE_NAMES)} of this version in their order",
            todo="use the version that trained it, or train again",
        )
    digest = hashlib.sha256(content).hexdigest()
    if digest != meta["sha256"]:
        raise InputError(
            "a checkpoint's tensors are not those that its description names",
            where=str(tensors),
            found=digest,
            expected=meta["sha256"],
            todo="delete both files and run again",
        )
    fits = {}
    for method, entry in meta["methods"].items():
        layers = range(len(METHODS[method].sizes) - 1) if method in METHODS else range(0)
        names = [f"{method}/{part}{layer}" for layer in layers for part in ("weight", "bias")]
        sizes = METHODS[method].sizes if method in METHODS else []
        shapes = [s for a, b in pairwise(sizes) for s in ((a, b), (b,))]
        if not names or [arrays[n].shape[1:] if n in arrays else None for n in names] != shapes:
            raise InputError(
                "a checkpoint has a method that this version does not have",
                where=str(tensors),
                found=method,
                expected=", ".join(METHODS),
                todo="use the version that trained it, or train again",
            )
        fits[method] = Fits(
            method,
            entry["fits"],
            arrays[f"{method}/mean"],
            arrays[f"{method}/sd"],
            [arrays[f"{method}/weight{layer}"] for layer in layers],
            [arrays[f"{method}/bias{layer}"] for layer in layers],
            arrays[f"{method}/alpha"],
        )
    return fits, meta
