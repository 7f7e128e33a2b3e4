"""What several folders of tests start from: artifacts by the real stages, the project's config."""

import json
from pathlib import Path

import yaml

from rarefuse.annotations.build import annotations_stage
from rarefuse.annotations.lopo import lopo_stage
from rarefuse.cli import main
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


def make_index(folder, obo, centroid):
    """A retrieval index of a whole ontology, by the commands of the workflow."""
    lists = [folder / f"lists/{system}.seed0.parquet" for system in ("reference", "centroid")]
    model, mixing = folder / "models/seed0.safetensors", folder / "models/seed0.mixing.json"
    settings = {"split_seed": 0, "inductive": True, "centroid": centroid}
    own = ["--folder", str(folder)]
    seeded = [*own, "--seed", "0"]
    for arguments in (
        ["retrieval-set", "--source", str(obo), *own, "--options",
         json.dumps({"sampler": "reference", "size": None, "seed": 0})],
        ["retrieval-encode", *own, "--options",
         json.dumps({"encoder": "all-MiniLM-L6-v2", "seeds": [0]})],
        ["retrieval-reference", *seeded, "--output", str(lists[0])],
        ["retrieval-train", *seeded, "--options", json.dumps(settings), "--output", str(model)],
        ["retrieval-search", *seeded, "--tables", str(model), "--output", str(lists[1]),
         "--mixing", str(mixing)],
        ["retrieval-index", *seeded, "--tables", str(model), "--mixing", str(mixing),
         "--output", str(folder / "index")],
    ):  # fmt: skip
        assert main(arguments) == 0
    return folder
