"""Evidence of pairs is the rankers' own scores, and shares that can be counted by hand."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.annotations.lopo import REMOVED
from rarefuse.fusion.evidence import FLOOR, make_protocol, pair_evidence
from rarefuse.rankers.base import lopo_columns
from rarefuse.rankers.likelihood import NaiveBayes
from rarefuse.rankers.semantic import Resnik


def all_pairs(knowledge, queries, removed):
    """Evidence of every pair, each field as a (Q, D) table."""
    shape = len(queries), len(knowledge.disease_ids)
    query, disease = (a.ravel() for a in np.indices(shape))
    evidence = pair_evidence(
        make_protocol(knowledge, queries, removed), query, disease.astype(np.int32)
    )
    return {name: value.reshape(shape) for name, value in evidence._asdict().items()}


@given(data=st.data())
@settings(deadline=None, max_examples=60)
@pytest.mark.parametrize("protocol", ["ordinary", "lopo"])
def test_similarity_and_ratio_are_the_rankers_own_bits(counted_worlds, protocol, data):
    world = data.draw(counted_worlds)
    knowledge, queries = world.knowledge, world.queries
    removed = world.removed if protocol == "lopo" else None
    found = all_pairs(knowledge, queries, removed)
    for ranker, name in ((Resnik(), "similarity"), (NaiveBayes(floor=FLOOR), "log_ratio")):
        scores = ranker.ordinary(knowledge, queries)
        if removed is not None:
            columns = lopo_columns(knowledge, queries, removed)
            scores = ranker.lopo(knowledge, queries, columns, scores)
        expected = scores.score
        if name == "log_ratio":
            assert (np.isneginf(expected) == ~found["has_profile"]).all()
            assert np.isfinite(found[name]).all()
            kept = found["has_profile"]
            assert found[name][kept].tolist() == expected[kept].tolist()
        else:
            assert found[name].tolist() == expected.tolist()


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_counts_and_shares_under_lopo_are_those_of_filtered_annotations(counted_worlds, data):
    world = data.draw(counted_worlds)
    queries = world.queries
    found = all_pairs(world.knowledge, queries, world.removed)
    for q, publication in enumerate(queries.publications):
        known = world.knowledge if publication is None else world.without(publication)
        observed = queries.observed[queries.observed_ptr[q] : queries.observed_ptr[q + 1]]
        excluded = queries.excluded[queries.excluded_ptr[q] : queries.excluded_ptr[q + 1]]
        for d in range(len(known.disease_ids)):
            closed = set(known.ontology.closure(known.profile(d)).tolist())
            assert found["annotations"][q, d] == len(known.profile(d))
            assert found["has_profile"][q, d] == (len(known.profile(d)) > 0)
            held = [t for t in observed if t in closed]
            assert found["matched"][q, d] == len(held) / len(observed)
            weight = sum(known.ic[t] for t in observed)
            share = sum(known.ic[t] for t in held) / weight if weight > 0 else 0.0
            assert found["matched_ic"][q, d] == pytest.approx(share, abs=1e-12)
            refuted = [t for t in excluded if t in closed]
            share = len(refuted) / len(excluded) if len(excluded) else 0.0
            assert found["excluded_matched"][q, d] == share


def test_a_case_by_hand(toy, queries_of):
    # Profiles {3}, {5}, {2}; observed 4 and 3, excluded 2 (below the root, above 4 and 5).
    # Disease 2 holds 5 and so 4, but not 3: half of the terms; it holds the excluded term.
    queries = queries_of(toy, [3, 4], excluded=[[2]])
    one = pair_evidence(
        make_protocol(toy, queries, None), np.zeros(1, np.int64), np.ones(1, np.int32)
    )
    assert one.annotations[0] == 1
    assert one.matched[0] == 0.5
    assert one.matched_ic[0] == 0.5  # both terms have IC ln 3
    assert one.excluded_matched[0] == 1.0
    # m(4) = ln 3, m(3) = IC of term 1, which both are below: ln(3/2).
    assert one.similarity[0] == pytest.approx((math.log(3) + math.log(1.5)) / 2, abs=1e-7)
    # Term 4 is in one disease of three, term 3 too: backgrounds 1/3; frequencies 1 and the floor.
    assert one.log_ratio[0] == pytest.approx(math.log(1 / (1 / 3)) + math.log(0.01 * 3), abs=1e-8)


def test_a_profile_that_lopo_empties_has_finite_evidence(toy, queries_of):
    queries = queries_of(toy, [4], publications=["PMID:1"])
    removed = pl.DataFrame(
        [("PMID:1", "OMIM:2", "HP:0000005")], schema=REMOVED.dtypes, orient="row"
    )
    one = pair_evidence(
        make_protocol(toy, queries, removed), np.zeros(2, np.int64), np.array([1, -1], np.int32)
    )
    assert one.has_profile.tolist() == [False, False]
    assert one.annotations.tolist() == [0, 0]
    assert one.similarity.tolist() == [0.0, 0.0]
    # Nobody has term 4 any more: the background is at its least, 1e-4.
    assert one.log_ratio == pytest.approx([math.log(0.01 / 1e-4)] * 2, abs=1e-8)


def test_pairs_come_in_any_order_and_more_than_once(toy, queries_of):
    queries = queries_of(toy, [3], [4, 5], [2])
    query = np.array([2, 0, 1, 0, 2, 1, 0])
    disease = np.array([0, 1, 2, 1, 0, -1, 2], np.int32)
    table = all_pairs(toy, queries, None)
    mixed = pair_evidence(make_protocol(toy, queries, None), query, disease)
    for name, value in mixed._asdict().items():
        known = disease >= 0
        assert value[known].tolist() == table[name][query[known], disease[known]].tolist()


def test_no_pairs_give_no_evidence(toy, queries_of):
    none = pair_evidence(
        make_protocol(toy, queries_of(toy, [3]), None), np.empty(0, np.int64), np.empty(0, np.int32)
    )
    assert [len(value) for value in none] == [0] * 7
