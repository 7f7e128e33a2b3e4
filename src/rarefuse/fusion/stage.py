"""Stages of fusion: features of an arm, and the gold ranks of everything that fuses."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.annotations.lopo import REMOVED
from rarefuse.artifacts import Column, Schema
from rarefuse.compiled import use_threads
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.view import VIEW
from rarefuse.fusion import rules
from rarefuse.fusion.catalogue import component_of
from rarefuse.fusion.data import Arm, Corpus, read_arm, read_corpus
from rarefuse.fusion.evidence import make_protocol
from rarefuse.fusion.features import FEATURE_TABLE, Features, make_features, to_frame
from rarefuse.fusion.gate import Fits, load_fits
from rarefuse.fusion.lists import (
    LLM_DEPTH,
    fused_score,
    index_lists,
    order_by_score,
    places_by_score,
    vocabulary_of,
)
from rarefuse.fusion.rows import plan_fits, stack_rows
from rarefuse.naming.stage import RANKING
from rarefuse.rankers.base import LOPO, corpus_queries
from rarefuse.rankers.run import RANKINGS, read_knowledge

FUSED_RANKS = Schema(
    "fused_ranks",
    (
        Column("method", pl.String, "component, rule or learned method; rows are sorted by it"),
        Column("seed", pl.Int32, "of the fit; 0 for what has none"),
        Column("case_id", pl.String, "rankable case that was not trained on"),
        Column("rank", pl.Int32, "place of the gold disease; null outside", nullable=True),
        Column("tie_first", pl.Int32, "first place of its tie block", nullable=True),
        Column("tie_last", pl.Int32, "last place of its tie block", nullable=True),
        Column(
            "top_rank",
            pl.Int32,
            "place in the ontology's stored list of the first fused candidate; null outside it",
            nullable=True,
        ),
        Column("weight_ontology", pl.Float64, "w_T, 0..1; null for rules", nullable=True),
    ),
    key=("method", "seed", "case_id"),
)
"""Gold ranks of everything that fuses, and what the tables need of the first candidates."""


def features_stage(
    *,
    knowledge: Path,
    corpus: Path,
    component: str,
    protocol: str,
    arm: str,
    depth: int,
    output: Path,
    threads: int,
) -> None:
    """Write `FEATURE_TABLE` of every rankable case.

    Parameters
    ----------
    component : str
        Ontology component; its own depth counts before `depth`, the places that are stored.
    """
    use_threads(threads)
    known = read_knowledge(knowledge)
    view = artifacts.read(corpus / "view.parquet", VIEW)
    queries = corpus_queries(known, view, artifacts.read(corpus / "cases.parquet", CASES))
    removed = artifacts.read(corpus / "lopo.parquet", REMOVED) if protocol == LOPO else None
    seen = component_of(component)
    ranking = artifacts.read(corpus / "rankings" / seen.ranker / f"{protocol}.parquet", RANKINGS)
    listed = artifacts.read(corpus / "llm" / arm / "ranking.parquet", RANKING).select(
        "case_id", "rank", "disease_id"
    )
    vocabulary = vocabulary_of(known.disease_ids, listed["disease_id"].to_list())
    features = make_features(
        make_protocol(known, queries, removed),
        view,
        index_lists(ranking, queries.case_ids, vocabulary, seen.depth or depth),
        index_lists(listed, queries.case_ids, vocabulary, LLM_DEPTH),
    )
    artifacts.write(to_frame(queries.case_ids, features), FEATURE_TABLE, output)


def predict(
    data: Corpus, arm: Arm, fits: Fits, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of every case by the fit that was not trained on it, each of shape (N,).

    Cases that no fold tests are NaN.
    """
    w_t, w_l = (np.full(len(data.case_ids), np.nan) for _ in range(2))
    for fold in data.folds:
        own = Features(arm.features.ontology[fold.test], arm.features.llm[fold.test])
        fit = fits.keys.index(f"{fold.name}.seed{seed}")
        w_t[fold.test], w_l[fold.test] = fits.list_weights(fit, own)
    return w_t, w_l


def score_stage(
    *,
    knowledge: Path,
    corpus: Path,
    component: str,
    protocol: str,
    arm: str,
    options: Mapping[str, Any],
    tensors: Path,
    description: Path,
    output: Path,
) -> None:
    """Write `FUSED_RANKS` of an arm by the methods and seeds of a checkpoint.

    The checkpoint is applied as it is; diagnoses are looked up in finished orders.
    """
    data = read_corpus(corpus, knowledge, component, protocol, options)
    own = read_arm(data, arm, options["kappa"])
    fits, meta = load_fits(tensors, description)
    frames = []
    for method, some in fits.items():
        for seed in meta["options"]["seeds"]:
            w_t, w_l = predict(data, own, some, seed)
            score = fused_score(own.union, w_t, w_l)
            frames.append(_ranks_frame(data, own, method, seed, score, w_t))
    _write_ranks(frames, output)


def rules_stage(
    *,
    knowledge: Path,
    corpus: Path,
    component: str,
    protocol: str,
    arm: str,
    options: Mapping[str, Any],
    output: Path,
) -> None:
    """Write `FUSED_RANKS` of an arm by both components and every rule.

    What rules learn they learn, fold by fold, from the rows that the gate may use: those of the
    ``arms`` to train on. The fixed weight alone sees labels of the target itself.
    """
    data = read_corpus(corpus, knowledge, component, protocol, options)
    own = read_arm(data, arm, 0.0)
    weighted = read_arm(data, arm, options["kappa"])
    arms = [read_arm(data, name, 0.0) for name in options["arms"]]
    frames = [
        _ranks_frame(data, own, method, 0, score, weights)
        for method, score, weights in rule_scores(data, own, weighted, arms, options)
    ]
    _write_ranks(frames, output)


def rule_scores(
    data: Corpus, own: Arm, weighted: Arm, arms: Sequence[Arm], options: Mapping[str, Any]
) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64] | None]]:
    """Method, scores of shape (N, U) and ontology weights of each rule; a component is NaN where
    it lacks a candidate.

    Parameters
    ----------
    own, weighted : Arm
        The target with kappa = 0, for rules on ranks, and with the configured kappa, for weights.
    """
    n = len(data.case_ids)
    union = own.union
    for name, reciprocal in (("ontology", union.ontology), ("llm", union.llm)):
        yield name, np.where(reciprocal > 0, reciprocal, np.nan), None
    half = np.full(n, 0.5)
    yield "equal-weight", fused_score(weighted.union, half, half), half
    yield "rrf", rules.rrf_scores(union), None
    yield "borda", rules.borda_scores(union), None
    yield "combmnz", rules.combmnz_scores(union), None
    rows = stack_rows(arms)
    plan = plan_fits(data, arms, {**options, "seeds": options["seeds"][:1]})
    probfuse, bayes = np.zeros(union.disease.shape), np.zeros(union.disease.shape)
    fixed = np.full(n, np.nan)
    right = rules.right_by_weight(weighted.union, weighted.gold)
    for fold, fit in zip(data.folds, plan, strict=True):
        trained = rules.train_rules(rows.union.rows(fit.train), rows.gold[fit.train])
        part = union.rows(fold.test)
        probfuse[fold.test] = rules.probfuse_scores(part, trained.shares)
        bayes[fold.test] = rules.bayes_scores(part, trained.ratios)
        labelled = np.concatenate([fold.train, fold.validation])
        fixed[fold.test] = rules.best_fixed_weight(right[:, labelled])
    yield "probfuse", probfuse, None
    yield "bayes-fuse", bayes, None
    yield "fixed-weight", fused_score(weighted.union, fixed, 1.0 - fixed), fixed


def _ranks_frame(
    data: Corpus,
    arm: Arm,
    method: str,
    seed: int,
    score: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
) -> pl.DataFrame:
    tested = np.sort(np.concatenate([fold.test for fold in data.folds]))
    union = arm.union.rows(tested)
    own = score[tested]
    # NaN: no candidate of this list. It comes behind all others and cannot be the diagnosis.
    gold = arm.gold[tested]
    absent = (gold < 0) | np.isnan(own[np.arange(len(tested)), np.maximum(gold, 0)])
    own = np.where(np.isnan(own), -np.inf, own)
    places = places_by_score(union, own, np.where(absent, -1, gold))
    rows = np.arange(len(tested))
    first = order_by_score(union, own)[:, 0]
    top = np.where(own[rows, first] > -np.inf, rules.ranks_of(union.ontology[rows, first]), 0)
    prefix = data.ontology.disease.shape[1]
    frame = pl.DataFrame(
        {
            "method": [method] * len(tested),
            "seed": np.full(len(tested), seed),
            "case_id": [data.case_ids[i] for i in tested],
            "rank": places[:, 0],
            "tie_first": places[:, 1],
            "tie_last": places[:, 2],
            "top_rank": np.where(top <= prefix, top, 0),
            "weight_ontology": None if weight is None else weight[tested],
        },
        schema=FUSED_RANKS.dtypes,
    )
    return frame.with_columns(
        pl.when(pl.col(name) > 0).then(pl.col(name))
        for name in ("rank", "tie_first", "tie_last", "top_rank")
    )


def _write_ranks(frames: Sequence[pl.DataFrame], output: Path) -> None:
    artifacts.write(pl.concat(frames).sort("method", "seed", "case_id"), FUSED_RANKS, output)
