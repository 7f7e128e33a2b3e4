"""A trained reranker on disk: safetensors and JSON, nothing executable."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from rarefuse.artifacts import replacing, write_text
from rarefuse.errors import InputError
from rarefuse.rerank.candidates import Evidence
from rarefuse.rerank.columns import GROUPS, EvidenceColumn, evidence_columns
from rarefuse.rerank.contributions import contributions
from rarefuse.rerank.model import LEVELS, Shapes
from rarefuse.rerank.training import Fitted

VERSION = 1
"""Of the meaning of the columns: a change of it makes older checkpoints unreadable."""


@dataclass(frozen=True)
class Reranker:
    """Cross-fitted scorers, and what has to be known to use them.

    Parameters
    ----------
    fitted : tuple of Fitted
        M scorers with the same columns.
    rankers, p_values : tuple of str
        Rankers whose lists are joined, and those that give p-values.
    depth : int
        Places of each list that are read.
    llm : bool
        Whether a language model's names are evidence.
    fold_of : dict of str to int
        Fold of each publication (or other cluster) of the training corpus.
    training : dict
        Target, models and families that trained, and the plan.
    """

    fitted: tuple[Fitted, ...]
    rankers: tuple[str, ...]
    p_values: tuple[str, ...]
    depth: int
    llm: bool
    fold_of: dict[str, int]
    training: dict[str, Any]

    @property
    def columns(self) -> tuple[EvidenceColumn, ...]:
        """Evidence columns, in order."""
        return self.fitted[0].shapes.columns


def score_candidates(
    reranker: Reranker, evidence: Evidence, publications: Sequence[str | None] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score candidates. Needs no diagnosis, and works for cases of no corpus.

    Parameters
    ----------
    evidence : Evidence
        N candidates of Q cases.
    publications : sequence of str or None, optional
        Of each case. One of the training corpus is scored by the models that have not seen it,
        any other by the mean of all.

    Returns
    -------
    score : ndarray of float64, shape (N,)
        Sum of the contributions; larger is better, comparable within a case.
    parts : ndarray of float64, shape (N, len(GROUPS))
        Contributions of the groups.

    Raises
    ------
    InputError
        If the evidence has other columns than the reranker was trained with.
    """
    if evidence.columns != reranker.columns:
        raise InputError(
            "the evidence has other columns than the reranker was trained with",
            found=", ".join(c.name for c in evidence.columns),
            expected=", ".join(c.name for c in reranker.columns),
            todo="join the lists of the same rankers, or train again",
        )
    lists = evidence.lists
    n_cases = len(lists.ptr) - 1
    folds = np.array(
        [
            -1 if p is None else reranker.fold_of.get(p, -1)
            for p in (publications or [None] * n_cases)
        ],
        np.int64,
    )
    parts = np.zeros((len(evidence.values), len(GROUPS)))
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds[lists.query] == fold)
        models = [m.shapes for m in reranker.fitted if fold in (-1, m.fold)]
        parts[rows] = contributions(models, evidence.values[rows])
    return parts.sum(axis=1), parts


def save_reranker(reranker: Reranker, folder: Path) -> None:
    """Write ``reranker.safetensors`` and ``reranker.json``; the same reranker is the same bytes."""
    tensors = save(
        {
            "cuts": np.stack([m.shapes.cuts for m in reranker.fitted]),
            "tables": np.stack([m.shapes.tables for m in reranker.fitted]),
        }
    )
    with replacing(folder / "reranker.safetensors") as temporary:
        temporary.write_bytes(tensors)
    description = {
        "version": VERSION,
        "columns": [column._asdict() for column in reranker.columns],
        "rankers": reranker.rankers,
        "p_values": reranker.p_values,
        "depth": reranker.depth,
        "llm": reranker.llm,
        "models": [{name: getattr(m, name) for name in _MODEL_FIELDS} for m in reranker.fitted],
        "fold_of": reranker.fold_of,
        "training": reranker.training,
        "sha256": hashlib.sha256(tensors).hexdigest(),
    }
    write_text(json.dumps(description, sort_keys=True, indent=1) + "\n", folder / "reranker.json")


_MODEL_FIELDS = ("fold", "seed", "penalty", "validation_loss", "n_cases")


def load_reranker(folder: Path | str) -> Reranker:
    """Read a trained reranker and check that it still means what it meant.

    Raises
    ------
    InputError
        If a file is missing or damaged, or its evidence columns are not those of this version.
    """
    folder = Path(folder)
    path = folder / "reranker.safetensors"
    try:
        raw = path.read_bytes()
        described: Mapping[str, Any] = json.loads((folder / "reranker.json").read_text("utf-8"))
        tensors = load(raw)
        columns = tuple(EvidenceColumn(**column) for column in described["columns"])
        expected = evidence_columns(
            described["rankers"], described["p_values"], llm=described["llm"]
        )
        digest, version = described["sha256"], described["version"]
        depth, fold_of = int(described["depth"]), dict(described["fold_of"])
        models = [{name: model[name] for name in _MODEL_FIELDS} for model in described["models"]]
        training, rankers = dict(described["training"]), tuple(described["rankers"])
        cuts, tables = tensors["cuts"], tensors["tables"]
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise InputError(
            "a reranker cannot be read",
            where=str(folder),
            found=f"{type(error).__name__}: {error}",
            expected="reranker.safetensors and reranker.json, whole",
            todo="delete the folder and run again",
        ) from error
    if digest != hashlib.sha256(raw).hexdigest():
        raise InputError(
            "a reranker's weights are not those that its description names",
            where=str(path),
            found=hashlib.sha256(raw).hexdigest(),
            expected=digest,
            todo="delete the folder and run again",
        )
    shape = (len(models), len(columns), LEVELS)
    if version != VERSION or columns != expected or tables.shape != shape:
        raise InputError(
            "a reranker was trained on other evidence than this version gathers",
            where=str(folder / "reranker.json"),
            found=f"version {version}: {', '.join(c.name for c in columns)}",
            expected=f"version {VERSION}: {', '.join(c.name for c in expected)}",
            todo="train it again",
        )
    fitted = tuple(
        Fitted(Shapes(columns, *arrays), **model)
        for *arrays, model in zip(cuts, tables, models, strict=True)
    )
    p_values = tuple(described["p_values"])
    return Reranker(fitted, rankers, p_values, depth, described["llm"], fold_of, training)
