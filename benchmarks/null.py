"""Processor time of the Phenomizer's null distributions, against straightforward sampling.

Claims measured here, all in one run on one machine:

1. our shared sampling and our exact null for all candidates, sizes 1 to 10;
2. against (a) a query at a time and (b) NumPy arrays a disease and size at a time, both with
   random queries of their own for every disease and size, on the same 50 diseases;
3. seconds a (disease × size × 100,000 samples), beside the 1.03 core-seconds measured for the
   Java reference (REFERENCE figure, another machine: a ratio of orders, not of digits);
4. growth with diseases, samples, terms and threads.

Run after `make run`:  python benchmarks/null.py [--knowledge results/knowledge/…]
"""

import argparse
import time
from pathlib import Path

import numba
import numpy as np

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.ontology.bestmatch import best_match_table
from rarefuse.rankers.base import Queries, base_columns
from rarefuse.rankers.phenomizer import Phenomizer
from rarefuse.rankers.run import read_knowledge
from rarefuse.rankers.semantic import empty_scores

JAVA_SECONDS = 1.03
SIZES = range(1, 11)
SAMPLES = 100_000


def cpu_seconds(work, *arguments):
    """Processor seconds (all threads) and wall seconds of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work(*arguments)
    return time.process_time() - cpu, time.perf_counter() - wall


def one_query_a_size(knowledge: Knowledge) -> Queries:
    """Ten queries of 1 to 10 terms, so that every null is built and little else is done."""
    terms = np.flatnonzero(knowledge.ontology.phenotypic)[100:]
    flat = np.concatenate([terms[:k] for k in SIZES]).astype(np.int32)
    ptr = np.concatenate([[0], np.cumsum(list(SIZES))])
    none = np.zeros(len(ptr), np.int64)
    return Queries(
        [f"q{k}" for k in SIZES], ptr, flat, [None] * len(SIZES), none, np.empty(0, np.int32)
    )


def ours(knowledge, queries, n, **options):
    """Nulls of n candidates, with scores and p-values of the ten queries."""
    scores = empty_scores(knowledge, queries, p_value=True)
    Phenomizer(**options)._fill(
        knowledge, queries, base_columns(knowledge, queries).slice(0, n), scores
    )


def query_at_a_time(table, samples):
    """The plain loop: draw, look up, average, for every disease, size and query."""
    random = np.random.default_rng(0)
    for column in table:
        for size in SIZES:
            scores = np.empty(samples)
            for i in range(samples):
                terms = random.choice(len(column), size, replace=False, shuffle=False)
                scores[i] = column[terms].mean()
            np.unique(np.round(scores, 3), return_counts=True)


def array_at_a_time(table, samples):
    """The same with arrays: all queries of one disease and size at once (with replacement)."""
    random = np.random.default_rng(0)
    for column in table:
        for size in SIZES:
            draws = random.integers(0, len(column), (samples, size))
            scores = column[draws].mean(axis=1)
            np.unique(np.round(scores, 3), return_counts=True)


def line(name, cpu, n, samples, wall=None, note=""):
    """Print seconds and cost a unit."""
    unit = cpu / (n * len(SIZES) * samples / SAMPLES)
    seen = f"{wall:8.2f}" if wall is not None else " " * 8
    print(f"{name:<44}{cpu:10.2f}{seen} {unit:12.3e} {JAVA_SECONDS / unit:12,.0f}  {note}")
    return unit


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--knowledge", type=Path)
    parser.add_argument("--diseases", type=int, default=50, help="for the baselines")
    parser.add_argument("--loop-samples", type=int, default=1000, help="for the plain loop")
    arguments = parser.parse_args()
    folder = arguments.knowledge or min(Path("results/knowledge").iterdir())
    knowledge = read_knowledge(folder)
    queries = one_query_a_size(knowledge)
    n, few = len(knowledge.disease_ids), arguments.diseases
    ontology = knowledge.ontology
    print(f"{folder}: {n:,} diseases, {len(ontology.term_ids):,} terms; "
          f"{numba.get_num_threads()} threads")  # fmt: skip
    for null in ("sampled", "exact", "reference"):
        ours(knowledge, queries, 2, null=null, samples=100)  # compile
    table = best_match_table(
        knowledge.profile_ptr[: few + 1], knowledge.profile_terms, knowledge.ic.astype(np.float32),
        ontology.parent_ptr, ontology.parents,
    )  # fmt: skip

    print(f"\n{'':<44}{'cpu s':>10}{'wall s':>8} {'cpu s a unit':>12} {'x reference':>12}")
    cpu, _ = cpu_seconds(query_at_a_time, table, arguments.loop_samples)
    loop = line(f"NumPy, a query at a time, {few} diseases", cpu, few, arguments.loop_samples,
                note=f"{arguments.loop_samples} samples")  # fmt: skip
    cpu, _ = cpu_seconds(array_at_a_time, table, SAMPLES)
    array = line(f"NumPy, a size at a time, {few} diseases", cpu, few, SAMPLES)
    units = {}
    for null, count in (("sampled", few), ("exact", few), ("reference", few), ("sampled", n),
                        ("exact", n)):  # fmt: skip
        cpu, wall = cpu_seconds(lambda k=null, c=count: ours(knowledge, queries, c, null=k))
        units[null, count] = line(f"{null} null, {count:,} diseases", cpu, count, SAMPLES, wall)
    print(f"\non the same {few} diseases, processor time: sampled null is "
          f"{loop / units['sampled', few]:,.0f} times cheaper than the plain loop and "
          f"{array / units['sampled', few]:,.1f} times cheaper than NumPy arrays; the exact null "
          f"{loop / units['exact', few]:,.0f} and {array / units['exact', few]:,.1f}")  # fmt: skip

    print("\ngrowth of the sampled null (cpu s; ratio to the first)")
    base = None
    for label, count, samples in (
        ("diseases 500", 500, SAMPLES), ("diseases 1,000", 1000, SAMPLES),
        ("diseases 2,000", 2000, SAMPLES), ("samples 200,000", 500, 2 * SAMPLES),
        ("samples 400,000", 500, 4 * SAMPLES),
    ):  # fmt: skip
        cpu, _ = cpu_seconds(
            lambda c=count, s=samples: ours(knowledge, queries, c, null="sampled", samples=s)
        )
        base = base or cpu
        print(f"  {label:<20}{cpu:8.2f}{cpu / base:8.2f}")
    print("threads (wall s; ratio to the first)")
    base = None
    for threads in range(1, numba.config.NUMBA_NUM_THREADS + 1):
        numba.set_num_threads(threads)
        _, wall = cpu_seconds(lambda: ours(knowledge, queries, 1000, null="sampled"))
        base = base or wall
        print(f"  {threads:<20}{wall:8.2f}{wall / base:8.2f}")
    print("terms (the ontology's terms repeated as leaves; cpu s, 500 diseases)")
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    for times in (1, 2, 4):
        grown = with_more_terms(knowledge, times)
        cpu, _ = cpu_seconds(lambda g=grown: ours(g, queries, 500, null="sampled"))
        print(f"  {len(grown.ic):<20,}{cpu:8.2f}")


def with_more_terms(knowledge: Knowledge, times: int) -> Knowledge:
    """The same knowledge with `times` as many terms: copies of every term hang below it."""
    ontology = knowledge.ontology
    n = len(ontology.term_ids)
    extra = np.tile(np.arange(n, dtype=np.int32), times - 1)
    ptr = np.concatenate(
        [ontology.parent_ptr, ontology.parent_ptr[-1] + np.arange(1, len(extra) + 1)]
    ).astype(np.int32)
    grown = type(ontology)(
        ontology.term_ids + [f"X:{i}" for i in range(len(extra))],
        ontology.labels + [""] * len(extra),
        ptr,
        np.concatenate([ontology.parents, extra]).astype(np.int32),
        np.concatenate([ontology.depth, np.zeros(len(extra), np.int16)]),
        ontology.aliases,
    )
    return Knowledge(
        grown, knowledge.disease_ids, knowledge.profile_ptr, knowledge.profile_terms,
        knowledge.first_rows, np.concatenate([knowledge.ic, np.zeros(len(extra))]),
        knowledge.numerator, knowledge.denominator,
    )  # fmt: skip


if __name__ == "__main__":
    main()
