import json

import polars as pl
import pytest

from rarefuse.annotations.pmid import pmid
from rarefuse.corpus import pheval, rarebench, terms
from rarefuse.corpus.build import NO_PUBLICATION
from rarefuse.corpus.readers import READERS, read_corpus
from rarefuse.errors import InputError

ROW = {
    "original_file": "PMID_1_A-1",
    "original_id": "PMID_1_A",
    "pmid": "PMID:1",
    "gold_disease_id": "OMIM:100001",
    "sex": "MALE",
    "observed_hpo": ["HP:0000001", "HP:0000101"],
    "excluded_hpo": ["HP:0000002"],
    "phenopacket_id": None,
    "case_stem": "PMID_1_A_1",
}


def table(path, *changes, drop=(), **casts):
    rows = [{**ROW, "original_id": f"id{i}", **change} for i, change in enumerate(changes)]
    schema = {key: pl.List(pl.String) if "hpo" in key else pl.String for key in ROW}
    frame = pl.DataFrame(rows, schema).drop(drop)
    frame.with_columns(pl.col(key).cast(dtype) for key, dtype in casts.items()).write_parquet(path)
    return path


def test_a_prompted_case_becomes_one_row(tmp_path, resolver, skipped):
    path = table(tmp_path / "t", {"original_id": "PMID_1_A"}, {"sex": None, "excluded_hpo": []})
    corpus = pheval.read_pheval("c", path, resolver)
    row = corpus.cases.row(0, named=True)
    assert row["record"] == "PMID_1_A"
    assert (row["publication_id"], row["gold_id"], row["sex"]) == ("PMID:1", "OMIM:100001", "MALE")
    assert (row["observed"], row["excluded"]) == (["HP:0000001"], ["HP:0000002"])
    assert ("PMID_1_A", terms.DUPLICATE, "observed HP:0000001") in skipped(corpus, "term")
    kinds = {(k, v) for c, k, v in corpus.withheld.iter_rows() if c == row["case_id"]}
    assert kinds == {
        ("disease_id", "OMIM:100001"),
        ("pmid", "PMID:1"),
        *(("path", text) for text in ("PMID_1_A-1", "PMID_1_A", "PMID_1_A_1")),
    }


def test_where_ids_repeat_the_file_names_the_record(tmp_path, resolver):
    path = table(
        tmp_path / "t",
        {"original_id": "x", "original_file": "f1"},
        {"original_id": "x", "original_file": "f2"},
    )
    assert pheval.read_pheval("c", path, resolver).cases["record"].to_list() == ["f1", "f2"]


def test_a_publication_is_cleaned_or_reported_and_a_case_without_gold_skipped(
    tmp_path, resolver, skipped
):
    path = table(
        tmp_path / "t",
        {"pmid": "PMID: 20 "},
        {"pmid": "PMID:G13"},
        {"gold_disease_id": None},
    )
    corpus = pheval.read_pheval("c", path, resolver)
    assert corpus.cases["publication_id"].to_list() == ["PMID:20", None]
    assert skipped(corpus, "field") == [("id1", NO_PUBLICATION, "PMID:G13")]
    assert skipped(corpus, "case") == [("id2", pheval.NO_GOLD, None)]


def test_missing_and_wrong_columns_are_named(tmp_path, resolver):
    path = table(tmp_path / "t", {}, drop=["pmid", "sex"], case_stem=pl.Categorical)
    with pytest.raises(InputError) as caught:
        pheval.read_pheval("c", path, resolver)
    assert "no column 'pmid', no column 'sex', column 'case_stem' of type" in caught.value.found


def test_a_table_that_is_cut_off_is_one_error(tmp_path, resolver):
    path = table(tmp_path / "t", {})
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="not a whole Parquet file"):
        pheval.read_pheval("c", path, resolver)


def lines(path, *rows):
    path.write_bytes(
        b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in rows)
    )
    return path


def case(diseases=("OMIM:100001", "ORPHA:1"), phenotype=("HP:0000001",)):
    return {"Phenotype": list(phenotype), "RareDisease": list(diseases)}


def test_rarebench_lines_become_rows_named_by_their_number(tmp_path, resolver, skipped):
    path = lines(tmp_path / "t", case(), b"", case(phenotype=["HP:0000003", "HP:0003577"]))
    corpus = rarebench.read_rarebench("c", path, resolver)
    assert corpus.cases["record"].to_list() == ["row 000001", "row 000003"]
    assert corpus.cases["gold_id"].to_list() == ["OMIM:100001"] * 2
    assert corpus.cases["observed"].to_list() == [["HP:0000001"], ["HP:0000003"]]
    assert skipped(corpus) == [("row 000003", terms.OUTSIDE, "observed HP:0003577")]
    assert set(corpus.withheld["value"]) >= {"OMIM:100001", "ORPHA:1"}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b'{"Phenotype": [', rarebench.NOT_JSON),
        (b"[]", rarebench.NOT_A_CASE),
        ({"Phenotype": ["HP:0000001"]}, rarebench.NOT_A_CASE),
        ({"Phenotype": "HP:0000001", "RareDisease": ["OMIM:1"]}, rarebench.NOT_A_CASE),
        (case(["ORPHA:1"]), rarebench.NO_GOLD),
        (case([]), rarebench.NO_GOLD),
        (case(["OMIM:1", "OMIM:2"]), rarebench.SEVERAL_GOLD),
    ],
)
def test_a_rarebench_line_that_cannot_be_used_is_counted(tmp_path, resolver, skipped, row, reason):
    corpus = rarebench.read_rarebench("c", lines(tmp_path / "t", case(), row), resolver)
    assert corpus.cases.height == 1
    assert [(record, found) for record, found, _ in skipped(corpus)] == [("row 000002", reason)]


def test_one_omim_id_written_twice_is_one_gold_disease(tmp_path, resolver):
    path = lines(tmp_path / "t", case(["OMIM:1", "OMIM:1"]))
    assert rarebench.read_rarebench("c", path, resolver).cases["gold_id"].to_list() == ["OMIM:1"]


@pytest.mark.parametrize("reader", ["pheval", "rarebench"])
def test_an_empty_or_missing_file_is_one_error(tmp_path, resolver, reader):
    (tmp_path / "t").write_bytes(b"")
    with pytest.raises(InputError) as caught:
        read_corpus(reader, "c", tmp_path / "t", resolver)
    assert str(tmp_path / "t") in caught.value.where
    with pytest.raises(InputError, match="is missing"):
        read_corpus(reader, "c", tmp_path / "none", resolver)


def test_readers_are_called_by_name_with_their_options(tmp_path, packet, packets, resolver):
    folder = packets(tmp_path / "in", a=packet())
    corpus = read_corpus("phenopackets", "c", folder, resolver, {"publication": "none"})
    assert corpus.cases["publication_id"].to_list() == [None]
    with pytest.raises(InputError, match="such option"):
        read_corpus("phenopackets", "c", folder, resolver, {"publications": "none"})
    with pytest.raises(InputError, match=", ".join(sorted(READERS))):
        read_corpus("excel", "c", folder, resolver)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PMID:12", "PMID:12"),
        ("pmid: 012 ", "PMID:12"),
        ("PMID:0", None),
        ("PMID:G13", None),
        ("12", None),
        (None, None),
    ],
)
def test_pmid(text, expected):
    assert pmid(text) == expected
