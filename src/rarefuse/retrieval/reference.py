"""The reference's systems end to end, as published (HYEM_SPEC 3-7)."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray

from rarefuse.retrieval.adapters import LINEAR, AdapterOptions, apply, train_adapter
from rarefuse.retrieval.embeddings import (
    EUCLIDEAN,
    HYEM,
    NO_BUDGET,
    EmbeddingOptions,
    train_embedding,
)
from rarefuse.retrieval.gates import GateOptions, gate_weights, train_gate
from rarefuse.retrieval.indexes import Index, build_index
from rarefuse.retrieval.measures import DEPTH, hides_focus, without
from rarefuse.retrieval.queries import TRAIN
from rarefuse.retrieval.search import hard_route, soft_mix, tangent_search, text_search
from rarefuse.retrieval.subsets import Subset
from rarefuse.retrieval.templates import HIERARCHY, SIBLING
from rarefuse.retrieval.text import LABEL_DEFINITION, Vectors, node_texts

SYSTEMS = ("text", "euclidean", "no-budget", "hyem-no-gate", "hyem-hard", "hyem-soft")
"""The paper's rows: text, Euclidean KG, no radius control, HyEm without gate, routed, mixed."""


@dataclass(frozen=True)
class ReferenceOptions:
    """Options of the trained parts, and the text of nodes."""

    text: str = LABEL_DEFINITION
    embedding: EmbeddingOptions = field(default_factory=EmbeddingOptions)
    adapter: AdapterOptions = field(default_factory=AdapterOptions)
    gate: GateOptions = field(default_factory=GateOptions)
    adapter_shape: str = LINEAR
    gate_shape: str = LINEAR


@dataclass(frozen=True)
class Reference:
    """Trained tables, adapters and gate.

    Parameters
    ----------
    nodes : ndarray of float32, shape (N, d_e)
        Text vectors of the nodes.
    tables : dict
        Space → ndarray (N, d).
    adapters : dict
        Space → network from text vectors into that space.
    gate : network
    text_index : Index
    indexes : dict
        Space → tangent index.
    """

    nodes: NDArray[np.float32]
    tables: dict[str, NDArray[np.float32]]
    adapters: dict[str, torch.nn.Sequential]
    gate: torch.nn.Sequential
    text_index: Index
    indexes: dict[str, Index]

    def lists(self, vectors: NDArray[np.float32], k: int) -> dict[str, NDArray[np.int64]]:
        """Ranked rows of every system of `SYSTEMS` for text vectors of queries."""
        points = {space: apply(net, vectors) for space, net in self.adapters.items()}
        alpha = gate_weights(self.gate, vectors)
        text = text_search(self.text_index, vectors, k)
        hyem = tangent_search(self.indexes[HYEM], self.tables[HYEM], points[HYEM], k)
        return {
            "text": text,
            "euclidean": self.indexes[EUCLIDEAN].search(points[EUCLIDEAN], k)[1],
            "no-budget": tangent_search(
                self.indexes[NO_BUDGET], self.tables[NO_BUDGET], points[NO_BUDGET], k
            ),
            "hyem-no-gate": hyem,
            "hyem-hard": hard_route(alpha, hyem, text),
            "hyem-soft": soft_mix(
                self.text_index, self.indexes[HYEM], self.nodes, self.tables[HYEM], vectors,
                points[HYEM], alpha, k,
            ),
        }  # fmt: skip


def train_reference(
    subset: Subset, queries: pl.DataFrame, vectors: Vectors, seed: int, options: ReferenceOptions
) -> Reference:
    """Train all parts on the train split's Q-E and Q-H queries.

    Parameters
    ----------
    subset : Subset
    queries : polars.DataFrame
        `QUERIES`.
    vectors : Vectors
        Of the nodes' texts and of all queries.
    """
    ids, n = subset.nodes["term_id"].to_list(), subset.nodes.height
    nodes = vectors.of(node_texts(subset, options.text))
    train = queries.filter(
        pl.col("condition") == "reference", pl.col("split") == TRAIN, pl.col("family") != SIBLING
    )
    inputs, relevant = vectors.of(train["text"]), train["relevant"].to_list()
    tables, adapters, indexes = {}, {}, {}
    for space in (HYEM, NO_BUDGET, EUCLIDEAN):
        tables[space] = train_embedding(space, n, subset.edges, seed, options.embedding)
        adapters[space] = train_adapter(
            options.adapter_shape, space, tables[space], inputs, relevant, seed, options.adapter
        )
        indexes[space] = build_index("tangent-hnsw", tables[space], ids, vectors.encoder)
    hierarchical = (train["family"] == HIERARCHY).to_numpy()
    return Reference(
        nodes,
        tables,
        adapters,
        train_gate(options.gate_shape, inputs, hierarchical, seed, options.gate),
        build_index("text-hnsw", nodes, ids, vectors.encoder),
        indexes,
    )


def listed(rows: NDArray[np.int64], queries: pl.DataFrame) -> list[list[int]]:
    """First ten of every query, without the node asked about but for Q-E."""
    return [
        without(row, node if hides_focus(family) else -1)
        for row, node, family in zip(rows, queries["node"], queries["family"], strict=True)
    ]


SEARCHED = DEPTH + 1
"""Places to search, one more than kept: the node asked about falls out."""
