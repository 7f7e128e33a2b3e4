"""Cases per second of every ranker, both protocols, and how cost grows with cases and diseases.

Claims measured here, all in one run on one machine:

1. wall and processor seconds of each configured ranker for both protocols of a corpus, from arrays
   in memory to finished ranks, cases a second, and the peak memory of the process so far;
2. growth with cases (a quarter, a half, all) and with diseases (the same), as ratios;
3. the same Resnik scores by a plain NumPy loop over cases and diseases on a sample, as a baseline.

Run after the workflow:  python benchmarks/rankers.py [--corpus results/…] [--ranker ID …]
"""

import argparse
import resource
import time
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import polars as pl
import yaml

from rarefuse import artifacts
from rarefuse.annotations.knowledge import Knowledge
from rarefuse.annotations.lopo import REMOVED
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.view import VIEW
from rarefuse.rankers.catalogue import make_ranker
from rarefuse.rankers.run import rank_corpus, read_knowledge

SHARES = (0.25, 0.5, 1.0)


def first_diseases(knowledge: Knowledge, n: int) -> Knowledge:
    """The first n candidates, all else equal."""
    end = knowledge.profile_ptr[n]
    return replace(
        knowledge,
        disease_ids=knowledge.disease_ids[:n],
        first_rows=knowledge.first_rows[:n],
        profile_ptr=knowledge.profile_ptr[: n + 1],
        profile_terms=knowledge.profile_terms[:end],
        numerator=knowledge.numerator[:end],
        denominator=knowledge.denominator[:end],
    )


def seconds(ranker, knowledge, view, cases, removed):
    """Wall and processor seconds of both protocols."""
    wall, cpu = time.perf_counter(), time.process_time()
    rank_corpus(ranker, knowledge, view, cases, removed, 100)
    return time.perf_counter() - wall, time.process_time() - cpu


def plain_loop(knowledge, view, cases):
    """Resnik scores of `cases` cases by a loop over cases and diseases."""
    ic = knowledge.ic.astype(np.float32)
    index = knowledge.ontology.index
    closures = [
        set(knowledge.ontology.closure(knowledge.profile(d)).tolist())
        for d in range(len(knowledge.disease_ids))
    ]
    start = time.process_time()
    for terms in view["observed"].head(cases).to_list():
        rows = [index[t] for t in terms]
        for closure in closures:
            total = 0.0
            for row in rows:
                total += max(
                    (ic[a] for a in knowledge.ontology.ancestors_of(row) if a in closure), default=0
                )
            total / max(len(rows), 1)
    return time.process_time() - start


def peak_gb():
    """Peak resident memory of this process in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corpus", type=Path, default=Path("results/phenopacket-store"))
    parser.add_argument("--knowledge", type=Path)
    parser.add_argument("--config", type=Path, default=Path("config.yaml"))
    parser.add_argument("--ranker", action="append", help="which; by default the six of the paper")
    parser.add_argument("--growth", action="store_true", help="also with fewer cases and diseases")
    a = parser.parse_args()
    folder = a.knowledge or next((a.corpus.parent / "knowledge").iterdir())
    knowledge = read_knowledge(folder)
    view = artifacts.read(a.corpus / "view.parquet", VIEW)
    cases = artifacts.read(a.corpus / "cases.parquet", CASES)
    removed = artifacts.read(a.corpus / "lopo.parquet", REMOVED)
    rankable = view.filter(pl.col("observed").list.len() > 0).height
    configured = yaml.safe_load(a.config.read_text())["rankers"]
    print(
        f"{rankable} cases, {len(knowledge.disease_ids)} diseases,"
        f" {numba.get_num_threads()} threads"
    )
    print(f"{'ranker':<16}{'wall s':>9}{'cpu s':>9}{'cases/s':>10}{'peak GB':>9}")
    default = ("resnik", "bma", "phenomizer", "nb-lr", "nb-lr-excluded", "lirical")
    total = 0.0
    made = {}
    for name in a.ranker or default:
        options = dict(configured[name])
        ranker = made[name] = make_ranker(options.pop("method"), options)
        few = view.head(20)  # compiles what is not compiled yet
        rank_corpus(ranker, knowledge, few, cases, removed, 100)
        wall, cpu = seconds(ranker, knowledge, view, cases, removed)
        total += wall
        print(f"{name:<16}{wall:9.1f}{cpu:9.1f}{rankable / wall:10.0f}{peak_gb():9.2f}", flush=True)
    print(f"{'together':<16}{total:9.1f}")
    if not a.growth:
        return
    cores = plain_loop(knowledge, view, 3) / 3
    ours = seconds(made["resnik"], knowledge, view, cases, removed)[1] / (2 * rankable)
    print(
        f"plain loop over diseases: {cores:.2f} processor s a case,"
        f" {cores / ours:,.0f} times resnik"
    )
    print("wall seconds with a quarter, a half and all of the cases, then of the diseases")
    for name, ranker in made.items():
        by_case = [
            seconds(ranker, knowledge, view.head(int(s * view.height)), cases, removed)[0]
            for s in SHARES
        ]
        by_disease = []
        for share in SHARES:
            fewer = first_diseases(knowledge, int(share * len(knowledge.disease_ids)))
            kept = removed.filter(pl.col("disease_id").is_in(fewer.disease_ids))
            by_disease.append(seconds(ranker, fewer, view, cases, kept)[0])
        texts = [" ".join(f"{v:7.1f}" for v in values) for values in (by_case, by_disease)]
        print(f"{name:<16} cases {texts[0]}   diseases {texts[1]}", flush=True)


if __name__ == "__main__":
    main()
