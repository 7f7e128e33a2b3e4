"""Splits of whole publications."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import SPLITS, split_publications
from rarefuse.errors import InputError


def cases_of(publications):
    return pl.DataFrame(
        [
            (f"case{i:04d}", f"r{i}", publication, "OMIM:1", None, None, None, None, [], [])
            for i, publication in enumerate(publications)
        ],
        schema=CASES.dtypes,
        orient="row",
    )


THIRDS = {"fractions": [1, 1, 1], "seed": 1}


@given(
    sizes=st.lists(st.integers(1, 5), min_size=3, max_size=40),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_no_publication_crosses_and_no_case_is_lost(sizes, seed):
    publications = [f"PMID:{i}" for i, n in enumerate(sizes) for _ in range(n)]
    cases = cases_of(publications)
    splits = split_publications(cases, seed=seed, fractions=[0.6, 0.2, 0.2])
    SPLITS.check(splits, "splits")
    assert sorted(splits["case_id"]) == sorted(cases["case_id"])
    parts = (
        cases.join(splits, on="case_id").group_by("publication_id").agg(pl.col("split").n_unique())
    )
    assert parts["split"].max() == 1


def test_same_seed_same_split_whatever_the_order_of_rows():
    cases = cases_of([f"PMID:{i // 2}" for i in range(60)])
    one = split_publications(cases, **THIRDS)
    assert one.equals(split_publications(cases.reverse(), **THIRDS))
    assert not one.equals(split_publications(cases, fractions=[1, 1, 1], seed=2))


def test_case_counts_are_met_within_tolerance():
    # Ten publications of 1 … 10 cases; parts of 5, 2 and 3 publications with 27, 11 and 17 cases.
    cases = cases_of([f"PMID:{i}" for i in range(1, 11) for _ in range(i)])
    splits = split_publications(
        cases, seed=3, fractions=[1, 1, 1], publications=[5, 2, 3], n_cases=[27, 11, 17],
        tolerance=0.0,
    )  # fmt: skip
    counts = dict(splits.group_by("split").len().rows())
    assert counts == {"train": 27, "validation": 11, "test": 17}


def test_sizes_that_do_not_add_up_are_refused():
    with pytest.raises(InputError, match=r"2\+2\+2 = 6") as caught:
        split_publications(cases_of(["PMID:1", "PMID:2"]), publications=[2, 2, 2], **THIRDS)
    assert "expected:" in str(caught.value)


def test_counts_that_no_permutation_meets_are_refused():
    cases = cases_of(["PMID:1", "PMID:2", "PMID:3"])
    with pytest.raises(InputError, match="no permutation"):
        split_publications(
            cases, publications=[1, 1, 1], n_cases=[3, 3, 3], max_permutations=50, **THIRDS
        )


def test_a_case_without_publication_is_a_group_of_its_own():
    splits = split_publications(cases_of([None] * 9), **THIRDS)
    assert sorted(splits.group_by("split").len()["len"]) == [3, 3, 3]
