import polars as pl
import pytest

from rarefuse.errors import InputError
from rarefuse.report.findings import background, lead

NBSP = "\u00a0"


def text(sentences):
    return " ".join(sentences).replace(NBSP, " ")


def one_ranker(build, before, after, half, change_half=None):
    rows = build.both("recall", "bma", "native", "all", "recall@1", before, after, half, 250)
    if change_half is not None:
        change = build.row(
            "recall", "bma", "lopo - ordinary", "native", "all", "recall@1", after - before,
            change_half, 250,
        )  # fmt: skip
        rows[-1] = change
    return {"recall": build.frame(rows)}


def test_the_lead_names_the_main_ranker_and_the_range_over_all(tables):
    found = text(lead(tables))
    assert found.startswith(
        "Phenomizer (sampled null) puts the right disease first in 44.8 % of 10,345 eligible cases"
    )
    assert "falls to 12.2 % (Recall@1 0.4481 to 0.1217, a paired change of −32.64 points" in found
    assert "95 % interval [−34.64, −30.64]" in found
    assert "a net 73 % of its first places" in found
    assert "from −38.93 points (Resnik similarity) to −31.44 points (LIRICAL)" in found
    assert "On the 2,227 cases of the test split its Recall@1 is 0.4481 before and 0.1217" in found


def test_the_lead_follows_other_numbers(build):
    found = text(lead(one_ranker(build, 0.5, 0.4, 0.01)))
    assert "Best-match average puts the right disease first in 50.0 % of 250" in found
    assert "falls to 40.0 %" in found
    assert "a net 20 %" in found
    assert "rankers" not in found
    assert "test split" not in found


def test_no_change_is_said_as_such(build):
    found = text(lead(one_ranker(build, 0.3, 0.3, 0.05, 0.0)))
    assert "30.0 % of 250 eligible cases" in found
    assert "does not change that figure" in found
    assert "falls" not in found
    assert "a net" not in found


def test_a_rise_is_a_rise(build):
    found = text(lead(one_ranker(build, 0.3, 0.4, 0.01)))
    assert "rises to 40.0 %" in found
    assert "+10.00 points" in found
    assert "a net" not in found


def test_an_unclear_change_is_not_sold_as_one(build):
    found = text(lead(one_ranker(build, 0.30, 0.29, 0.02)))
    assert "does not tell apart from none" in found
    assert "a net" not in found


def test_a_change_without_an_interval_has_no_brackets(build):
    found = text(lead(one_ranker(build, 0.30, 0.20, None)))
    assert "a paired change of −10.00 points)." in found
    assert "[" not in found


@pytest.mark.parametrize("half, net", [(0.1, False), (0.09, True)])
def test_an_interval_that_touches_zero_is_unclear(build, half, net):
    found = text(lead(one_ranker(build, 0.5, 0.375, 0.01, 0.125 if half == 0.1 else half)))
    assert ("a net" in found) is net


def test_rankers_that_change_alike_share_a_sentence(build):
    rows = [
        row
        for system in ("bma", "resnik")
        for row in build.both("recall", system, "native", "all", "recall@1", 0.5, 0.4, 0.01, 9)
    ]
    found = text(lead({"recall": build.frame(rows)}))
    assert "Recall@1 of both rankers changes by −10.00 points." in found


def test_background_counts_overlap_and_emptied_profiles(tables):
    found = text(background(tables))
    assert "Of the 10,348 cases whose diagnosis has annotations, 74.6 % have" in found
    assert "For 2,028 of 10,345 eligible cases (19.6 %) LOPO leaves" in found


def test_background_when_every_case_overlaps_and_no_profile_is_emptied(build, tables):
    cohort = build.frame(
        [
            build.row("cohort", "hpoa", "-", "-", "all", "eligible", 532.0),
            build.row("cohort", "hpoa", "-", "-", "all", "emptied_by_lopo", 0.0),
        ]
    )
    overlap = build.frame(build.overlap_rows(1.0))
    found = text(background({"cohort": cohort, "overlap": overlap}))
    assert "every one of the 10,348 cases" in found
    assert "leaves every eligible case's diagnosis some annotation" in found


def test_a_recall_table_without_rows_or_protocols_is_refused(build):
    with pytest.raises(InputError, match="no rows"):
        lead({"recall": build.frame([])})
    rows = build.both("recall", "bma", "native", "all", "recall@1", 0.5, 0.4, 0.01, 9)
    with pytest.raises(InputError, match=r"no value for bma, lopo\n"):
        lead({"recall": build.frame([rows[0], rows[2]])})


def test_a_corpus_without_publications_says_so_first(tables):
    cohort = tables["cohort"].with_columns(
        value=pl.when(pl.col("metric") == "publications").then(0.0).otherwise("value")
    )
    first, *rest = lead({**tables, "cohort": cohort})
    assert first.startswith("No case of this corpus names the publication")
    assert rest == lead(tables)
