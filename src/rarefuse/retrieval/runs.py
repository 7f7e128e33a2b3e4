"""One seed of a system: train, search every test query, keep the lists.

Systems of `centroid_run` besides ``centroid`` itself:

``views``   text alone with our reading of a query: the mention against labels and definitions
``vote``    parents (or siblings) of the mention's text neighbours, by their weights
``graph``   the ceiling: what the graph says of the node that the mention links to first
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.retrieval.centroid import CentroidOptions, CentroidTable, Neighbours, train_centroid
from rarefuse.retrieval.foldin import train_inductive
from rarefuse.retrieval.indexes import build_index
from rarefuse.retrieval.intents import IntentGate, train_intents, training_frames
from rarefuse.retrieval.linker import LINKED, RELATED, SHARPNESS, Linker, Mixing, make_linker
from rarefuse.retrieval.measures import DEPTH, LISTS, hides_focus, measure, without
from rarefuse.retrieval.parsing import INDUCTIVE, PARSED, TRANSDUCTIVE
from rarefuse.retrieval.queries import QUERIES, TEST, TRAIN, VALIDATION, split_nodes
from rarefuse.retrieval.reference import (
    SEARCHED,
    ReferenceOptions,
    listed,
    train_reference,
)
from rarefuse.retrieval.subsets import Subset, read_subset
from rarefuse.retrieval.templates import ENTITY, HIERARCHY
from rarefuse.retrieval.text import Vectors, node_texts, read_vectors

BETAS = (0.0, 2.0, 5.0, 10.0, 20.0, 40.0)
"""Scales of the cosine that validation chooses from."""


@dataclass(frozen=True)
class Data:
    """What a set's folder holds."""

    subset: Subset
    queries: pl.DataFrame
    parsed: pl.DataFrame
    vectors: Vectors


def read_data(folder: Path) -> Data:
    """Read subset, queries, their mentions and the text vectors."""
    return Data(
        read_subset(folder),
        artifacts.read(folder / "queries.parquet", QUERIES),
        artifacts.read(folder / "parsed.parquet", PARSED),
        read_vectors(folder / "vectors.safetensors"),
    )


def lists_frame(
    found: Iterable[tuple[str, str, str, list[int]]], seed: int
) -> pl.DataFrame:  # fmt: skip
    """`LISTS` of (system, track, query_id, rows)."""
    rows = [(system, track, seed, query_id, best) for system, track, query_id, best in found]
    return pl.DataFrame(rows, schema=LISTS.dtypes, orient="row")


def reference_run(data: Data, seed: int, options: ReferenceOptions) -> pl.DataFrame:
    """Lists of the reference's systems for every test query."""
    test = data.queries.filter(pl.col("split") == TEST)
    made = train_reference(data.subset, data.queries, data.vectors, seed, options)
    found = []
    for system, rows in made.lists(data.vectors.of(test["text"]), SEARCHED).items():
        for query_id, best in zip(test["query_id"], listed(rows, test), strict=True):
            found.append((system, TRANSDUCTIVE, query_id, best))
    return lists_frame(found, seed)


def text_rows(subset: Subset, vectors: Vectors) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Text vectors of labels, then of labels with definitions, and the node of each."""
    both = [vectors.of(node_texts(subset, mode)) for mode in ("label", "label_def")]
    return np.concatenate(both), np.tile(np.arange(subset.nodes.height), 2)


def text_neighbours(labels: NDArray[np.float32], known: NDArray[np.bool_]) -> Neighbours:
    """Known neighbours of every node by the cosine of labels, itself left out."""
    k = min(LINKED, int(known.sum()) - 1)
    rows = np.empty((len(labels), k), np.int64)
    weights = np.empty((len(labels), k), np.float32)
    for start in range(0, len(labels), 1024):
        part = np.arange(start, min(start + 1024, len(labels)))
        cosines = labels[part] @ labels.T
        cosines[:, ~known] = -np.inf
        cosines[np.arange(len(part)), part] = -np.inf
        best = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
        near = np.take_along_axis(cosines, best, axis=1)
        raised = np.exp((near - near[:, :1]) / SHARPNESS)
        rows[part], weights[part] = best, raised / raised.sum(axis=1, keepdims=True)
    return Neighbours(rows, weights)


@dataclass(frozen=True)
class CentroidRunOptions:
    """Options of the tables, and whether the inductive track is run."""

    centroid: CentroidOptions = field(default_factory=CentroidOptions)
    inductive: bool = True


def train_tables(
    data: Data, seed: int, split_seed: int, options: CentroidRunOptions
) -> dict[str, CentroidTable]:
    """Tables by name: intent, and ``inductive INTENT``."""
    labels = data.vectors.of(data.subset.nodes["label"])
    n = data.subset.nodes.height
    tables = {}
    for intent in RELATED:
        tables[intent] = train_centroid(data.subset, [intent], seed, options.centroid)
    if options.inductive:
        known = np.zeros(n, bool)
        known[split_nodes(n, split_seed)[TRAIN]] = True
        near = text_neighbours(labels, known)
        for intent in RELATED:
            tables[f"{INDUCTIVE} {intent}"] = train_inductive(
                data.subset, known, [intent], seed, options.centroid, near
            )
    return tables


def track_linker(
    data: Data, tables: dict[str, CentroidTable], track: str, betas: dict[str, float]
) -> Linker:
    """Linker with exact indexes over the tables of a track."""
    ids, encoder = data.subset.nodes["term_id"].to_list(), data.vectors.encoder
    vectors, owner = text_rows(data.subset, data.vectors)
    names = {i: i if track == TRANSDUCTIVE else f"{INDUCTIVE} {i}" for i in RELATED}
    used = {intent: tables[name] for intent, name in names.items()}
    return make_linker(
        build_index("text-flat", vectors, [ids[row] for row in owner], encoder),
        owner,
        {i: build_index("lorentz-flat", t.u, ids, encoder) for i, t in used.items()},
        {i: t.origin[i] for i, t in used.items()},
        {i: Mixing(t.temperature[i], betas.get(i, 0.0)) for i, t in used.items()},
    )


def train_gate(data: Data, seed: int) -> IntentGate:
    """Intent gate of the frames' vectors."""
    frames, family, template = training_frames(seed)
    return train_intents(data.vectors.of(frames), family, template, seed)


def questions(data: Data, split: str, track: str) -> pl.DataFrame:
    """Queries of a part with their mention and frame as a track sees them.

    Q-E hides nothing: its queries are those of the transductive track on both.
    """
    asked = data.queries.filter(pl.col("split") == split)
    if track == INDUCTIVE:
        asked = asked.filter(pl.col("family") != ENTITY)
    return asked.join(
        data.parsed.filter(pl.col("track") == track).drop("track"),
        on="query_id",
        how="inner",
        maintain_order="left",
    )


def tune(data: Data, linker: Linker) -> dict[str, float]:
    """β of each intent by hits at 10 on the validation part, hidden nodes; ties to the larger MRR."""
    asked = questions(data, VALIDATION, INDUCTIVE)
    chosen = {}
    for intent in RELATED:
        part = asked.filter(pl.col("family") == intent)
        lists: dict[float, list[list[int]]] = {beta: [] for beta in BETAS}
        for mention, node in zip(data.vectors.of(part["mention"]), part["node"], strict=True):
            rows, cosines = linker.entities(mention, node)
            here = linker.place(intent, rows, cosines)
            candidates = linker.candidates(intent, here, rows, node)
            apart, cosine = linker.features(intent, mention, here, candidates)
            for beta in BETAS:
                score = -apart / linker.mixing[intent].temperature + beta * cosine
                order = np.argsort(-score, kind="stable")[:DEPTH]
                lists[beta].append(candidates[order].tolist())
        quality = {}
        for beta, best in lists.items():
            found = lists_frame(
                (("tune", INDUCTIVE, q, r) for q, r in zip(part["query_id"], best, strict=True)), 0
            )
            means = measure(found, data.queries).select("hits@10", "mrr").mean().row(0)
            quality[beta] = tuple(x or 0.0 for x in means)
        chosen[intent] = max(quality, key=lambda beta: (*quality[beta], -beta))
    return chosen


def search_track(
    data: Data, linker: Linker, gate: IntentGate, track: str
) -> list[tuple[str, str, str, list[int]]]:
    """Lists of ``centroid``, ``views``, ``vote`` and ``graph`` for every test query of a track."""
    asked = questions(data, TEST, track)
    mentions = data.vectors.of(asked["mention"])
    frames = asked["frame"].to_list()
    weights = gate.probabilities(data.vectors.of(frames), frames)
    found = []
    for mention, weight, query_id, family, node in zip(
        mentions, weights, asked["query_id"], asked["family"], asked["node"], strict=True
    ):
        focus = node if hides_focus(family) else -1
        hidden = focus if track == INDUCTIVE else -1
        best = linker.search(mention, weight, SEARCHED, hidden)
        found.append(("centroid", track, query_id, without(best, focus)))
        rows, cosines = linker.entities(mention, hidden)
        found.append(("views", track, query_id, without(rows, focus)))
        if family != ENTITY:
            voted = neighbour_vote(data.subset, family, rows, cosines)
            found.append(("vote", track, query_id, without(voted, focus)))
            if track == TRANSDUCTIVE:
                looked = graph_lookup(data.subset, family, int(rows[0]))
                found.append(("graph", track, query_id, without(looked, focus)))
    return found


def neighbour_vote(
    subset: Subset, family: str, rows: NDArray[np.int64], cosines: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Parents (Q-H) or siblings (Q-M) of text neighbours, by the sum of the neighbours' weights."""
    rows, cosines = rows[:LINKED], cosines[:LINKED]
    votes: dict[int, float] = {}
    for row, weight in zip(rows.tolist(), np.exp((cosines - cosines[0]) / SHARPNESS), strict=True):
        others: Sequence[int] = subset.parents[row]
        if family != HIERARCHY:
            others = sorted(subset.siblings(row) | {row})
        for other in others:
            votes[other] = votes.get(other, 0.0) + float(weight)
    return np.array(sorted(votes, key=lambda row: (-votes[row], row))[:SEARCHED], np.int64)


def graph_lookup(subset: Subset, family: str, node: int) -> NDArray[np.int64]:
    """Ancestors from the nearest up, or siblings, of a node."""
    if family != HIERARCHY:
        return np.array(sorted(subset.siblings(node))[:SEARCHED], np.int64)
    order, level = dict.fromkeys(subset.parents[node]), list(subset.parents[node])
    while level:
        level = [p for row in level for p in subset.parents[row] if p not in order]
        order |= dict.fromkeys(level)
    return np.array(list(order)[:SEARCHED], np.int64)


def centroid_run(
    data: Data, tables: dict[str, CentroidTable], gate: IntentGate
) -> tuple[list[tuple[str, str, str, list[int]]], dict[str, float]]:
    """Lists of both tracks (the inductive one where its tables are), and the β that were chosen."""
    found: list[tuple[str, str, str, list[int]]] = []
    betas: dict[str, float] = {}
    if f"{INDUCTIVE} {HIERARCHY}" in tables:
        betas = tune(data, track_linker(data, tables, INDUCTIVE, {}))
        linker = track_linker(data, tables, INDUCTIVE, betas)
        found += search_track(data, linker, gate, INDUCTIVE)
    linker = track_linker(data, tables, TRANSDUCTIVE, betas)
    return search_track(data, linker, gate, TRANSDUCTIVE) + found, betas
