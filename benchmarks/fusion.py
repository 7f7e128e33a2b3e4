"""Time of fusion's parts, each against a straightforward way, and how each grows.

Claims measured here, all in one run on one machine:

1. evidence of pairs of a case and a disease, against scoring every disease for every case;
2. features of case-arm pairs, at n and 2 n cases;
3. training stacked, against one fit at a time;
4. the listwise loss with most candidates as a polynomial, against all candidates one by one;
5. the clustered bootstrap of 20 systems, 2,000 resamples, at n and 2 n cases.

Run after a run of a corpus:
    python benchmarks/fusion.py [--knowledge results/knowledge/…] [--corpus results/…]
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from rarefuse import artifacts
from rarefuse.annotations.lopo import REMOVED
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.view import VIEW
from rarefuse.evaluation.bootstrap import cluster_bootstrap
from rarefuse.fusion.evidence import make_protocol, pair_evidence
from rarefuse.fusion.features import FEATURES, Features, make_features
from rarefuse.fusion.lists import Lists, index_lists, make_union, vocabulary_of
from rarefuse.fusion.rows import SCALE, Fit, Rows
from rarefuse.fusion.training import Settings, _Listwise, split_tail, train
from rarefuse.rankers.base import build_queries, lopo_columns
from rarefuse.rankers.likelihood import NaiveBayes
from rarefuse.rankers.run import RANKINGS, read_knowledge
from rarefuse.rankers.semantic import Resnik


def seconds(work, *arguments, **options):
    """Wall and processor seconds of one call, after one to compile; and what it gave."""
    work(*arguments, **options)
    wall, cpu = time.perf_counter(), time.process_time()
    result = work(*arguments, **options)
    return time.perf_counter() - wall, time.process_time() - cpu, result


def show(what, measured, against=None):
    wall, cpu, _ = measured
    ratio = "" if against is None else f"   {against[1] / cpu:6.1f} x less processor time"
    print(f"{what:64s} {wall:8.2f} s wall {cpu:8.2f} s cpu{ratio}", flush=True)


def every_score(known, queries, removed):
    """Resnik and naive Bayes of every candidate under LOPO."""
    columns = lopo_columns(known, queries, removed)
    for ranker in (Resnik(), NaiveBayes()):
        ranker.lopo(known, queries, columns, ranker.ordinary(known, queries))


def drawn_lists(n, n_diseases, random):
    """Lists of ten named diseases a case."""
    disease = random.integers(0, n_diseases, (n, 10)).astype(np.int32)
    return Lists(disease, np.tile(1.0 / np.arange(1, 11), (n, 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    knowledge = sorted(Path("results/knowledge").glob("*"))
    parser.add_argument("--knowledge", type=Path, default=knowledge[0] if knowledge else None)
    parser.add_argument("--corpus", type=Path, default=Path("results/hpoa-case-reports"))
    parser.add_argument("--ranker", default="phenomizer")
    options = parser.parse_args()
    torch.set_num_threads(1)
    random = np.random.default_rng(1)

    known = read_knowledge(options.knowledge)
    view = artifacts.read(options.corpus / "view.parquet", VIEW)
    cases = artifacts.read(options.corpus / "cases.parquet", CASES)
    removed = artifacts.read(options.corpus / "lopo.parquet", REMOVED)
    publication = dict(cases.select("case_id", "publication_id").iter_rows())
    ranking = artifacts.read(
        options.corpus / "rankings" / options.ranker / "lopo.parquet", RANKINGS
    )
    vocabulary = vocabulary_of(known.disease_ids)

    def prepared(frame):
        queries = build_queries(
            known,
            frame["case_id"].to_list(),
            frame["observed"].to_list(),
            [publication[case] for case in frame["case_id"]],
            frame["excluded"].to_list(),
        )
        ontology = index_lists(ranking, queries.case_ids, vocabulary, 100)
        return queries, ontology, drawn_lists(len(queries), len(known.disease_ids), random)

    queries, ontology, _ = prepared(view)
    rows, places = np.nonzero(ontology.disease[:, :10] >= 0)
    pairs = rows, ontology.disease[rows, places]

    def pairs_only():
        return pair_evidence(make_protocol(known, queries, removed), *pairs)

    few = seconds(pairs_only)
    every = seconds(every_score, known, queries, removed)
    show(f"evidence of {len(rows):,} pairs of {len(queries):,} cases", few, every)
    show(f"  the same of all {len(known.disease_ids):,} diseases", every)

    def describe(frame):
        queries, ontology, llm = prepared(frame)
        return make_features(make_protocol(known, queries, removed), frame, ontology, llm)

    for share in (2, 1):
        part = view.sort("case_id").head(view.height // share)
        show(f"features of {part.height:,} case-arm pairs", seconds(describe, part))

    n = 4000
    vectors = random.normal(size=(2, n, len(FEATURES)))
    tops = Lists(
        np.argsort(random.random((n, 400)), axis=1)[:, :100].astype(np.int32), np.zeros((n, 100))
    )
    union = make_union(tops, drawn_lists(n, 400, random), 0.0)
    data = Rows(Features(*vectors), union, np.zeros(n, np.int64))
    fits = [
        Fit(f"fold0.seed{s}", s, "fold0", np.arange(3500), np.arange(3500, n)) for s in range(1, 9)
    ]
    short = Settings(epochs=3)
    alone = seconds(lambda: [train("gate", data, [fit], short) for fit in fits])
    for m in (4, 8):
        stacked = seconds(train, "gate", data, fits[:m], short)
        show(
            f"training {m} fits stacked, 3 epochs of 3,500 rows", stacked, alone if m == 8 else None
        )
    show("  8 fits one at a time", alone)

    parts = [torch.tensor(p, dtype=torch.float32) for p in split_tail(union)]
    slope = torch.tensor(SCALE * (union.ontology - union.llm), dtype=torch.float32)
    offset = torch.tensor(
        np.where(union.disease >= 0, SCALE * union.llm, -np.inf), dtype=torch.float32
    )

    def loss(dense):
        w = torch.full((n,), 0.4, requires_grad=True)
        for _ in range(50):
            if dense:
                logits = torch.addcmul(offset, slope, w[:, None])
                value = torch.logsumexp(logits, -1) - logits[:, 0]
            else:
                value = _Listwise.apply(w, *parts, slope[:, 0], offset[:, 0])
            value.sum().backward()

    dense = seconds(loss, True)
    show(
        f"50 losses and gradients of {n:,} rows, tails as polynomials", seconds(loss, False), dense
    )
    show("  every candidate by itself", dense)

    for n in (5_061, 10_122):
        clusters = [f"PMID:{i}" for i in random.integers(0, 900, n)]
        values = (random.random((20, n)) < 0.2).astype(float)

        def resample(clusters=clusters, values=values):
            drawn = cluster_bootstrap(clusters, resamples=2000, level=0.95, seed=1, name="b")
            return drawn.estimates(values)

        show(f"bootstrap of 20 systems, {n:,} cases, 2,000 resamples", seconds(resample))


if __name__ == "__main__":
    main()
