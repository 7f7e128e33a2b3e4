"""Tables that train or time something: radius sweep, front, cost, growth, the paper's ablations."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import seeds
from rarefuse.evaluation.base import NOT_APPLICABLE, Row
from rarefuse.retrieval import ablations, geometry
from rarefuse.retrieval.adapters import apply
from rarefuse.retrieval.centroid import CentroidOptions, CentroidTable, train_centroid
from rarefuse.retrieval.embeddings import HYEM
from rarefuse.retrieval.indexability import (
    efficiency_rows,
    indexability_rows,
    latencies,
    theory_rows,
)
from rarefuse.retrieval.indexes import Index, build_index, threads
from rarefuse.retrieval.linker import RELATED, make_linker
from rarefuse.retrieval.measures import mean, measure
from rarefuse.retrieval.models import read_tables
from rarefuse.retrieval.queries import TEST
from rarefuse.retrieval.reference import listed
from rarefuse.retrieval.runs import Data, read_data, text_rows, train_gate
from rarefuse.retrieval.search import soft_mix, tangent_search
from rarefuse.retrieval.templates import FAMILIES, HIERARCHY
from rarefuse.retrieval.unseen import UnseenModel

QUERIES_TIMED = 200
GROWTH = (1_000, 5_000, 20_000, 50_000, 100_000, 200_000)


def _points(table: CentroidTable, intent: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Query points of single nodes, drawn to the origin as the intent learned."""
    own = geometry.exp_origin(table.u[rows])[:, None]
    return geometry.centroid(own, np.ones((len(rows), 1)), table.origin[intent])


def _asked(data: Data, family: str) -> pl.DataFrame:
    return data.queries.filter(
        pl.col("split") == TEST, pl.col("condition") == "reference", pl.col("family") == family
    )


def indexability_table(
    folder: Path, *, seed: int, radii: list[float], centroid: dict[str, Any]
) -> Iterator[Row]:
    """Recall against L, certificates and Lorentz indexes for tables that fill each budget."""
    data = read_data(folder)
    rows = _asked(data, HIERARCHY)["node"].to_numpy()[:QUERIES_TIMED].astype(np.int64)
    for radius in radii:
        options = CentroidOptions(**{**centroid, "radius": radius})
        table = train_centroid(data.subset, [HIERARCHY], seed, options)
        yield from indexability_rows(
            f"R={radius:g}", table.u, _points(table, HIERARCHY, rows), radius
        )


def front_table(
    folder: Path, *, seed: int, radii: list[float], centroid: dict[str, Any]
) -> Iterator[Row]:
    """One table an intent against one joint table, at every radius; the mention linked rightly."""
    data = read_data(folder)
    for radius in radii:
        options = CentroidOptions(**{**centroid, "radius": radius})
        apart = {i: train_centroid(data.subset, [i], seed, options) for i in RELATED}
        joint = train_centroid(data.subset, list(RELATED), seed, options)
        for kind, tables in (("apart", apart), ("joint", dict.fromkeys(RELATED, joint))):
            for intent, table in tables.items():
                asked = _asked(data, intent)
                nodes = asked["node"].to_numpy().astype(np.int64)
                index = build_index("lorentz-flat", table.u, [], NOT_APPLICABLE)
                _, found = index.search(_points(table, intent, nodes), 11)
                frame = asked.select("query_id").with_columns(
                    rows=pl.Series(listed(found, asked), dtype=pl.List(pl.Int32))
                )
                measured = measure(frame, asked)
                for metric in ("hits@10", "mrr", *(["ancestor_f1"] if intent == HIERARCHY else [])):
                    yield Row(
                        "front", f"centroid {kind}", "transductive", f"R={radius:g}", intent,
                        metric, mean(measured, metric), None, None, asked.height,
                    )  # fmt: skip
                filled = float(np.linalg.norm(table.u, axis=1).mean() / radius)
                yield Row("front", f"centroid {kind}", "transductive", f"R={radius:g}", intent,
                          "share of budget", filled, None, None, len(table.u))  # fmt: skip


def efficiency_table(folder: Path, *, seed: int, tables: Path) -> Iterator[Row]:
    """Size and latency of text, the reference's modes and ours, 200 queries of all families."""
    data, trained = read_data(folder), read_tables(tables)
    made = ablations.ablation_reference(data, seed)
    parsed = data.parsed.filter(pl.col("track") == "transductive").drop("track")
    asked = pl.concat([_asked(data, f)[: QUERIES_TIMED // 3 + 1] for f in FAMILIES])
    asked = asked.drop("mention").join(parsed, on="query_id", how="inner", maintain_order="left")[
        :QUERIES_TIMED
    ]
    queries, mentions = data.vectors.of(asked["text"]), data.vectors.of(asked["mention"])
    frames = asked["frame"].to_list()
    frame_vectors = data.vectors.of(frames)
    gate = train_gate(data, seed)
    ids = data.subset.nodes["term_id"].to_list()
    vectors, owner = text_rows(data.subset, data.vectors)
    kinds: list[tuple[str, list[Index], Any]] = []

    def no_gate(i: int) -> object:
        point = apply(made.adapters[HYEM], queries[i : i + 1])
        return tangent_search(made.indexes[HYEM], made.tables[HYEM], point, 10)

    def soft(i: int) -> object:
        vector = queries[i : i + 1]
        point = apply(made.adapters[HYEM], vector)
        alpha = ablations.gate_weights(made.gate, vector)
        return soft_mix(made.text_index, made.indexes[HYEM], made.nodes, made.tables[HYEM], vector,
                        point, alpha, 10)  # fmt: skip

    kinds.append(
        ("text", [made.text_index], lambda i: made.text_index.search(queries[i : i + 1], 10))
    )
    kinds.append(("hyem-no-gate", [made.indexes[HYEM]], no_gate))
    kinds.append(("hyem-soft", [made.text_index, made.indexes[HYEM]], soft))
    with threads(1):
        for shape in ("flat", "hnsw"):
            text = build_index(
                f"text-{shape}", vectors, [ids[r] for r in owner], data.vectors.encoder
            )
            spaces = {
                i: build_index(f"lorentz-{shape}", trained[i].u, ids, data.vectors.encoder)
                for i in RELATED
            }
            linker = make_linker(
                data.subset, text, owner, spaces, {i: trained[i].origin[i] for i in RELATED},
                {i: trained[i].temperature[i] for i in RELATED}, UnseenModel(),
            )  # fmt: skip

            def ours(i: int, linker: Any = linker) -> object:
                weights = gate.probabilities(frame_vectors[i : i + 1], frames[i : i + 1])
                return linker.search(mentions[i], weights[0], 10)

            kinds.append((f"centroid {shape}", [text, *spaces.values()], ours))
        yield from efficiency_rows(kinds, asked.height)


def growth_table(*, seed: int) -> Iterator[Row]:
    """Latency and recall of the Lorentz indexes on synthetic points, up to 200,000 nodes."""
    draw = seeds.generator(seed, "growth")
    for n in GROWTH:
        u = draw.standard_normal((n, 32))
        u *= (5.0 * draw.random((n, 1)) ** 0.1) / np.linalg.norm(u, axis=1, keepdims=True)
        table = u.astype(np.float32)
        queries = geometry.exp_origin(table[draw.integers(n, size=QUERIES_TIMED)] * np.float32(0.9))
        truth = None
        with threads(1):
            for kind in ("lorentz-flat", "lorentz-hnsw"):
                index = build_index(kind, table, [], NOT_APPLICABLE)
                found = index.search(queries, 10)[1]
                truth = found if truth is None else truth
                kept = float(
                    np.mean([np.isin(t, f).mean() for t, f in zip(truth, found, strict=True)])
                )
                (spent,) = latencies([partial(_one, index, queries)], QUERIES_TIMED)
                for metric, value in (
                    ("ms a query", spent),
                    ("recall@10", kept),
                    ("index MB", index.megabytes),
                ):
                    yield Row("growth", kind, NOT_APPLICABLE, f"N={n}", "all", metric, value, None,
                              None, QUERIES_TIMED)  # fmt: skip


def _one(index: Index, queries: NDArray[np.float64], i: int) -> object:
    return index.search(queries[i : i + 1], 10)


def theory_table() -> Iterator[Row]:
    """The closed forms."""
    yield from theory_rows()


def pooling_table(folder: Path, *, seed: int) -> Iterator[Row]:
    """See `ablations.pooling_rows`."""
    data = read_data(folder)
    yield from ablations.pooling_rows(data, ablations.ablation_reference(data, seed))


def adapters_table(folder: Path, *, seed: int) -> Iterator[Row]:
    """See `ablations.adapter_rows`."""
    data = read_data(folder)
    yield from ablations.adapter_rows(data, ablations.ablation_reference(data, seed), seed)


def gates_table(folder: Path, *, seed: int) -> Iterator[Row]:
    """See `ablations.gate_rows`."""
    yield from ablations.gate_rows(read_data(folder), seed)


def noise_table(folder: Path, *, seed: int) -> Iterator[Row]:
    """See `ablations.noise_rows`."""
    data = read_data(folder)
    yield from ablations.noise_rows(data, ablations.ablation_reference(data, seed), seed)


def encoders_table(folder: Path, *, seed: int) -> Iterator[Row]:
    """See `ablations.encoder_rows`."""
    yield from ablations.encoder_rows(read_data(folder), seed)
