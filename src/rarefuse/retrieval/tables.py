"""Tables made of search lists: the main comparison and the depth strata.

Long form as everywhere (`rarefuse.evaluation.tables.TABLE`): protocol is the track, variant the
condition of the queries, subset the family. Values are means over queries of the mean over seeds;
intervals resample the nodes asked about, since a node has up to two Q-E queries; the difference
to text is paired. A query whose text list is the same on both tracks stands for both: the node
asked about is taken out of every list.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.evaluation.base import Row
from rarefuse.evaluation.bootstrap import cluster_bootstrap
from rarefuse.retrieval.measures import LISTS, METRICS, measure
from rarefuse.retrieval.parsing import INDUCTIVE, TRANSDUCTIVE
from rarefuse.retrieval.queries import QUERIES
from rarefuse.retrieval.subsets import NODES
from rarefuse.retrieval.templates import ENTITY, HIERARCHY

BASELINE = "text"
STRATA = 4
SHOWN = {ENTITY: ("hits@1", "hits@10", "mrr", "ndcg@10")}
"""Family → metrics in the tables; all of them but for Q-E by default."""


def measured_lists(folder: Path, lists: Sequence[Path]) -> pl.DataFrame:
    """Measures of every list of a set, with the text lists on the inductive track as well."""
    queries = artifacts.read(folder / "queries.parquet", QUERIES)
    frame = pl.concat([artifacts.read(path, LISTS) for path in lists])
    text = frame.filter(pl.col("system") == BASELINE).with_columns(track=pl.lit(INDUCTIVE))
    return measure(pl.concat([frame, text]), queries)


def _metrics(family: str) -> list[str]:
    metrics = SHOWN.get(family, METRICS)
    return [m for m in metrics if m != "ancestor_f1" or family == HIERARCHY]


def _by_seed(frame: pl.DataFrame, metric: str) -> tuple[list[str], list[int], NDArray[np.float64]]:
    """Query ids, nodes and values of shape (seeds, queries), queries sorted."""
    wide = frame.pivot(on="seed", index=["query_id", "node"], values=metric).sort("query_id")
    values = wide.drop("query_id", "node").to_numpy().T.astype(np.float64)
    return wide["query_id"].to_list(), wide["node"].to_list(), values


def main_table(
    folder: Path, lists: Sequence[Path], *, resamples: int, level: float, seed: int
) -> Iterator[Row]:
    """Every system on every track, condition and family, and its paired difference to text."""
    measured = measured_lists(folder, lists)
    keys = ["track", "condition", "family"]
    for (track, condition, family), part in measured.group_by(keys, maintain_order=True):
        if track == INDUCTIVE and family == ENTITY:
            continue  # Q-E hides nothing: its rows are the transductive ones.
        base = part.filter(pl.col("system") == BASELINE)
        resampled: tuple[str, ...] = ()
        for (system,), own in part.group_by("system", maintain_order=True):
            for metric in _metrics(str(family)):
                ids, nodes, values = _by_seed(own, metric)
                # All systems answer the same queries, so that one set of resamples does.
                if resampled != tuple(ids):
                    resampled = tuple(ids)
                    bootstrap = cluster_bootstrap(
                        [str(node) for node in nodes], resamples=resamples, level=level, seed=seed,
                        name=f"{condition} {family}",
                    )  # fmt: skip
                rows = [(str(system), values)]
                base_ids, _, against = _by_seed(base, metric)
                if system != BASELINE and base_ids == ids:
                    rows.append((f"{system} - {BASELINE}", values - against.mean(0)))
                for name, each in rows:
                    (estimate,) = bootstrap.estimates(each.mean(axis=0)[None])
                    spread = float(each.mean(axis=1).std(ddof=1)) if len(each) > 1 else None
                    yield Row(
                        "main", name, str(track), str(condition), str(family), metric,
                        estimate.value, estimate.low, estimate.high, len(ids), spread,
                    )  # fmt: skip


def depth_table(
    folder: Path, lists: Sequence[Path], *, resamples: int, level: float, seed: int
) -> Iterator[Row]:
    """Reciprocal rank by quartiles of the depth of the node asked about (paper, Table 7)."""
    depth = artifacts.read(folder / "nodes.parquet", NODES)["depth"].to_numpy()
    measured = measured_lists(folder, lists).filter(
        pl.col("condition") == "reference", pl.col("track") == TRANSDUCTIVE
    )
    for (system, family), part in measured.group_by("system", "family", maintain_order=True):
        _, nodes, values = _by_seed(part, "mrr")
        at = depth[nodes]
        # As pandas' qcut: quartile edges, the same edge twice makes one stratum less.
        edges = np.unique(np.quantile(at, np.linspace(0, 1, STRATA + 1)))
        stratum = np.clip(np.searchsorted(edges, at, side="left") - 1, 0, max(len(edges) - 2, 0))
        for number in np.unique(stratum):
            inside = stratum == number
            low, high = int(at[inside].min()), int(at[inside].max())
            bootstrap = cluster_bootstrap(
                [str(n) for n in np.array(nodes)[inside]], resamples=resamples, level=level,
                seed=seed, name=f"depth {family} {number}",
            )  # fmt: skip
            (estimate,) = bootstrap.estimates(values.mean(axis=0)[None, inside])
            yield Row(
                "depth", str(system), TRANSDUCTIVE, f"depth {low} to {high}", str(family), "mrr",
                estimate.value, estimate.low, estimate.high, int(inside.sum()), None,
            )  # fmt: skip


def retention_table(
    folder: Path, lists: Sequence[Path], *, resamples: int, level: float, seed: int
) -> Iterator[Row]:
    """The safety valve: a system's Q-E reciprocal rank over text's (paper, section 6)."""
    measured = measured_lists(folder, lists).filter(
        pl.col("family") == ENTITY, pl.col("track") == TRANSDUCTIVE
    )
    for (condition,), part in measured.group_by("condition", maintain_order=True):
        ids, nodes, base = _by_seed(part.filter(pl.col("system") == BASELINE), "mrr")
        bootstrap = cluster_bootstrap(
            [str(n) for n in nodes], resamples=resamples, level=level, seed=seed,
            name=f"{condition} {ENTITY}",
        )  # fmt: skip
        tail = (1.0 - level) / 2.0
        for (system,), own in part.group_by("system", maintain_order=True):
            _, _, values = _by_seed(own, "mrr")
            means = bootstrap.resampled_means(np.stack([values.mean(0), base.mean(0)]))
            low, high = np.quantile(means[0] / means[1], [tail, 1.0 - tail])
            yield Row(
                "retention", str(system), TRANSDUCTIVE, str(condition), ENTITY, "mrr ratio",
                float(values.mean() / base.mean()), float(low), float(high), len(ids), None,
            )  # fmt: skip
