"""Which reranker serves which language model, and what each learns from."""

import json

import pytest

from builders import ROOT, project_config
from rarefuse.errors import InputError
from rarefuse.workflow import configured_run

SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"


@pytest.fixture
def config(monkeypatch):
    monkeypatch.chdir(ROOT)
    config = project_config()
    arm = {"backend": "openai", "model": "m", "base_url": "http://localhost:1/v1"}
    families = {"x": "Alpha 1", "y": "Alpha 1", "z": "beta", "late": "gamma"}
    config["llms"] = {name: {**arm, "family": family} for name, family in families.items()}
    config["evaluation"]["llms"] = list(families)
    config["reranker"]["test_only"] = ["late"]
    config["fusion"]["test_only"] = ["late"]
    return config


def test_a_family_is_left_out_whole(config):
    run = configured_run(config, SCHEMA)
    assert run.reranker.targets == ["ontology", "x", "y", "z", "late"]
    assert run.reranker.name_of("x") == run.reranker.name_of("y") == "without-Alpha-1"
    assert run.reranker.trains_on("without-Alpha-1") == ["z"]
    assert run.reranker.trains_on(run.reranker.name_of("z")) == ["x", "y"]
    assert run.reranker.trains_on("ontology") == []


def test_a_model_for_testing_alone_trains_nothing(config):
    run = configured_run(config, SCHEMA)
    assert run.reranker.name_of("late") == "all"
    assert run.reranker.trains_on("all") == ["x", "y", "z"]


def test_one_family_alone_trains_on_itself_and_says_so(config):
    config["llms"]["z"]["family"] = "Alpha 1"
    run = configured_run(config, SCHEMA)
    assert run.reranker.trains_on(run.reranker.name_of("x")) == ["x", "y", "z"]
    options = json.loads(run.evaluation.table_options("reranker"))
    assert options["options"]["in_family"] == ["x", "y", "z"]  # `late` has no relative that trains


def test_nobody_to_learn_from_is_refused(config):
    config["reranker"]["test_only"] = ["x", "y", "z", "late"]
    run = configured_run(config, SCHEMA)
    assert run.reranker.trains_on("ontology") == []
    with pytest.raises(InputError, match="no language model that a reranker may learn"):
        run.reranker.name_of("x")


def test_training_depends_on_what_it_uses_alone(config):
    before = configured_run(config, SCHEMA).reranker.options()
    config["reranker"] = {**config["reranker"], "places": 7, "test_only": []}
    assert configured_run(config, SCHEMA).reranker.options() == before
    assert set(json.loads(before)) == {
        "rankers", "depth", "folds", "validation_share", "seeds", "penalties", "iterations",
        "training_depth", "monotone",
    }  # fmt: skip


def test_unknown_names_are_refused(config):
    config["reranker"]["test_only"] = ["nobody"]
    with pytest.raises(InputError, match="under 'llms:'"):
        configured_run(config, SCHEMA)


def test_the_table_reads_every_target(config):
    run = configured_run(config, SCHEMA)
    inputs = run.evaluation.table_inputs("pheval-2024", "reranker")
    for name in run.reranker.targets:
        assert f"results/pheval-2024/reranked/{name}/gold_ranks.parquet" in inputs
    assert "results/pheval-2024/fused_ranks/phenomizer/lopo/gate/x.parquet" in inputs
    assert "results/pheval-2024/gold_ranks/lirical/lopo.parquet" in inputs
