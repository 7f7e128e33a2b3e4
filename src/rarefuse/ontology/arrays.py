"""The ontology as arrays: terms in topological order, parents and ancestors as index lists.

Index lists are stored flat: those of term ``t`` stand at ``flat[ptr[t]:ptr[t + 1]]``.
"""

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

PHENOTYPIC_ABNORMALITY = "HP:0000118"

TERMS = Schema(
    "terms",
    (
        Column("term_id", pl.String, "current CURIE; rows are in topological order, parents first"),
        Column("label", pl.String, "canonical label"),
        Column("parents", pl.List(pl.Int32), "rows of the is-a parents, in the file's order"),
        Column(
            "depth",
            pl.Int16,
            "edges on the shortest is-a path from HP:0000118; that term has 0, outside it -1",
        ),
    ),
    key=("term_id",),
)

ALIASES = Schema(
    "aliases",
    (
        Column("alias_id", pl.String, "identifier that is not current"),
        Column("term_id", pl.String, "the current term it stands for", nullable=True),
        Column("status", pl.String, "alt_id, replaced_by, or obsolete (no replacement)"),
    ),
    key=("alias_id",),
)


@dataclass(frozen=True)
class Resolution:
    """What an identifier means in this release.

    Parameters
    ----------
    term_id : str or None
        The current term, or None when there is none.
    status : str
        ``current``, ``alt_id``, ``replaced_by``, ``obsolete`` or ``unknown``.
    """

    term_id: str | None
    status: str


@dataclass(frozen=True)
class Ontology:
    """Live terms of an ontology release in topological order (parents before children).

    Parameters
    ----------
    term_ids, labels : list of str
        Length T.
    parent_ptr : ndarray of int32, shape (T + 1,)
        Where each term's parents begin in `parents`.
    parents : ndarray of int32
        Flat parent rows.
    depth : ndarray of int16, shape (T,)
        Edges on the shortest is-a path from HP:0000118; -1 outside it.
    aliases : dict
        Identifier that is not current → `Resolution`.
    """

    term_ids: list[str]
    labels: list[str]
    parent_ptr: NDArray[np.int32]
    parents: NDArray[np.int32]
    depth: NDArray[np.int16]
    aliases: dict[str, Resolution]

    @cached_property
    def index(self) -> dict[str, int]:
        """Current CURIE → row."""
        return {term: row for row, term in enumerate(self.term_ids)}

    @cached_property
    def phenotypic(self) -> NDArray[np.bool_]:
        """Whether each term is HP:0000118 or below it, shape (T,)."""
        return self.depth >= 0

    @cached_property
    def ancestors(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Pointer (T + 1,) and flat ancestor rows; each term is its own ancestor."""
        lists: list[NDArray[np.int32]] = []
        for row in range(len(self.term_ids)):
            own = [lists[p] for p in self.parents_of(row)]
            lists.append(np.unique(np.concatenate([*own, np.array([row], np.int32)])))
        return flatten(lists)

    def parents_of(self, row: int) -> NDArray[np.int32]:
        """Rows of the parents of one term."""
        return self.parents[self.parent_ptr[row] : self.parent_ptr[row + 1]]

    def ancestors_of(self, row: int) -> NDArray[np.int32]:
        """Ascending rows of the ancestors of one term, itself included."""
        ptr, flat = self.ancestors
        return flat[ptr[row] : ptr[row + 1]]

    def closure(self, rows: Sequence[int] | NDArray[np.int32]) -> NDArray[np.int32]:
        """Ascending rows of the terms and all their ancestors."""
        if len(rows) == 0:
            return np.empty(0, np.int32)
        return np.unique(np.concatenate([self.ancestors_of(int(row)) for row in rows]))

    def resolve(self, term_id: str) -> Resolution:
        """Find the current term of an identifier through alt ids and ``replaced_by``."""
        if term_id in self.index:
            return Resolution(term_id, "current")
        return self.aliases.get(term_id, Resolution(None, "unknown"))

    def is_phenotypic(self, term_id: str) -> bool:
        """Whether a current term is HP:0000118 or below it."""
        return bool(self.phenotypic[self.index[term_id]])


def flatten(
    lists: Sequence[Sequence[int] | NDArray[np.int32]],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Concatenate index lists.

    Returns
    -------
    ptr : ndarray of int64, shape (len(lists) + 1,)
        Where each list begins.
    flat : ndarray of int32
        All entries in order.
    """
    ptr = np.zeros(len(lists) + 1, np.int64)
    ptr[1:] = np.cumsum([len(entry) for entry in lists])
    if not len(lists) or ptr[-1] == 0:
        return ptr, np.empty(0, np.int32)
    flat = np.concatenate([np.asarray(entry, np.int32) for entry in lists])
    return ptr, flat


def topological_order(parents: dict[str, list[str]]) -> list[str]:
    """Order terms so that parents come before children, ties by identifier.

    Parameters
    ----------
    parents : dict
        Term → its parents, all of them keys as well.

    Raises
    ------
    InputError
        If the is-a edges have a cycle; the message names one.
    """
    children: dict[str, list[str]] = {term: [] for term in parents}
    missing = {term: len(above) for term, above in parents.items()}
    for term, above in parents.items():
        for parent in above:
            children[parent].append(term)
    order: list[str] = []
    ready = sorted(term for term, count in missing.items() if count == 0)
    while ready:
        order.extend(ready)
        after: list[str] = []
        for term in ready:
            for child in children[term]:
                missing[child] -= 1
                if missing[child] == 0:
                    after.append(child)
        ready = sorted(after)
    if len(order) < len(parents):
        raise InputError(
            "the ontology's is-a edges have a cycle",
            found=" is_a ".join(_cycle(parents, {t for t, count in missing.items() if count})),
            expected="a directed acyclic graph",
            todo="use an official release, or remove one of these is_a lines",
        )
    return order


def _cycle(parents: dict[str, list[str]], among: set[str]) -> list[str]:
    """Walk up inside `among` (each has a parent there) until a term comes again."""
    path = [min(among)]
    seen = {path[0]: 0}
    while True:
        above = next(p for p in parents[path[-1]] if p in among)
        path.append(above)
        if above in seen:
            return path[seen[above] :]
        seen[above] = len(path) - 1


def depths(
    parent_ptr: NDArray[np.int32], parents: NDArray[np.int32], root: int
) -> NDArray[np.int16]:
    """Edges on the shortest is-a path from `root` to each term, -1 where there is none.

    One pass in topological order: a term is one deeper than its shallowest parent.
    """
    depth = np.full(len(parent_ptr) - 1, -1, np.int16)
    depth[root] = 0
    for row in range(root + 1, len(depth)):
        above = depth[parents[parent_ptr[row] : parent_ptr[row + 1]]]
        above = above[above >= 0]
        if len(above):
            depth[row] = above.min() + 1
    return depth


def to_frames(ontology: Ontology) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Terms and aliases as artifacts (`TERMS`, `ALIASES`)."""
    terms = pl.DataFrame(
        {
            "term_id": ontology.term_ids,
            "label": ontology.labels,
            "parents": [ontology.parents_of(r).tolist() for r in range(len(ontology.term_ids))],
            "depth": ontology.depth,
        },
        schema=TERMS.dtypes,
    )
    rows = sorted((alias, r.term_id, r.status) for alias, r in ontology.aliases.items())
    return terms, pl.DataFrame(rows, schema=ALIASES.dtypes, orient="row")


def from_frames(terms: pl.DataFrame, aliases: pl.DataFrame) -> Ontology:
    """Rebuild an `Ontology` from its artifacts."""
    ptr, flat = flatten(terms["parents"].to_list())
    return Ontology(
        term_ids=terms["term_id"].to_list(),
        labels=terms["label"].to_list(),
        parent_ptr=ptr.astype(np.int32),
        parents=flat,
        depth=terms["depth"].to_numpy(),
        aliases={alias: Resolution(term, status) for alias, term, status in aliases.iter_rows()},
    )


def read_ontology(terms: Path, aliases: Path) -> Ontology:
    """Read the ontology's artifacts."""
    return from_frames(artifacts.read(terms, TERMS), artifacts.read(aliases, ALIASES))
