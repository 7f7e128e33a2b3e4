"""What the Snakefile asks of a configured run."""

import json

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
    assert run.corpora.path("hpoa-case-reports") == "resources/phenotype.hpoa"
    assert run.corpora.path("ramedis") == "resources/ramedis.jsonl"


def test_a_corpus_of_ones_own(config, tmp_path):
    config["corpora"]["mine"] = {"reader": "phenopackets", "path": str(tmp_path)}
    config["corpus"] = "mine"
    run = configured_run(config, SCHEMA)
    assert run.corpora.path("mine") == str(tmp_path)
    assert run.corpora.options("mine") == "{}"
    empty = run.corpora.fingerprint("mine")
    (tmp_path / "a.json").write_text("{}")
    one = run.corpora.fingerprint("mine")
    (tmp_path / "a.json").write_text("{ }")
    assert len({empty, one, run.corpora.fingerprint("mine")}) == 3


def test_variants_of_a_ranker(run):
    assert json.loads(run.rankers.options("phenomizer.seed7"))["seed"] == 7
    assert json.loads(run.rankers.options("phenomizer.uncapped"))["max_query_size"] is None
    assert run.rankers.method("phenomizer.seed7") == "phenomizer"
    assert run.rankers.code("phenomizer.seed7") == run.rankers.code("phenomizer")
    assert run.rankers.code("phenomizer") != run.rankers.code("resnik")


@pytest.mark.parametrize("ranker", ["tfidf", "tfidf.seed1", "phenomizer.fast"])
def test_unknown_ranker(run, ranker):
    with pytest.raises(InputError, match="unknown"):
        run.rankers.options(ranker)


def test_an_option_that_a_method_does_not_have(config):
    config["rankers"]["resnik"]["samples"] = 5
    with pytest.raises(InputError, match="no such option") as caught:
        configured_run(config, SCHEMA)
    assert "rankers.resnik" in str(caught.value)


def test_a_path_where_nothing_is(config):
    config["corpora"]["mine"] = {"reader": "phenopackets", "path": "/nowhere"}
    run = configured_run(config, SCHEMA)
    with pytest.raises(InputError, match="not where the config says"):
        run.corpora.path("mine")
    config["corpus"] = "mine"
    with pytest.raises(InputError, match="not where the config says"):
        configured_run(config, SCHEMA)


def test_tables_read_what_they_are_about(run):
    assert run.evaluation.table_inputs("x", "cohort") == []
    assert run.evaluation.table_rankers("query_cap") == ["phenomizer", "phenomizer.uncapped"]
    assert run.evaluation.table_rankers("monte_carlo")[0] == "phenomizer.seed1"
    recall, ties = (run.evaluation.table_inputs("x", table) for table in ("recall", "ties"))
    assert len(recall) == 6
    assert len(ties) == 12
    assert recall[0] == "results/x/gold_ranks/resnik/ordinary.parquet"
    deletions = "results/x/deletions.parquet"
    for table in ("matched_deletion", "split_sensitivity", "recall"):
        assert (deletions in run.evaluation.table_inputs("x", table)) == (table != "recall")
    assert "splits" not in json.loads(run.evaluation.table_options("recall"))


def test_a_source_that_the_registry_lacks(config):
    config["corpora"]["hpoa-case-reports"]["source"] = "hpoa-1999"
    with pytest.raises(InputError, match="no such entry"):
        configured_run(config, SCHEMA)


@pytest.mark.parametrize("name", ["re{sult}s", "", "a\nb"])
def test_results_that_snakemake_would_misread_are_refused(config, name):
    config["results"] = name
    with pytest.raises(InputError, match="cannot be used"):
        configured_run(config, SCHEMA)
