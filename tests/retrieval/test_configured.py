"""What the Snakefile asks about the retrieval part."""

import json

import pytest

from builders import ROOT, project_config
from rarefuse.config import check_config, load_schema
from rarefuse.errors import InputError
from rarefuse.retrieval.catalogue import TABLES
from rarefuse.workflow import configured_run

SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"


@pytest.fixture
def config(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return project_config()


@pytest.fixture
def retrieval(config):
    config["retrieval"]["sets"]["mine"] = {"path": "/nowhere/x.obo"}
    return configured_run(config, SCHEMA).retrieval


def test_a_set_of_the_registry_and_one_of_ones_own(retrieval, tmp_path):
    assert retrieval.set_path("hpo-5k") == "resources/hp_2026-01-08.obo"
    assert json.loads(retrieval.set_options("hpo-5k")) == {
        "sampler": "reference", "size": 5000, "seed": 0,
    }  # fmt: skip
    assert json.loads(retrieval.set_options("mine"))["size"] is None
    with pytest.raises(InputError, match="not where the config says"):
        retrieval.set_path("mine")


def test_tables_depend_on_their_slice_alone(retrieval):
    lists = retrieval.table_inputs("hpo-5k", "main")
    assert len(lists) == 10
    assert lists[0] == "results/retrieval/hpo-5k/lists/reference.seed0.parquet"
    assert retrieval.table_inputs("hpo-5k", "theory") == []
    assert retrieval.table_inputs("x", "efficiency") == [
        "results/retrieval/x/models/seed0.safetensors"
    ]
    assert "resamples" not in json.loads(retrieval.table_options("indexability"))
    assert "radii" not in json.loads(retrieval.table_options("pooling"))
    for table in TABLES:
        assert len(retrieval.table_code(table)) == 16


def test_what_is_about_no_set_is_made_once(config):
    config["retrieval"]["sets"]["deep"] = {"source": "hpo-2026-01-08", "sampler": "deep"}
    config["retrieval"]["tables"] = ["main", "theory"]
    assert configured_run(config, SCHEMA).retrieval.targets() == [
        "results/retrieval/hpo-5k/tables/main.parquet",
        "results/retrieval/hpo-5k/tables/theory.parquet",
        "results/retrieval/hpo-5k/index/settings.json",
        "results/retrieval/deep/tables/main.parquet",
        "results/retrieval/deep/index/settings.json",
    ]


def test_the_schema_names_every_table():
    schema = load_schema(SCHEMA)["properties"]["retrieval"]["properties"]["tables"]
    assert set(schema["items"]["enum"]) == set(TABLES)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"sets": {"a": {"size": 5}}}, "cannot be used"),
        ({"sets": {"a": {}}}, "a set needs one place"),
        ({"sets": {"a": {"source": "hpo", "sampler": "random"}}}, "cannot be used"),
        ({"centroid": {"radius": 0}}, "cannot be used"),
        ({"centroid": {"curvature": 1}}, "unknown key"),
    ],
)
def test_mistakes(config, change, message):
    config["retrieval"] |= change
    with pytest.raises(InputError, match=message):
        check_config(config, load_schema(SCHEMA))


def test_a_corpus_cannot_take_the_folder(config):
    config["corpora"]["retrieval"] = {"reader": "hpoa", "source": "hpoa-2026-06-23"}
    with pytest.raises(InputError, match="name that cannot be used"):
        check_config(config, load_schema(SCHEMA))
