"""Groups of cases, by hand on tests/conftest.py: c1 and c2 share PMID:11, c3 and c4 are alone.

PMID:11 alone supports two of the three annotations of c1's and c2's diagnosis and PMID:14 both of
c3's; no annotation cites c4's publication. First places: c1 and c2 before LOPO, c1 after.
"""

import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.annotations.relations import DISEASES, RELATIONS
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import SPLITS
from rarefuse.rankers.run import GOLD_RANKS, RANKINGS


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


# Exclusive annotations of all; the last share is just below 1.
SHARES = [(0, 3), (1, 1000), (1, 4), (251, 1000), (1, 2), (501, 1000), (3, 4), (751, 1000),
          (999, 1000), (2, 2)]  # fmt: skip
BINS = {
    "0": [0],
    "(0, 0.25]": [1, 2],
    "(0.25, 0.5]": [3, 4],
    "(0.5, 0.75]": [5, 6],
    "(0.75, 1)": [7, 8],
    "1": [9],
}


def test_dose_bins_hold_their_upper_edges(evaluation, table):
    """Case i's diagnosis has SHARES[i]; where an annotation has another source, i supports it too.

    The first four cases are found first and the others never, so each bin has its own recall.
    """
    cases, diseases, relations = [], [], []
    for i, (exclusive, n) in enumerate(SHARES):
        gold, publication = f"OMIM:{100001 + i}", f"PMID:{1 + i}"
        observed = ["HP:0001250"]
        cases.append((f"c{i}", f"c{i}", publication, gold, None, None, None, None, observed, []))
        diseases.append((gold, "name", n, 1))
        for term in range(n):
            pmids = [publication] if term < exclusive else [publication, "PMID:999"]
            relations.append((gold, f"HP:{term:07d}", pmids, [1], 1, 1))
    ranks = [(case[0], *[1 if i < 4 else 50] * 3) for i, case in enumerate(cases)]
    folder, knowledge = evaluation.corpus, evaluation.knowledge
    for rows, schema, path in (
        (cases, CASES, folder / "cases.parquet"),
        ([(case[0], "test") for case in cases], SPLITS, folder / "splits.parquet"),
        (diseases, DISEASES, knowledge / "diseases.parquet"),
        (relations, RELATIONS, knowledge / "relations.parquet"),
        (ranks, GOLD_RANKS, folder / "gold_ranks/resnik/ordinary.parquet"),
        (ranks, GOLD_RANKS, folder / "gold_ranks/resnik/lopo.parquet"),
    ):
        artifacts.write(pl.DataFrame(rows, schema=schema.dtypes, orient="row"), schema, path)
    found = table(evaluation, "dose")
    assert {s for _, _, s, _ in found if s.startswith("all")} == {f"all: {name}" for name in BINS}
    for name, members in BINS.items():
        n = len(members)
        recall = sum(i < 4 for i in members) / n
        mean = sum(SHARES[i][0] / SHARES[i][1] for i in members) / n
        for part in ("all", "test"):
            subset = f"{part}: {name}"
            assert found["ordinary", "native", subset, "recall@1"] == (recall, n)
            assert found["-", "-", subset, "exclusive_share_mean"] == (pytest.approx(mean), n)


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
