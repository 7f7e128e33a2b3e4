"""What the Snakefile asks of a configured run."""

import fcntl
import json
import os
from pathlib import Path

import pytest

from builders import ROOT, project_config
from rarefuse.errors import InputError
from rarefuse.workflow import configured_run

SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"


@pytest.fixture
def config(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return project_config()


@pytest.fixture
def run(config):
    return configured_run(config, SCHEMA)


def test_paths(run):
    assert run.knowledge == "results/knowledge/hpo-2026-06-06_hpoa-2026-06-23"
    assert run.corpus_path("hpoa-case-reports") == "resources/phenotype.hpoa"
    assert run.corpus_path("ramedis") == "resources/ramedis.jsonl"


def test_a_corpus_of_ones_own(config, tmp_path):
    config["corpora"]["mine"] = {"reader": "phenopackets", "path": str(tmp_path)}
    config["corpus"] = "mine"
    run = configured_run(config, SCHEMA)
    assert run.corpus_path("mine") == str(tmp_path)
    assert run.corpus_options("mine") == "{}"
    empty = run.corpus_fingerprint("mine")
    (tmp_path / "a.json").write_text("{}")
    one = run.corpus_fingerprint("mine")
    (tmp_path / "a.json").write_text("{ }")
    assert len({empty, one, run.corpus_fingerprint("mine")}) == 3


def test_variants_of_a_ranker(run):
    assert json.loads(run.ranker_options("phenomizer.seed7"))["seed"] == 7
    assert json.loads(run.ranker_options("phenomizer.uncapped"))["max_query_size"] is None
    assert run.ranker_method("phenomizer.seed7") == "phenomizer"
    assert run.ranker_code("phenomizer.seed7") == run.ranker_code("phenomizer")
    assert run.ranker_code("phenomizer") != run.ranker_code("resnik")


@pytest.mark.parametrize("ranker", ["tfidf", "tfidf.seed1", "phenomizer.fast"])
def test_unknown_ranker(run, ranker):
    with pytest.raises(InputError, match="unknown"):
        run.ranker_options(ranker)


def test_an_option_that_a_method_does_not_have(config):
    config["rankers"]["resnik"]["samples"] = 5
    with pytest.raises(InputError, match="no such option") as caught:
        configured_run(config, SCHEMA)
    assert "rankers.resnik" in str(caught.value)


def test_a_path_where_nothing_is(config):
    config["corpora"]["mine"] = {"reader": "phenopackets", "path": "/nowhere"}
    run = configured_run(config, SCHEMA)
    with pytest.raises(InputError, match="not where the config says"):
        run.corpus_path("mine")
    config["corpus"] = "mine"
    with pytest.raises(InputError, match="not where the config says"):
        configured_run(config, SCHEMA)


def test_jobs_of_a_killed_run(run):
    run.hold_lock().close()
    with open(run.jobs_lock, "a") as orphan:
        fcntl.flock(orphan, fcntl.LOCK_SH)
        with pytest.raises(InputError, match="jobs of a killed run"):
            run.hold_lock()
    run.hold_lock().close()


def test_tables_read_what_they_are_about(run):
    assert run.table_inputs("x", "cohort") == []
    assert run.table_rankers("query_cap") == ["phenomizer", "phenomizer.uncapped"]
    assert run.table_rankers("monte_carlo")[0] == "phenomizer.seed1"
    recall, ties = (run.table_inputs("x", table) for table in ("recall", "ties"))
    assert len(recall) == 6
    assert len(ties) == 12
    assert recall[0] == "results/x/gold_ranks/resnik/ordinary.parquet"
    deletions = "results/x/deletions.parquet"
    for table in ("matched_deletion", "split_sensitivity", "recall"):
        assert (deletions in run.table_inputs("x", table)) == (table != "recall")
    assert "splits" not in json.loads(run.table_options("recall"))


def test_a_source_that_the_registry_lacks(config):
    config["corpora"]["hpoa-case-reports"]["source"] = "hpoa-1999"
    with pytest.raises(InputError, match="no such entry"):
        configured_run(config, SCHEMA)


def test_one_run_at_a_time(run):
    lock = run.hold_lock()
    with pytest.raises(InputError, match="another run is writing"):
        run.hold_lock()
    lock.close()
    run.hold_lock().close()


def test_results_that_cannot_be_written(config, tmp_path):
    (tmp_path / "file").write_text("")
    config["results"] = str(tmp_path / "file" / "results")
    with pytest.raises(InputError, match="cannot be written"):
        configured_run(config, SCHEMA).hold_lock()


def test_files_from_the_future_are_dated_now(run):
    """Other people's files, and what the clocks of two machines may differ by, are left alone."""
    now = 1_000_000.0
    times = {
        "results/a/old.parquet": now - 10, "results/a/skewed.parquet": now + 10,
        "results/ahead.parquet": now + 3600, "resources/ahead.obo": now + 86_400,
        "elsewhere/ahead.json": now + 3600,
    }  # fmt: skip
    for name, at in times.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
        os.utime(name, (at, at))
    assert run.redate(now) == 2
    redated = {"results/ahead.parquet", "resources/ahead.obo"}
    assert {name: Path(name).stat().st_mtime for name in times} == {
        name: now if name in redated else at for name, at in times.items()
    }
    assert run.redate(now) == 0


@pytest.mark.parametrize("name", ["re{sult}s", "", "a\nb"])
def test_results_that_snakemake_would_misread_are_refused(config, name):
    config["results"] = name
    with pytest.raises(InputError, match="cannot be used"):
        configured_run(config, SCHEMA)
