"""A small corpus whose diagnoses can be learned: diseases with terms of their own, noisy cases."""

from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from rarefuse.annotations.lopo import REMOVED
from rarefuse.fusion.evidence import make_protocol
from rarefuse.rankers.base import build_queries, lopo_columns
from rarefuse.rankers.likelihood import NaiveBayes
from rarefuse.rankers.order import top_lists
from rarefuse.rankers.semantic import Resnik
from rarefuse.rerank.candidates import gather_evidence, join_lists
from rarefuse.rerank.stage import Corpus
from rarefuse.rerank.training import Plan

N_CASES, N_DISEASES, N_GROUPS = 60, 12, 15


@dataclass(frozen=True)
class Small:
    source: Corpus
    rankings: dict
    named: pl.DataFrame
    plan: Plan

    def evidence(self, *, llm=False, rankings=None):
        knowledge, ids = self.source.protocol.knowledge, self.source.protocol.queries.case_ids
        lists = join_lists(
            knowledge, ids, rankings or self.rankings, self.named if llm else None, 8
        )
        return gather_evidence(self.source.protocol, lists)


def as_rankings(knowledge, queries, removed, ranker, depth):
    scores = ranker.ordinary(knowledge, queries)
    scores = ranker.lopo(knowledge, queries, lopo_columns(knowledge, queries, removed), scores)
    top, _, _ = top_lists(scores, depth)
    rows = [
        (queries.case_ids[q], i + 1, knowledge.disease_ids[d], scores.score[q, d], None)
        for q in range(len(top))
        for i, d in enumerate(top[q])
    ]
    schema = {
        "case_id": pl.String,
        "rank": pl.Int32,
        "disease_id": pl.String,
        "score": pl.Float64,
        "p_value": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


@pytest.fixture(scope="session")
def small(knowledge_of):
    random = np.random.default_rng(5)
    parents = [[]] + [[0]] * 6 + [[1 + t % 6] for t in range(48)]
    own = [sorted(random.choice(np.arange(7, 55), 6, replace=False)) for _ in range(N_DISEASES)]
    profiles = [{int(t): (int(random.integers(1, 5)), 5) for t in terms} for terms in own]
    knowledge = knowledge_of(parents, profiles)
    ids = knowledge.ontology.term_ids
    gold, observed, excluded, publications = [], [], [], []
    for case in range(N_CASES):
        disease = case % N_DISEASES
        kept = random.choice(own[disease], 3, replace=False)
        noise = random.choice(np.arange(7, 55), 2, replace=False)
        terms = sorted({int(t) for t in (*kept, *noise)})
        gold.append(disease)
        observed.append([ids[t] for t in terms])
        excluded.append([ids[t] for t in random.choice(55, 2, replace=False) if t not in terms])
        publications.append(f"PMID:{case % N_GROUPS}")
    names = [f"case{i:03d}" for i in range(N_CASES)]
    queries = build_queries(knowledge, names, observed, publications, excluded)
    removed = pl.DataFrame(
        [("PMID:3", "OMIM:4", ids[own[3][0]])], schema=REMOVED.dtypes, orient="row"
    )
    gold_of = dict(zip(names, gold, strict=True))
    golden = np.array([gold_of[c] for c in queries.case_ids], np.int32)
    rankings = {
        "resnik": as_rankings(knowledge, queries, removed, Resnik(), 8),
        "nb-lr": as_rankings(knowledge, queries, removed, NaiveBayes(), 8),
    }
    answers = [
        (case, 1, knowledge.disease_ids[gold_of[case] if random.random() < 0.7 else 0])
        for case in names[:50]
    ]
    named = pl.DataFrame(answers, schema=["case_id", "rank", "disease_id"], orient="row")
    plan = Plan(3, 0.3, (1, 2), (3.0, 1.0), 15, 8)
    source = Corpus(make_protocol(knowledge, queries, removed), queries.publications, golden)
    return Small(source, rankings, named, plan)
