"""One seed of a system: train, search every test query, keep the lists.

Systems of `centroid_run` besides ``centroid`` itself:

``views``   text alone with our reading of a query: the mention against labels and definitions
``vote``    parents (or siblings) of the mention's text neighbours, by their weights
``graph``   the ceiling: what the graph says of the node that the mention links to first
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.retrieval.centroid import CentroidOptions, CentroidTable, Neighbours, train_centroid
from rarefuse.retrieval.foldin import train_inductive
from rarefuse.retrieval.indexes import build_index
from rarefuse.retrieval.intents import IntentGate, train_intents, training_frames
from rarefuse.retrieval.linker import RELATED, Linker, make_linker, merge
from rarefuse.retrieval.measures import DEPTH, LISTS, hides_focus, without
from rarefuse.retrieval.parsing import INDUCTIVE, PARSED, TRANSDUCTIVE
from rarefuse.retrieval.queries import QUERIES, TEST, TRAIN, VALIDATION, split_nodes
from rarefuse.retrieval.reference import (
    SEARCHED,
    ReferenceOptions,
    listed,
    train_reference,
)
from rarefuse.retrieval.subsets import Subset, read_subset
from rarefuse.retrieval.templates import ENTITY, HIERARCHY, SIBLING
from rarefuse.retrieval.text import Vectors, node_texts, read_vectors
from rarefuse.retrieval.unseen import (
    MERGES,
    NEIGHBOURS,
    REPEATS,
    SHARPNESS,
    UnseenModel,
    fit_weights,
    link_weights,
)


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
    k = min(NEIGHBOURS, int(known.sum()) - 1)
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
    data: Data, tables: dict[str, CentroidTable], track: str, unseen: UnseenModel
) -> Linker:
    """Linker with exact indexes over the tables of a track."""
    ids, encoder = data.subset.nodes["term_id"].to_list(), data.vectors.encoder
    vectors, owner = text_rows(data.subset, data.vectors)
    names = {i: i if track == TRANSDUCTIVE else f"{INDUCTIVE} {i}" for i in RELATED}
    used = {intent: tables[name] for intent, name in names.items()}
    return make_linker(
        data.subset,
        build_index("text-flat", vectors, [ids[row] for row in owner], encoder),
        owner,
        {i: build_index("lorentz-flat", t.u, ids, encoder) for i, t in used.items()},
        {i: t.origin[i] for i, t in used.items()},
        {i: t.temperature[i] for i, t in used.items()},
        unseen,
    )


def train_gate(data: Data, seed: int) -> IntentGate:
    """Intent gate of the frames' vectors."""
    frames, family, template = training_frames(seed)
    return train_intents(data.vectors.of(frames), family, template, seed)


def questions(data: Data, split: str, track: str) -> pl.DataFrame:
    """Queries of a part with their mention and frame as a track sees them.

    Q-E hides nothing: its queries are those of the transductive track on both.
    """
    # The true mention, which the extraction is scored by, is not the one that is used.
    asked = data.queries.filter(pl.col("split") == split).drop("mention")
    if track == INDUCTIVE:
        asked = asked.filter(pl.col("family") != ENTITY)
    return asked.join(
        data.parsed.filter(pl.col("track") == track).drop("track"),
        on="query_id",
        how="inner",
        maintain_order="left",
    )


def tune(data: Data, linker: Linker) -> UnseenModel:
    """Fit the evidence's weights, and choose how siblings are answered, on the validation part.

    Every asked term is hidden. Chosen by hits at 10, then by the reciprocal rank.
    """
    asked = questions(data, VALIDATION, INDUCTIVE)
    kept: dict[str, list[Any]] = {HIERARCHY: [], SIBLING: []}
    vectors = data.vectors.of(asked["mention"])
    for vector, hit, (family, node, relevant) in zip(
        vectors,
        linker.hits(vectors, thorough=True),
        asked.select("family", "node", "relevant").iter_rows(),
        strict=True,
    ):
        rows, cosines = linker.entities(hit, node)
        parents, known = linker.parent_evidence(vector, rows, cosines, node)
        kept[family].append((vector, rows, parents, known, node, relevant))
    weights = fit_weights([(k, np.isin(p, good)) for _, _, p, k, _, good in kept[HIERARCHY]])
    choices = [(*pair, repeat) for pair in MERGES for repeat in REPEATS]
    quality = dict.fromkeys(choices, np.zeros(2))
    for vector, rows, parents, known, node, relevant in kept[SIBLING]:
        scores = known @ np.array(weights)
        lists = {
            repeat: list(linker.sibling_lists(vector, rows, parents, scores, repeat, node))
            for repeat in REPEATS
        }
        for weight, constant, repeat in choices:
            best = merge(lists[repeat], [1.0, weight], DEPTH, constant)
            places = np.flatnonzero(np.isin(best, relevant))
            if len(places):
                quality[weight, constant, repeat] = quality[weight, constant, repeat] + (
                    1.0,
                    1.0 / (places[0] + 1),
                )
    return UnseenModel(weights, *max(choices, key=lambda choice: tuple(quality[choice])))


def search_track(
    data: Data, linker: Linker, gate: IntentGate, track: str
) -> list[tuple[str, str, str, list[int]]]:
    """Lists of ``centroid``, ``views``, ``vote`` and ``graph`` for every test query of a track."""
    asked = questions(data, TEST, track)
    mentions = data.vectors.of(asked["mention"])
    frames = asked["frame"].to_list()
    weights = gate.probabilities(data.vectors.of(frames), frames)
    hits = linker.hits(mentions, thorough=track == INDUCTIVE)
    found = []
    for vector, hit, weight, query_id, family, node in zip(
        mentions, hits, weights, asked["query_id"], asked["family"], asked["node"], strict=True
    ):  # fmt: skip
        focus = node if hides_focus(family) else -1
        hidden = focus if track == INDUCTIVE else -1
        best = linker.search(vector, weight, SEARCHED, hidden, hit)
        found.append(("centroid", track, query_id, without(best, focus)))
        rows, cosines = linker.entities(hit, hidden)
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
    votes: dict[int, float] = {}
    near = rows[:NEIGHBOURS].tolist()
    for row, weight in zip(near, link_weights(cosines).tolist(), strict=True):
        others: Sequence[int] = subset.parents[row]
        if family != HIERARCHY:
            others = sorted(subset.siblings(row) | {row})
        for other in others:
            votes[other] = votes.get(other, 0.0) + weight
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
) -> tuple[list[tuple[str, str, str, list[int]]], UnseenModel]:
    """Lists of both tracks (the inductive one where its tables are), and what was learned."""
    found: list[tuple[str, str, str, list[int]]] = []
    unseen = UnseenModel()
    if f"{INDUCTIVE} {HIERARCHY}" in tables:
        unseen = tune(data, track_linker(data, tables, INDUCTIVE, unseen))
        linker = track_linker(data, tables, INDUCTIVE, unseen)
        found += search_track(data, linker, gate, INDUCTIVE)
    linker = track_linker(data, tables, TRANSDUCTIVE, unseen)
    return search_track(data, linker, gate, TRANSDUCTIVE) + found, unseen
