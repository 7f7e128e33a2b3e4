"""Labelled rows that fusion learns from, and which of them each fit may use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rarefuse.fusion.data import Arm, Corpus, stack_features, stack_unions
from rarefuse.fusion.features import Features
from rarefuse.fusion.lists import Union
from rarefuse.fusion.protocol import sample_rows

SCALE = 8.0
"""Fused scores are multiplied by this inside the loss."""


@dataclass(frozen=True)
class Rows:
    """R labelled rows: a case together with one arm's list.

    Parameters
    ----------
    features : Features
        Both vectors of each row, shape (R, 39).
    union : Union
        Candidates of each row.
    gold : ndarray of int64, shape (R,)
        Column of the diagnosis in the union, -1 where it is not there.
    """

    features: Features
    union: Union
    gold: NDArray[np.int64]

    @property
    def route(self) -> NDArray[np.float32]:
        """1 where only the ontology's first candidate is right, 0 where only the LLM's, else -1."""
        rows = np.arange(len(self.gold))
        kept = self.gold >= 0
        gold = np.maximum(self.gold, 0)
        ours, theirs = (
            kept & (r[rows, gold] == r.max(axis=1)) & (r[rows, gold] > 0)
            for r in (self.union.ontology, self.union.llm)
        )
        return np.where(ours != theirs, ours, -1.0).astype(np.float32)


@dataclass(frozen=True)
class Fit:
    """One fit to make: its name, seed, fold, and rows to train and to stop on."""

    key: str
    seed: int
    fold: str
    train: NDArray[np.int64]
    validation: NDArray[np.int64]


def stack_rows(arms: Sequence[Arm]) -> Rows:
    """Labelled rows of several arms, one below the other."""
    return Rows(
        stack_features([arm.features for arm in arms]),
        stack_unions([arm.union for arm in arms]),
        np.concatenate([arm.gold for arm in arms]),
    )


def plan_fits(data: Corpus, arms: Sequence[Arm], options: Mapping[str, Any]) -> list[Fit]:
    """Rows of every fold and seed: only rows whose union holds the diagnosis, within budget.

    The budget is `rows_per_case` rows for each case of a fold's side that can be evaluated: 1 is
    the paper's 7,024 and 1,094 rows of as many cases.
    """
    fits = []
    for seed in options["seeds"]:
        for fold in data.folds:
            sides = {}
            for side, cases in (("train", fold.train), ("validation", fold.validation)):
                usable = [
                    k * len(data.case_ids) + cases[arm.gold[cases] >= 0]
                    for k, arm in enumerate(arms)
                ]
                budget = round(options["rows_per_case"] * int((data.gold[cases] >= 0).sum()))
                sides[side] = sample_rows(usable, budget, seed, fold.name, side)
            fits.append(
                Fit(f"{fold.name}.seed{seed}", seed, fold.name, sides["train"], sides["validation"])
            )
    return fits
