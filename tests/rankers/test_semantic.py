import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.annotations.lopo import REMOVED
from rarefuse.rankers.base import lopo_columns
from rarefuse.rankers.semantic import BestMatchAverage, Resnik

ONE, HALF = math.log(3), math.log(1.5)


def test_resnik_by_hand(toy, queries_of):
    scores = Resnik().ordinary(toy, queries_of(toy, [3, 2], [4, 5, 0]))
    # Query {3, 2}.  {3}: ln 3 and (only the root) 0.  {5}: both share 1 or 2.  {2}: 0 and ln 1.5.
    assert scores.score[0] == pytest.approx([ONE / 2, HALF, HALF / 2], rel=1e-6)
    # Query {4, 5, 0}.  {3}: ln 1.5 twice and 0.  {5}: ln 3 twice and 0.  {2}: ln 1.5 twice and 0.
    # The root, an ancestor of the others, stays in the query.
    assert scores.score[1] == pytest.approx([HALF * 2 / 3, ONE * 2 / 3, HALF * 2 / 3], rel=1e-6)
    assert scores.p_value is None


def test_best_match_average_by_hand(toy, queries_of):
    scores = BestMatchAverage().ordinary(toy, queries_of(toy, [3, 2]))
    # Disease side, each profile's one term against the closed query {3, 1, 2, 0}: {3} finds ln 3,
    # {5} finds 1 or 2, {2} finds itself, ln 1.5. Query side as above.
    assert scores.score[0] == pytest.approx(
        [(ONE / 2 + ONE) / 2, (HALF + HALF) / 2, (HALF / 2 + HALF) / 2], rel=1e-6
    )


def test_both_sides_are_means_over_their_own_terms(knowledge_of, queries_of):
    # Stars: 1, 2 and 3 below the root. Profiles {1, 2} and {3}: IC(1) = IC(2) = IC(3) = ln 2.
    known = knowledge_of([[], [0], [0], [0]], [[1, 2], [3]])
    scores = BestMatchAverage().ordinary(known, queries_of(known, [1], [1, 2, 3]))
    two = math.log(2)
    assert scores.score == pytest.approx(
        # {1} → {1, 2}: 1 of 1 found, 1 of 2 found back; {1, 2, 3}: 2 of 3 and 2 of 2.
        np.array([[two * (1 + 1 / 2) / 2, 0], [two * (2 / 3 + 1) / 2, two * (1 / 3 + 1) / 2]]),
        rel=1e-6,
    )


def test_an_empty_profile_scores_zero(knowledge_of, queries_of):
    known = knowledge_of([[], [0], [0]], [[1], [], [2]])
    queries = queries_of(known, [1], [2, 0])
    assert BestMatchAverage().ordinary(known, queries).score[:, 1].tolist() == [0, 0]
    assert Resnik().ordinary(known, queries).score[:, 1].tolist() == [0, 0]


def test_a_profile_emptied_by_lopo_scores_zero(knowledge_of, queries_of):
    known = knowledge_of([[], [0], [0]], [[1], [2]])
    queries = queries_of(known, [1], publications=["PMID:1"])
    removed = pl.DataFrame(
        [("PMID:1", "OMIM:1", "HP:0000001")], schema=REMOVED.dtypes, orient="row"
    )
    columns = lopo_columns(known, queries, removed)
    for ranker in (Resnik(), BestMatchAverage()):
        before = ranker.ordinary(known, queries)
        assert before.score[0, 0] == pytest.approx(math.log(2))
        assert ranker.lopo(known, queries, columns, before).score[0, 0] == 0


@pytest.mark.parametrize("ranker", [Resnik(), BestMatchAverage()])
def test_a_corpus_without_publications_has_the_same_scores_under_lopo(toy, queries_of, ranker):
    queries = queries_of(toy, [3, 2], [4])
    before = ranker.ordinary(toy, queries)
    kept = before.score.copy()
    columns = lopo_columns(toy, queries, pl.DataFrame(schema=REMOVED.dtypes))
    assert ranker.lopo(toy, queries, columns, before).score.tolist() == kept.tolist()


@given(st.data())
@settings(deadline=None, max_examples=80)
def test_scores_are_means_of_best_matches(worlds, matches_of, data):
    world = data.draw(worlds)
    known, queries = world.knowledge, world.queries
    table = matches_of(known).astype(np.float64)
    scores = Resnik().ordinary(known, queries).score
    for q in range(len(queries)):
        own = queries.observed[queries.observed_ptr[q] : queries.observed_ptr[q + 1]]
        assert scores[q].tolist() == (table[:, own].sum(axis=1) / len(own)).tolist()


@given(st.data())
@settings(deadline=None, max_examples=80)
def test_the_order_of_a_querys_terms_is_nothing(worlds, queries_of, data):
    world = data.draw(worlds)
    known, terms = world.knowledge, world.cases[0][0]
    queries = queries_of(known, terms, data.draw(st.permutations(terms)))
    for ranker in (Resnik(), BestMatchAverage()):
        one, other = ranker.ordinary(known, queries).score
        assert one.tolist() == other.tolist()
