"""Train, validation and test parts of whole publications."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts, seeds
from rarefuse.artifacts import Column, Schema
from rarefuse.corpus.cases import CASES
from rarefuse.errors import InputError

SPLITS = Schema(
    "splits",
    (
        Column("case_id", pl.String, "case; rows are sorted by it"),
        Column("split", pl.String, "train, validation or test"),
    ),
    key=("case_id",),
)
PARTS = ("train", "validation", "test")


def publication_groups(cases: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Group cases by publication; a case without one is a group of its own.

    Returns
    -------
    groups : polars.DataFrame
        Columns case_id, group.
    sizes : polars.DataFrame
        Columns group, len; sorted by group.
    """
    groups = cases.select("case_id", pl.coalesce("publication_id", "case_id").alias("group")).sort(
        "group", "case_id"
    )
    return groups, groups.group_by("group", maintain_order=True).len()


def admissible_permutations(
    counts: NDArray[np.integer],
    *,
    seed: int,
    fractions: Sequence[float],
    publications: Sequence[int] | None,
    n_cases: Sequence[int] | None,
    tolerance: float,
    max_permutations: int,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Seeded permutations of the publications whose parts meet the wanted case counts.

    Parameters
    ----------
    counts : ndarray of int, shape (P,)
        Cases of each publication.
    max_permutations : int
        How many to try before an error, between one that is admissible and the next.

    Yields
    ------
    order : ndarray of int64, shape (P,)
        Permutation.
    bounds : ndarray of int64, shape (3,)
        Where each part ends in it.
    """
    if publications is None:
        bounds = np.round(np.cumsum(fractions) / np.sum(fractions) * len(counts)).astype(np.int64)
    else:
        bounds = np.cumsum(publications)
        if bounds[-1] != len(counts):
            raise InputError(
                "the split sizes do not add up to the corpus",
                where="config, splits.publications",
                found=f"{'+'.join(map(str, publications))} = {bounds[-1]}",
                expected=f"{len(counts)}, the publications there are",
                todo="correct the sizes, or leave them out to split by fractions",
            )
    random = seeds.generator(seed, "splits")
    since = 0
    while since < max_permutations:
        order = random.permutation(len(counts))
        since += 1
        if n_cases is not None:
            cumulative = np.concatenate([[0], np.cumsum(counts[order], dtype=np.int64)])
            found = np.diff(cumulative[[0, *bounds]])
            if np.any(np.abs(found - n_cases) > tolerance * np.asarray(n_cases)):
                continue
        since = 0
        yield order, bounds
    raise InputError(
        "no permutation of the publications meets the wanted case counts",
        where="config, splits.cases",
        found=f"none of {max_permutations} within {tolerance:.2%}",
        expected="/".join(map(str, n_cases or ())),
        todo="raise splits.tolerance, or leave splits.cases out",
    )


def split_publications(
    cases: pl.DataFrame,
    *,
    seed: int,
    fractions: Sequence[float],
    publications: Sequence[int] | None = None,
    n_cases: Sequence[int] | None = None,
    tolerance: float = 0.01,
    max_permutations: int = 100_000,
) -> pl.DataFrame:
    """Assign whole publications to parts by a seeded permutation.

    Parameters
    ----------
    cases : polars.DataFrame
        `CASES`. A case without a publication is a group of its own.
    seed : int
        Seed of the permutations.
    fractions : sequence of 3 float
        Share of the publications in each part, where `publications` is not given.
    publications : sequence of 3 int, optional
        Publications of each part; must add up to those there are.
    n_cases : sequence of 3 int, optional
        Cases of each part: of the seeded permutations, the first that meets all three within
        `tolerance` is taken (FUSION_SPEC section 3). Otherwise the first.
    tolerance : float
        Largest relative deviation from `n_cases`.
    max_permutations : int
        When to give up.

    Returns
    -------
    polars.DataFrame
        `SPLITS`.
    """
    groups, sizes = publication_groups(cases)
    order, bounds = next(
        admissible_permutations(
            sizes["len"].to_numpy(),
            seed=seed,
            fractions=fractions,
            publications=publications,
            n_cases=n_cases,
            tolerance=tolerance,
            max_permutations=max_permutations,
        )
    )
    part = np.empty(sizes.height, dtype=object)
    for name, begin, end in zip(PARTS, [0, *bounds[:-1]], bounds, strict=True):
        part[order[begin:end]] = name
    assigned = sizes.select("group").with_columns(
        pl.Series("split", part.tolist(), dtype=pl.String)
    )
    return groups.join(assigned, on="group").select(SPLITS.names).sort("case_id")


def splits_stage(*, cases: Path, options: Mapping[str, Any], splits: Path) -> None:
    """Split by publication and write `SPLITS`."""
    artifacts.write(split_publications(artifacts.read(cases, CASES), **options), SPLITS, splits)
