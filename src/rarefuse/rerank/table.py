"""The reranker beside its lists and its ontology-only version, with paired intervals."""

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.evaluation.base import Evaluation, Row
from rarefuse.evaluation.metrics import NATIVE, recall_at, reciprocal_rank
from rarefuse.fusion.stage import FUSED_RANKS
from rarefuse.rankers.base import LOPO
from rarefuse.rankers.run import GOLD_RANKS
from rarefuse.rerank.stage import ONTOLOGY

RERANKED, ALONE, GATE, MACRO = "reranked", "alone", "gate", "macro mean"
ONLY = "ontology-only"
"""The ontology-only version; in the tables of fusion "ontology" is a ranker's list."""
COVERAGE = "pool_coverage"
"""Share of cases whose diagnosis is among the candidates."""

Values = dict[str, NDArray[np.float64]]


def reranker_table(evaluation: Evaluation) -> Iterator[Row]:
    """Recall and reciprocal rank of every system, and paired differences between them.

    Systems are the rankers whose lists are joined, the ontology alone, every language model, and
    the macro mean over those that train. A variant says what is measured: the list ``alone``, the
    candidates ``reranked``, the fusion ``gate``, or a difference; the ontology alone is compared
    with the gate's macro mean. A diagnosis that is no candidate counts as a miss.
    """
    cases = evaluation.eligible()
    rankers = {
        name: _measured(evaluation, f"gold_ranks/{name}/{LOPO}", cases)
        for name in evaluation.rankers
    }
    arms = list(evaluation.options["llms"])
    reranked = {
        name: _measured(evaluation, f"reranked/{folder}/gold_ranks", cases, pool=True)
        for name, folder in {ONLY: ONTOLOGY, **{arm: arm for arm in arms}}.items()
    }
    gates = {arm: _gate(evaluation, arm, cases) for arm in arms}
    alone = {arm: _measured(evaluation, f"llm/{arm}/gold_ranks", cases) for arm in arms}
    if macro := list(evaluation.options["macro"]):
        reranked[MACRO] = _mean([reranked[arm] for arm in macro])
        alone[MACRO] = _mean([alone[arm] for arm in macro])
        gates[MACRO] = _mean([gates[arm] for arm in macro])

    entries: dict[tuple[str, str], Values] = {
        **{(name, ALONE): values for name, values in (rankers | alone).items()},
        **{(name, GATE): values for name, values in gates.items()},
        **{(name, RERANKED): values for name, values in reranked.items()},
    }
    for name, values in reranked.items():
        for other, against in rankers.items():
            entries[name, f"{RERANKED} - {other}"] = _difference(values, against)
        if name == ONLY and MACRO in gates:
            entries[name, f"{RERANKED} - {GATE}"] = _difference(values, gates[MACRO])
        if name != ONLY:
            difference = _difference(values, reranked[ONLY])
            entries[name, f"{RERANKED} - {ONLY}"] = difference
            entries[name, f"{RERANKED} - {GATE}"] = _difference(values, gates[name])
            entries[name, f"{RERANKED} - {ALONE}"] = _difference(values, alone[name])
    yield from _rows(evaluation, cases, entries)
    for arm in arms:
        held = 0.0 if arm in evaluation.options["in_family"] else 1.0
        yield Row(
            "reranker", arm, LOPO, RERANKED, "all", "family_held_out", held, None, None,
            cases.height,
        )  # fmt: skip


def _rows(
    evaluation: Evaluation, cases: pl.DataFrame, entries: Mapping[tuple[str, str], Values]
) -> Iterator[Row]:
    keys = [(*key, metric) for key, values in entries.items() for metric in values]
    stacked = np.stack([entries[system, variant][metric] for system, variant, metric in keys])
    estimates = evaluation.bootstrap(cases, "all").estimates(stacked)
    for (system, variant, metric), e in zip(keys, estimates, strict=True):
        yield Row(
            "reranker", system, LOPO, variant, "all", metric, e.value, e.low, e.high, cases.height
        )


def _measured(
    evaluation: Evaluation, path: str, cases: pl.DataFrame, *, pool: bool = False
) -> Values:
    """Metric → value of each case; with `pool` also whether the diagnosis is a candidate."""
    values = _values(
        evaluation, cases, artifacts.read(evaluation.corpus / f"{path}.parquet", GOLD_RANKS)
    )
    if not pool:
        del values[COVERAGE]
    return values


def _gate(evaluation: Evaluation, arm: str, cases: pl.DataFrame) -> Values:
    """Metric → value of each case under the fusion gate, mean over its seeds."""
    path = evaluation.corpus / evaluation.options["gate"] / f"{arm}.parquet"
    ranks = artifacts.read(path, FUSED_RANKS).filter(pl.col("method") == GATE)
    seeds = [
        _values(evaluation, cases, one.select(GOLD_RANKS.names))
        for _, one in ranks.group_by("seed", maintain_order=True)
    ]
    values = _mean(seeds)
    del values[COVERAGE]
    return values


def _values(evaluation: Evaluation, cases: pl.DataFrame, places: pl.DataFrame) -> Values:
    """Metric → value of each case, from `GOLD_RANKS`."""
    ranks = cases.select("case_id").join(places, on="case_id", how="left", maintain_order="left")
    rank, first, last = (
        ranks[name].fill_null(0).to_numpy().astype(np.int64)
        for name in ("rank", "tie_first", "tie_last")
    )
    values = {f"recall@{k}": recall_at(k, rank, first, last, NATIVE) for k in evaluation.recall_at}
    values["mrr"] = reciprocal_rank(rank, first, last, NATIVE)
    values[COVERAGE] = (rank > 0).astype(float)
    return values


def _difference(one: Values, other: Values) -> Values:
    return {metric: one[metric] - other[metric] for metric in one if metric in other}


def _mean(several: list[Values]) -> Values:
    return {
        metric: np.mean([values[metric] for values in several], axis=0) for metric in several[0]
    }
