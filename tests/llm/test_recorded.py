import polars as pl
import pytest

from rarefuse.corpus.cases import CASES, case_id
from rarefuse.errors import InputError
from rarefuse.llm.answers import COMPLETIONS, NAMES
from rarefuse.llm.recorded import (
    NOTHING,
    PROBLEMS,
    RENUMBERED,
    REPEATED,
    UNKNOWN_CASE,
    curie,
    read_recorded,
)

RECORDS = ("one", "two", "three")


@pytest.fixture
def cases():
    rows = [
        (case_id("c", r), r, None, "OMIM:1", None, None, None, None, ["HP:1"], []) for r in RECORDS
    ]
    return pl.DataFrame(rows, schema=CASES.dtypes, orient="row").sort("record")


def read(path, cases, columns, **options):
    completions, names, problems = read_recorded(path, cases, columns, **options)
    COMPLETIONS.check(completions, "here")
    NAMES.check(names, "here")
    PROBLEMS.check(problems, "here")
    record = dict(cases.select("case_id", "record").iter_rows())
    status = {record[c]: s for c, s in completions.select("case_id", "status").iter_rows()}
    found = [
        (record[case], rank, name, given)
        for case, rank, name, given in names.iter_rows()
    ]  # fmt: skip
    counted = {reason: count for reason, count, _ in problems.iter_rows()}
    return status, sorted(found), counted


def test_names_with_a_grounded_id_a_row(tmp_path, cases):
    """A name stands in a row for each id that somebody else gave it; those ids are not read."""
    path = tmp_path / "answers.parquet"
    pl.DataFrame(
        {
            "label": ["one_en.txt", "one_en.txt", "one_en.txt", "two_en.txt", "four_en.txt"],
            "place": [1, 1, 2, 1, 1],
            "name": ["A", "A", " B ", None, "C"],
            "grounded": ["MONDO:1", "MONDO:2", "MONDO:3", None, None],
        }
    ).write_parquet(path)
    status, names, problems = read(
        path, cases, {"case": "label", "rank": "place", "name": "name"}, case_pattern="^(.*)_en"
    )
    assert status == {"one": "ok", "two": "empty", "three": "not asked"}
    assert names == [("one", 1, "A", None), ("one", 2, "B", None)]
    assert problems == {REPEATED: 1, NOTHING: 1, UNKNOWN_CASE: 1}


def test_answers_as_text(tmp_path, cases):
    path = tmp_path / "answers.jsonl"
    pl.DataFrame(
        {"case": ["one", "two"], "answer": ["1. A\n2. B (OMIM:7)\n", "I cannot say."]}
    ).write_ndjson(path)
    status, names, _ = read(path, cases, {"case": "case", "text": "answer"})
    assert status == {"one": "ok", "two": "refused", "three": "not asked"}
    assert names == [("one", 1, "A", None), ("one", 2, "B", "OMIM:7")]


def test_what_a_text_is_follows_the_rules_of_asked_arms(tmp_path, cases):
    """White space is empty; a text without a name is an answer like any other."""
    path = tmp_path / "answers.jsonl"
    texts = [None, " \n", "<think>Hm.</think>nothing of the form"]
    pl.DataFrame({"case": RECORDS, "answer": texts}).write_ndjson(path)
    columns = {"case": "case", "text": "answer"}
    status, names, _ = read(path, cases, columns)
    assert status == {"one": "empty", "two": "empty", "three": "ok"}
    assert names == []
    kept = read_recorded(path, cases, columns)[0]
    record = dict(cases.select("case_id", "record").iter_rows())
    by_record = {record[c]: rest for c, *rest in kept.select(
        "case_id", "text", "reasoning").iter_rows()}  # fmt: skip
    assert by_record == {r: [text, r == "three"] for r, text in zip(RECORDS, texts, strict=True)}


def test_ids_and_a_table_of_keys(tmp_path, cases):
    path = tmp_path / "answers.tsv"
    path.write_text("k\tid\nk1\tOrphanet:558\nk1\tMONDO_7947\nk3\tMIM:154700\n")
    keys = pl.DataFrame({"record": ["one", "two", "three"], "key": ["k1", "k2", "k3"]})
    status, names, _ = read(path, cases, {"case": "k", "id": "id"}, keys=keys)
    assert status == {"one": "ok", "two": "not asked", "three": "ok"}
    assert names == [
        ("one", 1, None, "ORPHA:558"),
        ("one", 2, None, "MONDO:0007947"),
        ("three", 1, None, "OMIM:154700"),
    ]


def test_ranks_that_are_no_places(tmp_path, cases):
    path = tmp_path / "answers.tsv"
    path.write_text("case\trank\tname\none\t2\tB\none\t1\tA\none\t2\tC\ntwo\t0\tD\nthree\t3\tE\n")
    _, names, problems = read(path, cases, {"case": "case", "rank": "rank", "name": "name"})
    assert names == [
        ("one", 1, "A", None), ("one", 2, "B", None), ("one", 3, "C", None),
        ("three", 3, "E", None), ("two", 1, "D", None),
    ]  # fmt: skip
    assert problems == {RENUMBERED: 2}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("OMIM:154700", "OMIM:154700"),
        ("ORPHA_558", "ORPHA:558"),
        ("http://x/ORPHA_558", "http://x/ORPHA_558"),
        ("MONDO:0007947", "MONDO:0007947"),
        ("nonsense", "nonsense"),
    ],
)
def test_curie(written, read):
    assert curie(written) == read


def test_errors(tmp_path, cases):
    path = tmp_path / "answers.tsv"
    path.write_text("case\tname\nelsewhere\tA\n")
    with pytest.raises(InputError, match="belongs to a case"):
        read_recorded(path, cases, {"case": "case", "name": "name"})
    with pytest.raises(InputError, match="lacks a column"):
        read_recorded(path, cases, {"case": "case", "name": "disease"})
    with pytest.raises(InputError, match="not described"):
        read_recorded(path, cases, {"case": "case", "rank": "name"})
    with pytest.raises(InputError, match="of a kind"):
        read_recorded(tmp_path / "answers.xlsx", cases, {"case": "case", "name": "name"})
    broken = tmp_path / "answers.parquet"
    broken.write_bytes(b"PAR1")
    with pytest.raises(InputError, match="cannot be read"):
        read_recorded(broken, cases, {"case": "case", "name": "name"})


def test_several_names_in_a_row(tmp_path, cases):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"case": "one", "name": ["A", "B"]}\n')
    with pytest.raises(InputError, match="more than one value a row"):
        read(path, cases, {"case": "case", "name": "name"})
