"""The audit as one command, on the tiny release: outputs, exit status, bad input, escaping."""

import gzip
import os
import shutil
import zipfile
from html.parser import HTMLParser

import polars as pl
import pytest

from rarefuse import __version__, artifacts
from rarefuse.annotations.hpoa import read_hpoa
from rarefuse.annotations.relations import build_relations
from rarefuse.cli import main
from rarefuse.errors import InputError
from rarefuse.provenance.overlap_audit import AUDITED
from rarefuse.report import overlap_stage as stage

FILES = {"cases.parquet", "cases.tsv", "publications.tsv", "lopo.tsv", "summary.tsv", "index.html"}


class Page(HTMLParser):
    """Text of the page, its tags and addresses; fails on a wrongly nested element."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.tags, self.links, self.rows = [], [], [], [], 0

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in {"meta", "br", "link", "input"}:
            self.open.append(tag)
        self.rows += tag == "tr"

    def handle_startendtag(self, tag, attrs):
        self.links += [value for name, value in attrs if name == "src"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(data)


def parsed(path):
    page = Page()
    page.feed(path.read_text())
    assert page.open == []
    return page, " ".join("".join(page.text).replace("\u00a0", " ").split())


@pytest.fixture
def run(tiny, tmp_path, capsys):
    """Run the command on the tiny release; returns status, standard output and error."""

    def command(*more, cases=None, hpoa=None, hpo=True):
        arguments = ["audit-overlap", "--hpoa", str(hpoa or tiny / "tiny.hpoa"),
                     "--cases", str(cases or tiny / "phenopackets"), "--resamples", "50",
                     "--output", str(tmp_path / "out")]  # fmt: skip
        arguments += ["--hpo", str(tiny / "tiny.obo")] if hpo else []
        status = main([*arguments, *map(str, more)])
        return status, *capsys.readouterr()

    return command


def table(tmp_path, *rows, head="case_id\tpublication\tdisease\tobserved"):
    path = tmp_path / "cases.tsv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_what_it_writes_and_prints(run, tmp_path):
    status, printed, _ = run()
    assert status == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert printed.startswith(
        "Of 14 cases that name a publication and have an annotated diagnosis, "
    )
    assert " 12 (85.7 %; 95 % interval [" in printed.replace("\n", " ")
    assert "1  diagnosis has no annotation in this release" in printed
    assert str(tmp_path / "out" / "index.html") in printed.splitlines()[-1]
    assert printed.isascii()
    assert max(map(len, printed.splitlines()[:-1])) <= 100
    cases = artifacts.read(tmp_path / "out" / "cases.parquet", AUDITED)
    assert cases.height == 15
    flat = pl.read_csv(tmp_path / "out" / "cases.tsv", separator="\t")
    assert flat["record"].equals(cases["record"])
    assert flat["overlap"].sum() == 12
    summary = pl.read_csv(tmp_path / "out" / "summary.tsv", separator="\t")
    assert summary.filter(pl.col("metric") == "overlap_share")["value"][0] == 12 / 14
    publications = pl.read_csv(tmp_path / "out" / "publications.tsv", separator="\t")
    emptied = dict(publications.select("publication_id", "emptied").iter_rows())
    assert (emptied["PMID:14"], emptied["PMID:11"]) == ("OMIM:100003", None)


def test_the_page_says_what_was_found_and_how(run, tmp_path, tiny):
    run()
    page, text = parsed(tmp_path / "out" / "index.html")
    assert "Of 14 cases" in text
    assert "12 (85.7 %" in text
    assert f"rarefuse {__version__}" in text
    for path in (tiny / "tiny.hpoa", tiny / "tiny.obo"):
        assert stage._digest(path)[1] in text
    assert "Read without an ontology" not in text
    assert "arXiv:2609.02473" in text
    # Nothing is fetched: every address is a place in the page.
    assert {link[0] for link in page.links} == {"#"}
    anchors = {link[1:] for link in page.links}
    assert all(
        f'id="{anchor}"' in (tmp_path / "out" / "index.html").read_text() for anchor in anchors
    )


def test_the_same_input_gives_the_same_bytes(run, tmp_path):
    run()
    first = {name: (tmp_path / "out" / name).read_bytes() for name in FILES}
    shutil.rmtree(tmp_path / "out")
    run()
    assert first == {name: (tmp_path / "out" / name).read_bytes() for name in FILES}


def test_without_an_ontology_the_page_says_so(run, tmp_path):
    status, printed, _ = run(hpo=False)
    assert status == 0
    assert "12 (85.7 %" in printed
    assert "Read without an ontology" in parsed(tmp_path / "out" / "index.html")[1]


def test_a_gzipped_release_of_before_2023(run, tmp_path, tiny):
    old = (tiny / "tiny.hpoa").read_text().replace("#version: tiny", "#date: 2021-02-28")
    header = (
        "database_id\tdisease_name\tqualifier\thpo_id",
        "#DatabaseID\tDiseaseName\tQualifier\tHPO_ID",
    )
    path = tmp_path / "old.hpoa.gz"
    path.write_bytes(gzip.compress(old.replace(*header).encode()))
    status, printed, _ = run(hpoa=path)
    assert status == 0
    assert "12 (85.7 %" in printed
    assert "overlap with HPOA 2021-02-28" in printed.replace("\n", " ")


def test_a_table_with_orpha_diagnoses_and_a_map(run, tmp_path):
    cases = table(tmp_path, "a\t11\tOMIM:100001\tHP:0001251", "b\t14\tORPHA:1\tHP:0000519",
                  "c\t14\tORPHA:2\tHP:0000519")  # fmt: skip
    known = tmp_path / "map.tsv"
    known.write_text("OMIM:100003\tORPHA:1\nOMIM:100003\tORPHA:2\nOMIM:100004\tORPHA:2\n")
    _, printed, _ = run(cases=cases)
    assert "Of 1 case that" in printed
    assert "2  diagnosis is an ORPHA id and no disease map was given" in printed
    _, printed, _ = run("--disease-map", known, cases=cases)
    assert "Of 2 cases" in printed
    assert "1  ORPHA diagnosis: several exact equivalents" in printed


@pytest.mark.parametrize("limit, status", [("0.86", 0), ("0.85", 1), ("0", 1), ("1", 0)])
def test_fail_above(run, limit, status):
    found, _, error = run("--fail-above", limit)
    assert found == status
    assert ("failed: overlap of 85.7 % is above the limit" in error) == bool(status)


@pytest.mark.parametrize("limit", ["1.5", "-0.1", "a", "51.9%"])
def test_a_limit_is_a_share(run, limit, capsys):
    with pytest.raises(SystemExit):
        run(f"--fail-above={limit}")
    assert "not a share" in capsys.readouterr().err


def test_cases_without_publications(run, tmp_path):
    cases = table(tmp_path, "a\t\tOMIM:100001\tHP:0001251")
    status, printed, error = run(cases=cases)
    assert (status, error) == (0, "")
    assert "overlap with HPOA tiny cannot be told" in printed.replace("\n", " ")
    _, text = parsed(tmp_path / "out" / "index.html")
    assert "cannot be told" in text
    assert "could not be determined" in text
    assert run("--fail-above", "1", cases=cases)[0] == 1


def test_no_case_with_both(run, tmp_path):
    status, printed, _ = run(cases=table(tmp_path, "a\t11\tOMIM:999999\tHP:0001251"))
    assert status == 0
    assert "overlap cannot be told" in printed
    assert (
        "The case does not have both a publication and a diagnosis that HPOA tiny annotates, so "
        "overlap cannot be told. Whatever the diagnoses: the release cites 1 of the cases' "
        "1 publication, from which 1 of 1 case comes; no more than these can overlap."
    ) in printed.replace("\n", " ")
    parsed(tmp_path / "out" / "index.html")


def test_one_case_is_spoken_of_as_one(run, tmp_path):
    """PMID:14 alone supports OMIM:100003, so the one case overlaps and is emptied."""
    _, printed, _ = run(cases=table(tmp_path, "a\t14\tOMIM:100003\tHP:0000519"))
    said = printed.partition("\n\n")[0].replace("\n", " ")
    assert said.startswith(
        "Of 1 case that names a publication and has an annotated diagnosis, 1 (100.0 %; "
    )
    assert ") overlaps with HPOA tiny: " in said
    assert "on this case measures" in said
    assert "for 1 case (100.0 %) none has another" in said
    _, printed, _ = run(cases=table(tmp_path, "a\t\tOMIM:100003\tHP:0000519"))
    assert printed.startswith("The case names no publication, so overlap")


def test_no_overlap(run, tmp_path):
    cases = table(tmp_path, "a\t30\tOMIM:100010\tHP:0001249")
    status, printed, _ = run("--fail-above", "0", cases=cases)
    assert status == 0
    assert "none overlaps with HPOA tiny" in printed.replace("\n", " ")
    assert "LOPO removes nothing" in parsed(tmp_path / "out" / "index.html")[1]


EVIL = '<script>alert("x")</script>&<b>'


def test_names_cannot_write_html(run, tmp_path, tiny):
    hpoa = tmp_path / f"h{'<i>'}.hpoa"
    text = (tiny / "tiny.hpoa").read_text()
    hpoa.write_text(
        text.replace("Basalt cataract", EVIL).replace("#version: tiny", f"#version: {EVIL}")
    )
    cases = table(tmp_path, f"a{EVIL}\t14\tOMIM:100003\tHP:0000519")
    cases = cases.rename(tmp_path / "c<img src=x onerror=y>.tsv")
    status, _, _ = run(cases=cases, hpoa=hpoa)
    assert status == 0
    page, text = parsed(tmp_path / "out" / "index.html")
    assert page.tags.count("script") == 1
    assert not {"b", "i", "img"} & set(page.tags)
    assert text.count(EVIL) >= 3


def test_a_long_table_of_cases_is_cut_and_says_so(run, tmp_path):
    rows = [f"c{i:05d}\t14\tOMIM:100003\tHP:0000519" for i in range(1200)]
    run(cases=table(tmp_path, *rows))
    page, text = parsed(tmp_path / "out" / "index.html")
    assert "1,000 of 1,200 cases" in text
    assert 1000 < page.rows < 1100


def test_lopo_files(run, tmp_path, tiny, tiny_ontology):
    folder = tmp_path / "files"
    assert run("--write-hpoa", folder)[0] == 0
    assert {path.name for path in folder.iterdir()} == {
        f"PMID_{i}.hpoa" for i in (11, 14, 17, 19, 21, 22, 24, 25, 26)
    }
    whole = build_relations(read_hpoa(tiny / "tiny.hpoa"), tiny_ontology).relations
    rest = build_relations(read_hpoa(folder / "PMID_11.hpoa"), tiny_ontology).relations
    gone = whole.join(rest, on=["disease_id", "term_id"], how="anti")
    lopo = pl.read_csv(tmp_path / "out" / "lopo.tsv", separator="\t")
    listed = lopo.filter(pl.col("publication_id") == "PMID:11")
    assert (
        gone.select("disease_id", "term_id").rows() == listed.select("disease_id", "term_id").rows()
    )
    # The lines that lopo.tsv names are the lines that are gone.
    lines = (tiny / "tiny.hpoa").read_text().split("\n")
    named = {int(row) for cell in listed["rows"].cast(pl.String) for row in cell.split(";")}
    kept = [line for number, line in enumerate(lines, start=1) if number not in named]
    assert (folder / "PMID_11.hpoa").read_text() == "\n".join(kept)


def test_single_lopo_files(run, tmp_path, tiny):
    folder = tmp_path / "files"
    more = (
        "--write-hpoa",
        folder,
        "--publication-file",
        "PMID:24",
        "--publication-file",
        "PMID:30",
    )
    assert run(*more)[0] == 0
    assert {path.name for path in folder.iterdir()} == {"PMID_24.hpoa", "PMID_30.hpoa"}
    assert (folder / "PMID_30.hpoa").read_bytes() == (tiny / "tiny.hpoa").read_bytes()


@pytest.mark.parametrize(
    "more, words",
    [
        (("--columns", '"disease"'), "not a JSON object of column names"),
        (("--columns", "[]"), "not a JSON object of column names"),
        (("--columns", '{"disease": 1}'), "not a JSON object of column names"),
        (("--columns", "{"), "not JSON"),
        (("--seed=-1",), "not a whole number of 0 or more"),
        (("--seed", "x"), "not a whole number of 0 or more"),
        (("--resamples", "1000000000000000"), "more than 100000"),
        (("--resamples", "0"), "not a whole number above 0"),
    ],
)
def test_arguments_that_cannot_be_used(run, capsys, more, words):
    with pytest.raises(SystemExit) as caught:
        run(*more)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "more, words",
    [
        (("--publication-file", "PMID:24"), "needs a folder"),
        (("--write-hpoa", "F", "--publication-file", "PMID:999"), "neither a case's nor cited"),
        (("--write-hpoa", "F", "--publication-file", "here"), "neither a case's nor cited"),
        (("--reader", "excel"), "no such reader"),
        (("--publication", "title"), "--publication"),
        (("--publication", "title"), "no such way"),
        (("--columns", '{"disease": "x"}'), "where:    --columns"),
        (("--columns", '{"disease": "x"}'), "no such option"),
        (("--reader", "rarebench", "--publication", "id"), "no option of its own"),
        (("--reader", "table"), "correct the path"),
        (("--disease-map", "none.tsv"), "cannot be read"),
    ],
)
def test_wrong_requests(run, tmp_path, more, words):
    more = [tmp_path / "files" if part == "F" else part for part in more]
    status, printed, error = run(*more)
    assert (status, printed) == (2, "")
    assert error.startswith("error: ")
    assert words in error
    assert "config" not in error
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []


def broken_zip(tmp_path, tiny):
    path = tmp_path / "cases.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in (tiny / "phenopackets").iterdir():
            archive.write(file, file.name)
    path.write_bytes(path.read_bytes()[:-200])
    return path


def touched(path):
    path.write_bytes(b"")
    return path


def cut(tmp_path, tiny):
    path = tmp_path / "cut.hpoa.gz"
    path.write_bytes(gzip.compress((tiny / "tiny.hpoa").read_bytes())[:200])
    return path


BAD = {
    "no cases": ({"cases": lambda tmp, tiny: tmp / "none"}, "none"),
    "empty cases": ({"cases": lambda tmp, tiny: touched(tmp / "empty.tsv")}, "empty file"),
    "broken zip": ({"cases": broken_zip}, "whole zip archive"),
    "cases without columns": ({"cases": lambda tmp, tiny: tiny / "tiny.hpoa"}, "not the columns"),
    "no usable case": (
        {"cases": lambda tmp, tiny: table(tmp, "a\t11\t\tHP:0001251")},
        "1 × no gold disease",
    ),
    "no release": ({"hpoa": lambda tmp, tiny: tmp / "none"}, "cannot be read"),
    "empty release": ({"hpoa": lambda tmp, tiny: touched(tmp / "empty")}, "lacks columns"),
    "not a release": ({"hpoa": lambda tmp, tiny: tiny / "tiny.obo"}, "lacks columns"),
    "cut release": ({"hpoa": cut}, "cannot be read"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_message_that_names_the_file(run, tmp_path, tiny, name):
    inputs, words = BAD[name]
    paths = {kind: make(tmp_path, tiny) for kind, make in inputs.items()}
    status, printed, error = run(**paths)
    assert (status, printed) == (2, "")
    assert error.startswith("error: ")
    assert words in error
    assert all(str(path) in error for path in paths.values())
    assert not (tmp_path / "out" / "index.html").exists()


def test_an_output_that_cannot_be_written_is_found_first(run, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, error = run("--output", tmp_path / "file" / "below", cases=tmp_path / "none")
    assert status == 2
    assert "output folder cannot be written" in error


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_permission(run, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    status, _, error = run("--output", tmp_path / "locked")
    assert status == 2
    assert "permission denied" in error


def test_files_that_do_not_fit_are_refused(tmp_path):
    stage.check_space(tmp_path, 9, 1000, free=9000)
    with pytest.raises(InputError, match="do not fit") as caught:
        stage.check_space(tmp_path, 9, 1000, free=8999)
    assert "9 files" in caught.value.expected
