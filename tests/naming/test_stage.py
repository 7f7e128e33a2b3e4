import polars as pl
import pytest
from tests.naming.conftest import CANDIDATES, MONDO, ORPHANET

from rarefuse.corpus.cases import CASES
from rarefuse.llm.answers import NAMES
from rarefuse.naming.lexicon import CROSSWALK, build_crosswalk
from rarefuse.naming.mapper import EXTENDED, OUTSIDE, Mapper
from rarefuse.naming.stage import (
    BY_CROSSWALK,
    BY_ID,
    MAPPING,
    RANKING,
    gold_ranks_of,
    map_names,
    ranking_of,
)
from rarefuse.rankers.run import GOLD_RANKS

NAMED = [
    ("a", 1, "unheard-of disease", None),
    ("a", 2, "Noonan syndrome", None),
    ("a", 3, "male Turner syndrome", None),  # the same disease again
    ("a", 5, "Wilson disease", None),
    ("b", 1, None, "OMIM:607014"),
    ("b", 2, "something", "MONDO:0000002"),
    ("b", 3, "Hurler syndrome", "ORPHA:1"),
    ("b", 4, None, "ORPHA:1"),
]


@pytest.fixture
def mapping(lexicon):
    walk = pl.DataFrame([("MONDO:0000002", "OMIM:600882")], schema=CROSSWALK.dtypes, orient="row")
    names = pl.DataFrame(NAMED, schema=NAMES.dtypes, orient="row")
    frame = map_names(names, Mapper(lexicon, EXTENDED), walk, list(CANDIDATES))
    MAPPING.check(frame, "here")
    return frame


def test_every_name_is_explained(mapping):
    assert mapping["disease_id"].to_list() == [
        None, "OMIM:163950", "OMIM:163950", "OMIM:277900",
        "OMIM:607014", "OMIM:600882", "OMIM:607014", None,
    ]  # fmt: skip
    assert mapping["rule"].to_list()[4:] == [BY_ID, BY_CROSSWALK, "exact", None]
    assert mapping["reason"].to_list()[-1] == OUTSIDE


def test_places_in_the_list(mapping):
    """Names without a match and repeats take no place; the place as written is kept beside it."""
    ranking = ranking_of(mapping)
    RANKING.check(ranking, "here")
    assert ranking.select("case_id", "rank", "disease_id", "name_rank").rows() == [
        ("a", 1, "OMIM:163950", 2),
        ("a", 2, "OMIM:277900", 5),
        ("b", 1, "OMIM:607014", 1),
        ("b", 2, "OMIM:600882", 2),
    ]


def test_gold_ranks(mapping):
    gold = {"a": "OMIM:277900", "b": "OMIM:163950", "c": "OMIM:277900", "d": "OMIM:277900"}
    cases = pl.DataFrame(
        [
            (case, case, None, disease, None, None, None, None, ["HP:1"] if case != "d" else [], [])
            for case, disease in gold.items()
        ],
        schema=CASES.dtypes,
        orient="row",
    )
    ranks = gold_ranks_of(ranking_of(mapping), cases)
    GOLD_RANKS.check(ranks, "here")
    # b's list lacks the diagnosis, c has no list, d is not rankable.
    assert ranks.rows() == [("a", 2, 2, 2), ("b", None, None, None), ("c", None, None, None)]
    written = gold_ranks_of(ranking_of(mapping), cases, "name_rank")
    assert written["rank"].to_list() == [5, None, None]


def test_no_names(lexicon):
    empty = pl.DataFrame(schema=NAMES.dtypes)
    walk = pl.DataFrame(schema=CROSSWALK.dtypes)
    mapping = map_names(empty, Mapper(lexicon), walk, list(CANDIDATES))
    assert ranking_of(mapping).is_empty()


def test_crosswalk():
    walk = build_crosswalk(CANDIDATES, MONDO, ORPHANET)
    found = dict(walk.iter_rows())
    assert found["MONDO:2"] == "OMIM:600882"
    assert found["ORPHA:51"] == "OMIM:225750"
    # No exact match, or none among the candidates.
    assert not {"MONDO:14", "MONDO:20"} & found.keys()
