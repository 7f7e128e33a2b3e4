"""The table's values and paired differences from hand-written places, and its section."""

import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.evaluation.base import Evaluation
from rarefuse.evaluation.stage import table_rows
from rarefuse.evaluation.tables import TABLE
from rarefuse.fusion.stage import FUSED_RANKS
from rarefuse.rankers.run import GOLD_RANKS
from rarefuse.report.sections import optional_sections

# c1 … c4 are the eligible cases of the shared corpus; a case that is not there has no place.
PLACES = {
    "reranked/ontology": {"c1": 1, "c2": 1, "c3": 4},
    "reranked/a": {"c1": 1, "c2": 1, "c3": 1, "c4": 2},
    "reranked/b": {"c1": 1, "c2": 3, "c3": 4},
    "llm/a": {"c3": 1},
    "llm/b": {},
}

GATES = {"a": {1: {"c1": 1}, 2: {"c1": 1, "c2": 1}}, "b": {1: {"c4": 2}, 2: {"c4": 1}}}


@pytest.fixture
def frame(evaluation):
    for folder, places in PLACES.items():
        rows = [(case, place, place, place) for case, place in places.items()]
        path = evaluation.corpus / folder / "gold_ranks.parquet"
        artifacts.write(
            pl.DataFrame(rows, schema=GOLD_RANKS.dtypes, orient="row"), GOLD_RANKS, path
        )
    for arm, seeds in GATES.items():
        rows = [
            ("gate", seed, c, p, p, p, None, 0.5)
            for seed, places in seeds.items()
            for c, p in places.items()
        ]
        artifacts.write(
            pl.DataFrame(rows, schema=FUSED_RANKS.dtypes, orient="row"),
            FUSED_RANKS,
            evaluation.corpus / "gate" / f"{arm}.parquet",
        )
    options = {"gate": "gate", "llms": ["a", "b"], "macro": ["a", "b"], "in_family": ["b"]}
    asked = Evaluation(**{**evaluation.__dict__, "options": options})
    frame = pl.DataFrame(table_rows("reranker", asked), schema=TABLE.dtypes, orient="row")
    TABLE.check(frame, "reranker")
    return frame


def test_values_by_hand(frame):
    found = {
        (r["system"], r["variant"], r["metric"]): r["value"] for r in frame.iter_rows(named=True)
    }
    assert {r["n"] for r in frame.iter_rows(named=True)} == {4}
    # Resnik's places after LOPO: 1, 5, 3, 4.
    assert found["resnik", "alone", "recall@1"] == 0.25
    assert found["ontology-only", "reranked", "recall@1"] == 0.5
    assert found["ontology-only", "reranked", "pool_coverage"] == 0.75
    assert found["a", "reranked", "recall@1"] == 0.75
    assert found["a", "alone", "recall@1"] == 0.25
    assert found["b", "alone", "recall@1"] == 0
    assert found["macro mean", "reranked", "recall@1"] == 0.5
    assert found["macro mean", "reranked", "pool_coverage"] == 0.875
    assert found["a", "reranked - ontology-only", "recall@1"] == 0.25
    assert found["b", "reranked - ontology-only", "recall@1"] == -0.25
    assert found["macro mean", "reranked - resnik", "recall@1"] == 0.25
    assert found["a", "gate", "recall@1"] == 0.375  # of 1/4 and 2/4
    assert found["b", "gate", "recall@1"] == 0.125
    assert found["macro mean", "reranked - gate", "recall@1"] == 0.25
    assert found["ontology-only", "reranked - gate", "recall@1"] == 0.25
    assert found["ontology-only", "reranked", "mrr"] == pytest.approx((1 + 1 + 1 / 4) / 4)


def test_intervals_hold_their_values(frame):
    for row in frame.filter(pl.col("metric") != "family_held_out").iter_rows(named=True):
        assert row["ci_low"] <= row["value"] <= row["ci_high"]


def test_the_section_shows_lists_and_differences(frame):
    (section,) = optional_sections({"reranker": frame}, "95 %")
    assert section.text.endswith("For b no other family was there to learn from.")
    lists, differences = section.tables
    rows = [row for _, group in lists.groups for row in group]
    assert ("Ontology only", "Reranked", "0.5000") in {row[:3] for row in rows}
    rows = [row for _, group in differences.groups for row in group]
    assert ("a", "Ontology only", "+25.00") in {row[:3] for row in rows}
    assert all(len(row) == len(differences.columns) for row in rows)
