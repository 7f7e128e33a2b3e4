"""Cohort and overlap, counted by hand on the cases of tests/conftest.py."""

import pytest


def test_cohort_counts(evaluation, table):
    found = table(evaluation, "cohort")

    def count(metric, subset="all"):
        return found["-", "-", subset, metric][0]

    assert count("cases") == 6
    assert count("publications") == 5
    assert count("gold_diseases") == 5
    assert count("gold_in_hpoa") == 5
    assert count("rankable") == 5
    assert count("eligible") == 4
    assert count("eligible", "test") == 2
    # PMID:14 alone supports all of OMIM:100003; PMID:11 leaves OMIM:100001 one relation.
    assert count("emptied_by_lopo") == 1
    assert count("candidates") == 14
    assert count("hpoa_pmids") == 17


def test_overlap(evaluation, table):
    found = table(evaluation, "overlap")
    # Gold diseases among the candidates: c1 … c5. c1, c2 and c3 overlap.
    assert found["-", "-", "all", "overlap_share"] == (3 / 5, 5)
    # Exclusive shares 2/3, 2/3, 1, 0, 0.
    assert found["-", "-", "all", "exclusive_share_mean"][0] == pytest.approx(7 / 15)
    assert found["-", "-", "all", "exclusive_share_median"][0] == pytest.approx(2 / 3)
    assert found["-", "-", "all", "entirely_exclusive_share"][0] == 1 / 5
    # Of the observed terms: 2/2, 1/2 (a term of OMIM's own does not count), 1/1, 0; c5 has none.
    assert found["-", "-", "all", "query_terms_covered_mean"] == (pytest.approx(2.5 / 4), 4)
