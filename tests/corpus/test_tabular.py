import gzip
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarefuse.corpus import tabular, terms
from rarefuse.corpus.build import NO_PUBLICATION
from rarefuse.corpus.phenopackets import BAD_GOLD, NO_GOLD, SEVERAL_GOLD, SEVERAL_PUBLICATIONS
from rarefuse.corpus.rarebench import NOT_JSON
from rarefuse.corpus.readers import read_corpus
from rarefuse.corpus.tabular import ROLES, read_table
from rarefuse.errors import InputError

HEAD = ("case_id", "publication", "disease", "observed", "excluded")
A = ("a", "PMID:1", "OMIM:100001", "HP:0000001;HP:0000101|HP:0000003", "HP:0000002")
B = ("b", "", "ORPHA:7", "", "")


def text(*rows, head=HEAD, divider="\t"):
    return "".join(divider.join(row) + "\n" for row in (head, *rows))


def write(tmp_path, content, name="cases.txt"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lists(cell):
    return [term for part in cell.split(";") for term in part.split("|")] if cell else []


def as_objects(*rows):
    return [
        {**dict(zip(HEAD, row, strict=True)), "observed": lists(row[3]), "excluded": lists(row[4])}
        for row in rows
    ]


def parquet(tmp_path, *rows):
    path = tmp_path / "cases.bin"
    pl.DataFrame(as_objects(*rows)).write_parquet(path)
    return path


FORMATS = {
    "tsv": lambda tmp: write(tmp, text(A, B)),
    "csv": lambda tmp: write(tmp, text(A, B, divider=",")),
    "bom and windows": lambda tmp: write(tmp, "\ufeff" + text(A, B).replace("\n", "\r\n")),
    "gzip": lambda tmp: write(tmp, gzip.compress(text(A, B).encode())),
    "jsonl": lambda tmp: write(tmp, "\n".join(map(json.dumps, as_objects(A, B)))),
    "json in cells": lambda tmp: write(
        tmp, text((*A[:3], json.dumps(lists(A[3])), json.dumps([A[4]])), (*B[:3], "[]", "[]"))
    ),
    "parquet": lambda tmp: parquet(tmp, A, B),
}


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_cases_in_every_format(tmp_path, resolver, skipped, form):
    corpus = read_table("c", FORMATS[form](tmp_path), resolver)
    first, second = corpus.cases.iter_rows(named=True)
    assert (first["record"], first["publication_id"]) == ("a", "PMID:1")
    assert first["gold_id"] == "OMIM:100001"
    assert (first["observed"], first["excluded"]) == (["HP:0000001", "HP:0000003"], ["HP:0000002"])
    assert (second["gold_id"], second["publication_id"]) == ("ORPHA:7", None)
    assert second["observed"] == []
    assert skipped(corpus, "term") == [("a", terms.DUPLICATE, "observed HP:0000001")]
    assert skipped(corpus, "field") == [("b", NO_PUBLICATION, None)]


def test_it_is_a_reader_of_the_pipeline(tmp_path, resolver):
    path = write(tmp_path, text(A, head=("Patient ID", "PMID", "final dx", "HPO terms", "absent")))
    options = {"columns": {"disease": "final dx"}}
    cases = read_corpus("table", "c", path, resolver, options).cases
    assert cases.select("record", "publication_id", "gold_id").row(0) == A[:3]
    assert cases["excluded"].to_list() == [["HP:0000002"]]


def test_only_disease_and_observed_are_needed(tmp_path, resolver):
    path = write(tmp_path, text(A[2:4], head=("omim", "hpo")))
    row = read_table("c", path, resolver).cases.row(0, named=True)
    assert (row["record"], row["publication_id"]) == ("row 000001", None)


@pytest.mark.parametrize(
    "column, cell, gold",
    [
        ("disease", "OMIM:100001", "OMIM:100001"),
        ("disease", "Orphanet:7", "ORPHA:7"),
        ("omim_id", "100001", "OMIM:100001"),
        ("orpha", "7", "ORPHA:7"),
        ("disease", "ORPHA:7;OMIM:100001", "OMIM:100001"),
        ("disease", "ORPHA:7|ORPHA:8|OMIM:100001", "OMIM:100001"),
        ("disease", "", NO_GOLD),
        ("disease", "100001", BAD_GOLD),
        ("disease", "MONDO:0000001", BAD_GOLD),
        ("disease", "ORPHA:7;ORPHA:8", SEVERAL_GOLD),
        ("disease", "OMIM:100001;OMIM:100002", SEVERAL_GOLD),
    ],
)
def test_the_diagnosis(tmp_path, resolver, skipped, column, cell, gold):
    head = ("case_id", "publication", column, "observed", "excluded")
    other = ("z", "PMID:9", "OMIM:100009" if column != "orpha" else "ORPHA:9", "", "")
    corpus = read_table(
        "c", write(tmp_path, text((*A[:2], cell, *A[3:]), other, head=head)), resolver
    )
    found = corpus.cases.filter(pl.col("record") == "a")["gold_id"].to_list()
    assert (found or [reason for _, reason, _ in skipped(corpus, "case")]) == [gold]


@pytest.mark.parametrize(
    "cell, publication",
    [
        ("PMID:12", "PMID:12"),
        ("pmid: 0012", "PMID:12"),
        ("12", "PMID:12"),
        ("12.0", "PMID:12"),
        ("https://pubmed.ncbi.nlm.nih.gov/12/", "PMID:12"),
        ("PMID:12; PMID:12", "PMID:12"),
        ("PMID:12; doi:10.1/x", "PMID:12"),
        ("doi:10.1/x", None),
        ("PMC:12", None),
    ],
)
def test_the_publication(tmp_path, resolver, skipped, cell, publication):
    corpus = read_table("c", write(tmp_path, text((A[0], cell, *A[2:]))), resolver)
    assert corpus.cases["publication_id"].to_list() == [publication]
    lost = [detail for _, reason, detail in skipped(corpus, "field") if reason == NO_PUBLICATION]
    assert lost == ([cell] if publication is None else [])


def test_a_number_of_a_typed_table_is_a_pmid(tmp_path, resolver):
    path = tmp_path / "t"
    columns = {"pmid": [12, None], "omim": [100001, 100002], "observed": [["HP:0000001"], None]}
    pl.DataFrame(columns).write_parquet(path)
    cases = read_table("c", path, resolver).cases
    assert cases["publication_id"].to_list() == ["PMID:12", None]
    assert cases["gold_id"].to_list() == ["OMIM:100001", "OMIM:100002"]


def test_rows_that_are_no_case_are_counted(tmp_path, resolver, skipped):
    several = ("s", "PMID:1;PMID:2", *A[2:])
    broken = ("l", "PMID:1", "OMIM:100001", "[HP:1", "")
    ragged = ("r", "PMID:1")
    corpus = read_table("c", write(tmp_path, text(A, several, broken, ragged, A)), resolver)
    assert corpus.cases["record"].to_list() == ["a"]
    assert sorted((record, reason) for record, reason, _ in skipped(corpus, "case")) == [
        ("a", "record stands twice"),
        ("l", tabular.BAD_LIST),
        ("row 000004", tabular.RAGGED),
        ("s", SEVERAL_PUBLICATIONS),
    ]


def test_a_quotation_mark_that_is_not_closed_is_an_error(tmp_path, resolver):
    """Read leniently, the row's last cell would take in all rows after it, and none be missed."""
    path = write(tmp_path, 'disease\tobserved\nOMIM:1\t"HP:0000001\nOMIM:2\tHP:0000001\n')
    with pytest.raises(InputError, match="not a readable table"):
        read_table("c", path, resolver)


def test_blank_lines_before_the_header_do_not_count(tmp_path, resolver):
    corpus = read_table("c", write(tmp_path, "\r\n\n" + text(A)), resolver)
    assert corpus.cases["record"].to_list() == ["a"]


def test_json_lines_that_are_no_case_are_counted(tmp_path, resolver, skipped):
    lines = [json.dumps(as_objects(A)[0]), "{", "[1]"]
    corpus = read_table("c", write(tmp_path, "\n".join(lines)), resolver)
    assert [(record, reason) for record, reason, _ in skipped(corpus, "case")] == [
        ("row 000002", NOT_JSON),
        ("row 000003", tabular.NOT_AN_OBJECT),
    ]


@pytest.mark.parametrize(
    "content, named",
    [
        (text(A, head=("case_id", "publication", "dx", "observed", "excluded")), "'disease'"),
        (text(A, head=("case_id", "publication", "disease", "findings", "x")), "'observed'"),
        (text(A, head=("case_id", "omim", "gold", "observed", "x")), "omim, gold"),
        ("just words\n", "just words"),
    ],
)
def test_columns_that_are_not_there_are_named(tmp_path, resolver, content, named):
    with pytest.raises(InputError, match="has not the columns") as caught:
        read_table("c", write(tmp_path, content), resolver)
    assert named in caught.value.found
    assert all(role in caught.value.expected for role in ROLES)


@pytest.mark.parametrize(
    "content, named, todo",
    [
        (json.dumps(as_objects(A)), "a JSON array", "one JSON object a line"),
        (" [\n{}]", "a JSON array", "one JSON object a line"),
        ("case_id;disease;observed\na;OMIM:1;HP:0000001\n", "divided at ';'", "tabs or commas"),
        ('"disease";"observed"\n"OMIM:1";"HP:0000001"\n', "divided at ';'", "tabs or commas"),
    ],
)
def test_another_format_is_named_as_such(tmp_path, resolver, content, named, todo):
    with pytest.raises(InputError, match="has not the columns") as caught:
        read_table("c", write(tmp_path, content), resolver)
    assert named in caught.value.found
    assert todo in caught.value.todo


def test_a_semicolon_in_a_header_is_a_letter(tmp_path, resolver):
    head = ("case_id", "publication", "disease", "observed", "seen (a;b;c)")
    content = text(A, head=head).replace("\t", ",")
    assert read_table("c", write(tmp_path, content), resolver).cases["record"].to_list() == ["a"]


def test_a_column_that_is_there_twice_is_not_called_missing(tmp_path, resolver):
    content = text(A, head=("case_id", "publication", "disease", "observed", "observed"))
    with pytest.raises(InputError) as caught:
        read_table("c", write(tmp_path, content), resolver)
    assert "several columns that could be observed: observed, observed" in caught.value.found
    assert "no column" not in caught.value.found


@pytest.mark.parametrize("columns", [{"disease": "nowhere"}, {"dx": "disease"}])
def test_wrong_names_for_columns_are_refused(tmp_path, resolver, columns):
    with pytest.raises(InputError, match="has not the columns"):
        read_table("c", write(tmp_path, text(A)), resolver, columns)


@pytest.mark.parametrize(
    "content",
    [
        b"PAR1 and no more",
        b"\x1f\x8b cut",
        "é".encode("latin-1") + text(A).encode(),
        b"PK\x03\x04\xff",
    ],
)
def test_damaged_files_are_refused(tmp_path, resolver, content):
    path = write(tmp_path, content)
    with pytest.raises(InputError, match="not a readable table") as caught:
        read_table("c", path, resolver)
    assert str(path) in caught.value.where


def test_a_missing_file_is_refused(tmp_path, resolver):
    with pytest.raises(InputError, match="missing"):
        read_table("c", tmp_path / "none", resolver)


@given(st.lists(st.sampled_from([f"HP:000000{i}" for i in range(1, 10)]), unique=True),
       st.sampled_from([";", "|", ",", " ", "; ", " | "]))  # fmt: skip
def test_every_divider_gives_the_same_terms(ids, divider):
    assert tabular._terms(divider.join(ids)) == ids
