"""Groups of cases, by hand on tests/conftest.py: c1 and c2 share PMID:11, c3 and c4 are alone.

PMID:11 alone supports two of the three annotations of c1's and c2's diagnosis and PMID:14 both of
c3's; no annotation cites c4's publication. First places: c1 and c2 before LOPO, c1 after.
"""

import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.rankers.run import RANKINGS


def test_single_case(evaluation, table):
    found = table(evaluation, "single_case")
    one, several = "all: one case a publication", "all: several cases a publication"
    assert found["ordinary", "native", one, "recall@1"] == (0.0, 2)
    assert found["ordinary", "native", several, "recall@1"] == (1.0, 2)
    assert found["lopo", "native", several, "recall@1"] == (0.5, 2)
    assert found["lopo - ordinary", "native", several, "recall@1"] == (-0.5, 2)
    kept = found["ordinary", "native", "all: one case a publication, profile kept", "mrr"]
    assert kept == (0.25, 1)  # c4, in fourth place; LOPO empties c3's diagnosis
    assert "train: one case a publication" not in {subset for _, _, subset, _ in found}


def test_retained_profile(evaluation, table):
    found = table(evaluation, "retained_profile")
    assert found["ordinary", "native", "all: profile kept", "recall@1"] == (pytest.approx(2 / 3), 3)
    assert found["lopo", "native", "all: profile kept", "recall@1"] == (pytest.approx(1 / 3), 3)
    assert found["ordinary", "native", "test: profile emptied", "mrr"] == (0.5, 1)
    assert found["lopo", "native", "test: profile emptied", "mrr"] == (pytest.approx(1 / 3), 1)


def test_dose_counts_overlapping_cases_by_share(evaluation, table):
    found = table(evaluation, "dose")
    assert {s for _, _, s, _ in found if s.startswith("all")} == {"all: (0.5, 0.75]", "all: 1"}
    assert found["lopo", "native", "all: (0.5, 0.75]", "recall@1"] == (0.5, 2)
    share = found["-", "-", "all: (0.5, 0.75]", "exclusive_share_mean"]
    assert share == (pytest.approx(2 / 3), 2)
    assert found["-", "-", "all: 1", "exclusive_share_mean"] == (1.0, 1)


def test_unchanged_wants_identical_lists_of_untouched_cases(evaluation, table):
    def share():
        return table(evaluation, "unchanged")["-", "native", "nothing removed", "identical_share"]

    # c4 and c6: nothing cites PMID:30 or PMID:33. c6 has no list, which is not an identical one.
    assert share() == (0.5, 2)
    path = evaluation.corpus / "rankings/resnik/lopo.parquet"
    frame = artifacts.read(path, RANKINGS)
    changed = pl.when(pl.col("case_id") == "c1").then(2.0).otherwise(pl.col("score"))
    artifacts.write(frame.with_columns(score=changed), RANKINGS, path)
    assert share() == (0.5, 2)  # c1 is touched by LOPO and may differ
    changed = pl.when(pl.col("case_id") == "c4").then(2.0).otherwise(pl.col("score"))
    artifacts.write(frame.with_columns(score=changed), RANKINGS, path)
    assert share() == (0.0, 2)
