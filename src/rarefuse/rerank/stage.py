"""Train rerankers, and rerank a corpus out of fold: a rule for each."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.annotations.lopo import REMOVED
from rarefuse.artifacts import Column, Schema
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.view import VIEW
from rarefuse.fusion.evidence import Protocol, make_protocol
from rarefuse.naming.stage import RANKING
from rarefuse.rankers.base import LOPO, corpus_queries
from rarefuse.rankers.order import neutral_order
from rarefuse.rankers.run import GOLD_RANKS, RANKINGS, read_knowledge
from rarefuse.rerank.candidates import Evidence, Lists, gather_evidence, join_lists
from rarefuse.rerank.checkpoint import (
    Reranker,
    load_reranker,
    save_reranker,
    score_candidates,
)
from rarefuse.rerank.columns import GROUPS
from rarefuse.rerank.contributions import annotated_terms
from rarefuse.rerank.training import Plan, cross_fit, make_folds

ONTOLOGY = "ontology"
"""Target without a language model."""

RERANKED = Schema(
    "reranked",
    (
        Column("case_id", pl.String, "case; rows are sorted by case_id, rank"),
        Column("rank", pl.Int32, "one-based place among the case's candidates"),
        Column("disease_id", pl.String, "candidate"),
        Column("score", pl.Float64, "sum of the contributions; larger is better", "log odds"),
        *(
            Column(f"from_{group}", pl.Float64, f"what the group {group} added", "log odds")
            for group in GROUPS
        ),
        Column("lists", pl.List(pl.String), "lists that hold the candidate, as 'ranker:place'"),
        Column("matched", pl.List(pl.String), "observed terms that it is annotated with"),
        Column("excluded_matched", pl.List(pl.String), "excluded terms that it is annotated with"),
    ),
    key=("case_id", "rank"),
)
"""First places of every case's reranked candidates."""


@dataclass(frozen=True)
class Corpus:
    """Cases of a corpus under LOPO, with what trains and what is compared.

    Parameters
    ----------
    protocol : Protocol
        Q cases and the profiles that their publications leave.
    clusters : list of str
        Publication of each case; its diagnosis where the corpus has no publications.
    gold : ndarray of int32, shape (Q,)
        Candidate row of each diagnosis, -1 for none. For training and evaluation only.
    """

    protocol: Protocol
    clusters: list[str]
    gold: NDArray[np.int32]


def read_corpus(knowledge_folder: Path, corpus: Path) -> Corpus:
    """Read the rankable cases of a corpus."""
    knowledge = read_knowledge(knowledge_folder)
    view = artifacts.read(corpus / "view.parquet", VIEW)
    cases = artifacts.read(corpus / "cases.parquet", CASES)
    publication = dict(cases.select("case_id", "publication_id").iter_rows())
    diagnosis = dict(cases.select("case_id", "gold_id").iter_rows())
    queries = corpus_queries(knowledge, view, cases)
    removed = artifacts.read(corpus / "lopo.parquet", REMOVED)
    return Corpus(
        make_protocol(knowledge, queries, removed),
        [publication[c] or diagnosis[c] for c in queries.case_ids],
        np.array([knowledge.disease_index.get(diagnosis[c], -1) for c in queries.case_ids], "i4"),
    )


def read_lists(corpus: Path, source: Corpus, rankers: list[str], depth: int, arm: str) -> Lists:
    """Join the rankers' stored LOPO lists and, unless it is `ONTOLOGY`, the arm's names."""
    protocol = source.protocol
    rankings = {
        ranker: artifacts.read(corpus / "rankings" / ranker / f"{LOPO}.parquet", RANKINGS)
        for ranker in rankers
    }
    named = None
    if arm != ONTOLOGY:
        named = artifacts.read(corpus / "llm" / arm / "ranking.parquet", RANKING)
    return join_lists(protocol.knowledge, protocol.queries.case_ids, rankings, named, depth)


def places(
    lists: Lists, score: NDArray[np.float64], position: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Candidates by case, best first, and the one-based place of each in that order.

    Parameters
    ----------
    position : ndarray of int32, shape (D,)
        Stable position of each disease, which breaks ties.
    """
    order = np.lexsort((position[lists.disease], -score, lists.query))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - lists.ptr[lists.query[order]] + 1
    return order, place


def gold_places(
    source: Corpus, lists: Lists, score: NDArray[np.float64], position: NDArray[np.int32]
) -> pl.DataFrame:
    """Place of every diagnosis among its case's candidates (`GOLD_RANKS`); null if not there."""
    _, place = places(lists, score, position)
    right = np.flatnonzero(lists.disease == source.gold[lists.query])
    query = lists.query[right]
    own = np.full(len(source.gold), np.nan)
    own[query] = score[right]
    better = np.bincount(lists.query, score > own[lists.query], len(own)).astype(np.int64)
    equal = np.bincount(lists.query, score == own[lists.query], len(own)).astype(np.int64)
    frame = pl.DataFrame(
        {
            "query": query,
            "rank": place[right],
            "tie_first": better[query] + 1,
            "tie_last": better[query] + equal[query],
        }
    )
    cases = pl.DataFrame({"case_id": source.protocol.queries.case_ids}).with_row_index("query")
    return (
        cases.with_columns(pl.col("query").cast(pl.Int64))
        .join(frame, on="query", how="left")
        .select("case_id", pl.col("rank", "tie_first", "tie_last").cast(pl.Int32))
        .sort("case_id")
    )


def reranked_frame(
    source: Corpus,
    evidence: Evidence,
    score: NDArray[np.float64],
    parts: NDArray[np.float64],
    position: NDArray[np.int32],
    n_places: int,
) -> pl.DataFrame:
    """First places of every case, with contributions, lists and terms (`RERANKED`)."""
    lists, knowledge = evidence.lists, source.protocol.knowledge
    order, place = places(lists, score, position)
    kept = order[place[order] <= n_places]
    names = [*lists.names, *(["language_model"] if lists.llm else [])]
    held = [
        [f"{name}:{rank}" for name, rank in zip(names, row, strict=True) if rank]
        for row in lists.rank[kept].tolist()
    ]
    matched, excluded = annotated_terms(source.protocol, lists.query[kept], lists.disease[kept])
    return pl.DataFrame(
        {
            "case_id": [source.protocol.queries.case_ids[q] for q in lists.query[kept]],
            "rank": place[kept].astype(np.int32),
            "disease_id": [knowledge.disease_ids[d] for d in lists.disease[kept]],
            "score": score[kept],
            **{f"from_{group}": parts[kept, g] for g, group in enumerate(GROUPS)},
            "lists": held,
            "matched": matched,
            "excluded_matched": excluded,
        },
        schema=RERANKED.dtypes,
    ).sort("case_id", "rank")


def train_reranker(
    source: Corpus, evidence: Mapping[str, Evidence], plan: Plan, depth: int
) -> Reranker:
    """Cross-fit a reranker on a corpus.

    Parameters
    ----------
    evidence : mapping of str to Evidence
        With the names of each model that trains, or of `ONTOLOGY` alone.
    depth : int
        Places of each ranker's list that the evidence was made from.
    """
    lists = next(iter(evidence.values())).lists
    fold_of = {
        source.clusters[case]: number
        for number, fold in enumerate(make_folds(source.clusters, plan, plan.seeds[0]))
        for case in fold.test.tolist()
    }
    return Reranker(
        tuple(cross_fit(list(evidence.values()), source.gold, source.clusters, plan)),
        lists.names,
        tuple(lists.p_value),
        depth,
        lists.llm,
        fold_of,
        {"arms": list(evidence), "protocol": LOPO, "plan": asdict(plan)},
    )


def train_stage(
    *, knowledge: Path, corpus: Path, arms: list[str], options: Mapping[str, Any], output: Path
) -> None:
    """Train a reranker and write its folder.

    Parameters
    ----------
    arms : list of str
        Language models whose answers train; none for the ontology alone.
    options : mapping
        ``rankers``, ``depth`` and the fields of `Plan`.
    output : Path
        Folder for the checkpoint.
    """
    settings = dict(options)
    rankers, depth = settings.pop("rankers"), settings.pop("depth")
    for name in ("seeds", "penalties"):
        settings[name] = tuple(settings[name])
    plan = Plan(**settings)
    source = read_corpus(knowledge, corpus)
    evidence = {
        arm: gather_evidence(source.protocol, read_lists(corpus, source, rankers, depth, arm))
        for arm in arms or [ONTOLOGY]
    }
    save_reranker(train_reranker(source, evidence, plan, depth), output)


def rerank_stage(
    *, knowledge: Path, corpus: Path, target: str, model: Path, n_places: int, output: Path
) -> None:
    """Score a target's candidates with a trained reranker, every case by models without its fold.

    Parameters
    ----------
    target : str
        Language model, or `ONTOLOGY`.
    model : Path
        Folder of the checkpoint.
    n_places : int
        Places to write.
    output : Path
        Folder for ``ranking.parquet`` and ``gold_ranks.parquet``.
    """
    reranker = load_reranker(model)
    source = read_corpus(knowledge, corpus)
    position = neutral_order(source.protocol.knowledge.disease_ids)
    lists = read_lists(corpus, source, list(reranker.rankers), reranker.depth, target)
    evidence = gather_evidence(source.protocol, lists)
    score, parts = score_candidates(reranker, evidence, source.clusters)
    frame = reranked_frame(source, evidence, score, parts, position, n_places)
    artifacts.write(frame, RERANKED, output / "ranking.parquet")
    gold = gold_places(source, lists, score, position)
    artifacts.write(gold, GOLD_RANKS, output / "gold_ranks.parquet")
