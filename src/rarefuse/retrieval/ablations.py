"""The reference's ablations on its own systems, with what confounded them taken apart.

Pooling keeps the mixed score and changes only where candidates come from. Noise is what the paper
calls typos, e' = normalise(e + σ N(0, I)) (cosine 0.455 to e at σ = 0.1 and 384 dimensions), and
real typos beside it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import seeds
from rarefuse.evaluation.base import NOT_APPLICABLE, Row
from rarefuse.retrieval.adapters import LINEAR, MLP, apply, train_adapter
from rarefuse.retrieval.embeddings import CONES, HGCN, HYEM, EmbeddingOptions, train_embedding
from rarefuse.retrieval.gates import RULE, GateOptions, gate_weights, rule_gate, train_gate
from rarefuse.retrieval.geometry import exp_origin
from rarefuse.retrieval.indexability import exact_neighbours, recall
from rarefuse.retrieval.indexes import build_index
from rarefuse.retrieval.measures import mean, measure
from rarefuse.retrieval.queries import TEST, TRAIN
from rarefuse.retrieval.reference import (
    SEARCHED,
    Reference,
    ReferenceOptions,
    listed,
    train_reference,
)
from rarefuse.retrieval.runs import Data
from rarefuse.retrieval.search import hard_route, soft_mix, tangent_search, text_search
from rarefuse.retrieval.templates import ENTITY, FAMILIES, HIERARCHY, SIBLING

SIGMAS = (0.1, 0.2, 0.3)
NOISE_CANDIDATES = 50
ENCODER_QUERIES = 200
SHORT = {ENTITY: ("hits@1", "hits@10", "mrr"), HIERARCHY: ("hits@10", "mrr", "ancestor_f1"),
         SIBLING: ("hits@10", "mrr")}  # fmt: skip


def _test(data: Data, condition: str = "reference") -> pl.DataFrame:
    return data.queries.filter(pl.col("split") == TEST, pl.col("condition") == condition)


def _rows(
    table: str, system: str, variant: str, asked: pl.DataFrame, found: NDArray[np.int64]
) -> Iterator[Row]:
    frame = asked.select("query_id").with_columns(
        rows=pl.Series(listed(found, asked), dtype=pl.List(pl.Int32))
    )
    measured = measure(frame, asked)
    for family in FAMILIES:
        part = measured.filter(pl.col("family") == family)
        for metric in SHORT[family]:
            value = mean(part, metric)
            if part.height:
                yield Row(table, system, NOT_APPLICABLE, variant, family, metric, value, None, None,
                          part.height)  # fmt: skip


def _soft(
    made: Reference,
    vectors: NDArray[np.float32],
    *,
    points: NDArray[np.float32] | None = None,
    pool: tuple[str, ...] = ("text", "tangent"),
    candidates: int = 200,
) -> NDArray[np.int64]:
    where = apply(made.adapters[HYEM], vectors) if points is None else points
    return soft_mix(
        made.text_index, made.indexes[HYEM], made.nodes, made.tables[HYEM], vectors, where,
        gate_weights(made.gate, vectors), SEARCHED, pool=pool, candidates=candidates,
    )  # fmt: skip


def pooling_rows(data: Data, made: Reference) -> Iterator[Row]:
    """The mixed score over candidates of one index, of the other, and of both (paper, Table 8)."""
    asked = _test(data)
    vectors = data.vectors.of(asked["text"])
    for pool in (("tangent",), ("text",), ("text", "tangent")):
        found = _soft(made, vectors, pool=pool)
        yield from _rows("pooling", "hyem-soft", " and ".join(pool), asked, found)


def adapter_rows(data: Data, made: Reference, seed: int) -> Iterator[Row]:
    """Linear against two-layer adapter, soft mix (paper, Table 10)."""
    asked, train = _test(data), _training(data)
    vectors = data.vectors.of(asked["text"])
    for shape in (LINEAR, MLP):
        net = train_adapter(
            shape, HYEM, made.tables[HYEM], data.vectors.of(train["text"]),
            train["relevant"].to_list(), seed, ReferenceOptions().adapter,
        )  # fmt: skip
        found = _soft(made, vectors, points=apply(net, vectors))
        yield from _rows("adapters", "hyem-soft", shape, asked, found)


def gate_rows(data: Data, seed: int) -> Iterator[Row]:
    """Accuracy and AUC of every gate on Q-E against Q-H, also noisy and misspelt (Table 9)."""
    train = _training(data)
    nets = {
        shape: train_gate(
            shape, data.vectors.of(train["text"]), (train["family"] == HIERARCHY).to_numpy(), seed,
            GateOptions(),
        )
        for shape in (LINEAR, MLP)
    }  # fmt: skip
    clean, typos, held_out = (_test(data, c) for c in ("reference", "typo", "held-out"))
    conditions: dict[str, tuple[pl.DataFrame, NDArray[np.float32]]] = {
        name: (asked, data.vectors.of(asked["text"]))
        for name, asked in (("clean", clean), ("typo", typos), ("held-out", held_out))
    }
    for sigma in SIGMAS:
        conditions[f"sigma={sigma}"] = (clean, noisy(conditions["clean"][1], sigma, seed))
    for name, (asked, vectors) in conditions.items():
        kept = (asked["family"] != SIBLING).to_numpy()
        gold = (asked["family"] == HIERARCHY).to_numpy()[kept]
        alphas: Mapping[str, NDArray[np.float64]] = {
            RULE: rule_gate(asked["text"].to_list()),
            **{shape: gate_weights(net, vectors) for shape, net in nets.items()},
        }
        for gate, alpha in alphas.items():
            if gate == RULE and name.startswith("sigma"):
                continue  # The rule reads the text, which this noise leaves as it is.
            said = alpha[kept] >= 0.5
            hits = float((said & gold).sum())
            for metric, value in (
                ("accuracy", float((said == gold).mean())),
                ("auc", area_under_curve(alpha[kept], gold)),
                ("precision Q-H", hits / max(float(said.sum()), 1.0)),
                ("recall Q-H", hits / max(float(gold.sum()), 1.0)),
            ):
                yield Row("gates", gate, NOT_APPLICABLE, name, "Q-E and Q-H", metric, value, None,
                          None, int(kept.sum()))  # fmt: skip


def noise_rows(data: Data, made: Reference, seed: int) -> Iterator[Row]:
    """Routing and mixing under noise of the vectors, and under real typos."""
    clean, typos = _test(data), _test(data, "typo")
    vectors = data.vectors.of(clean["text"])
    conditions = {"clean": (clean, vectors), "typo": (typos, data.vectors.of(typos["text"]))}
    for sigma in SIGMAS:
        conditions[f"sigma={sigma}"] = (clean, noisy(vectors, sigma, seed))
    for name, (asked, heard) in conditions.items():
        points = apply(made.adapters[HYEM], heard)
        hyem = tangent_search(
            made.indexes[HYEM], made.tables[HYEM], points, SEARCHED, NOISE_CANDIDATES
        )
        text = text_search(made.text_index, heard, SEARCHED)
        hard = hard_route(gate_weights(made.gate, heard), hyem, text)
        soft = _soft(made, heard, candidates=NOISE_CANDIDATES)
        for system, found in (("text", text), ("hyem-hard", hard), ("hyem-soft", soft)):
            yield from _rows("noise", system, name, asked, found)


def encoder_rows(data: Data, seed: int) -> Iterator[Row]:
    """Lorentz table, tangent HGCN and entailment cones, no gate (paper, Table 11)."""
    train = _training(data)
    asked = _test(data).filter(pl.col("family") == HIERARCHY)[:ENCODER_QUERIES]
    vectors, ids = data.vectors.of(asked["text"]), data.subset.nodes["term_id"].to_list()
    for space in (HYEM, HGCN, CONES):
        table = train_embedding(
            space, len(ids), data.subset.edges, seed, EmbeddingOptions()
        )  # fmt: skip
        net = train_adapter(
            LINEAR, space, table, data.vectors.of(train["text"]), train["relevant"].to_list(), seed,
            ReferenceOptions().adapter,
        )  # fmt: skip
        points = apply(net, vectors)
        index = build_index("tangent-hnsw", table, ids, data.vectors.encoder)
        found = tangent_search(index, table, points, SEARCHED)
        yield from _rows("encoders", space, NOT_APPLICABLE, asked, found)
        truth = exact_neighbours(exp_origin(table), exp_origin(points))
        kept = recall(index.search(points, min(50, len(ids)))[1], truth)
        yield Row("encoders", space, NOT_APPLICABLE, NOT_APPLICABLE, HIERARCHY, "recall@10 L=50",
                  float(kept.mean()), None, None, asked.height, float(kept.std()))  # fmt: skip


def ablation_reference(data: Data, seed: int) -> Reference:
    """The reference's systems that the ablations change one part of."""
    return train_reference(
        data.subset, data.queries, data.vectors, seed, replace(ReferenceOptions())
    )


def noisy(vectors: NDArray[np.float32], sigma: float, seed: int) -> NDArray[np.float32]:
    """normalise(e + σ N(0, I)): σ is of every coordinate."""
    draw = seeds.generator(seed, "noise", str(sigma))
    shifted = vectors + sigma * draw.standard_normal(vectors.shape).astype(np.float32)
    scaled: NDArray[np.float32] = shifted / np.linalg.norm(shifted, axis=1, keepdims=True)
    return scaled


def area_under_curve(scores: NDArray[np.float64], gold: NDArray[np.bool_]) -> float:
    """Area under the ROC curve: how often a positive scores above a negative, ties half."""
    positive, negative = np.sort(scores[gold]), np.sort(scores[~gold])
    below = np.searchsorted(negative, positive, "left") + np.searchsorted(
        negative, positive, "right"
    )
    return float(below.sum() / (2.0 * max(len(positive) * len(negative), 1)))


def _training(data: Data) -> pl.DataFrame:
    return data.queries.filter(
        pl.col("condition") == "reference", pl.col("split") == TRAIN, pl.col("family") != SIBLING
    )
