import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.annotations.lopo import REMOVED
from rarefuse.errors import InputError
from rarefuse.rankers.background import backgrounds, make_groups
from rarefuse.rankers.base import lopo_columns
from rarefuse.rankers.likelihood import NaiveBayes
from rarefuse.rankers.order import neutral_order
from rarefuse.rankers.run import rank_corpus

ln = math.log
# Root 0; 1 and 2 below it; 3 below 1; 4 below 1 and 2; 5 below 4.
PARENTS = [[], [0], [0], [1], [1, 2], [4]]
# F of terms 0 … 5:  .75 .75 .5 .75 .5 .5  |  1 0 1 0 0 0  |  .2 .2 0 .2 0 0
PROFILES = [{3: (3, 4), 5: (1, 2)}, {2: (1, 1), 5: (0, 4)}, {3: (1, 5), 4: (0, 9)}]
BACKGROUND = [1.95 / 3, 0.95 / 3, 1.5 / 3, 0.95 / 3, 0.5 / 3, 0.5 / 3]


@pytest.fixture
def known(knowledge_of):
    return knowledge_of(PARENTS, PROFILES)


def removed_of(*rows):
    rows = [(publication, f"OMIM:{d}", f"HP:{t:07d}") for publication, d, t in rows]
    return pl.DataFrame(rows, schema=REMOVED.dtypes, orient="row")


def test_background_is_the_mean_of_the_largest_frequencies_at_or_below(known, queries_of):
    queries = queries_of(known, [0])
    terms = np.arange(6, dtype=np.int32)
    mean = backgrounds(known, queries, None, make_groups(1), np.zeros(6, np.int64), terms)
    assert mean == pytest.approx(BACKGROUND, rel=1e-11)


def test_observed_terms_by_hand(known, queries_of):
    scores = NaiveBayes().ordinary(known, queries_of(known, [1, 2], [5]))
    one, two = ln(BACKGROUND[1]), ln(BACKGROUND[2])
    # 0 for the absent annotation too: it is floored like one that is not there.
    assert scores.score[0] == pytest.approx(
        [ln(0.75) + ln(0.5) - one - two, ln(0.01) + ln(1) - one - two, ln(0.2 * 0.01) - one - two]
    )
    assert scores.score[1] == pytest.approx(np.log([0.5, 0.01, 0.01]) - ln(0.5 / 3))
    assert scores.p_value is None
    assert scores.order.tolist() == neutral_order(known.disease_ids).tolist()


def test_the_floor_is_an_option(known, queries_of):
    scores = NaiveBayes(floor=0.3).ordinary(known, queries_of(known, [3]))
    assert scores.score[0] == pytest.approx(np.log([0.75, 0.3, 0.3]) - ln(BACKGROUND[3]))


def test_excluded_terms_by_hand(known, queries_of):
    queries = queries_of(known, [3], excluded=[[2, 4]])
    observed = np.log([0.75, 0.01, 0.2]) - ln(BACKGROUND[3])
    assert NaiveBayes().ordinary(known, queries).score[0] == pytest.approx(observed)
    # 2: 1 - .5, 1 - .99 (not 0), 1 - 0 over 1 - .5.  4: 1 - .5, 1, 1 over 1 - .5/3.
    excluded = np.log([0.5 * 0.5, 0.01, 1]) - ln(0.5) - ln(1 - 0.5 / 3)
    scores = NaiveBayes(excluded=True).ordinary(known, queries)
    assert scores.score[0] == pytest.approx(observed + excluded)


def test_backgrounds_have_bounds(knowledge_of, queries_of):
    # Nobody has 1, everybody has 2.
    known = knowledge_of([[], [0], [0]], [[2], [2]])
    queries = queries_of(known, [1], [0], excluded=[[], [2]])
    scores = NaiveBayes(excluded=True).ordinary(known, queries).score
    assert scores[0] == pytest.approx([ln(0.01 / 1e-4)] * 2)
    assert scores[1] == pytest.approx([0, 0])  # (1 - 0.99) / (1 - 0.99)


@pytest.mark.parametrize("floor", [0, -0.1, 1.5])
def test_a_floor_without_a_logarithm_is_refused(floor):
    with pytest.raises(InputError, match="above 0, at most 1"):
        NaiveBayes(floor=floor)


def test_lopo_takes_the_publication_out_of_profile_and_background(known, queries_of):
    queries = queries_of(known, [3], [3], publications=["PMID:1", None])
    removed = removed_of(("PMID:1", 1, 3), ("PMID:1", 2, 5))
    ranker = NaiveBayes()
    scores = ranker.ordinary(known, queries)
    scores = ranker.lopo(known, queries, lopo_columns(known, queries, removed), scores)
    # No publication comes first. With PMID:1 gone only disease 3 has term 3, in a fifth.
    assert scores.score[0] == pytest.approx(np.log([0.75, 0.01, 0.2]) - ln(0.95 / 3))
    assert scores.score[1] == pytest.approx(np.log([0.01, 0.01, 0.2]) - ln(0.2 / 3))


def test_an_emptied_disease_is_last_and_not_counted_in_the_background(known, queries_of):
    queries = queries_of(known, [3], publications=["PMID:1"])
    removed = removed_of(("PMID:1", 2, 2), ("PMID:1", 2, 5))
    ranker = NaiveBayes()
    scores = ranker.ordinary(known, queries)
    assert np.isfinite(scores.score).all()
    scores = ranker.lopo(known, queries, lopo_columns(known, queries, removed), scores)
    assert scores.score[0, 1] == -math.inf
    assert scores.score[0, [0, 2]] == pytest.approx(np.log([0.75, 0.2]) - ln(0.95 / 2))


def by_definition(knowledge, observed, excluded, floor):
    """Scores of one query from the definition, shape (D,)."""
    ontology = knowledge.ontology
    frequency = np.zeros((len(knowledge.disease_ids), len(ontology.term_ids)))
    for d in range(len(frequency)):
        for i in range(knowledge.profile_ptr[d], knowledge.profile_ptr[d + 1]):
            for a in ontology.ancestors_of(knowledge.profile_terms[i]):
                own = knowledge.numerator[i] / knowledge.denominator[i]
                frequency[d, a] = max(frequency[d, a], own)
    alive = np.diff(knowledge.profile_ptr) > 0
    mean = np.maximum(frequency[alive].sum(axis=0) / max(1, alive.sum()), 1e-4)
    score = np.where(alive, 0.0, -np.inf)
    for t in observed:
        score += np.log(np.maximum(frequency[:, t], floor) / mean[t])
    for t in excluded:
        score += np.log((1 - np.minimum(frequency[:, t], 0.99)) / (1 - min(mean[t], 0.99)))
    return score


@given(st.data(), st.sampled_from([0.01, 1e-4, 0.5]))
@settings(deadline=None, max_examples=80)
def test_scores_are_those_of_the_definition(counted_worlds, data, floor):
    world = data.draw(counted_worlds)
    known, queries = world.knowledge, world.queries
    scores = NaiveBayes(excluded=True, floor=floor).ordinary(known, queries).score
    for q in range(len(queries)):
        own = queries.slice(q, q + 1)
        expected = by_definition(known, own.observed, own.excluded, floor)
        assert scores[q] == pytest.approx(expected, abs=1e-8)


def test_a_corpus_is_ranked_by_the_excluded_terms_of_its_view(known):
    view = pl.DataFrame(
        {
            "case_id": ["a", "b", "c"],
            "observed": [["HP:0000002"], ["HP:0000002"], []],
            "excluded": [["HP:0000003"], [], ["HP:0000003"]],
        }
    )
    cases = pl.DataFrame(
        {"case_id": ["a", "b", "c"], "publication_id": ["PMID:1"] * 3, "gold_id": ["OMIM:3"] * 3}
    )
    # F of 2: .5, 1, 0; of 3: .75, 0, .2. Without 2 and its absent 5, disease 2 has nothing left.
    removed = removed_of(("PMID:1", 2, 2), ("PMID:1", 2, 5))
    ranked = rank_corpus(NaiveBayes(excluded=True, floor=0.4), known, view, cases, removed, 3)
    order = {
        (protocol, case): ranked[protocol][0].filter(case_id=case)["disease_id"].to_list()
        for protocol in ("ordinary", "lopo")
        for case in ("a", "b")
    }
    # a: .5 × .25, 1 × 1, .4 × .8;  b: .5, 1, .4.  c has no observed term.
    assert order["ordinary", "a"] == ["OMIM:2", "OMIM:3", "OMIM:1"]
    assert order["ordinary", "b"] == ["OMIM:2", "OMIM:1", "OMIM:3"]
    assert order["lopo", "a"] == ["OMIM:3", "OMIM:1", "OMIM:2"]
    assert order["lopo", "b"] == ["OMIM:1", "OMIM:3", "OMIM:2"]
    assert ranked["lopo"][1]["rank"].to_list() == [1, 2]
