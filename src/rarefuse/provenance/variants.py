"""The same ranker with other seeds, caps, null models and splits."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.annotations.overlap import emptied
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import admissible_permutations, publication_groups
from rarefuse.evaluation.base import (
    CHANGE,
    NOT_APPLICABLE,
    Evaluation,
    Row,
    paired_rows,
    subsets_by_split,
)
from rarefuse.evaluation.metrics import NATIVE
from rarefuse.provenance.matching import DELETIONS
from rarefuse.provenance.subsets import with_overlap
from rarefuse.rankers.base import LOPO, ORDINARY


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
            yield Row(
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
                yield Row(
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
    the first `n_splits` admissible permutations; `n` counts the splits that have such cases. The
    first permutation is the split in use. Groups of cases are those of `single_case_table`,
    `retained_profile_table` and `matched_deletion_table`; metric ``cases`` is their number.
    """
    cases = artifacts.read(evaluation.corpus / "cases.parquet", CASES)
    groups, sizes = publication_groups(cases)
    row = dict(zip(sizes["group"].to_list(), range(sizes.height), strict=True))
    eligible = evaluation.eligible().join(groups, on="case_id", maintain_order="left")
    group = np.array([row[g] for g in eligible["group"].to_list()])
    in_test = np.zeros((n_splits, sizes.height))
    permutations = admissible_permutations(
        sizes["len"].to_numpy(), max_permutations=100_000, **evaluation.options
    )
    for i, (order, bounds) in zip(range(n_splits), permutations, strict=False):
        in_test[i, order[bounds[1] :]] = 1.0
    tail = (1.0 - evaluation.level) / 2.0
    measured = {
        ranker: [
            evaluation.measured(ranker, protocol, eligible, NATIVE) for protocol in (ORDINARY, LOPO)
        ]
        for ranker in evaluation.rankers
    }
    for subset, chosen in _groups(evaluation, eligible).items():
        n_cases = in_test @ np.bincount(group[chosen], minlength=sizes.height)
        with_cases = n_cases > 0
        if not with_cases.any():
            continue

        def figures(
            values: NDArray[np.float64],
            chosen: NDArray[np.bool_] = chosen,
            n_cases: NDArray[np.float64] = n_cases,
            with_cases: NDArray[np.bool_] = with_cases,
        ) -> NDArray[np.float64]:
            sums = np.bincount(group[chosen], values[chosen], sizes.height)
            return (in_test[with_cases] @ sums) / n_cases[with_cases]

        rows = [("hpoa", NOT_APPLICABLE, "cases", n_cases[with_cases])]
        for ranker, (before, after) in measured.items():
            for metric in ("recall@1", "mrr"):
                rows += [
                    (ranker, ORDINARY, metric, figures(before[metric])),
                    (ranker, LOPO, metric, figures(after[metric])),
                    (ranker, CHANGE, metric, figures(after[metric] - before[metric])),
                ]
        for system, protocol, metric, values in rows:
            low, median, high = np.quantile(values, [tail, 0.5, 1.0 - tail])
            yield Row(
                "split_sensitivity", system, protocol, NATIVE, subset, metric, float(median),
                float(low), float(high), len(values),
            )  # fmt: skip


def _groups(evaluation: Evaluation, eligible: pl.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """Which eligible cases are in each group, over all splits."""
    matched = artifacts.read(evaluation.corpus / "deletions.parquet", DELETIONS)
    taking_part = (
        artifacts.read(evaluation.corpus / "cases.parquet", CASES)
        .rename({"gold_id": "disease_id"})
        .join(matched, on=["publication_id", "disease_id"], how="semi")["case_id"]
    )
    known = eligible.select("case_id").join(
        with_overlap(evaluation).select("case_id", "n_cases", emptied=emptied()),
        on="case_id",
        how="left",
        maintain_order="left",
    )
    conditions = {
        "test": pl.lit(True),
        "test: one case a publication": pl.col("n_cases") == 1,
        "test: profile kept": ~pl.col("emptied"),
        "test: profile emptied": pl.col("emptied"),
        "test: matched": pl.col("case_id").is_in(taking_part.implode()),
    }
    return {
        name: known.with_columns(x=condition)["x"].fill_null(False).to_numpy()
        for name, condition in conditions.items()
    }
