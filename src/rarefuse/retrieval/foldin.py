"""Terms that join a table without retraining it, and what stays unseen of a hidden term.

Inductive track: the validation and test nodes are hidden together. A table is trained on the edges
between known nodes. Every hidden node then finds its place among the known ones, which stay where
they are, from its edges to known nodes alone: no edge between two hidden nodes is ever used, and
known nodes are the only negatives. So the place of one hidden node does not depend on any edge of
another, and a query about it can leave it out (its own point, its own text) and search all others.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray

from rarefuse.retrieval.centroid import (
    PARENT_WEIGHT,
    CentroidOptions,
    CentroidTable,
    Neighbours,
    Relations,
    Task,
    fit,
    starting_table,
    train_centroid,
)
from rarefuse.retrieval.learning import RelationMask
from rarefuse.retrieval.subsets import Subset, depths
from rarefuse.retrieval.templates import SIBLING


def known_part(subset: Subset, known: NDArray[np.bool_]) -> Subset:
    """All nodes, but only the edges between known ones; depths counted anew."""
    edges = subset.edges[known[subset.edges].all(axis=1)]
    nodes = subset.nodes.with_columns(
        pl.Series("depth", depths(subset.nodes.height, edges), dtype=pl.Int16)
    )
    return Subset(nodes, edges)


def hidden_relations(subset: Subset, known: NDArray[np.bool_], intent: str) -> Relations:
    """Positives between a hidden and a known node, along paths with no other hidden node.

    Hierarchy: a hidden node finds its known ancestors, a known node the hidden ones above it.
    Siblings: a hidden node finds the known children of its known parents, and they find it.
    """
    part = known_part(subset, known)
    n = subset.nodes.height
    related: list[dict[int, float]] = [{} for _ in range(n)]
    below: list[set[int]] = [set() for _ in range(n)]
    for row in reversed(part.downwards):
        for child in part.children[row]:
            below[row] |= below[child] | {child}
    for row in np.flatnonzero(~known).tolist():
        parents = [p for p in subset.parents[row] if known[p]]
        children = [c for c in subset.children[row] if known[c]]
        if intent == SIBLING:
            for other in {c for p in parents for c in part.children[p]}:
                related[row][other] = related[other][row] = 1.0
            continue
        for above in {a for p in parents for a in part.ancestors[p]} - set(parents):
            related[row][above] = 1.0
        related[row] |= dict.fromkeys(parents, PARENT_WEIGHT)
        for other in {d for c in children for d in below[c]} - set(children):
            related[other][row] = 1.0
        for child in children:
            related[child][row] = PARENT_WEIGHT
    return Relations.of([dict(sorted(entry.items())) for entry in related])


def train_inductive(
    subset: Subset,
    known: NDArray[np.bool_],
    intents: Sequence[str],
    seed: int,
    options: CentroidOptions,
    neighbours: Neighbours,
) -> CentroidTable:
    """Train on the known nodes, then fold the hidden ones in.

    Parameters
    ----------
    subset : Subset
    known : ndarray of bool, shape (N,)
    intents : sequence of str
    seed : int
    options : CentroidOptions
    neighbours : Neighbours
        Known text neighbours of every node.
    """
    part = known_part(subset, known)
    table = train_centroid(part, intents, seed, options, neighbours=neighbours)
    length = np.linalg.norm(table.u, axis=1, keepdims=True)
    ratio = np.minimum(length / options.radius, 1.0 - 1e-6)
    raw = torch.from_numpy(table.u * options.radius * np.arctanh(ratio) / np.maximum(length, 1e-9))
    tasks = []
    for intent in intents:
        related = hidden_relations(subset, known, intent)
        lists = related.lists()
        if intent == SIBLING:
            others = [part.siblings(row) for row in range(subset.nodes.height)]
        else:
            others = part.ancestors
        mask = RelationMask.of([[*a, *b] for a, b in zip(lists, others, strict=True)])
        tasks.append(Task(intent, related, mask))
    start = starting_table(subset, seed, intents, options, raw, known)
    return fit(start, tasks, seed, options, known=known, learned=table)
