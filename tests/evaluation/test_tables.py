"""The tables of recall and ties, from hand-written gold ranks (tests/conftest.py)."""

import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.corpus.cases import CASES
from rarefuse.errors import InputError
from rarefuse.evaluation.stage import table_stage
from rarefuse.rankers.run import GOLD_RANKS


def test_recall_before_after_and_change(evaluation, table):
    found = table(evaluation, "recall")
    assert found["ordinary", "native", "all", "recall@1"] == (2 / 4, 4)
    assert found["lopo", "native", "all", "recall@1"] == (1 / 4, 4)
    assert found["lopo - ordinary", "native", "all", "recall@1"] == (-1 / 4, 4)
    assert found["ordinary", "native", "test", "recall@3"] == (1 / 2, 2)
    assert found["ordinary", "native", "all", "mrr"][0] == pytest.approx(
        (1 + 1 + 1 / 2 + 1 / 4) / 4
    )
    assert not any(subset == "validation" for _, _, subset, _ in found)  # nothing eligible there


def test_tie_policies_and_blocks(evaluation, table):
    found = table(evaluation, "ties")
    # Before: c1 alone at 1, c2 and c3 tied over 1..2.
    assert found["ordinary", "averaged", "all", "recall@1"][0] == (1 + 0.5 + 0.5) / 4
    assert found["ordinary", "worst", "all", "recall@1"][0] == 1 / 4
    assert found["ordinary", "native", "all", "rank1_tied_share"][0] == 2 / 4
    assert found["ordinary", "native", "all", "rank1_tie_mean"][0] == 6 / 4
    assert found["ordinary", "native", "all", "rank1_tie_max"][0] == 2


def test_a_case_without_rank_is_a_miss_not_dropped(evaluation, table):
    path = evaluation.corpus / "gold_ranks" / "resnik" / "lopo.parquet"
    artifacts.write(
        artifacts.read(path, GOLD_RANKS).filter(pl.col("case_id") != "c1"), GOLD_RANKS, path
    )
    assert table(evaluation, "recall")["lopo", "native", "all", "recall@1"] == (0.0, 4)


def test_nothing_eligible_is_one_error(evaluation):
    path = evaluation.corpus / "cases.parquet"
    cases = artifacts.read(path, CASES).with_columns(gold_id=pl.lit("ORPHA:1"))
    artifacts.write(cases, CASES, path)
    with pytest.raises(InputError, match="no case of the corpus can be evaluated"):
        table_stage(name="recall", evaluation=evaluation, output=path.parent / "recall.parquet")
    assert not (path.parent / "recall.parquet").exists()
