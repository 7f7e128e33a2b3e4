"""The command as a user runs it, on the tiny release."""

import json
import shutil
import zipfile
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml

from builders import ROOT
from rarefuse.cli import main
from rarefuse.fusion.features import FEATURE_NAMES
from rarefuse.fusion.gate import METHODS, Fits, save_fits
from rarefuse.pheval.results import DISEASE_RESULT, USE
from rarefuse.rerank.checkpoint import Reranker, save_reranker
from rarefuse.rerank.columns import evidence_columns
from rarefuse.rerank.model import LEVELS, Shapes
from rarefuse.rerank.training import Fitted
from screens import unreadable

ATAXIA = ["--hpo", "HP:0001251,HP:0000639"]
ANSWER = "1. Basalt cataract\n2. No such disease\n3. Amber ataxia syndrome 1\n4. Basalt cataract\n"


@pytest.fixture
def run(folder, cache, capsys):
    """Run diagnose; exit status, standard output and standard error."""

    def call(*arguments):
        fixed = ["--config", str(folder / "config.yaml"), "--cache", str(cache), "--threads", "1"]
        status = main(["diagnose", *map(str, arguments), *fixed])
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def result(run):
    def call(*arguments):
        status, out, err = run(*arguments, "--format", "json")
        assert status == 0, err
        return json.loads(out)["diagnosis"]

    return call


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answer.txt"
    path.write_text(ANSWER)
    return path


@pytest.fixture
def gate(tmp_path):
    """A gate that knows one thing: the list whose first candidate is less similar counts more."""
    method = METHODS["linear-shared"]
    weight = np.zeros((2, len(FEATURE_NAMES), 1), np.float32)
    weight[:, FEATURE_NAMES.index("similarity_top1")] = -100.0
    width = len(FEATURE_NAMES)
    fits = Fits(
        "linear-shared",
        ["fold0.seed1", "fold1.seed1"],
        np.zeros((2, width)),
        np.ones((2, width)),
        [weight],
        [np.zeros((2, 1), np.float32)],
        np.ones(2),
    )
    assert len(method.sizes) == 2
    options = {"depth": 5, "kappa": 0}
    save_fits(
        [fits],
        {"component": "resnik", "options": options},
        tmp_path / "gate.safetensors",
        tmp_path / "gate.json",
    )
    return tmp_path


def make_reranker(folder, llm):
    """Two models, of fold 0 and 1; the second counts what the language model names first."""
    columns = evidence_columns(("phenomizer", "resnik"), ("phenomizer",), llm=llm)
    names = [column.name for column in columns]
    fitted = []
    for fold, height in ((0, 0.0), (1, 4.0)):
        cuts = np.full((len(columns), LEVELS - 1), 0.5)
        tables = np.zeros((len(columns), LEVELS))
        tables[names.index("direct_share"), -1] = 1.0
        if llm:
            tables[names.index("llm_first"), -1] = height
        fitted.append(Fitted(Shapes(columns, cuts, tables), fold, 1, 1.0, 0.0, 10))
    reranker = Reranker(
        tuple(fitted), ("phenomizer", "resnik"), ("phenomizer",), 5, llm,
        {"PMID:11": 0, "PMID:12": 1}, {},
    )  # fmt: skip
    save_reranker(reranker, folder)
    return folder


def test_terms_are_ranked_with_the_evidence_named(result):
    found = result(*ATAXIA, "--excluded-hpo", "HP:0000518,HP:0001250")
    assert found["order"] == "ontology"
    assert "Without a model and without answers" in found["notes"][0]
    assert [t["label"] for t in found["observed"]] == ["Ataxia", "Nystagmus"]
    first = found["candidates"][0]
    assert (first["rank"], first["disease_id"]) == (1, "OMIM:100001")
    assert first["name"] == "Amber ataxia syndrome 1"
    assert (first["weight_ontology"], first["weight_language_model"]) == (1.0, 0.0)
    assert first["lists"] == {"phenomizer": 1}
    ataxia, nystagmus = first["matches"]
    assert ataxia["annotation"] == ataxia["ancestor"] == {"id": "HP:0001251", "label": "Ataxia"}
    assert ataxia["relation"] == "the same term"
    # Three of fourteen diseases have ataxia.
    assert ataxia["information_content"] == pytest.approx(-np.log(3 / 14))
    assert (ataxia["numerator"], ataxia["denominator"]) == (3, 4)
    assert ataxia["publications"] == ["PMID:11"]
    assert (nystagmus["numerator"], nystagmus["denominator"]) == (2, 4)
    # Cataract stands in a NOT row, which is no annotation; Febrile seizure is one without a PMID.
    (seizure,) = first["contradictions"]
    assert seizure["annotation"]["label"] == "Febrile seizure"
    assert seizure["relation"] == "annotation is more specific"
    assert seizure["publications"] == []
    assert first["no_ontology_evidence"] is None
    assert 0 < first["p_value"] < 0.1


def test_related_and_missing_evidence_is_said_plainly(result):
    found = {c["disease_id"]: c for c in result("--hpo", "HP:0002943", "--top", "14")["candidates"]}
    (match,) = found["OMIM:100007"]["matches"]
    assert match["relation"] == "annotation is more general"
    assert match["annotation"]["label"] == match["ancestor"]["label"] == "Scoliosis"
    (match,) = found["OMIM:100011"]["matches"]
    assert match["relation"] == "related through a common ancestor"
    assert match["ancestor"]["label"] == "Abnormality of the skeletal system"
    (match,) = found["OMIM:100004"]["matches"]
    assert match["relation"] == "no informative common ancestor"
    mark = "no finding shares an informative ancestor with an annotation"
    assert found["OMIM:100004"]["no_ontology_evidence"] == mark
    assert found["OMIM:100014"]["no_ontology_evidence"] == "no phenotype annotation in the release"
    assert found["OMIM:100014"]["log10_likelihood_ratio"] is None
    assert found["OMIM:100014"]["annotations"] == 0


def test_a_publication_left_out_takes_its_annotations_along(result):
    found = result("--hpo", "HP:0000519", "--exclude-publication", "PMID:14", "--top", "14")
    # Both annotations of Basalt cataract rest on PMID:14 alone.
    assert found["removal"] == {
        "publications": ["PMID:14"], "relations": 2, "diseases": 1, "emptied": 1,
    }  # fmt: skip
    basalt = next(c for c in found["candidates"] if c["disease_id"] == "OMIM:100003")
    mark = "every annotation comes from the excluded publication"
    assert basalt["no_ontology_evidence"] == mark
    kept = result("--hpo", "HP:0001251", "--exclude-publication", "12")
    amber = next(c for c in kept["candidates"] if c["disease_id"] == "OMIM:100002")
    # PMID:13 supports it as well: it stays, and rests on that one.
    assert amber["matches"][0]["publications"] == ["PMID:13"]
    assert kept["removal"]["relations"] == 0


def test_own_publications_are_those_the_record_names(run, result, tmp_path, tiny):
    path = tmp_path / "case.json"
    packet = json.loads((tiny / "phenopackets" / "PMID_11_A.json").read_text())
    packet["metaData"] = {"externalReferences": [{"id": "PMID:11"}]}
    path.write_text(json.dumps(packet))
    found = result(path, "--exclude-publication", "own")
    assert found["removal"]["publications"] == ["PMID:11"]
    packet["metaData"] = {}
    path.write_text(json.dumps(packet))
    status, _, err = run(path, "--exclude-publication", "own")
    assert status == 2
    assert "names no publication" in err
    status, _, err = run(path, "--exclude-publication", "doi:10.1/2")
    assert status == 2
    assert "this is no publication" in err


def test_answers_count_as_much_as_the_ontology_without_a_model(result, answers):
    found = result(*ATAXIA, "--answers", answers)
    assert found["order"] == "equal-weight"
    assert found["unmatched"] == [{"place": 2, "name": "No such disease", "reason": "in no source"}]
    first, second = found["candidates"][:2]
    # Amber: place 1 and, names without a match taking no place, 2; Basalt: 1 with the model.
    assert (first["disease_id"], first["score"]) == ("OMIM:100001", 0.5 * (1 + 1 / 2))
    assert first["lists"]["language model"] == 2
    basalt = next(c for c in found["candidates"] if c["disease_id"] == "OMIM:100003")
    place = basalt["lists"]["phenomizer"]
    assert basalt["score"] == pytest.approx(0.5 * (1 + 1 / place))
    assert basalt == second
    assert basalt["named_as"] == "Basalt cataract"
    assert {c["weight_ontology"] for c in found["candidates"]} == {0.5}


def test_answers_may_be_a_json_list_of_names_and_ids(result, tmp_path):
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(["Basalt cataract", {"name": "x", "id": "MONDO:0000001"}]))
    places = {c["disease_id"]: c["lists"]["language model"]
              for c in result(*ATAXIA, "--answers", path)["candidates"]}  # fmt: skip
    assert places["OMIM:100003"] == 1
    assert places["OMIM:100001"] == 2


@pytest.mark.parametrize("content", ['{"a": 1}', "[1]", '[{"name": 3}]', "[", "x" * (1 << 20 | 1)])
def test_answers_of_another_shape_are_refused(run, tmp_path, content):
    path = tmp_path / "answer.json"
    path.write_text(content)
    status, _, err = run(*ATAXIA, "--answers", path)
    assert status == 2
    assert "answers cannot be used" in err


def test_a_gate_weighs_the_lists(result, answers, gate):
    found = result(*ATAXIA, "--answers", answers, "--model", gate)
    assert found["order"] == "gate"
    assert found["ranker"] == "resnik"
    # Basalt is less similar to ataxia and nystagmus than Amber: all weight to the model's list.
    first = found["candidates"][0]
    assert first["disease_id"] == "OMIM:100003"
    assert first["weight_ontology"] == pytest.approx(0.0, abs=1e-6)
    assert first["weight_language_model"] == pytest.approx(1.0)
    alone = result(*ATAXIA, "--model", gate)
    assert alone["order"] == "ontology"
    assert "no answers" in alone["notes"][0]


def test_a_reranker_orders_and_its_contributions_add_up(result, answers, tmp_path):
    folder = make_reranker(tmp_path / "reranker", True)
    found = result(*ATAXIA, "--answers", answers, "--model", folder)
    assert found["order"] == "reranker"
    for candidate in found["candidates"]:
        assert sum(candidate["contributions"].values()) == pytest.approx(candidate["score"])
    # Mean of both models: 1 for a direct annotation of all terms, 2 for being named first.
    by_id = {c["disease_id"]: c for c in found["candidates"]}
    assert by_id["OMIM:100003"]["contributions"]["language_model"] == 2.0
    assert by_id["OMIM:100001"]["contributions"]["observed_findings"] == 1.0
    assert found["candidates"][0]["disease_id"] == "OMIM:100003"
    # PMID:11 was tested by fold 0, whose model gives the name nothing.
    seen = result(*ATAXIA, "--answers", answers, "--model", folder,
                  "--exclude-publication", "PMID:11")  # fmt: skip
    assert {c["contributions"]["language_model"] for c in seen["candidates"]} == {0.0}
    assert any("only the models that have not seen it" in note for note in seen["notes"])
    without = [part for p in ("PMID:11", "PMID:12") for part in ("--exclude-publication", p)]
    both = result(*ATAXIA, "--answers", answers, "--model", folder, *without)
    assert any("several folds" in note for note in both["notes"])


def test_a_reranker_that_reads_names_needs_them(run, result, answers, tmp_path):
    status, _, err = run(*ATAXIA, "--model", make_reranker(tmp_path / "a", True))
    assert status == 2
    assert "trained with a language model's names" in err
    found = result(*ATAXIA, "--answers", answers, "--model", make_reranker(tmp_path / "b", False))
    assert any("reads no names" in note for note in found["notes"])


def test_damaged_and_missing_checkpoints_are_refused(run, gate, tmp_path):
    tensors = gate / "gate.safetensors"
    tensors.write_bytes(tensors.read_bytes()[:-1] + b"\1")
    for path, message in ((gate, "tensors are not those"), (tmp_path / "no", "no checkpoint")):
        status, _, err = run(*ATAXIA, "--model", path)
        assert status == 2
        assert message in err
    folder = make_reranker(tmp_path / "r", False)
    status, _, err = run(*ATAXIA, "--model", folder, "--model", folder)
    assert "two rerankers" in err


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "one source of findings"),
        ([*ATAXIA, "--batch", "x", "--output", "y"], "one source of findings"),
        (["--excluded-hpo", "HP:0001250"], "one source of findings"),
        ([*ATAXIA, "--format", "html"], "no text for a terminal"),
        ([*ATAXIA, "--format", "html", "--format", "json"], "need a folder"),
        ([*ATAXIA, "--llm", "nobody"], "no such language model"),
        ([*ATAXIA, "--llm", "smollm2-135m"], "has not been prepared"),
        ([*ATAXIA, "--llm", "a", "--answers", "b"], "one place only"),
        (["--hpo", "HP:0000099"], "no observed phenotypic feature"),
        (["nothing.json"], "cannot be read"),
    ],
)
def test_mistakes_are_explained(run, arguments, message):
    status, _, err = run(*arguments)
    assert status == 2
    assert message in err


def test_a_missing_configuration_says_where_to_run(capsys, tmp_path):
    assert main(["diagnose", *ATAXIA, "--config", str(tmp_path / "config.yaml")]) == 2
    assert "run in the checkout's folder" in capsys.readouterr().err


def test_an_endpoint_is_asked_once_about_the_same_findings(run, folder, server, tmp_path, cache):
    overlay = tmp_path / "overlay.yaml"
    entry = {"family": "X", "backend": "openai", "model": "m", "base_url": server.base_url}
    overlay.write_text(yaml.safe_dump({"llms": {"asked": entry}}))
    server.behave = lambda handler, request, nth: handler.complete("1. Basalt cataract")
    for _ in range(2):
        status, out, err = run(*ATAXIA, "--llm", "asked", "--format", "json",
                               "--config", folder / "config.yaml", "--config", overlay)  # fmt: skip
        assert status == 0, err
        first = json.loads(out)["diagnosis"]
        assert first["answered_by"] == "asked"
        assert any(c["lists"]["language model"] == 1 for c in first["candidates"])
    ((prompt, times),) = server.asked.items()
    assert times == 1
    assert prompt.startswith("Observed findings:\n- Ataxia\n- Nystagmus\n")


class Texts(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text, self.ids, self.links = [], [], set(), []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        own = dict(attributes)
        self.ids.add(own.get("id"))
        self.links += [own["href"]] if "href" in own else []

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_is_self_contained_and_escapes_what_the_record_says(run, tmp_path, tiny):
    packet = json.loads((tiny / "phenopackets" / "PMID_11_A.json").read_text())
    evil = "<script>alert(1)</script>"
    packet["id"] = evil
    packet[f"<img src=x onerror={evil}>"] = 1
    packet["phenotypicFeatures"].append({"type": {"id": evil}})
    path, answer = tmp_path / "a.json", tmp_path / "b.json"
    path.write_text(json.dumps(packet))
    answer.write_text(json.dumps([evil, "Basalt cataract"]))
    page = tmp_path / "page.html"
    status, out, err = run(path, "--answers", answer, "--format", "html", "--output", page)
    assert (status, out) == (0, ""), err
    html = page.read_text()
    found = Texts()
    found.feed(html)
    assert "script" not in found.tags
    assert "img" not in found.tags
    assert html.count("&lt;script&gt;") >= 4
    assert "Research use only." in html
    text = " ".join("".join(found.text).split())
    assert "Amber ataxia syndrome 1 OMIM:100001" in text
    assert "Ataxia HP:0001251" in text
    anchors = [link[1:] for link in found.links if link.startswith("#")]
    assert anchors
    assert set(anchors) <= found.ids
    outside = [link for link in found.links if not link.startswith("#")]
    assert all(link.startswith("https://pubmed.ncbi.nlm.nih.gov/") for link in outside)
    run(path, "--answers", answer, "--format", "html", "--output", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == html


def test_the_table_obeys_no_control_characters(run, tmp_path):
    path = tmp_path / "a.json"
    features = [{"type": {"id": "HP:0001251"}}, {"type": {"id": "\x1b[2J"}}]
    path.write_text(json.dumps({"id": "\x1b]0;x\x07", "phenotypicFeatures": features}))
    status, out, _ = run(path)
    assert status == 0
    assert "\x1b" not in out
    assert out.rstrip().endswith(USE)
    assert "OMIM:100002" in out


def test_every_format_says_what_it_is_for(run, tmp_path):
    formats = [part for kind in ("table", "json", "html", "pheval") for part in ("--format", kind)]
    status, _, err = run(*ATAXIA, *formats, "--output", tmp_path / "out")
    assert status == 0, err
    files = sorted(p.relative_to(tmp_path / "out").as_posix()
                   for p in (tmp_path / "out").rglob("*") if p.is_file())  # fmt: skip
    result = "pheval_disease_results/terms-disease_result.parquet"
    assert files == [result, "terms.html", "terms.json", "terms.txt"]
    for name in files[1:]:
        assert "Research use only" in (tmp_path / "out" / name).read_text()
    frame = pl.read_parquet(tmp_path / "out" / result)
    DISEASE_RESULT.check(frame, result)
    assert frame["rank"].to_list()[:3] == [1, 2, 3]
    assert frame["disease_identifier"][0] == "OMIM:100001"
    assert frame["mondo_identifier"][0] == "MONDO:0000001"
    assert frame["score"].is_sorted(descending=True)
    meaning = pq.read_schema(tmp_path / "out" / result).field("rank").metadata[b"meaning"]
    assert b"Research use only" in meaning


def test_a_folder_is_ranked_and_what_is_skipped_is_counted(run, tmp_path, tiny):
    folder = tmp_path / "patients"
    (folder / "below").mkdir(parents=True)
    for name in ("PMID_11_A", "PMID_12_A"):
        shutil.copy(tiny / "phenopackets" / f"{name}.json", folder / "below")
    packet = json.loads((tiny / "phenopackets" / "PMID_14_A.json").read_text())
    (folder / "c.yaml").write_text(yaml.safe_dump(packet))
    (folder / "broken.json").write_text("{")
    (folder / "empty.json").write_text('{"phenotypicFeatures": []}')
    (folder / "notes.txt").write_text("no patient")
    answers = tmp_path / "answers"
    answers.mkdir()
    (answers / "c.txt").write_text("1. Cobalt dystrophy\n")
    status, _, err = run("--batch", folder, "--output", tmp_path / "out", "--answers", answers)
    assert status == 0
    assert "3 patients diagnosed, 3 files skipped" in err
    assert "skipped 1 × the file is neither JSON nor YAML" in err
    skipped = (tmp_path / "out" / "skipped.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in skipped] == [
        "record", "broken.json", "empty.json", "notes.txt",
    ]  # fmt: skip
    found = json.loads((tmp_path / "out" / "c.json").read_text())["diagnosis"]
    places = {c["disease_id"]: c["lists"]["language model"] for c in found["candidates"]}
    assert places["OMIM:100004"] == 1
    single = run(folder / "c.yaml", "--format", "json", "--answers", answers / "c.txt")[1]
    assert json.loads(single)["diagnosis"]["candidates"] == found["candidates"]
    rows = (tmp_path / "out" / "candidates.tsv").read_text().splitlines()
    assert rows[0].startswith("# Research use only")
    assert {row.split("\t")[0] for row in rows[2:]} == {
        "below/PMID_11_A.json", "below/PMID_12_A.json", "c.yaml",
    }  # fmt: skip
    assert (tmp_path / "out" / "below" / "PMID_11_A.json").is_file()


def test_a_folder_without_patients_is_an_error(run, tmp_path):
    (tmp_path / "in").mkdir()
    status, _, err = run("--batch", tmp_path / "in", "--output", tmp_path / "out")
    assert status == 2
    assert "no file of the folder is a patient" in err


def test_a_finding_that_no_patient_had_is_no_evidence(result, run):
    """Cobalt dystrophy: cataract in 0 of 2. Its absence agrees, its presence stays unexplained."""
    found = result("--hpo", "HP:0000510", "--excluded-hpo", "HP:0000518")
    by_id = {c["disease_id"]: c for c in found["candidates"]}
    assert by_id["OMIM:100004"]["contradictions"] == []
    (garnet,) = by_id["OMIM:100008"]["contradictions"]
    assert (garnet["numerator"], garnet["denominator"]) == (1, 3)
    _, out, _ = run("--hpo", "HP:0000510,HP:0000518")
    (row,) = (line for line in out.splitlines() if "OMIM:100004" in line)
    assert row.split()[-1] == "1/2"


def test_results_never_replace_what_they_are_made_from(run, tmp_path, tiny):
    case = tmp_path / "case.json"
    shutil.copy(tiny / "phenopackets/PMID_11_A.json", case)
    before = case.read_bytes()
    for arguments in (
        [case, "--format", "json", "--output", case],
        [case, "--format", "json", "--output", tmp_path],
        ["--batch", tmp_path, "--output", tmp_path],
    ):
        status, _, err = run(*arguments)
        assert status == 2
        assert "replace" in err
        assert case.read_bytes() == before


def test_a_folder_that_is_not_there(run, tmp_path):
    """Said as it is, also where the folder of results is there already."""
    status, _, err = run("--batch", tmp_path / "nowhere", "--output", tmp_path)
    assert status == 2
    assert "there is no such folder of patients" in err


def test_an_answer_without_a_name_is_said_to_be_one(run, tmp_path):
    (tmp_path / "a.txt").write_text("I cannot help with that.")
    status, _, err = run(*ATAXIA, "--answers", tmp_path / "a.txt")
    assert status == 0
    assert "the answer names no disease" in err


def test_an_output_that_is_no_file(run):
    status, _, err = run(*ATAXIA, "--format", "json", "--output", "/dev/null")
    assert status == 2
    assert "no file that can be written" in err


def test_patients_of_one_name_and_answers_that_cannot_be_read(run, tmp_path, tiny):
    """None is lost, none takes another's file, and each that is left out is counted."""
    cases, answers, out = (tmp_path / name for name in ("cases", "answers", "out"))
    cases.mkdir()
    answers.mkdir()
    packet = (tiny / "phenopackets/PMID_11_A.json").read_text()
    for name in ("a.json", "a.yaml", "b.json", "c.json"):
        (cases / name).write_text(packet)
    (cases / "odd.json").write_text(packet.replace('"sex": "', '"sex": ["x"], "s": "'))
    (cases / "gone.json").symlink_to(tmp_path / "nowhere")
    (answers / "b.json").write_text("[5]")
    status, _, err = run("--batch", cases, "--answers", answers, "--output", out)
    assert status == 0
    assert "skipped 1 × another patient of this folder has the same file name" in err
    assert "skipped 1 × no file, or a link to none" in err
    assert "3 patients without a file of answers" in err
    assert sorted(p.name for p in out.glob("*.json")) == ["a.json", "c.json", "odd.json"]
    rows = (out / "skipped.tsv").read_text()
    assert "b.json" in rows
    status, _, err = run("--batch", cases, "--answers", tmp_path / "none", "--output", out)
    assert status == 2
    assert "answers of a folder of patients are a folder" in err


EXAMPLE = ROOT / "workflow/examples/patient.json"


def test_the_example_that_is_shown(run, tmp_path):
    page = tmp_path / "page.html"
    arguments = [EXAMPLE, "--exclude-publication", "own", "--format", "html", "--output", page]
    status, out, err = run(*arguments)
    assert (status, out) == (0, "")
    assert f"written: {page}" in err
    html = page.read_text()
    assert '<a href="https://pubmed.ncbi.nlm.nih.gov/9817917/">PMID:9817917</a></strong>' in html
    assert "the order is that of Phenomizer (sampled null)." in html
    assert "The reciprocal of the place in the ontology ranker" in html


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_on_a_screen_and_on_a_phone(run, gate, answers, browser, tmp_path, width):
    """Everything can be read, every list has a name that a reader knows, the score is explained."""
    path = tmp_path / "page.html"
    fixed = ["--answers", answers, "--model", gate, "--format", "html", "--output", path]
    assert run(EXAMPLE, *fixed)[0] == 0
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri())
    assert unreadable(page) == []
    assert "The reciprocals of the places in both lists" in page.locator("main").inner_text()
    heads = page.locator("thead tr:nth-child(2) th").all_inner_texts()
    assert [" ".join(head.split()) for head in heads[:2]] == ["Resnik similarity", "Language model"]
    page.close()


@pytest.mark.realdata
def test_the_example_shows_what_its_own_paper_is_worth(real, tmp_path, capsys):
    """Wolfram syndrome 1 is the less likely by seventeen tenths of a power of ten without it."""
    fixed = ["--config", real / "config.yaml", "--format", "json", "--cache", tmp_path / "cache"]
    ratios = []
    for own in ([], ["--exclude-publication", "own"]):
        assert main([str(a) for a in ("diagnose", EXAMPLE, *fixed, *own)]) == 0
        found = json.loads(capsys.readouterr().out)["diagnosis"]
        assert "unknown" not in " ".join(found["left_out"])
        (gold,) = (c for c in found["candidates"] if c["disease_id"] == "OMIM:222300")
        ratios.append(round(gold["log10_likelihood_ratio"], 1))
    assert ratios == [9.2, 7.5]
    assert (found["removal"]["relations"], found["removal"]["diseases"]) == (3, 1)


@pytest.mark.realdata
@pytest.mark.parametrize("corpus", ["lirical", "structural_variants"])
def test_three_real_phenopackets_of_each_corpus(data, real, tmp_path, capsys, corpus):
    with zipfile.ZipFile(data / "lirical" / f"pheval_corpus_{corpus}.zip") as packed:
        names = sorted(name for name in packed.namelist() if name.endswith(".json"))
        packets = {name: json.loads(packed.read(name)) for name in names}
    # With a listed disease, with an excluded finding, and with neither age nor sex, if any has.
    wanted = (
        lambda p: "diseases" in p,
        lambda p: any(f.get("excluded") for f in p["phenotypicFeatures"]),
        lambda p: not p["subject"].keys() & {"sex", "timeAtLastEncounter"},
    )
    chosen = [next((n for n in names if test(packets[n])), names[-1]) for test in wanted]
    assert len(set(chosen)) >= 2
    for name in {*chosen, names[0], names[-1]}:
        path = tmp_path / "case.json"
        path.write_text(json.dumps(packets[name]))
        arguments = ["diagnose", path, "--config", real / "config.yaml", "--format", "json"]
        assert main([*map(str, arguments), "--cache", str(tmp_path.parent / "cache")]) == 0
        found = json.loads(capsys.readouterr().out)["diagnosis"]
        assert found["schema"] == "2"
        assert len(found["candidates"]) == 20
        # The diagnosis, the evidence codes and what made the file are not used, and said to be so.
        assert found["unused"]["interpretations"] == 1
        evidence = sum(len(f.get("evidence", [])) for f in packets[name]["phenotypicFeatures"])
        assert found["unused"]["phenotypicFeatures.evidence"] == evidence
        features = len(packets[name]["phenotypicFeatures"])
        dropped = sum(
            len(details) * (2 if reason == "term both observed and excluded" else 1)
            for reason, details in found["left_out"].items()
            if "mapped" not in reason and "age" not in reason
        )
        assert len(found["observed"]) + len(found["excluded"]) + dropped == features
        for candidate in found["candidates"]:
            assert candidate["name"]
            assert len(candidate["matches"]) == len(found["observed"])
            for match in candidate["matches"]:
                for part in ("query", "annotation", "ancestor"):
                    assert match[part] is None or (match[part]["id"] and match[part]["label"])
