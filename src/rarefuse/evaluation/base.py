"""What every result table is made with: the run's evaluation, its rows, paired comparisons.

Statistics over cases carry intervals from resamples of publications (of gold diseases where a
corpus has no publications).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.annotations.relations import DISEASES
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import PARTS, SPLITS
from rarefuse.errors import InputError
from rarefuse.evaluation.bootstrap import ClusterBootstrap, cluster_bootstrap
from rarefuse.evaluation.metrics import TIE_POLICIES, recall_at, reciprocal_rank
from rarefuse.rankers.base import LOPO, ORDINARY
from rarefuse.rankers.run import GOLD_RANKS

CHANGE = "lopo - ordinary"
NOT_APPLICABLE = "-"


class Row(NamedTuple):
    """One row of `rarefuse.evaluation.tables.TABLE`, columns in its order."""

    table: str
    system: str
    protocol: str
    variant: str
    subset: str
    metric: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    seed_sd: float | None = None


@dataclass(frozen=True)
class Evaluation:
    """What every table needs to know.

    Parameters
    ----------
    corpus, knowledge : Path
        Folders of artifacts.
    rankers : list of str
        Rankers to tabulate.
    recall_at : list of int
        Cut-offs.
    resamples, level, seed
        Of the bootstrap.
    options : mapping
        What one table alone needs.
    """

    corpus: Path
    knowledge: Path
    rankers: list[str]
    recall_at: list[int]
    resamples: int
    level: float
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def eligible(self) -> pl.DataFrame:
        """Cases with an observed term and a gold disease among the candidates, with their split.

        Columns case_id, cluster, split, n_observed; sorted by case_id.
        """
        cases = artifacts.read(self.corpus / "cases.parquet", CASES)
        splits = artifacts.read(self.corpus / "splits.parquet", SPLITS)
        candidates = artifacts.read(self.knowledge / "diseases.parquet", DISEASES)["disease_id"]
        eligible = (
            cases.filter(
                pl.col("observed").list.len() > 0, pl.col("gold_id").is_in(candidates.implode())
            )
            .join(splits, on="case_id")
            .select(
                "case_id",
                pl.coalesce("publication_id", "gold_id").alias("cluster"),
                "split",
                pl.col("observed").list.len().alias("n_observed"),
            )
            .sort("case_id")
        )
        if eligible.is_empty():
            raise InputError(
                "no case of the corpus can be evaluated",
                where=str(self.corpus / "cases.parquet"),
                found=f"{cases.height} cases, none with an observed term and a gold disease among "
                f"the {len(candidates)} candidates",
                expected="gold diseases as OMIM CURIEs and HPO terms below HP:0000118",
                todo="check the corpus's identifiers and the skipped table",
            )
        return eligible

    def bootstrap(self, cases: pl.DataFrame, subset: str) -> ClusterBootstrap:
        """Resamples of a subset of the eligible cases."""
        return cluster_bootstrap(
            cases["cluster"].to_list(),
            resamples=self.resamples,
            level=self.level,
            seed=self.seed,
            name=subset,
        )

    def gold_ranks(
        self, ranker: str, protocol: str, cases: pl.DataFrame
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Native place, first and last place of ties for `cases`; 0 where there is none."""
        path = self.corpus / "gold_ranks" / ranker / f"{protocol}.parquet"
        ranks = cases.select("case_id").join(
            artifacts.read(path, GOLD_RANKS), on="case_id", how="left", maintain_order="left"
        )
        rank, first, last = (
            ranks[name].fill_null(0).to_numpy().astype(np.int64)
            for name in ("rank", "tie_first", "tie_last")
        )
        return rank, first, last

    def measured(
        self, ranker: str, protocol: str, cases: pl.DataFrame, policy: str
    ) -> dict[str, NDArray[np.float64]]:
        """Metric → value of each case."""
        places = self.gold_ranks(ranker, protocol, cases)
        values = {f"recall@{k}": recall_at(k, *places, policy) for k in self.recall_at}
        return {**values, "mrr": reciprocal_rank(*places, policy)}

    def short_metrics(self) -> list[str]:
        """Recall@1, Recall@10 where it is asked for, and MRR: for tables with many systems."""
        kept = [f"recall@{k}" for k in (1, 10) if k in self.recall_at]
        return [*kept, "mrr"]

    def under_tie_policies(self) -> list[tuple[str, str, str, str]]:
        """Every ranker under every tie policy, as systems of `paired_rows`."""
        return [
            (ranker, policy, ranker, policy) for ranker in self.rankers for policy in TIE_POLICIES
        ]


def subsets_by_split(cases: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """All cases, and each part that has any."""
    parts = {part: cases.filter(pl.col("split") == part) for part in PARTS}
    return {"all": cases, **{part: frame for part, frame in parts.items() if frame.height}}


def paired_rows(
    evaluation: Evaluation,
    table: str,
    subset: str,
    cases: pl.DataFrame,
    systems: Sequence[tuple[str, str, str, str]],
    metrics: Sequence[str] | None = None,
) -> Iterator[Row]:
    """Rows of both protocols and of the paired change, for several systems on one subset.

    Parameters
    ----------
    systems : sequence of (system, variant, ranker, tie policy)
        What to call it, and where its gold ranks are.
    metrics : sequence of str, optional
        Which metrics; all by default.
    """
    bootstrap = evaluation.bootstrap(cases, subset)
    keys: list[tuple[str, str, str, str]] = []
    values: list[NDArray[np.float64]] = []
    for system, variant, ranker, policy in systems:
        before = evaluation.measured(ranker, ORDINARY, cases, policy)
        after = evaluation.measured(ranker, LOPO, cases, policy)
        for protocol in (ORDINARY, LOPO, CHANGE):
            for metric in metrics or before:
                keys.append((system, protocol, variant, metric))
                values.append(
                    {
                        ORDINARY: before[metric],
                        LOPO: after[metric],
                        CHANGE: after[metric] - before[metric],
                    }[protocol]
                )
    for (system, protocol, variant, metric), e in zip(
        keys, bootstrap.estimates(np.stack(values)), strict=True
    ):
        yield Row(
            table, system, protocol, variant, subset, metric, e.value, e.low, e.high,
            cases.height, None,
        )  # fmt: skip
