"""Publication-source overlap of single cases."""

import polars as pl

from rarefuse.annotations.overlap import OVERLAP, overlap_by_case
from rarefuse.corpus.cases import CASES


def case(name, publication, gold, observed):
    return (name, name, publication, gold, None, None, None, None, observed, [])


def test_by_hand(tiny_relations):
    cases = pl.DataFrame(
        [
            # OMIM:100001 has ataxia and nystagmus from PMID:11 alone, febrile seizures from none.
            case("a", "PMID:11", "OMIM:100001", ["HP:0001251", "HP:0002373"]),
            # OMIM:100002: ataxia cites PMID:12 and PMID:13, so PMID:12 overlaps but owns nothing.
            case("b", "PMID:12", "OMIM:100002", ["HP:0001251"]),
            case("c", "PMID:99", "OMIM:100003", []),
            # Both rows of OMIM:100014 are unknown or dead terms: no relation is left.
            case("d", "PMID:28", "OMIM:100014", ["HP:0001250"]),
            case("e", "PMID:11", "OMIM:999999", ["HP:0001250"]),  # no candidate
            case("f", None, "OMIM:100001", ["HP:0001251"]),  # cannot be told
        ],
        schema=CASES.dtypes,
        orient="row",
    )
    found = overlap_by_case(cases, tiny_relations.diseases, tiny_relations.relations)
    OVERLAP.check(found, "overlap")
    assert found.rows() == [
        ("a", True, 3, 2, 2 / 3, 2, 1, 1 / 2),
        ("b", True, 2, 0, 0.0, 1, 0, 0.0),
        ("c", False, 2, 0, 0.0, 0, 0, None),
        ("d", False, 0, 0, 0.0, 1, 0, 0.0),
    ]


def test_a_relation_shared_with_another_publication_is_not_exclusive(tiny_relations):
    # Rod-cone dystrophy of OMIM:100004 stands in a row of PMID:15 and one of PMID:16.
    cases = pl.DataFrame(
        [case("a", "PMID:16", "OMIM:100004", ["HP:0000510", "HP:0000518"])],
        schema=CASES.dtypes,
        orient="row",
    )
    (row,) = overlap_by_case(cases, tiny_relations.diseases, tiny_relations.relations).rows()
    assert row == ("a", True, 2, 1, 1 / 2, 2, 1, 1 / 2)
