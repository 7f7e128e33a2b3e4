"""Checkpoints that a diagnosis can use: a fusion gate, an evidence reranker, or both."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rarefuse.errors import InputError
from rarefuse.fusion.catalogue import component_of

if TYPE_CHECKING:  # slow to import, and most patients are ranked without a checkpoint
    from rarefuse.fusion.features import Features
    from rarefuse.fusion.gate import Fits
    from rarefuse.rerank.checkpoint import Reranker

GATE = "gate"


@dataclass(frozen=True)
class Gate:
    """A learned weight of two lists.

    Parameters
    ----------
    fits : Fits
        Of all folds and seeds; a patient of no fold is weighed by the mean of all.
    ranker : str
        The ontology component it was trained beside.
    depth : int
        Places of its list.
    kappa : float
        Of the reciprocal ranks.
    path, sha256 : str
        File and digest of the tensors.
    """

    fits: "Fits"
    ranker: str
    depth: int
    kappa: float
    path: str
    sha256: str

    def weights(self, features: "Features") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """w_T and w_L of N cases, the mean over all fits, each of shape (N,)."""
        both = [self.fits.list_weights(fit, features) for fit in range(len(self.fits.keys))]
        return np.mean([w for w, _ in both], axis=0), np.mean([w for _, w in both], axis=0)


@dataclass(frozen=True)
class Models:
    """The checkpoints given, and where the reranker's lies."""

    gate: Gate | None = None
    reranker: "Reranker | None" = None
    reranker_path: str = ""
    reranker_sha256: str = ""


def load_models(paths: Sequence[Path]) -> Models:
    """Read checkpoints; digests, features and shapes are checked before use.

    Parameters
    ----------
    paths : sequence of Path
        A reranker's folder, a gate's folder (``gate.safetensors`` and ``gate.json``) or one of a
        gate's two files.

    Raises
    ------
    InputError
        If there is no checkpoint, it is damaged or of other features, or two are of one kind.
    """
    gate: Gate | None = None
    reranker: Reranker | None = None
    where = digest = ""
    for path in paths:
        if (path / "reranker.json").is_file():
            if reranker is not None:
                raise _twice("rerankers", path)
            from rarefuse.rerank.checkpoint import load_reranker

            reranker, where = load_reranker(path), str(path)
            digest = _digest(path / "reranker.safetensors")
        else:
            if gate is not None:
                raise _twice("gates", path)
            gate = _load_gate(path)
    return Models(gate, reranker, where, digest)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _twice(what: str, path: Path) -> InputError:
    return InputError(
        f"two {what} were given",
        where=str(path),
        expected="at most one gate and one reranker",
        todo="take one --model away",
    )


def _load_gate(path: Path) -> Gate:
    stem = path / "gate" if path.is_dir() else path.with_suffix("")
    tensors, description = stem.with_suffix(".safetensors"), stem.with_suffix(".json")
    if not tensors.is_file() or not description.is_file():
        raise InputError(
            "there is no checkpoint",
            where=str(path),
            found="neither reranker.json nor a .safetensors file with a .json beside it",
            expected="results/CORPUS/reranker/NAME or results/CORPUS/gates/RANKER/lopo/NAME",
            todo="train one with the workflow (docs/fusion.md, docs/reranker.md), or check the "
            "path",
        )
    from rarefuse.fusion.gate import LISTWISE, METHODS, load_fits

    fits, meta = load_fits(tensors, description)
    usable = [m for m in fits if METHODS[m].loss == LISTWISE]
    if GATE not in usable and len(usable) != 1:
        raise InputError(
            "the checkpoint has no one gate",
            where=str(description),
            found=", ".join(sorted(fits)),
            expected=f"the method '{GATE}', or a single one that gives weights",
            todo="name the checkpoint of the suite 'gate'",
        )
    component = component_of(_field(meta, "component", description))
    options = _field(meta, "options", description)
    return Gate(
        fits[GATE if GATE in usable else usable[0]],
        component.ranker,
        int(component.depth or _field(options, "depth", description)),
        float(_field(options, "kappa", description)),
        str(tensors),
        _field(meta, "sha256", description),
    )


def _field(holder: Any, key: str, where: Path) -> Any:
    try:
        return holder[key]
    except (KeyError, TypeError) as error:
        raise InputError(
            "a checkpoint's description lacks something",
            where=str(where),
            found=f"no '{key}'",
            expected="what the workflow writes",
            todo="delete the checkpoint and train it again",
        ) from error
