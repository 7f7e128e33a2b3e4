"""The union of lists by hand, margins, and what must not show."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.annotations.lopo import REMOVED
from rarefuse.fusion.evidence import make_protocol
from rarefuse.rerank.candidates import (
    fill_least,
    fill_median,
    gather_evidence,
    join_lists,
    margins,
)
from rarefuse.rerank.columns import evidence_columns


def rows(*entries, p_values=None):
    return pl.DataFrame(
        [(*entry, p) for entry, p in zip(entries, p_values or [None] * len(entries), strict=True)],
        schema={
            "case_id": pl.String,
            "rank": pl.Int32,
            "disease_id": pl.String,
            "score": pl.Float64,
            "p_value": pl.Float64,
        },
        orient="row",
    )


def test_union_by_hand(toy):
    first = rows(
        ("case000", 1, "OMIM:1", 5.0), ("case000", 2, "OMIM:2", 4.0), ("case001", 1, "OMIM:3", 1.0),
        p_values=[0.1, 0.2, 0.3],
    )  # fmt: skip
    second = rows(("case000", 1, "OMIM:2", 9.0), ("case000", 3, "OMIM:3", 7.0))
    named = pl.DataFrame(
        {
            "case_id": ["case001", "case001", "other"],
            "rank": [1, 2, 1],
            "disease_id": ["OMIM:1", "OMIM:999", "OMIM:1"],
        }
    )
    lists = join_lists(toy, ["case000", "case001"], {"a": first, "b": second}, named, 2)
    # OMIM:3 of the second list is below the depth; OMIM:999 is no candidate.
    assert lists.ptr.tolist() == [0, 2, 4]
    assert lists.disease.tolist() == [0, 1, 0, 2]
    assert lists.rank.tolist() == [[1, 0, 0], [2, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert lists.score["a"][[0, 1, 3]].tolist() == [5.0, 4.0, 1.0]
    assert np.isnan(lists.score["a"][2])
    assert list(lists.p_value) == ["a"]
    assert lists.llm


def test_list_evidence_by_hand(toy, queries_of):
    queries = queries_of(toy, [3], [5])
    first = rows(("case000", 1, "OMIM:1", 5.0), ("case000", 2, "OMIM:2", 4.0), p_values=[0.1, 0.2])
    second = rows(("case000", 1, "OMIM:2", 9.0), ("case000", 2, "OMIM:3", 7.0))
    lists = join_lists(toy, queries.case_ids, {"a": first, "b": second}, None, 2)
    evidence = gather_evidence(make_protocol(toy, queries, None), lists)
    value = {c.name: evidence.values[:, j] for j, c in enumerate(evidence.columns)}
    absent = math.log(3)  # 1.5 times the depth of 2
    assert value["rank.a"] == pytest.approx([0, math.log(2), absent])
    assert value["rank.b"] == pytest.approx([absent, 0, math.log(2)])
    assert value["score_margin.a"].tolist() == [1.0, -1.0, -1.0]  # absent: as the last
    assert value["p_value.a"].tolist() == [0.1, 0.2, 0.2]
    assert value["lists_first"].tolist() == [1, 1, 0]
    assert value["lists_holding"].tolist() == [1, 2, 1]
    assert value["worst_rank"] == pytest.approx([absent, math.log(2), absent])
    assert "llm_rank" not in value


def test_lists_do_not_depend_on_the_order_of_rows(small):
    shuffled = {
        name: frame.sample(fraction=1.0, shuffle=True, seed=3)
        for name, frame in small.rankings.items()
    }
    assert np.array_equal(small.evidence(rankings=shuffled).values, small.evidence().values)


def test_evidence_is_finite_and_has_the_declared_columns(small):
    evidence = small.evidence(llm=True)
    assert np.isfinite(evidence.values).all()
    assert evidence.columns == evidence_columns(("resnik", "nb-lr"), (), llm=True)
    names = [column.name for column in evidence.columns]
    assert len(set(names)) == len(names) == evidence.values.shape[1]


def test_margins_by_hand():
    values = np.array([3.0, 1.0, 2.0, 7.0, 4.0, -np.inf])
    assert margins(np.array([0, 3, 4, 6]), values).tolist() == [1, -2, -1, 0, 0, 0]


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=8),
    st.integers(-1000, 1000),
    st.sampled_from([0.5, 2.0, 4.0]),
)
@settings(deadline=None)
def test_margins_shift_with_nothing_and_scale_with_the_values(values, shift, scale):
    ptr = np.array([0, len(values)])
    before = margins(ptr, np.array(values, float))
    assert margins(ptr, np.array(values, float) + shift).tolist() == before.tolist()
    assert margins(ptr, np.array(values, float) * scale).tolist() == (before * scale).tolist()


def test_fills_by_hand():
    ptr, known = np.array([0, 3, 4]), np.array([True, False, True, False])
    values = np.array([2.0, 9.0, 1.0, 9.0])
    fill_least(ptr, known, 1.0, values)
    assert values.tolist() == [2, 1, 1, 0]
    values = np.array([2.0, 9.0, 1.0, 9.0])
    fill_least(ptr, known, -1.0, values)
    assert values.tolist() == [2, 2, 1, 0]
    values = np.array([2.0, 9.0, 1.0, 9.0])
    fill_median(ptr, known, values)
    assert values.tolist() == [2, 1, 1, 0]


def test_a_disease_that_lopo_empties_looks_like_one_that_fits_badly(knowledge_of, queries_of):
    """Case of PMID:1: OMIM:2 loses all it has. Each of its columns is that of another candidate."""
    knowledge = knowledge_of([[], [0], [0], [1], [2]], [[3], [4], [1, 4], [2]])
    queries = queries_of(knowledge, [3, 4], publications=["PMID:1"])
    removed = pl.DataFrame(
        [("PMID:1", "OMIM:2", "HP:0000004")], schema=REMOVED.dtypes, orient="row"
    )
    ranking = rows(*((("case000", i + 1, f"OMIM:{d}", float(9 - i))) for i, d in enumerate((1, 3))))
    named = pl.DataFrame(
        {"case_id": ["case000"] * 2, "rank": [1, 2], "disease_id": ["OMIM:2", "OMIM:4"]}
    )
    lists = join_lists(knowledge, queries.case_ids, {"a": ranking}, named, 5)
    evidence = gather_evidence(make_protocol(knowledge, queries, removed), lists)
    assert lists.disease.tolist() == [0, 1, 2, 3]
    emptied, others = evidence.values[1], evidence.values[[0, 2, 3]]
    for column, value, known in zip(evidence.columns, emptied, others.T, strict=True):
        if column.group not in ("ranks", "agreement", "language_model"):
            assert value in known or column.name.endswith("_margin"), column.name
            assert value >= known.min(), column.name
