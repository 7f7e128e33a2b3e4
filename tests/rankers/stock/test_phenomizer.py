"""The Phenomizer's driver and units, against a stand-in for phenol's classes."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rarefuse.errors import InputError
from rarefuse.rankers.base import LOPO, ORDINARY, lopo_columns
from rarefuse.rankers.catalogue import make_ranker
from rarefuse.rankers.stock.answers import Store
from rarefuse.rankers.stock.phenomizer import (
    PhenomizerJava,
    lopo_units,
    ordinary_units,
    read_unit,
    unit_path,
)
from rarefuse.rankers.stock.process import GARBAGE, INCOMPLETE, Failure, file_digest
from rarefuse.rankers.stock.run import rank_world


@pytest.fixture
def program(phenol_jars):
    return PhenomizerJava(
        jars=str(phenol_jars),
        sha1=tuple(file_digest(jar, "sha1") for jar in phenol_jars.glob("*.jar")),
        samples=400,
        diseases=5,
        java_options=(),
        time_limit=60.0,
    )


def rank(program, world, folder):
    world, gold = world
    return rank_world(program, world, Store(folder / program.identity(world)), gold, 100, 1)


def test_the_drivers_similarity_is_ours(program, tiny_world, tmp_path):
    """Both protocols: the mean best match of the filtered profile, bit for bit but for rounding."""
    world, _ = tiny_world
    results, failures = rank(program, tiny_world, tmp_path)
    assert failures.is_empty()
    resnik = make_ranker("resnik", {})
    scores = resnik.ordinary(world.knowledge, world.queries)
    expected = {ORDINARY: scores.score.copy()}
    columns = lopo_columns(world.knowledge, world.queries, world.removed)
    expected[LOPO] = resnik.lopo(world.knowledge, world.queries, columns, scores).score
    index = world.knowledge.disease_index
    for protocol, (rankings, _) in results.items():
        row = {case: i for i, case in enumerate(world.queries.case_ids)}
        for r in rankings.iter_rows(named=True):
            ours = expected[protocol][row[r["case_id"]], index[r["disease_id"]]]
            assert r["score"] == pytest.approx(ours, abs=1e-6)


def test_order_and_emptied_profiles(program, tiny_world, tmp_path):
    world, _ = tiny_world
    results, _ = rank(program, tiny_world, tmp_path)
    for rankings, _ in results.values():
        for _, case in rankings.group_by("case_id"):
            keys = list(case.sort("rank").select("p_value", -pl.col("score")).iter_rows())
            assert keys == sorted(keys)
    case = world.queries.case_ids[world.queries.publications.index("PMID:24")]
    before, after = (results[p][0].filter(pl.col("case_id") == case) for p in (ORDINARY, LOPO))
    # LOPO leaves OMIM:100009 nothing; OMIM:100014's only terms are unknown to the ontology.
    assert set(before["disease_id"]) - set(after["disease_id"]) == {"OMIM:100009"}
    assert before.height == 13
    assert results[LOPO][1].filter(pl.col("case_id") == case)["rank"].item() is None


def test_untouched_cases_keep_their_lists(program, tiny_world, tmp_path):
    results, _ = rank(program, tiny_world, tmp_path)
    queries = tiny_world[0].queries
    kept = [
        c
        for c, p in zip(queries.case_ids, queries.publications, strict=True)
        if p in ("PMID:12", "PMID:30", "PMID:31")
    ]
    one, other = (results[p][0].filter(pl.col("case_id").is_in(kept)) for p in (ORDINARY, LOPO))
    assert one.height == 3 * 13
    assert one.equals(other)


def test_units_hold_every_case_and_disease_once(tiny_world):
    world, _ = tiny_world
    pairs = [
        (case, disease)
        for size in range(1, 11)
        for unit in ordinary_units(world, size, 5)
        for case in unit.cases
        for disease in unit.diseases
    ]
    assert len(pairs) == len(set(pairs)) == 14 * 13
    touched = lopo_units(world)
    # PMID:24 supports the whole of OMIM:100009 alone: nothing remains to be compared with.
    assert "PMID:24" not in touched
    ids = world.knowledge.disease_ids
    assert [ids[d] for d in touched["PMID:11"].diseases] == ["OMIM:100001"]
    assert len(touched["PMID:11"].cases) == 2


def test_finished_units_are_not_computed_again(program, tiny_world, tmp_path):
    """With no Java at all the finished units still give everything."""
    world, gold = tiny_world
    store = Store(tmp_path / program.identity(world))
    first = rank_world(program, world, store, gold, 100, 1)
    units = list(store.folder.glob("units/*.tsv"))
    broken = dataclasses.replace(program, java="no-java", javac="no-java")
    again = rank_world(broken, world, store, gold, 100, 1)
    assert again[0][LOPO][0].equals(first[0][LOPO][0])
    units[0].unlink()
    with pytest.raises(InputError, match="needs Java"):
        rank_world(broken, world, store, gold, 100, 1)
    assert list(tmp_path.rglob("scratch-*")) == []


def test_a_killed_job_keeps_its_finished_units(program, artifacts_of_tiny, tmp_path):
    """Killed after the first unit: the next job computes the others alone."""
    options = {
        "jars": program.jars, "sha1": program.sha1, "samples": 20_000, "diseases": 1,
        "java_options": [],
    }  # fmt: skip
    command = [
        sys.executable, "-m", "rarefuse", "stock", "--method", "phenomizer-java",
        "--options", json.dumps(options), "--knowledge", artifacts_of_tiny.knowledge,
        "--corpus", artifacts_of_tiny.corpus, "--hpoa", artifacts_of_tiny.hpoa,
        "--state", "state", "--rankings", "rankings", "--gold-ranks", "gold_ranks",
        "--failures", "failures.parquet",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src")}

    def units():
        return {p: p.stat().st_mtime_ns for p in tmp_path.glob("state/*/units/*.tsv")}

    job = subprocess.Popen(command, cwd=tmp_path, env=environment, start_new_session=True)
    deadline = time.monotonic() + 120
    while not units():
        assert job.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()
    assert not (tmp_path / "failures.parquet").exists()
    before = units()
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    after = units()
    assert len(after) > len(before)
    assert before.items() <= after.items()


def test_a_driver_that_dies_fails_its_cases(program, tiny_world, tmp_path):
    """The Java machine refuses its options: nothing is answered, and its words are passed on."""
    dead = dataclasses.replace(program, java_options=("-XX:NoSuchFlag",))
    with pytest.raises(InputError, match="answered no case") as caught:
        rank(dead, tiny_world, tmp_path)
    assert "exit status" in str(caught.value)
    assert "NoSuchFlag" in str(caught.value)


def test_a_slow_driver_meets_the_time_limit(program, tiny_world, tmp_path):
    slow = dataclasses.replace(program, samples=50_000_000, time_limit=2.0)
    with pytest.raises(InputError, match="time limit"):
        rank(slow, tiny_world, tmp_path)


def test_jars_without_the_librarys_classes(program, tiny_world, tmp_path, phenol_jars):
    other = dataclasses.replace(
        program,
        artifacts=("org.monarchinitiative.phenol:phenol-io:1.3.3",),
        jars=str(tmp_path),
    )
    (tmp_path / "phenol-io-1.3.3.jar").write_bytes(
        (phenol_jars / "phenol-io-1.3.3.jar").read_bytes()
    )
    with pytest.raises(InputError, match="does not compile") as caught:
        rank(other, tiny_world, tmp_path / "state")
    assert "guava" in str(caught.value)


def test_a_units_result_is_checked(tiny_world, tmp_path):
    world, _ = tiny_world
    unit = lopo_units(world)["PMID:11"]
    cases = [world.queries.case_ids[i] for i in unit.cases]
    rows = [f"{case}\tOMIM:100001\t{0.5 + i}\t{0.25 * i}" for i, case in enumerate(cases)]
    header = "case_id\tdisease_id\tsimilarity\tp_value"
    path = unit_path(world, Store(tmp_path), unit)
    path.parent.mkdir()

    def read(*lines):
        path.write_text("".join(f"{line}\n" for line in lines))
        return read_unit(world, unit, path)

    good = read(header, *rows)
    assert good.tolist() == [[[0.5], [1.5]], [[0.0], [0.25]]]
    assert read(header, rows[0]).reason == INCOMPLETE
    assert read(header, rows[0], rows[0]).reason == GARBAGE
    assert read(header, rows[0], rows[1].replace("0.25", "1.25")).reason == GARBAGE
    assert read(header, rows[0], rows[1].replace("0.25", "NaN")).reason == GARBAGE
    assert read(header, rows[0], rows[1].replace("0.25", "x")).reason == GARBAGE
    assert read("<html>").reason in (GARBAGE, INCOMPLETE)
    assert isinstance(read_unit(world, unit, tmp_path / "nothing"), Failure)


def test_identity_sees_jars_and_samples(program, tiny_world, phenol_jars):
    world, _ = tiny_world
    other = dataclasses.replace(program, samples=500)
    assert program.identity(world) != other.identity(world)
    changed = dataclasses.replace(world.knowledge, ic=world.knowledge.ic + np.float64(1.0))
    assert program.identity(dataclasses.replace(world, knowledge=changed)) != program.identity(
        world
    )
