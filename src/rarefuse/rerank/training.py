"""Train the scorer: whole publications held out, the target's whole family held out.

Every eligible case is scored by models that saw neither a case of its publication nor an answer of
its language model's family. Inside the training part whole publications are set aside again to
choose the penalty; nothing is chosen on the cases that are scored.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rarefuse.errors import InputError
from rarefuse.fusion.protocol import Fold, publication_folds, sample_rows
from rarefuse.rerank.candidates import Evidence
from rarefuse.rerank.model import (
    Shapes,
    Training,
    find_cuts,
    fit_slopes,
    make_shapes,
    mean_loss,
    to_levels,
)


@dataclass(frozen=True)
class Plan:
    """How to train.

    Parameters
    ----------
    folds : int
        Parts that the publications are cut into.
    validation_share : float
        Share of the cases outside a fold that choose the penalty.
    seeds : tuple of int
        Of the inner validation parts and of the rows that are drawn: one model each a fold.
    penalties : tuple of float
        Descending; the last before the validation loss rises is taken.
    iterations : int
        Of the optimiser for each penalty.
    training_depth : int
        Candidates that train are the diagnosis and those that a list has up to this place.
    monotone : bool
        Whether columns keep their directions.
    """

    folds: int
    validation_share: float
    seeds: tuple[int, ...]
    penalties: tuple[float, ...]
    iterations: int
    training_depth: int
    monotone: bool = True


@dataclass(frozen=True)
class Fitted:
    """A scorer and how it came about.

    Parameters
    ----------
    shapes : Shapes
        The scorer.
    fold, seed : int
        Which publications it has not seen, and its seed.
    penalty, validation_loss : float
        What was chosen, and the loss it was chosen for, in nats.
    n_cases : int
        Cases that trained.
    """

    shapes: Shapes
    fold: int
    seed: int
    penalty: float
    validation_loss: float
    n_cases: int


def is_gold(evidence: Evidence, gold: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether each candidate is its case's diagnosis, shape (N,)."""
    lists = evidence.lists
    return np.asarray(lists.disease == gold[lists.query])


def gather_rows(
    sources: Sequence[Evidence],
    gold: NDArray[np.int32],
    cases: NDArray[np.int64],
    budget: int,
    depth: int,
    seed: int,
    *names: str,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Draw a budget of cases over all sources, and gather their candidates that train.

    Returns
    -------
    values : ndarray of float64, shape (N, F)
        Evidence on the candidates.
    ptr : ndarray of int64, shape (R + 1,)
        Where those of each drawn case begin.
    right : ndarray of int64, shape (R,)
        Rows of the diagnoses. Cases whose diagnosis is not among the candidates cannot be drawn.
    """
    n_cases = len(gold)
    wanted = np.zeros(n_cases, np.bool_)
    wanted[cases] = True
    seen = np.where(wanted, gold, -1)  # no diagnosis of another case is read
    golden = [is_gold(evidence, seen) for evidence in sources]
    usable = [
        source * n_cases + np.unique(evidence.lists.query[right])
        for source, (evidence, right) in enumerate(zip(sources, golden, strict=True))
    ]
    drawn = sample_rows(usable, budget, seed, "rerank", *names)
    values, ptr, found = [], [np.zeros(1, np.int64)], []
    offset = 0
    for source, (evidence, right) in enumerate(zip(sources, golden, strict=True)):
        lists = evidence.lists
        taken = np.zeros(n_cases, np.bool_)
        taken[drawn[drawn // n_cases == source] % n_cases] = True
        shallow = ((lists.rank > 0) & (lists.rank <= depth)).any(axis=1)
        rows = np.flatnonzero(taken[lists.query] & (shallow | right))
        values.append(evidence.values[rows])
        found.append(right[rows])
        ends = offset + np.cumsum(np.bincount(lists.query[rows], minlength=n_cases))[taken]
        ptr.append(ends)
        offset += len(rows)
    return np.concatenate(values), np.concatenate(ptr), np.flatnonzero(np.concatenate(found))


def fit_fold(
    sources: Sequence[Evidence],
    gold: NDArray[np.int32],
    fold: Fold,
    number: int,
    seed: int,
    plan: Plan,
) -> Fitted:
    """Train one scorer without one fold.

    Parameters
    ----------
    sources : sequence of Evidence
        The same Q cases with the answers of each model that may train; one without answers for
        the ontology alone. The target's family is not among them.
    gold : ndarray of int32, shape (Q,)
        Candidate row of each diagnosis, -1 for none. Those of the fold's test part are not read.
    fold : Fold
        Cases that train, and those that choose the penalty.
    number, seed : int
        Names of the fold and of the draw.
    """
    columns = sources[0].columns
    parts = []
    for name, cases in (("train", fold.train), ("validation", fold.validation)):
        drawn = gather_rows(
            sources, gold, cases, len(cases), plan.training_depth, seed, fold.name, name
        )
        if not len(drawn[2]):
            raise InputError(
                "no case can train the reranker",
                where=f"{fold.name}, {name} part",
                found=f"{len(cases)} cases, none with its diagnosis among its candidates",
                expected="at least one",
                todo="read longer lists (reranker.depth), or choose another corpus",
            )
        parts.append(drawn)
    (values, ptr, right), (others, others_ptr, others_right) = parts
    golden = np.zeros(len(values), np.bool_)
    golden[right] = True
    cuts = find_cuts(values, golden)
    training = Training(to_levels(values, cuts), ptr, right)
    validation = Training(to_levels(others, cuts), others_ptr, others_right)

    best: tuple[float, float, NDArray[np.float64]] | None = None
    slopes = None
    for penalty in plan.penalties:
        slopes = fit_slopes(
            training, columns, penalty, slopes, iterations=plan.iterations, monotone=plan.monotone
        )
        loss = mean_loss(validation, slopes)
        if best is not None and loss >= best[0]:
            break
        best = (loss, penalty, slopes)
    assert best is not None
    shapes = make_shapes(columns, cuts, best[2], training.levels)
    return Fitted(shapes, number, seed, best[1], best[0], len(training.gold))


def make_folds(publications: Sequence[str], plan: Plan, seed: int) -> list[Fold]:
    """Folds of whole publications: the fusion gate's own, the inner part drawn with `seed`."""
    return publication_folds(publications, plan.folds, plan.validation_share, seed)


def cross_fit(
    sources: Sequence[Evidence],
    gold: NDArray[np.int32],
    publications: Sequence[str],
    plan: Plan,
) -> list[Fitted]:
    """Scorers of every fold and seed, by fold, then seed."""
    folds = {seed: make_folds(publications, plan, seed) for seed in plan.seeds}
    return [
        fit_fold(sources, gold, folds[seed][number], number, seed, plan)
        for number in range(plan.folds)
        for seed in plan.seeds
    ]
