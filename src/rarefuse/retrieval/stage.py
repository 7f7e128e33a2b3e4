"""Stages of the retrieval part, each from a set's folder into it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from rarefuse import artifacts
from rarefuse.artifacts import Column, Schema, write_text
from rarefuse.retrieval.centroid import CentroidOptions
from rarefuse.retrieval.indexes import build_index, write_index
from rarefuse.retrieval.intents import training_frames, write_gate
from rarefuse.retrieval.linker import RELATED
from rarefuse.retrieval.measures import LISTS
from rarefuse.retrieval.models import read_tables, write_tables
from rarefuse.retrieval.parsing import PARSED, parse_stage
from rarefuse.retrieval.queries import QUERIES, TEST, TRAIN, queries_stage
from rarefuse.retrieval.reference import ReferenceOptions
from rarefuse.retrieval.runs import (
    CentroidRunOptions,
    centroid_run,
    lists_frame,
    read_data,
    reference_run,
    train_gate,
    train_tables,
)
from rarefuse.retrieval.subsets import make_subset, read_subset, write_subset
from rarefuse.retrieval.templates import ENTITY, SIBLING
from rarefuse.retrieval.terms import read_vocabulary
from rarefuse.retrieval.text import (
    encode_all,
    find_encoder,
    node_texts,
    read_vectors,
    write_vectors,
)

SKIPPED = Schema(
    "retrieval_skipped",
    (
        Column("reason", pl.String, "why a stanza or an edge of the ontology was left out"),
        Column("n", pl.Int64, "how many"),
    ),
    key=("reason",),
)


def subset_stage(*, source: Path, folder: Path, options: Mapping[str, Any]) -> None:
    """Read an ontology, sample a subset, make its queries, find their mentions.

    Options: sampler, size (None: all), seed.
    """
    vocabulary = read_vocabulary(source)
    subset = make_subset(vocabulary, options["sampler"], options["size"], options["seed"])
    write_subset(subset, folder)
    skipped = pl.DataFrame(
        sorted(vocabulary.skipped.items()), schema=SKIPPED.dtypes, orient="row"
    )  # fmt: skip
    artifacts.write(skipped, SKIPPED, folder / "skipped.parquet")
    queries_stage(folder=folder, seed=options["seed"])
    parse_stage(folder=folder, seed=options["seed"])


def encode_stage(*, folder: Path, options: Mapping[str, Any], known: Sequence[Path] = ()) -> None:
    """Encode every text that any later stage needs, once.

    Options: encoder, seeds (of the gate's frames). `known`: vectors of other sets to take over.
    """
    subset = read_subset(folder)
    queries = artifacts.read(folder / "queries.parquet", QUERIES)
    parsed = artifacts.read(folder / "parsed.parquet", PARSED)
    learned = queries.filter(pl.col("split") == TRAIN, pl.col("family") != SIBLING)
    texts = {
        *node_texts(subset, "label"),
        *node_texts(subset, "label_def"),
        *subset.nodes["synonyms"].explode(empty_as_null=True).drop_nulls(),
        *queries.filter(pl.col("split") == TEST)["text"],
        *learned["text"],
        *parsed["mention"],
        *parsed["frame"],
        *(frame for seed in options["seeds"] for frame in training_frames(seed)[0]),
    }
    vectors = encode_all(texts, find_encoder(options["encoder"]), [read_vectors(p) for p in known])
    write_vectors(vectors, folder / "vectors.safetensors")


def reference_stage(*, folder: Path, seed: int, output: Path) -> None:
    """Train and search the reference's systems with one seed."""
    found = reference_run(read_data(folder), seed, ReferenceOptions())
    artifacts.write(found, LISTS, output)


def train_stage(*, folder: Path, seed: int, options: Mapping[str, Any], output: Path) -> None:
    """Train the centroid tables with one seed. Options: split_seed, inductive, centroid."""
    run = CentroidRunOptions(CentroidOptions(**options["centroid"]), options["inductive"])
    write_tables(train_tables(read_data(folder), seed, options["split_seed"], run), output)


def search_stage(
    *, folder: Path, seed: int, tables: Path, output: Path, mixing: Path
) -> None:  # fmt: skip
    """Search every test query with one seed's tables; keep the lists and the chosen mixing."""
    data = read_data(folder)
    found, unseen = centroid_run(data, read_tables(tables), train_gate(data, seed))
    artifacts.write(lists_frame(found, seed), LISTS, output)
    write_text(json.dumps(unseen.as_dict(), sort_keys=True), mixing)


def index_stage(*, folder: Path, seed: int, tables: Path, mixing: Path, output: Path) -> None:
    """Write what `ground` serves: indexes with their ids, gate and settings.

    Text rows are labels, labels with definitions, then all synonyms.
    """
    data = read_data(folder)
    trained = read_tables(tables)
    ids = data.subset.nodes["term_id"].to_list()
    owner = [*range(len(ids)), *range(len(ids))]
    texts = [*node_texts(data.subset, "label"), *node_texts(data.subset, "label_def")]
    for row, synonyms in enumerate(data.subset.nodes["synonyms"].to_list()):
        texts += synonyms
        owner += [row] * len(synonyms)
    encoder = data.vectors.encoder
    vectors = data.vectors.of(texts)
    write_index(build_index("text-hnsw", vectors, [ids[r] for r in owner], encoder), output, "text")
    for intent in RELATED:
        index = build_index("lorentz-hnsw", trained[intent].u, ids, encoder)
        write_index(index, output, intent)
    write_gate(train_gate(data, seed), output / "gate.safetensors")
    settings = {
        "encoder": encoder,
        "origin": {i: trained[i].origin[i] for i in RELATED},
        "temperature": {i: trained[i].temperature[i] for i in RELATED},
        "unseen": json.loads(mixing.read_text(encoding="utf-8")),
        "families": [ENTITY, *RELATED],
    }
    write_text(json.dumps(settings, indent=1, sort_keys=True), output / "settings.json")
