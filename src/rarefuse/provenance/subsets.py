"""What LOPO does to groups of cases that differ in how their publication supports the annotations.

A case without a publication has nothing to leave out; such cases are in none of these tables
except `unchanged_table`.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import polars as pl

from rarefuse import artifacts
from rarefuse.annotations.lopo import REMOVED
from rarefuse.annotations.overlap import emptied, overlap_by_case
from rarefuse.annotations.relations import DISEASES, RELATIONS
from rarefuse.corpus.cases import CASES
from rarefuse.evaluation.base import (
    NOT_APPLICABLE,
    Evaluation,
    Row,
    paired_rows,
    subsets_by_split,
)
from rarefuse.evaluation.metrics import NATIVE
from rarefuse.rankers.base import LOPO, ORDINARY
from rarefuse.rankers.run import RANKINGS

DOSE_BINS = ("0", "(0, 0.25]", "(0.25, 0.5]", "(0.5, 0.75]", "(0.75, 1)", "1")
"""Source-exclusive share of the gold profile; nothing and everything are bins of their own."""


def with_overlap(evaluation: Evaluation) -> pl.DataFrame:
    """Eligible cases with a publication, and how it supports their gold disease's profile.

    Returns
    -------
    polars.DataFrame
        Columns of `Evaluation.eligible` and of `OVERLAP`, and n_cases, the number of cases of the
        corpus that come from the same publication.
    """
    cases = artifacts.read(evaluation.corpus / "cases.parquet", CASES)
    overlap = overlap_by_case(
        cases,
        artifacts.read(evaluation.knowledge / "diseases.parquet", DISEASES),
        artifacts.read(evaluation.knowledge / "relations.parquet", RELATIONS),
    )
    sizes = cases.select("case_id", n_cases=pl.len().over("publication_id"))
    return (
        evaluation.eligible()
        .drop("n_observed")
        .join(overlap, on="case_id")
        .join(sizes, on="case_id")
        .sort("case_id")
    )


def single_case_table(evaluation: Evaluation) -> Iterator[Row]:
    """Cases whose publication contributes no other case (paper, section 6.1).

    A publication's annotations cannot be told apart by patient; where it has one case they are
    that patient's, as far as the corpus goes. ``profile kept`` are those among them whose gold
    disease keeps annotations.
    """
    single = pl.col("n_cases") == 1
    yield from _grouped(
        evaluation,
        "single_case",
        {
            "one case a publication": single,
            "one case a publication, profile kept": single & ~emptied(),
            "several cases a publication": ~single,
        },
    )


def retained_profile_table(evaluation: Evaluation) -> Iterator[Row]:
    """Cases whose gold disease keeps annotations under LOPO, and those it is emptied for (Table 2).

    Emptied means that LOPO takes every annotation; a gold disease that had none from the start
    keeps what it has.
    """
    yield from _grouped(
        evaluation, "retained_profile", {"profile kept": ~emptied(), "profile emptied": emptied()}
    )


def dose_table(evaluation: Evaluation) -> Iterator[Row]:
    """Cases with overlap by the source-exclusive share of the gold profile (Figure 2).

    Each bin also has the mean share within it, metric ``exclusive_share_mean``, where the
    paper's figure places its point.
    """
    share = pl.col("exclusive_share")
    edges = (0.0, 0.25, 0.5, 0.75, 1.0)
    conditions = [
        share == 0.0,
        *((share > low) & (share <= high) & (share < 1.0) for low, high in pairwise(edges)),
        share == 1.0,
    ]
    overlapping = with_overlap(evaluation).filter(pl.col("overlap"))
    for part, cases in subsets_by_split(overlapping).items():
        for name, condition in zip(DOSE_BINS, conditions, strict=True):
            chosen = cases.filter(condition)
            if chosen.is_empty():
                continue
            subset = f"{part}: {name}"
            yield from _recall(evaluation, "dose", subset, chosen)
            mean = chosen["exclusive_share"].mean()
            assert isinstance(mean, float)
            yield Row(
                "dose", "hpoa", NOT_APPLICABLE, NOT_APPLICABLE, subset, "exclusive_share_mean",
                mean, None, None, chosen.height,
            )  # fmt: skip


def unchanged_table(evaluation: Evaluation) -> Iterator[Row]:
    """Whether cases that LOPO removes nothing for rank identically under both protocols.

    Every kept place of every such rankable case is compared in all columns: candidate, score,
    p-value and ties. ``identical_share`` is 1 for a ranker without randomness of its own.
    """
    cases = artifacts.read(evaluation.corpus / "cases.parquet", CASES)
    removed = artifacts.read(evaluation.corpus / "lopo.parquet", REMOVED)["publication_id"]
    untouched = cases.filter(
        pl.col("observed").list.len() > 0,
        pl.col("publication_id").is_null()
        | ~pl.col("publication_id").is_in(removed.unique().implode()),
    ).select("case_id")
    for ranker in evaluation.rankers:
        before, after = (
            artifacts.read(
                evaluation.corpus / "rankings" / ranker / f"{protocol}.parquet", RANKINGS
            ).join(untouched, on="case_id", how="semi")
            for protocol in (ORDINARY, LOPO)
        )
        lists = [
            frame.group_by("case_id").agg(rows=pl.struct(pl.all())) for frame in (before, after)
        ]
        both = untouched.join(lists[0], on="case_id", how="left").join(
            lists[1], on="case_id", how="left", suffix="_lopo"
        )
        same = pl.col("rows").is_not_null() & pl.col("rows").eq_missing(pl.col("rows_lopo"))
        identical = int(both.select(same.sum()).item())
        for metric, value in (
            ("cases", float(untouched.height)),
            ("identical_share", identical / untouched.height if untouched.height else None),
        ):
            yield Row(
                "unchanged", ranker, NOT_APPLICABLE, NATIVE, "nothing removed", metric, value,
                None, None, untouched.height,
            )  # fmt: skip


def _grouped(evaluation: Evaluation, table: str, groups: Mapping[str, pl.Expr]) -> Iterator[Row]:
    """Rows of all rankers for groups of cases, over all of them and in each split."""
    for part, cases in subsets_by_split(with_overlap(evaluation)).items():
        for name, condition in groups.items():
            chosen = cases.filter(condition)
            if chosen.height:
                yield from _recall(evaluation, table, f"{part}: {name}", chosen)


def _recall(evaluation: Evaluation, table: str, subset: str, cases: pl.DataFrame) -> Iterator[Row]:
    systems = [(ranker, NATIVE, ranker, NATIVE) for ranker in evaluation.rankers]
    yield from paired_rows(evaluation, table, subset, cases, systems, evaluation.short_metrics())
