"""The comparison of native and stock rankers, from hand-written ranks and lists."""

import math

import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.annotations.relations import DISEASES, RELATIONS
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import SPLITS
from rarefuse.evaluation.base import Evaluation
from rarefuse.evaluation.stage import table_rows
from rarefuse.evaluation.tables import TABLE
from rarefuse.provenance.stock import kendall_tau
from rarefuse.rankers.run import GOLD_RANKS, RANKINGS
from rarefuse.rankers.stock.answers import FAILURES

A, B, C = "OMIM:100001", "OMIM:100003", "OMIM:100010"
# case: gold rank and list of ours, gold rank and list of theirs; c4 has no answer of theirs.
CASES_OF = {
    "c1": (1, [A, B, C], 1, [A, B, C]),
    "c2": (3, [B, C, A], 1, [A, B, C]),
    "c3": (2, [C, B], 2, [C, B]),
    "c4": (1, [C], None, []),
}


def test_kendall_by_hand():
    assert kendall_tau(["a", "b", "c"], ["a", "b", "c"]) == 1.0
    assert kendall_tau(["a", "b", "c"], ["c", "b", "a"]) == -1.0
    # a and c change places with b's neighbours: of three pairs one is concordant.
    assert kendall_tau(["b", "c", "a"], ["a", "b", "c"]) == pytest.approx(-1 / 3)
    assert kendall_tau(["a", "x", "b"], ["b", "y", "a"]) == -1.0
    assert math.isnan(kendall_tau(["a", "x"], ["a", "y"]))
    assert math.isnan(kendall_tau([], []))


@pytest.fixture
def evaluation(tmp_path, tiny_relations):
    corpus, knowledge = tmp_path / "corpus", tmp_path / "knowledge"
    artifacts.write(tiny_relations.diseases, DISEASES, knowledge / "diseases.parquet")
    artifacts.write(tiny_relations.relations, RELATIONS, knowledge / "relations.parquet")
    rows = [(c, c, f"PMID:{c[1]}", A, None, None, None, None, ["HP:0001251"], []) for c in CASES_OF]
    artifacts.write(
        pl.DataFrame(rows, schema=CASES.dtypes, orient="row"), CASES, corpus / "cases.parquet"
    )
    artifacts.write(
        pl.DataFrame([(c, "test") for c in CASES_OF], schema=SPLITS.dtypes, orient="row"),
        SPLITS,
        corpus / "splits.parquet",
    )
    for ranker, offset in (("ours", 0), ("theirs", 2)):
        for protocol in ("ordinary", "lopo"):
            gold = [(c, *[row[offset]] * 3) for c, row in CASES_OF.items()]
            lists = [
                (c, place, disease, 1.0, None, place, place)
                for c, row in CASES_OF.items()
                for place, disease in enumerate(row[offset + 1], start=1)
            ]
            for kind, schema, data in (
                ("gold_ranks", GOLD_RANKS, gold),
                ("rankings", RANKINGS, lists),
            ):
                artifacts.write(
                    pl.DataFrame(data, schema=schema.dtypes, orient="row"),
                    schema,
                    corpus / kind / ranker / f"{protocol}.parquet",
                )
    failed = [("c4", "lopo", "time limit", ""), ("c4", "ordinary", "time limit", "")]
    artifacts.write(
        pl.DataFrame(failed, schema=FAILURES.dtypes, orient="row"),
        FAILURES,
        corpus / "rankings" / "theirs" / "failures.parquet",
    )
    return Evaluation(
        corpus, knowledge, ["ours", "theirs"], [1, 10], 50, 0.95, 1, {"pairs": [["ours", "theirs"]]}
    )


def test_every_row_by_hand(evaluation):
    frame = pl.DataFrame(
        table_rows("stock_comparison", evaluation), schema=TABLE.dtypes, orient="row"
    )
    TABLE.check(frame, "stock_comparison")
    found = {
        (r["system"], r["variant"], r["metric"]): (r["value"], r["n"])
        for r in frame.filter(pl.col("protocol") == "lopo", pl.col("subset") == "all").iter_rows(
            named=True
        )
    }
    third = 1 / 3
    assert found == {
        ("ours", "native", "recall@1"): (0.5, 4),
        ("ours", "native", "recall@10"): (1.0, 4),
        ("ours", "native", "mrr"): (pytest.approx((1 + third + 0.5 + 1) / 4), 4),
        ("theirs", "native", "recall@1"): (0.5, 4),
        ("theirs", "native", "recall@10"): (0.75, 4),
        ("theirs", "native", "mrr"): (pytest.approx(2.5 / 4), 4),
        ("theirs", "minus ours", "recall@1"): (0.0, 4),
        ("theirs", "minus ours", "recall@10"): (-0.25, 4),
        ("theirs", "minus ours", "mrr"): (pytest.approx((2.5 - 2.5 - third) / 4), 4),
        ("theirs", "against ours", "same_gold_rank_share"): (0.5, 4),
        ("theirs", "against ours", "same_first_share"): (0.5, 4),
        ("theirs", "against ours", "overlap@10_mean"): (pytest.approx(0.8 / 4), 4),
        ("theirs", "against ours", "kendall@10_mean"): (pytest.approx((1 - third + 1) / 3), 3),
        ("theirs", "against ours", "gold_rank_distance_median"): (0.0, 3),
        ("theirs", "-", "unanswered_cases"): (1.0, 4),
    }
    paired = frame.filter(pl.col("variant") == "minus ours", pl.col("metric") == "recall@10")
    assert (paired["ci_low"] <= paired["value"]).all()
    assert (paired["ci_high"] <= 0).all()


def test_an_emptied_diagnosis_is_a_miss_of_both(evaluation):
    """PMID:14 alone supports OMIM:100003: under LOPO the port has it last, the program not at all.

    c1 and c3 have the same rank under both protocols and c4 one alone. c2 differs, 14 against 1;
    under LOPO it has no rank on either side, and none to take a distance from.
    """
    path = evaluation.corpus / "cases.parquet"
    second = pl.col("case_id") == "c2"
    cases = artifacts.read(path, CASES).with_columns(
        publication_id=pl.when(second).then(pl.lit("PMID:14")).otherwise("publication_id"),
        gold_id=pl.when(second).then(pl.lit("OMIM:100003")).otherwise("gold_id"),
    )
    artifacts.write(cases, CASES, path)
    for protocol in ("ordinary", "lopo"):
        for ranker, place in (("ours", 14), ("theirs", None if protocol == "lopo" else 1)):
            path = evaluation.corpus / "gold_ranks" / ranker / f"{protocol}.parquet"
            ranks = artifacts.read(path, GOLD_RANKS).with_columns(
                pl.when(second).then(pl.lit(place, pl.Int32)).otherwise(name).alias(name)
                for name in ("rank", "tie_first", "tie_last")
            )
            artifacts.write(ranks, GOLD_RANKS, path)
    found = {
        (row.protocol, row.metric): (row.value, row.n)
        for row in table_rows("stock_comparison", evaluation)
        if row.subset == "all" and row.variant == "against ours"
    }
    assert found["ordinary", "same_gold_rank_share"] == (2 / 4, 4)
    assert found["lopo", "same_gold_rank_share"] == (3 / 4, 4)
    assert found["ordinary", "gold_rank_distance_median"] == (0.0, 3)
    assert found["lopo", "gold_rank_distance_median"] == (0.0, 2)
