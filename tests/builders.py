"""What several folders of tests start from: artifacts by the real stages, the project's config."""

from pathlib import Path

import yaml

from rarefuse.annotations.build import annotations_stage
from rarefuse.annotations.lopo import lopo_stage
from rarefuse.corpus.readers import corpus_stage
from rarefuse.corpus.view import view_stage
from rarefuse.ontology.obo import ontology_stage

ROOT = Path(__file__).resolve().parents[1]


def project_config():
    """The project's configuration; its source registry is found from any folder."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    config["sources"]["registry"] = str(ROOT / "resources/sources.yaml")
    return config


def make_knowledge(knowledge, obo, hpoa):
    """The artifacts of ontology and annotations."""
    named = {name: knowledge / f"{name}.parquet" for name in ("terms", "aliases")}
    ontology_stage(obo=obo, **named)
    annotations_stage(
        hpoa=hpoa,
        **named,
        keep_zero_frequency=True,
        information_content_path=knowledge / "information_content.parquet",
        problems=knowledge / "annotation_problems.parquet",
        **{n: knowledge / f"{n}.parquet" for n in ("annotations", "diseases", "relations")},
    )


def make_corpus(corpus, knowledge, source):
    """Cases, view and LOPO of phenopackets, beside what `make_knowledge` made."""
    named = {name: knowledge / f"{name}.parquet" for name in ("terms", "aliases")}
    corpus_stage(
        name="tiny",
        reader="phenopackets",
        source=source,
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
