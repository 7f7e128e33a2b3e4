"""The fused lists themselves: what a reader of a case sees."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.artifacts import Column, Schema
from rarefuse.fusion.data import Corpus, read_arm, read_corpus
from rarefuse.fusion.gate import load_fits
from rarefuse.fusion.lists import LLM_DEPTH, Union, fused_score, order_by_score, vocabulary_of
from rarefuse.fusion.stage import predict, rule_scores
from rarefuse.naming.stage import RANKING

FUSED = Schema(
    "fused",
    (
        Column("case_id", pl.String, "case; rows are sorted by case_id, rank"),
        Column("rank", pl.Int32, "one-based place"),
        Column("disease_id", pl.String, "candidate"),
        Column("score", pl.Float64, "fused score, larger is better"),
        Column("weight_ontology", pl.Float64, "w_T, mean over the seeds", nullable=True),
        Column("weight_llm", pl.Float64, "w_L = 1 - w_T", nullable=True),
        Column("in_prefix", pl.Boolean, "whether the ontology's stored list has the candidate"),
    ),
    key=("case_id", "rank"),
)


def fuse_stage(
    *,
    knowledge: Path,
    corpus: Path,
    component: str,
    protocol: str,
    arm: str,
    method: str,
    options: Mapping[str, Any],
    tensors: Path | None,
    description: Path | None,
    output: Path,
) -> None:
    """Write `FUSED`: the lists of one method, which for a learned one uses mean weights of seeds.

    Parameters
    ----------
    tensors, description : Path or None
        Checkpoint with the method; None for a rule.
    """
    data = read_corpus(corpus, knowledge, component, protocol, options)
    weighted = read_arm(data, arm, options["kappa"])
    weights: NDArray[np.float64] | None
    if tensors is not None and description is not None:
        fits, meta = load_fits(tensors, description)
        both = [predict(data, weighted, fits[method], s) for s in meta["options"]["seeds"]]
        weights = np.mean([w for w, _ in both], axis=0)
        score = fused_score(weighted.union, weights, np.mean([w for _, w in both], axis=0))
    else:
        arms = [read_arm(data, name, 0.0) for name in options["arms"]]
        own = read_arm(data, arm, 0.0)
        known = {
            name: (score, w) for name, score, w in rule_scores(data, own, weighted, arms, options)
        }
        score, weights = known[method]
    artifacts.write(_fused_frame(data, weighted.union, arm, score, weights), FUSED, output)


def _fused_frame(
    data: Corpus,
    union: Union,
    arm: str,
    score: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
) -> pl.DataFrame:
    tested = np.sort(np.concatenate([fold.test for fold in data.folds]))
    part, own = union.rows(tested), score[tested]
    listed = artifacts.read(data.folder / "llm" / arm / "ranking.parquet", RANKING)
    kept = listed.filter(pl.col("rank") <= LLM_DEPTH)["disease_id"].to_list()
    names = list(vocabulary_of(data.candidates, kept))
    order = order_by_score(part, np.where(np.isnan(own), -np.inf, own))
    there = (part.disease >= 0) & ~np.isnan(own)
    sizes = there.sum(axis=1)
    rows = np.repeat(np.arange(len(tested)), sizes)
    columns = np.concatenate([order[i, :n] for i, n in enumerate(sizes)] or [np.empty(0, int)])
    w = None if weights is None else weights[tested][rows]
    return pl.DataFrame(
        {
            "case_id": [data.case_ids[tested[i]] for i in rows],
            "rank": np.concatenate([np.arange(1, n + 1) for n in sizes] or [np.empty(0, int)]),
            "disease_id": [names[d] for d in part.disease[rows, columns]],
            "score": own[rows, columns],
            "weight_ontology": w,
            "weight_llm": None if w is None else 1.0 - w,
            "in_prefix": part.ontology[rows, columns] > 0,
        },
        schema=FUSED.dtypes,
    ).sort("case_id", "rank")
