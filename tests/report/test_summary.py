import polars as pl
import pytest

from rarefuse.errors import InputError
from rarefuse.report.summary import terminal_summary


def test_each_ranker_has_its_numbers_in_one_line_a_metric(tables):
    text = terminal_summary(tables, "phenopacket-store", "results/report.html")
    lines = [line.split() for line in text.splitlines()]
    assert ["0.4481", "0.1217", "-32.64", "[-34.64,", "-30.64]"] in [line[-5:] for line in lines]
    assert ["Recall@100", "0.9000", "0.5500", "-35.00", "[-37.00,", "-33.00]"] in lines
    assert text.splitlines()[0] == (
        "Corpus phenopacket-store: 10,377 cases, 1,733 publications, 10,345 eligible cases"
    )
    assert "LOPO empties the gold profile of 2,028 of 10,345 eligible cases (19.6 %)." in text
    assert text.endswith("\nReport: results/report.html")
    assert "Test split (n = 2,227)" in text
    assert "Validation" not in text


def test_it_fits_100_columns_in_ascii(tables, build):
    long = build.recall_rows({"x" * 80: ((1.0, 1.0), (0.0, 0.0))})
    tables["recall"] = pl.concat([tables["recall"], build.frame(long)])
    text = terminal_summary(tables, "corpus " * 30, "r.html")
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 100
    assert "-100.00" in text


def test_without_a_test_split_there_is_one_table(tables):
    tables["recall"] = tables["recall"].filter(pl.col("subset") == "all")
    assert "Test split" not in terminal_summary(tables, "c", "r.html")


def test_unknown_counts_are_said_to_be_unknown(tables):
    tables["cohort"] = tables["cohort"].filter(pl.col("metric") == "cases")
    text = terminal_summary(tables, "c", "r.html")
    assert "10,377 cases, - publications" in text
    assert "is not known" in text


def test_a_missing_table_is_named(tables):
    del tables["cohort"]
    with pytest.raises(InputError, match="also cohort"):
        terminal_summary(tables, "c", "r.html")
