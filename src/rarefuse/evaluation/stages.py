"""The result tables of the ontology half, one function a table.

Every table is `TABLE`. Statistics over cases carry intervals from resamples of publications
(of gold diseases where a corpus has no publications).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.annotations.overlap import overlap_by_case
from rarefuse.annotations.relations import DISEASES, RELATIONS
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import (
    PARTS,
    SPLITS,
    admissible_permutations,
    publication_groups,
)
from rarefuse.errors import InputError
from rarefuse.evaluation.bootstrap import ClusterBootstrap, cluster_bootstrap
from rarefuse.evaluation.metrics import NATIVE, TIE_POLICIES, recall_at, reciprocal_rank
from rarefuse.evaluation.tables import TABLE
from rarefuse.rankers.base import LOPO, ORDINARY
from rarefuse.rankers.run import GOLD_RANKS, RANKINGS

CHANGE = "lopo - ordinary"
NOT_APPLICABLE = "-"
Row = tuple[
    str, str, str, str, str, str, float | None, float | None, float | None, int, float | None
]


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
    splits : mapping
        Options of `rarefuse.corpus.splits.split_publications`, for the table about splits.
    """

    corpus: Path
    knowledge: Path
    rankers: list[str]
    recall_at: list[int]
    resamples: int
    level: float
    seed: int
    splits: Mapping[str, Any] = field(default_factory=dict)

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
        yield (
            table, system, protocol, variant, subset, metric, e.value, e.low, e.high,
            cases.height, None,
        )  # fmt: skip


def cohort_table(evaluation: Evaluation) -> Iterator[Row]:
    """Count cases, publications, diseases and who can be ranked (paper, Table 6)."""
    cases = artifacts.read(evaluation.corpus / "cases.parquet", CASES).join(
        artifacts.read(evaluation.corpus / "splits.parquet", SPLITS), on="case_id"
    )
    diseases = artifacts.read(evaluation.knowledge / "diseases.parquet", DISEASES)
    relations = artifacts.read(evaluation.knowledge / "relations.parquet", RELATIONS)
    overlap = overlap_by_case(cases, diseases, relations)
    emptied = overlap.filter(
        pl.col("n_exclusive") == pl.col("n_relations"), pl.col("n_relations") > 0
    )["case_id"]
    marked = cases.with_columns(
        in_hpoa=pl.col("gold_id").is_in(diseases["disease_id"].implode()),
        rankable=pl.col("observed").list.len() > 0,
        emptied=pl.col("case_id").is_in(emptied.implode()),
    )
    for subset, part in {
        "all": marked,
        **{p: marked.filter(pl.col("split") == p) for p in PARTS},
    }.items():
        counts = {
            "cases": part.height,
            "publications": part["publication_id"].drop_nulls().n_unique(),
            "gold_diseases": part["gold_id"].n_unique(),
            "gold_in_hpoa": int(part["in_hpoa"].sum()),
            "rankable": int(part["rankable"].sum()),
            "eligible": part.filter(pl.col("in_hpoa"), pl.col("rankable")).height,
            "emptied_by_lopo": part.filter(
                pl.col("in_hpoa"), pl.col("rankable"), pl.col("emptied")
            ).height,
        }
        if subset == "all":
            counts["candidates"] = diseases.height
            counts["hpoa_pmids"] = relations["pmids"].explode().drop_nulls().n_unique()
        for metric, count in counts.items():
            yield (
                "cohort", "hpoa", NOT_APPLICABLE, NOT_APPLICABLE, subset, metric, float(count),
                None, None, part.height, None,
            )  # fmt: skip


def overlap_table(evaluation: Evaluation) -> Iterator[Row]:
    """Publication-source overlap of cases whose gold disease is a candidate (Table 10)."""
    cases = artifacts.read(evaluation.corpus / "cases.parquet", CASES)
    overlap = overlap_by_case(
        cases,
        artifacts.read(evaluation.knowledge / "diseases.parquet", DISEASES),
        artifacts.read(evaluation.knowledge / "relations.parquet", RELATIONS),
    ).join(
        cases.select("case_id", pl.coalesce("publication_id", "gold_id").alias("cluster")),
        on="case_id",
    )
    if overlap.is_empty():
        return
    entirely = (pl.col("n_exclusive") == pl.col("n_relations")) & (pl.col("n_relations") > 0)
    means = {
        "overlap_share": overlap.with_columns(x=pl.col("overlap").cast(pl.Float64)),
        "exclusive_share_mean": overlap.with_columns(x="exclusive_share"),
        "entirely_exclusive_share": overlap.with_columns(x=entirely.cast(pl.Float64)),
        "query_terms_covered_mean": overlap.with_columns(x="covered_share").drop_nulls("x"),
    }
    for metric, frame in means.items():
        if frame.is_empty():
            continue
        bootstrap = evaluation.bootstrap(frame, "all")
        (e,) = bootstrap.estimates(frame["x"].to_numpy()[None, :])
        yield (
            "overlap", "hpoa", NOT_APPLICABLE, NOT_APPLICABLE, "all", metric, e.value, e.low,
            e.high, frame.height, None,
        )  # fmt: skip
    median = overlap["exclusive_share"].median()
    assert isinstance(median, float)
    yield (
        "overlap", "hpoa", NOT_APPLICABLE, NOT_APPLICABLE, "all", "exclusive_share_median",
        median, None, None, overlap.height, None,
    )  # fmt: skip


def recall_table(evaluation: Evaluation) -> Iterator[Row]:
    """Recall and reciprocal rank before and after LOPO (paper, Table 1)."""
    for subset, cases in subsets_by_split(evaluation.eligible()).items():
        systems = [(ranker, NATIVE, ranker, NATIVE) for ranker in evaluation.rankers]
        yield from paired_rows(evaluation, "recall", subset, cases, systems)


def ties_table(evaluation: Evaluation) -> Iterator[Row]:
    """The same under the three tie policies, and how often rank 1 is a tie (appendix A.3)."""
    metrics = evaluation.short_metrics()
    for subset, cases in subsets_by_split(evaluation.eligible()).items():
        systems = evaluation.under_tie_policies()
        yield from paired_rows(evaluation, "ties", subset, cases, systems, metrics)
        for ranker in evaluation.rankers:
            for protocol in (ORDINARY, LOPO):
                path = evaluation.corpus / "rankings" / ranker / f"{protocol}.parquet"
                first = artifacts.read(path, RANKINGS).filter(pl.col("rank") == 1)
                block = (
                    first.join(cases.select("case_id"), on="case_id", how="semi")["tie_last"]
                    .to_numpy()
                    .astype(float)
                )
                for metric, value in (
                    ("rank1_tied_share", float((block > 1).mean())),
                    ("rank1_tie_mean", float(block.mean())),
                    ("rank1_tie_max", float(block.max())),
                ):
                    yield (
                        "ties", ranker, protocol, NATIVE, subset, metric, value, None, None,
                        len(block), None,
                    )  # fmt: skip


def monte_carlo_table(evaluation: Evaluation) -> Iterator[Row]:
    """The same ranker with other random queries (paper, Table 7).

    `rankers` are variants ``ID.seedN`` of one ranker.
    """
    seeds = [int(ranker.rpartition(".seed")[2]) for ranker in evaluation.rankers]
    base = evaluation.rankers[0].partition(".")[0]
    metrics = evaluation.short_metrics()
    for subset, cases in subsets_by_split(evaluation.eligible()).items():
        systems = [
            (base, f"seed {seed}", ranker, NATIVE)
            for seed, ranker in zip(seeds, evaluation.rankers, strict=True)
        ]
        rows = list(paired_rows(evaluation, "monte_carlo", subset, cases, systems, metrics))
        yield from rows
        spread: dict[tuple[str, str], list[float]] = {}
        for row in rows:
            assert row[6] is not None
            spread.setdefault((row[2], row[5]), []).append(row[6])
        for (protocol, metric), values in spread.items():
            yield (
                "monte_carlo", base, protocol, "mean of seeds", subset, metric,
                float(np.mean(values)), None, None, cases.height,
                float(np.std(values, ddof=1)) if len(values) > 1 else None,
            )  # fmt: skip


def query_cap_table(evaluation: Evaluation) -> Iterator[Row]:
    """One ranker with and without its cap on the null's query size (paper, Table 8).

    `rankers` are the ranker and its ``.uncapped`` variant.
    """
    capped, uncapped = evaluation.rankers
    metrics = evaluation.short_metrics()
    cases = evaluation.eligible()
    cap = 10
    for subset, part in {
        "all": cases,
        f"observed <= {cap}": cases.filter(pl.col("n_observed") <= cap),
        f"observed > {cap}": cases.filter(pl.col("n_observed") > cap),
    }.items():
        if part.is_empty():
            continue
        systems = [(capped, "capped", capped, NATIVE), (capped, "uncapped", uncapped, NATIVE)]
        yield from paired_rows(evaluation, "query_cap", subset, part, systems, metrics)
        bootstrap = evaluation.bootstrap(part, subset)
        for protocol in (ORDINARY, LOPO):
            one = evaluation.measured(capped, protocol, part, NATIVE)
            other = evaluation.measured(uncapped, protocol, part, NATIVE)
            changes = bootstrap.estimates(np.stack([other[m] - one[m] for m in metrics]))
            for metric, e in zip(metrics, changes, strict=True):
                yield (
                    "query_cap", capped, protocol, "uncapped - capped", subset, metric, e.value,
                    e.low, e.high, part.height, None,
                )  # fmt: skip


def null_models_table(evaluation: Evaluation) -> Iterator[Row]:
    """The Phenomizer with other null models beside the default (ours)."""
    for subset, cases in subsets_by_split(evaluation.eligible()).items():
        systems = evaluation.under_tie_policies()
        yield from paired_rows(evaluation, "null_models", subset, cases, systems)


def split_sensitivity_table(evaluation: Evaluation, n_splits: int = 1000) -> Iterator[Row]:
    """How much the test part's figures depend on which admissible split was drawn (ours).

    Value and interval are the median and the central `level` of the figure over the test parts of
    the first `n_splits` admissible permutations; `n` counts the splits. The first of them is the
    split in use.
    """
    cases = artifacts.read(evaluation.corpus / "cases.parquet", CASES)
    groups, sizes = publication_groups(cases)
    row = dict(zip(sizes["group"].to_list(), range(sizes.height), strict=True))
    eligible = evaluation.eligible().join(groups, on="case_id", maintain_order="left")
    group = np.array([row[g] for g in eligible["group"].to_list()])
    n_eligible = np.bincount(group, minlength=sizes.height)
    in_test = np.zeros((n_splits, sizes.height))
    permutations = admissible_permutations(
        sizes["len"].to_numpy(), max_permutations=100_000, **evaluation.splits
    )
    for i, (order, bounds) in zip(range(n_splits), permutations, strict=False):
        in_test[i, order[bounds[1] :]] = 1.0
    in_test = in_test[in_test @ n_eligible > 0]
    tail = (1.0 - evaluation.level) / 2.0
    for ranker in evaluation.rankers:
        before = evaluation.measured(ranker, ORDINARY, eligible, NATIVE)
        after = evaluation.measured(ranker, LOPO, eligible, NATIVE)
        for metric in ("recall@1", "mrr"):
            for protocol, values in (
                (ORDINARY, before[metric]),
                (LOPO, after[metric]),
                (CHANGE, after[metric] - before[metric]),
            ):
                sums = np.bincount(group, values, sizes.height)
                figures = (in_test @ sums) / (in_test @ n_eligible)
                low, median, high = np.quantile(figures, [tail, 0.5, 1.0 - tail])
                yield (
                    "split_sensitivity", ranker, protocol, NATIVE, "test", metric, float(median),
                    float(low), float(high), len(in_test), None,
                )  # fmt: skip


TABLES: dict[str, Callable[[Evaluation], Iterator[Row]]] = {
    "cohort": cohort_table,
    "overlap": overlap_table,
    "recall": recall_table,
    "ties": ties_table,
    "monte_carlo": monte_carlo_table,
    "query_cap": query_cap_table,
    "null_models": null_models_table,
    "split_sensitivity": split_sensitivity_table,
}


def table_stage(*, name: str, evaluation: Evaluation, output: Path) -> None:
    """Compute one table and write it as `TABLE`."""
    frame = pl.DataFrame(list(TABLES[name](evaluation)), schema=TABLE.dtypes, orient="row")
    artifacts.write(frame, TABLE, output)
