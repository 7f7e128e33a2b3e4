import numpy as np
import polars as pl

from rarefuse.annotations.lopo import REMOVED
from rarefuse.rankers.base import base_columns, build_queries, lopo_columns


def test_queries_stand_by_publication_and_case_and_hold_observed_terms(toy):
    queries = build_queries(
        toy,
        ["d", "c", "b", "a", "e"],
        [["HP:0000005"], ["HP:0000003", "HP:0000001"], [], ["HP:0000002"], ["HP:0000004"]],
        ["PMID:20", "PMID:3", "PMID:3", "PMID:20", None],
        [["HP:0000001"], [], ["HP:0000000"], ["HP:0000004", "HP:0000003"], []],
    )
    # b has no observed term; no publication comes first, the others go by text.
    assert queries.case_ids == ["e", "a", "d", "c"]
    assert queries.publications == [None, "PMID:20", "PMID:20", "PMID:3"]
    assert queries.observed.tolist() == [4, 2, 5, 3, 1]
    assert queries.observed_ptr.tolist() == [0, 1, 2, 3, 5]
    assert queries.sizes.tolist() == [1, 1, 1, 2]
    assert queries.excluded.tolist() == [4, 3, 1]
    assert queries.excluded_ptr.tolist() == [0, 0, 2, 3, 3]
    part = queries.slice(2, 4)
    assert (len(part), part.case_ids) == (2, ["d", "c"])
    assert part.observed_ptr.tolist() == [0, 1, 3]
    assert part.observed.tolist() == [5, 3, 1]
    assert (part.excluded_ptr.tolist(), part.excluded.tolist()) == ([0, 1, 1], [1])
    bare = part.without_excluded()
    assert (bare.excluded_ptr.tolist(), bare.excluded.tolist()) == ([0, 0, 0], [])
    assert bare.observed.tolist() == [5, 3, 1]


def test_base_columns_are_whole_profiles_against_all_queries(toy, queries_of):
    columns = base_columns(toy, queries_of(toy, [1], [2]))
    assert columns.disease.tolist() == [0, 1, 2]
    assert columns.terms.tolist() == [3, 5, 2]
    assert (columns.start.tolist(), columns.stop.tolist()) == ([0] * 3, [2] * 3)
    first, last = columns.by_query(2)
    assert (first.tolist(), last.tolist()) == ([0, 0], [3, 3])


def test_lopo_columns_hold_what_remains(knowledge_of, queries_of):
    known = knowledge_of(
        [[], [0], [0], [1]], [{1: (1, 2), 2: (3, 4), 3: (5, 6)}, {1: (7, 8)}, {2: (9, 9)}]
    )
    queries = queries_of(
        known,
        [1],
        [2],
        [3],
        [1],
        publications=["PMID:2", None, "PMID:1", "PMID:2"],
    )
    removed = pl.DataFrame(
        [
            ("PMID:1", "OMIM:3", "HP:0000002"),
            ("PMID:2", "OMIM:1", "HP:0000001"),
            ("PMID:2", "OMIM:1", "HP:0000003"),
            ("PMID:2", "OMIM:2", "HP:0000001"),
            ("PMID:3", "OMIM:3", "HP:0000002"),  # no case has this publication
        ],
        schema=REMOVED.dtypes,
        orient="row",
    )
    columns = lopo_columns(known, queries, removed)
    # Queries by publication: none, PMID:1, PMID:2, PMID:2.
    assert columns.disease.tolist() == [2, 0, 1]
    assert columns.ptr.tolist() == [0, 0, 1, 1]  # emptied, {2}, emptied
    assert columns.terms.tolist() == [2]
    assert (columns.numerator.tolist(), columns.denominator.tolist()) == ([3], [4])
    assert columns.start.tolist() == [1, 2, 2]
    assert columns.stop.tolist() == [2, 4, 4]
    first, last = columns.by_query(4)
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 3), (1, 3)]


def test_without_anything_to_remove_there_is_no_column(toy, queries_of):
    queries = queries_of(toy, [1], [2])
    columns = lopo_columns(toy, queries, pl.DataFrame(schema=REMOVED.dtypes))
    assert len(columns) == 0
    first, last = columns.by_query(2)
    assert np.array_equal(first, last)
