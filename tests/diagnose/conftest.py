"""The tiny release as knowledge artifacts and as a library, in a checkout of its own."""

import shutil

import polars as pl
import pytest
import yaml

from builders import ROOT, make_knowledge, project_config
from rarefuse import artifacts
from rarefuse.diagnose.library import make_library
from rarefuse.naming.lexicon import CROSSWALK, LEXICON


def checkout(base, **changed):
    """A folder with a configuration, changed, and all that reading it takes."""
    schema = base / "workflow" / "schemas" / "config.schema.yaml"
    schema.parent.mkdir(parents=True)
    shutil.copy(ROOT / "workflow" / "schemas" / "config.schema.yaml", schema)
    config = project_config()
    for section, values in changed.items():
        config[section] = {**config[section], **values} if isinstance(values, dict) else values
    config["rankers"]["phenomizer"]["samples"] = 500
    config["sources"]["registry"] = "sources.yaml"
    (base / "config.yaml").write_text(yaml.safe_dump(config))
    return base


@pytest.fixture(scope="session")
def folder(tiny, tmp_path_factory):
    """A checkout with a blank in its path, and the knowledge of the tiny release."""
    base = checkout(
        tmp_path_factory.mktemp("a checkout"),
        knowledge={"hpo": "tiny-hpo", "hpoa": "tiny-hpoa"},
        corpora={"tiny": {"reader": "phenopackets", "path": str(tiny / "phenopackets")}},
        corpus="tiny",
    )
    shutil.copy(tiny / "sources.yaml", base / "sources.yaml")
    knowledge = base / "results" / "knowledge" / "tiny-hpo_tiny-hpoa"
    make_knowledge(knowledge, tiny / "tiny.obo", tiny / "tiny.hpoa")
    names = pl.read_parquet(knowledge / "diseases.parquet").select("disease_id", "name")
    lexicon = pl.DataFrame(
        [(name, "hpoa name", disease, None, True) for disease, name in names.iter_rows()],
        schema=LEXICON.dtypes,
        orient="row",
    ).sort("form")
    artifacts.write(lexicon, LEXICON, knowledge / "lexicon.parquet")
    walk = pl.DataFrame(
        [("MONDO:0000001", "OMIM:100001"), ("ORPHA:7", "OMIM:100003")],
        schema=CROSSWALK.dtypes,
        orient="row",
    )
    artifacts.write(walk, CROSSWALK, knowledge / "crosswalk.parquet")
    return base


@pytest.fixture(scope="session")
def knowledge(folder):
    return folder / "results" / "knowledge" / "tiny-hpo_tiny-hpoa"


@pytest.fixture(scope="session")
def library(knowledge):
    return make_library(knowledge)


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def real(data, tmp_path_factory):
    """A checkout with the knowledge of the pinned releases."""
    base = checkout(tmp_path_factory.mktemp("real"))
    shutil.copy(ROOT / "resources" / "sources.yaml", base / "sources.yaml")
    make_knowledge(
        base / "results" / "knowledge" / "hpo-2026-06-06_hpoa-2026-06-23",
        data / "hpoa" / "hp_2026-06-06.obo.gz",
        data / "hpoa" / "phenotype_2026-06-23.hpoa.gz",
    )
    return base
