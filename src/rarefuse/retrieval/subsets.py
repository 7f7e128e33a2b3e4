"""Subsets of an ontology, and the artifacts `NODES` and `EDGES` that hold one.

``reference``   breadth first from the roots, the children of a term in seeded random order, until
                the subset is full (HYEM_SPEC 9): the shallow top of the ontology.
``deep``        random leaves with all their ancestors, until the subset is full: whole paths from
                the root down, as deep as the ontology is.
"""

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.artifacts import Column, Schema
from rarefuse.errors import InputError
from rarefuse.retrieval.terms import Vocabulary

REFERENCE, DEEP = SAMPLERS = ("reference", "deep")

NODES = Schema(
    "nodes",
    (
        Column("term_id", pl.String, "CURIE; rows are sorted by it"),
        Column("label", pl.String, "name"),
        Column("definition", pl.String, "definition, empty where there is none"),
        Column("synonyms", pl.List(pl.String), "synonyms of every scope, in the file's order"),
        Column("depth", pl.Int16, "edges on the shortest path from a root of the subset"),
    ),
    key=("term_id",),
)
EDGES = Schema(
    "edges",
    (
        Column("parent", pl.Int32, "row of the parent in `nodes`"),
        Column("child", pl.Int32, "row of the child in `nodes`; rows are sorted by child"),
    ),
    key=("parent", "child"),
)


@dataclass(frozen=True)
class Subset:
    """A subset with its induced is-a edges.

    Parameters
    ----------
    nodes : polars.DataFrame
        `NODES`, N rows.
    edges : ndarray of int32, shape (E, 2)
        Parent and child rows.
    """

    nodes: pl.DataFrame
    edges: NDArray[np.int32]

    @cached_property
    def parents(self) -> list[list[int]]:
        """Ascending parent rows of every node."""
        above: list[list[int]] = [[] for _ in range(self.nodes.height)]
        for parent, child in self.edges.tolist():
            above[child].append(parent)
        return [sorted(rows) for rows in above]

    @cached_property
    def children(self) -> list[list[int]]:
        """Ascending child rows of every node."""
        below: list[list[int]] = [[] for _ in range(self.nodes.height)]
        for parent, child in self.edges.tolist():
            below[parent].append(child)
        return [sorted(rows) for rows in below]

    @cached_property
    def ancestors(self) -> list[set[int]]:
        """Rows of all proper ancestors of every node."""
        found: list[set[int]] = [set() for _ in range(self.nodes.height)]
        for row in self.downwards:
            for parent in self.parents[row]:
                found[row] |= found[parent] | {parent}
        return found

    @cached_property
    def downwards(self) -> list[int]:
        """Rows, every parent before its children."""
        missing = [len(rows) for rows in self.parents]
        ready = deque(row for row, count in enumerate(missing) if not count)
        order = []
        while ready:
            row = ready.popleft()
            order.append(row)
            for child in self.children[row]:
                missing[child] -= 1
                if not missing[child]:
                    ready.append(child)
        return order

    def siblings(self, row: int) -> set[int]:
        """Rows that share a parent with `row`, itself not among them."""
        return {c for p in self.parents[row] for c in self.children[p]} - {row}


def reference_sample(vocabulary: Vocabulary, size: int, seed: int) -> list[str]:
    """Sorted ids of the reference's breadth-first subset (HYEM_SPEC 9)."""
    draw = random.Random(seed)
    children = vocabulary.children()
    start = vocabulary.roots()
    draw.shuffle(start)
    queue, found = deque(start), set[str]()
    while queue and len(found) < size:
        term = queue.popleft()
        if term not in found:
            found.add(term)
            below = list(children[term])
            draw.shuffle(below)
            queue.extend(below)
    return sorted(found)


def deep_sample(vocabulary: Vocabulary, size: int, seed: int) -> list[str]:
    """Sorted ids of random leaves and all their ancestors; a leaf that no longer fits is passed."""
    draw = random.Random(seed)
    children = vocabulary.children()
    leaves = [term for term in vocabulary.terms if not children[term]]
    draw.shuffle(leaves)
    found: set[str] = set()
    for leaf in leaves:
        path, todo = {leaf}, [leaf]
        while todo:
            for parent in vocabulary.terms[todo.pop()].parents:
                if parent not in path:
                    path.add(parent)
                    todo.append(parent)
        if len(found | path) <= size:
            found |= path
        if len(found) == size:
            break
    return sorted(found)


def make_subset(vocabulary: Vocabulary, sampler: str, size: int | None, seed: int) -> Subset:
    """Sample a subset; None as size takes every term.

    Raises
    ------
    InputError
        On an unknown sampler or a size below 2.
    """
    if sampler not in SAMPLERS:
        raise InputError(
            "unknown sampler of subsets", found=sampler, expected=f"one of {', '.join(SAMPLERS)}"
        )
    if size is not None and size < 2:
        raise InputError(
            "a subset needs two terms at least", found=str(size), todo="ask for a larger subset"
        )
    whole = len(vocabulary.terms)
    sample = reference_sample if sampler == REFERENCE else deep_sample
    ids = sample(vocabulary, min(size or whole, whole), seed)
    row = {term: position for position, term in enumerate(ids)}
    pairs = sorted(
        (row[term], row[parent])
        for term in ids
        for parent in vocabulary.terms[term].parents
        if parent in row
    )
    edges = np.array([(p, c) for c, p in pairs], np.int32).reshape(-1, 2)
    return subset_of(vocabulary, ids, edges)


def subset_of(vocabulary: Vocabulary, ids: Sequence[str], edges: NDArray[np.int32]) -> Subset:
    """Subset of given ids and edges, depths counted from its own roots."""
    terms = [vocabulary.terms[term] for term in ids]
    nodes = pl.DataFrame(
        {
            "term_id": list(ids),
            "label": [t.name for t in terms],
            "definition": [t.definition for t in terms],
            "synonyms": [list(t.synonyms) for t in terms],
            "depth": depths(len(ids), edges),
        },
        schema=NODES.dtypes,
    )
    return Subset(nodes, edges)


def depths(n: int, edges: NDArray[np.int32]) -> list[int]:
    """Edges on the shortest path from a node without parents, for n nodes."""
    below: dict[int, list[int]] = {row: [] for row in range(n)}
    has_parent = np.zeros(n, bool)
    for parent, child in edges.tolist():
        below[parent].append(child)
        has_parent[child] = True
    found = {row: 0 for row in range(n) if not has_parent[row]}
    queue = deque(found)
    while queue:
        row = queue.popleft()
        for child in below[row]:
            if child not in found:
                found[child] = found[row] + 1
                queue.append(child)
    return [found[row] for row in range(n)]


def write_subset(subset: Subset, folder: Path) -> None:
    """Write `NODES` and `EDGES` into a folder."""
    artifacts.write(subset.nodes, NODES, folder / "nodes.parquet")
    frame = pl.DataFrame(
        {"parent": subset.edges[:, 0], "child": subset.edges[:, 1]}, schema=EDGES.dtypes
    )
    artifacts.write(frame, EDGES, folder / "edges.parquet")


def read_subset(folder: Path) -> Subset:
    """Read a subset's artifacts."""
    nodes = artifacts.read(folder / "nodes.parquet", NODES)
    edges = artifacts.read(folder / "edges.parquet", EDGES)
    return Subset(nodes, edges.select("parent", "child").to_numpy().astype(np.int32))
