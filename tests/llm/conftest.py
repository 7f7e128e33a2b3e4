"""Corpora to ask about: the tiny one and the embedded one."""

import shutil
from pathlib import Path

import polars as pl
import pytest

from rarefuse.annotations.build import annotations_stage
from rarefuse.corpus.audit import audit_stage
from rarefuse.corpus.readers import corpus_stage
from rarefuse.corpus.splits import splits_stage
from rarefuse.corpus.view import view_stage
from rarefuse.llm.ask import ask_stage
from rarefuse.ontology.obo import ontology_stage
from rarefuse.slices import as_json
from rarefuse.sources.fetch import fetch
from rarefuse.sources.registry import load_registry

ROOT = Path(__file__).resolve().parents[2]


class Corpus:
    """Artifacts of a corpus, and the stage that asks about it."""

    def __init__(self, folder):
        self.folder = folder
        names = ("view", "audit", "cases", "withheld", "diseases", "terms", "aliases")
        self.artifacts = {name: folder / f"{name}.parquet" for name in names}

    def command(self, entry, output, *more):
        """The command line that asks."""
        options = [
            part for name, path in self.artifacts.items() for part in (f"--{name}", str(path))
        ]
        return [
            "ask", "arm", "--options", as_json(entry), "--output", str(output), *options, *more
        ]  # fmt: skip

    def ask(self, output, **entry):
        """Ask and return what stands in `output`."""
        ask_stage(**self.artifacts, arm="arm", entry=entry, output=output)
        return pl.read_parquet(output)


def make_corpus(folder, obo, hpoa, **corpus):
    """Artifacts of a corpus up to its audit, made by the stages that make them in a run."""
    at = {
        name: folder / f"{name}.parquet"
        for name in (
            "terms", "aliases", "annotations", "diseases", "relations", "problems", "cases",
            "skipped", "withheld", "view", "splits", "audit",
        )
    }  # fmt: skip

    def paths(*names):
        return {name: at[name] for name in names}

    ontology = paths("terms", "aliases")
    ontology_stage(obo=obo, **ontology)
    annotations_stage(
        hpoa=hpoa, information_content_path=folder / "information_content.parquet",
        keep_zero_frequency=True, **ontology,
        **paths("annotations", "diseases", "relations", "problems"),
    )  # fmt: skip
    corpus_stage(**corpus, **ontology, **paths("cases", "skipped", "withheld"))
    view_stage(**paths("cases", "view"), **ontology)
    options = {"seed": 1, "fractions": [0.5, 0.2, 0.3], "publications": None, "n_cases": None,
               "tolerance": 0.01}  # fmt: skip
    splits_stage(options=options, **paths("cases", "splits"))
    audit_stage(
        output=at["audit"], **paths("view", "cases", "withheld", "splits", "diseases"), **ontology
    )
    return folder


@pytest.fixture(scope="session")
def made_corpus(tiny, tmp_path_factory):
    return make_corpus(
        tmp_path_factory.mktemp("corpus"), tiny / "tiny.obo", tiny / "tiny.hpoa",
        name="tiny", reader="phenopackets", source=tiny / "phenopackets", options={},
    )  # fmt: skip


@pytest.fixture
def corpus(made_corpus, tmp_path):
    """The tiny corpus, 15 cases, in a folder of the test's own."""
    return Corpus(shutil.copytree(made_corpus, tmp_path / "corpus"))


@pytest.fixture(scope="session")
def resource(tmp_path_factory):
    """File of the source registry: of an earlier run, or fetched."""
    registry = load_registry(ROOT / "resources/sources.yaml")

    def find(name):
        source = registry[name]
        path = ROOT / "resources" / source.file
        if not path.exists():
            path = tmp_path_factory.getbasetemp() / "resources" / source.file
            fetch(source, path, mirror_dirs=[ROOT / "../shared/data"], progress=False)
        return path

    return find


@pytest.fixture(scope="session")
def made_embedded(resource, tmp_path_factory):
    hpoa = resource("hpoa-2026-06-23")
    return make_corpus(
        tmp_path_factory.mktemp("embedded"), resource("hpo-2026-06-06"), hpoa,
        name="hpoa-case-reports", reader="hpoa", source=hpoa, options={"min_observed": 3},
    )  # fmt: skip


@pytest.fixture
def embedded(made_embedded, tmp_path):
    """The embedded corpus, 532 cases, in a folder of the test's own."""
    return Corpus(shutil.copytree(made_embedded, tmp_path / "embedded"))
