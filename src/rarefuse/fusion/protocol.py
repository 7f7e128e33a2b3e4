"""Who is trained on what: folds of cases, families held out, rows sampled (paper, 4.3 and A.5).

Three ways to part the cases, none of which lets a publication (or, for RAMEDIS, a profile of
observed terms) stand on two sides:

``splits``        the corpus's train, validation and test parts: one fold;
``publications``  cross-fitting: each of five folds of whole publications is predicted by models
                  trained and stopped on the others, so that every case is predicted out of fold;
``profiles``      five folds stratified by diagnosis and grouped by profile; one tests, the next
                  selects, three train.

A target model's whole family is held out before rows are sampled, features standardised and
training stopped. Diagnoses say which rows can train and what to aim at; those of the cases tested
are never read.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rarefuse import seeds
from rarefuse.errors import InputError


@dataclass(frozen=True)
class Fold:
    """Rows of cases, ascending, on the three sides of a fold."""

    name: str
    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def split_folds(split: Sequence[str]) -> list[Fold]:
    """The one fold of a corpus's parts."""
    part = np.asarray(split, dtype=str)
    rows = [np.flatnonzero(part == name) for name in ("train", "validation", "test")]
    return [Fold("fold0", *rows)]


def publication_folds(
    publications: Sequence[str], n_folds: int, validation_share: float, seed: int
) -> list[Fold]:
    """Cross-fitting by whole publications, of nearly equal numbers of cases.

    Parameters
    ----------
    publications : sequence of str
        Group of each case.
    n_folds : int
        Folds.
    validation_share : float
        Share of the cases outside a fold to stop on; whole publications, drawn at random until
        they hold as many.
    seed : int
        Of that draw.
    """
    groups = np.asarray(publications, dtype=str)
    _refuse_few_groups(groups, n_folds, "publications")
    from sklearn.model_selection import GroupKFold  # slow to import, and jobs are short

    folds = []
    splitter = GroupKFold(n_splits=n_folds)
    for i, (rest, test) in enumerate(splitter.split(groups, groups=groups)):
        names, sizes = np.unique(groups[rest], return_counts=True)
        order = seeds.generator(seed, "fusion", "validation", i).permutation(len(names))
        wanted = validation_share * len(rest)
        taken = order[np.cumsum(sizes[order]) - sizes[order] < wanted]
        stops = np.isin(groups[rest], names[taken])
        folds.append(Fold(f"fold{i}", rest[~stops], rest[stops], test))
    return folds


def profile_folds(
    diagnoses: Sequence[str], profiles: Sequence[str], n_folds: int, seed: int
) -> list[Fold]:
    """Folds stratified by diagnosis and grouped by profile; fold i + 1 selects for fold i."""
    groups = np.asarray(profiles, dtype=str)
    _refuse_few_groups(groups, n_folds, "profiles")
    from sklearn.model_selection import StratifiedGroupKFold  # slow to import

    strata = np.unique(np.asarray(diagnoses, dtype=str), return_inverse=True)[1]
    random = int(seeds.generator(seed, "fusion", "profiles").integers(1 << 31))
    splitter = StratifiedGroupKFold(n_splits=n_folds, shuffle=True, random_state=random)
    with warnings.catch_warnings():
        # Diagnoses with fewer cases than folds are usual here; they cannot be in every fold.
        warnings.filterwarnings("ignore", "The least populated class")
        tests = [test for _, test in splitter.split(groups, strata, groups)]
    folds = []
    for i, test in enumerate(tests):
        stops = tests[(i + 1) % n_folds]
        train = np.setdiff1d(np.arange(len(groups)), np.concatenate([test, stops]))
        folds.append(Fold(f"fold{i}", train, stops, test))
    return folds


def _refuse_few_groups(groups: NDArray[np.str_], n_folds: int, what: str) -> None:
    found = len(np.unique(groups))
    if found < n_folds or n_folds < 3:
        raise InputError(
            "the cases cannot be parted into folds",
            where="config, fusion.folds",
            found=f"{n_folds} folds of {found} {what}",
            expected=f"at least 3 folds, and at least as many {what}",
            todo="ask for fewer folds, or evaluate fusion on a larger corpus",
        )


def allot(budget: int, available: Sequence[int]) -> list[int]:
    """Share a budget as evenly as possible: who has less gives all, the rest share what is left.

    Rows left over after an even share go to the first in order.
    """
    shares = [0] * len(available)
    left = min(budget, sum(available))
    while left:
        # All who can still give have given as much.
        open_ones = [i for i, n in enumerate(available) if shares[i] < n]
        each = min(left // len(open_ones), *(available[i] - shares[i] for i in open_ones))
        for i in open_ones if each else open_ones[:left]:
            shares[i] += max(1, each)
            left -= max(1, each)
    return shares


def sample_rows(
    usable: Sequence[NDArray[np.int64]], budget: int, seed: int, *names: str
) -> NDArray[np.int64]:
    """Draw a budget of rows without replacement, as evenly as possible over the arms.

    Parameters
    ----------
    usable : sequence of ndarray
        Rows that each arm offers.
    budget : int
        Rows to draw at most.
    seed, names
        Of the random numbers.

    Returns
    -------
    ndarray of int64
        Ascending.
    """
    shares = allot(budget, [len(rows) for rows in usable])
    drawn = [
        seeds.generator(seed, "fusion", "rows", i, *names).choice(rows, share, replace=False)
        for i, (rows, share) in enumerate(zip(usable, shares, strict=True))
    ]
    return np.sort(np.concatenate([np.empty(0, np.int64), *drawn]))
