"""Mentions and frames of all queries, spelling corrected, found before anything is encoded.

On the inductive track neither the names of the node asked about nor their words are known.
"""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import polars as pl

from rarefuse import artifacts
from rarefuse.artifacts import Column, Schema
from rarefuse.retrieval.measures import hides_focus
from rarefuse.retrieval.mentions import MentionTagger, train_tagger, write_tagger
from rarefuse.retrieval.queries import QUERIES, TRAIN, split_nodes
from rarefuse.retrieval.spelling import make_speller, words_by_term
from rarefuse.retrieval.subsets import Subset, read_subset

TRANSDUCTIVE, INDUCTIVE = TRACKS = ("transductive", "inductive")

PARSED = Schema(
    "parsed",
    (
        Column("query_id", pl.String, "as in `queries`"),
        Column("track", pl.String, "'transductive', or 'inductive': the node's names unknown"),
        Column("mention", pl.String, "words that name something, corrected"),
        Column("frame", pl.String, "the corrected query with 'something' in place of the mention"),
    ),
    key=("query_id", "track"),
)


def name_owners(subset: Subset) -> dict[str, set[int]]:
    """Label or synonym in lower case → rows that have it."""
    owners: dict[str, set[int]] = defaultdict(set)
    for row, (label, synonyms) in enumerate(subset.nodes.select("label", "synonyms").iter_rows()):
        for name in (label, *synonyms):
            owners[name.lower()].add(row)
    return dict(owners)


def parse_queries(tagger: MentionTagger, subset: Subset, queries: pl.DataFrame) -> pl.DataFrame:
    """`PARSED` of queries: both tracks, one of them for Q-E, where nothing is hidden."""
    owners, speller, own_words = name_owners(subset), make_speller(subset), words_by_term(subset)

    def known_without(node: int) -> Callable[[str], bool]:
        return lambda name: bool(owners.get(name, set()) - {node})

    rows = []
    for query_id, text, node, family in queries.select(
        "query_id", "text", "node", "family"
    ).iter_rows():
        parsed = tagger.parse(speller.correct(text), owners.__contains__)
        rows.append((query_id, TRANSDUCTIVE, parsed.mention, parsed.frame))
        if hides_focus(family):
            corrected = speller.correct(text, own_words[node])
            parsed = tagger.parse(corrected, known_without(node))
            rows.append((query_id, INDUCTIVE, parsed.mention, parsed.frame))
    return pl.DataFrame(rows, schema=PARSED.dtypes, orient="row")


def parse_stage(*, folder: Path, seed: int) -> None:
    """Train the tagger on the train part's names; parse the test and validation queries."""
    subset = read_subset(folder)
    queries = artifacts.read(folder / "queries.parquet", QUERIES)
    rows = sorted(split_nodes(subset.nodes.height, seed)[TRAIN])
    train = subset.nodes[rows]
    names = [*train["label"], *train["synonyms"].explode(empty_as_null=True).drop_nulls()]
    tagger = train_tagger(names, train["definition"].to_list(), seed)
    write_tagger(tagger, folder / "tagger.safetensors")
    asked = queries.filter(pl.col("split") != TRAIN)
    artifacts.write(parse_queries(tagger, subset, asked), PARSED, folder / "parsed.parquet")
