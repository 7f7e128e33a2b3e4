"""The tiny corpus as artifacts, and stock programs that are stand-ins compiled in the test."""

from types import SimpleNamespace

import pytest

from rarefuse.annotations.build import annotations_stage
from rarefuse.annotations.lopo import lopo_stage
from rarefuse.corpus.readers import corpus_stage
from rarefuse.corpus.view import view_stage
from rarefuse.ontology.obo import ontology_stage
from rarefuse.rankers.stock.lirical import LiricalStock
from rarefuse.rankers.stock.process import file_digest
from rarefuse.rankers.stock.run import read_world


@pytest.fixture(scope="session")
def artifacts_of_tiny(tmp_path_factory, tiny):
    """Folders of knowledge and corpus, and the annotation file."""
    root = tmp_path_factory.mktemp("tiny")
    knowledge, corpus = root / "knowledge", root / "corpus"
    named = {"terms": knowledge / "terms.parquet", "aliases": knowledge / "aliases.parquet"}
    ontology_stage(obo=tiny / "tiny.obo", **named)
    annotations_stage(
        hpoa=tiny / "tiny.hpoa",
        **named,
        keep_zero_frequency=True,
        information_content_path=knowledge / "information_content.parquet",
        problems=knowledge / "problems.parquet",
        **{n: knowledge / f"{n}.parquet" for n in ("annotations", "diseases", "relations")},
    )
    corpus_stage(
        name="tiny",
        reader="phenopackets",
        source=tiny / "phenopackets",
        options={},
        **named,
        **{n: corpus / f"{n}.parquet" for n in ("cases", "skipped", "withheld")},
    )
    view_stage(cases=corpus / "cases.parquet", view=corpus / "view.parquet", **named)
    lopo_stage(
        cases=corpus / "cases.parquet",
        relations=knowledge / "relations.parquet",
        output=corpus / "lopo.parquet",
    )
    return SimpleNamespace(knowledge=knowledge, corpus=corpus, hpoa=tiny / "tiny.hpoa")


@pytest.fixture(scope="session")
def tiny_world(artifacts_of_tiny):
    """World of the 14 rankable cases, and their diagnoses."""
    return read_world(**vars(artifacts_of_tiny))


@pytest.fixture
def lirical(lirical_jar, tmp_path):
    """Make a program whose data folder says how cases with some term fare."""

    def make(*behaviour, **options):
        data = tmp_path / "Daten für alle"
        data.mkdir(exist_ok=True)
        lines = [f"log {tmp_path / 'finished Fälle.log'}", *behaviour]
        (data / "behaviour.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (data / "phenotype.hpoa").write_text("never to be read\n")
        return LiricalStock(
            **{
                "jar": str(lirical_jar),
                "sha256": file_digest(lirical_jar),
                "data": str(data),
                "java_options": ("-XX:TieredStopAtLevel=1",),  # starts sooner
                "time_limit": 30.0,
                **options,
            }
        )

    return make


@pytest.fixture
def finished(tmp_path):
    """Case ids that the stand-in has finished, in order."""

    def read():
        log = tmp_path / "finished Fälle.log"
        return log.read_text(encoding="utf-8").split() if log.exists() else []

    return read
