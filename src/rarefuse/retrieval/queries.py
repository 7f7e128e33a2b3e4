"""Queries about a subset: by name (Q-E), for parents and ancestors (Q-H), for siblings (Q-M).

Conditions: ``reference`` is the reference's protocol (HYEM_SPEC 10). The others are made of the
same test nodes: ``held-out`` with templates that nothing was trained on, ``typo`` with edited
characters in the whole reference query, ``synonym`` with the Q-E strings that are not the label.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from rarefuse import artifacts, seeds
from rarefuse.artifacts import Column, Schema
from rarefuse.errors import InputError
from rarefuse.retrieval.subsets import Subset, read_subset
from rarefuse.retrieval.templates import ENTITY, HELD_OUT, HIERARCHY, REFERENCE, SIBLING

TRAIN, VALIDATION, TEST = PARTS = ("train", "validation", "test")
CONDITIONS = ("reference", "held-out", "typo", "synonym")
MAX_STRINGS = 2  # Q-E strings of a node
MAX_SIBLINGS = 20  # relevant siblings of a Q-M query
MIN_CHARACTERS = 3
LETTERS = "abcdefghijklmnopqrstuvwxyz"

QUERIES = Schema(
    "queries",
    (
        Column("query_id", pl.String, "condition, split, family and number"),
        Column("condition", pl.String, "'reference', 'held-out', 'typo' or 'synonym'"),
        Column("split", pl.String, "'train', 'validation' or 'test': of the node asked about"),
        Column("family", pl.String, "'Q-E' by name, 'Q-H' parents and ancestors, 'Q-M' siblings"),
        Column("text", pl.String, "what the user asks"),
        Column("mention", pl.String, "the part that names the node; for scoring the extraction"),
        Column("node", pl.Int32, "row in `nodes` that is asked about"),
        Column("relevant", pl.List(pl.Int32), "rows to be found: the node, parents or siblings"),
        Column("ancestors", pl.List(pl.Int32), "rows of all ancestors of the node (Q-H)"),
    ),
    key=("query_id",),
)


@dataclass(frozen=True)
class Query:
    """One query before it has an id; fields as in `QUERIES`."""

    condition: str
    split: str
    family: str
    text: str
    mention: str
    node: int
    relevant: list[int]
    ancestors: list[int]


def split_nodes(n: int, seed: int) -> dict[str, list[int]]:
    """Rows of each part: sorted ids, shuffled, 80/10/10 (HYEM_SPEC 10)."""
    rows = list(range(n))
    random.Random(seed).shuffle(rows)
    train, validation = int(0.8 * n), int(0.1 * n)
    return {
        TRAIN: rows[:train],
        VALIDATION: rows[train : train + validation],
        TEST: rows[train + validation :],
    }


def reference_queries(subset: Subset, split: str, rows: list[int], seed: int) -> Iterator[Query]:
    """Queries of the reference's protocol about the nodes of one part.

    Q-E: two of the node's name and synonyms of three characters or more, as they stand; a string
    that a node has twice may come twice, as in the reference. Q-H: one template for each node
    with a parent. Q-M: one for each node with a sibling, at most 20 siblings relevant.
    """
    draw = random.Random(seed)
    labels, synonyms = subset.nodes["label"].to_list(), subset.nodes["synonyms"].to_list()
    for row in rows:
        strings = [s for s in (labels[row], *synonyms[row]) if len(s) >= MIN_CHARACTERS]
        draw.shuffle(strings)
        for text in strings[:MAX_STRINGS]:
            yield Query("reference", split, ENTITY, text, text, row, [row], [])
    for row in rows:
        if subset.parents[row]:
            text = draw.choice(REFERENCE[HIERARCHY]).format(labels[row])
            above = sorted(subset.ancestors[row])
            yield Query(
                "reference", split, HIERARCHY, text, labels[row], row, subset.parents[row], above
            )
    for row in rows:
        beside = sorted(subset.siblings(row))
        if beside:
            text = draw.choice(REFERENCE[SIBLING]).format(labels[row])
            if len(beside) > MAX_SIBLINGS:
                beside = sorted(draw.sample(beside, MAX_SIBLINGS))
            yield Query("reference", split, SIBLING, text, labels[row], row, beside, [])


def held_out(query: Query, draw: np.random.Generator) -> Query:
    """The same question in words that no part was trained on."""
    templates = HELD_OUT[query.family]
    text = templates[int(draw.integers(len(templates)))].format(query.mention)
    return Query("held-out", *_of(query, text))


def with_typos(query: Query, draw: np.random.Generator) -> Query:
    """The same question with one character edit in every twenty characters, one at least."""
    return Query(
        "typo", *_of(query, misspell(query.text, max(1, round(len(query.text) / 20)), draw))
    )


def _of(query: Query, text: str) -> tuple[str, str, str, str, int, list[int], list[int]]:
    return (query.split, query.family, text, query.mention, query.node, query.relevant,
            query.ancestors)  # fmt: skip


def misspell(text: str, edits: int, draw: np.random.Generator) -> str:
    """Swap neighbours, drop, double or replace single letters at random places.

    A text without letters comes back as it is.
    """
    for _ in range(edits):
        places = [i for i, c in enumerate(text) if c.isalpha()]
        if not places:
            return text
        i = places[int(draw.integers(len(places)))]
        kind = int(draw.integers(4))
        if kind == 0 and i + 1 < len(text) and text[i + 1].isalpha():
            text = text[:i] + text[i + 1] + text[i] + text[i + 2 :]
        elif kind == 1 and len(text) > 1:
            text = text[:i] + text[i + 1 :]
        elif kind == 2:
            text = text[:i] + text[i] + text[i:]
        else:
            text = text[:i] + LETTERS[int(draw.integers(26))] + text[i + 1 :]
    return text


def synonym_only(queries: Iterable[Query], subset: Subset) -> Iterator[Query]:
    """Q-E strings that are not the node's label; every node of that name is relevant.

    The reference counts one node as right where several have the string, and asks for labels that
    stand word for word in the index (HYEM_SPEC 16).
    """
    owners: dict[str, set[int]] = defaultdict(set)
    for row, (label, synonyms) in enumerate(subset.nodes.select("label", "synonyms").iter_rows()):
        for text in (label, *synonyms):
            owners[text.casefold()].add(row)
    labels = [label.casefold() for label in subset.nodes["label"]]
    for query in queries:
        if query.family == ENTITY and query.text.casefold() != labels[query.node]:
            relevant = sorted(owners[query.text.casefold()])
            yield Query("synonym", query.split, ENTITY, query.text, query.mention, query.node,
                        relevant, [])  # fmt: skip


def make_queries(subset: Subset, seed: int) -> pl.DataFrame:
    """All queries of a subset as `QUERIES`.

    Train and validation parts have the reference condition only.

    Raises
    ------
    InputError
        If the subset is too small for a test part.
    """
    parts = split_nodes(subset.nodes.height, seed)
    if not all(parts.values()):
        raise InputError(
            "the subset is too small to be split",
            found=f"{subset.nodes.height} terms",
            expected="ten terms at least, for 80/10/10 parts",
            todo="ask for a larger subset",
        )
    queries: list[Query] = []
    for split, rows in parts.items():
        queries += reference_queries(subset, split, rows, seed)
    test = [query for query in queries if query.split == TEST]
    wording, typing = seeds.generator(seed, "held-out"), seeds.generator(seed, "typo")
    queries += [held_out(query, wording) for query in test]
    queries += [with_typos(query, typing) for query in test]
    queries += synonym_only(test, subset)
    count: dict[tuple[str, str, str], int] = defaultdict(int)
    rows_ = []
    for query in queries:
        key = (query.condition, query.split, query.family)
        rows_.append(("/".join((*key, f"{count[key]:05d}")), *query.__dict__.values()))
        count[key] += 1
    return pl.DataFrame(rows_, schema=QUERIES.dtypes, orient="row")


def queries_stage(*, folder: Path, seed: int) -> None:
    """Write the queries of the subset in a folder."""
    artifacts.write(make_queries(read_subset(folder), seed), QUERIES, folder / "queries.parquet")
