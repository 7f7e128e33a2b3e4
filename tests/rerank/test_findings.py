"""Findings by hand, against the rankers' own evidence, and under LOPO against filtered profiles."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.fusion.evidence import make_protocol, pair_evidence
from rarefuse.rerank.findings import FINDINGS, pair_findings


def all_findings(knowledge, queries, removed=None):
    shape = len(queries), len(knowledge.disease_ids)
    query, disease = (a.ravel() for a in np.indices(shape))
    found = pair_findings(
        make_protocol(knowledge, queries, removed), query, disease.astype(np.int32)
    )
    tables = found.values.reshape(*shape, len(FINDINGS))
    return {name: tables[:, :, j] for j, name in enumerate(FINDINGS)}, found.has_profile


def test_by_hand(knowledge_of, queries_of):
    r"""Root 0; 1, 2 below it; 3, 4 below 1; 5 below 2; 6 below 3.

    Disease 0: 3 in 1/2 of patients, 5 in 0/4. Disease 1: 2 in 1/1. Disease 2: 6 in 1/1.
    Closed {3,1,5,2,0}, {2,0}, {6,3,1,0}: terms are in 3, 2, 2, 2, 0, 1, 1 diseases.
    """
    knowledge = knowledge_of(
        [[], [0], [0], [1], [1], [2], [3]],
        [{3: (1, 2), 5: (0, 4)}, {2: (1, 1)}, {6: (1, 1)}],
    )
    low, high = math.log(3 / 2), math.log(3)
    assert knowledge.ic == pytest.approx([0, low, low, low, 0, high, high])
    queries = queries_of(knowledge, [3, 5], excluded=[[2, 6]])
    found, has_profile = all_findings(knowledge, queries)
    assert has_profile.all()
    expected = {
        # Disease 1 shares 2 with term 5; disease 2 has 3 through its descendant 6.
        "similarity": [low + high, low, low],
        "direct_share": [1, 0, 0],
        "matched_share": [1, 0, low / (low + high)],
        # Term 5's best match in disease 1 is low, less than half but more than a quarter of high.
        "near_share": [0, 0, 0],
        "distant_share": [0, low / (low + high), high / (low + high)],
        "frequency_share": [0.5 * low / (low + high), 0, low / (low + high)],
        "most_specific": [high, 0, low],
        # Disease 0 has 2 above an annotation of 0/4 only, so with frequency 0.
        "excluded_log": [0, math.log(0.01), math.log(0.01)],
        "excluded_share": [low / (low + high), low / (low + high), high / (low + high)],
        "contradicted_share": [high / (low + high), 0, 0],
        # Only 3 has a frequency in disease 0; 2 is above the observed 5; 6 is below the observed 3.
        "coverage": [1, 1, 0],
        "profile_similarity": [1, 1, low / high],
        "missing_log": [0, 0, math.log(0.01)],
        "annotations": [2, 1, 1],
    }
    for name, values in expected.items():
        assert found[name][0] == pytest.approx(values, abs=1e-6), name


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_agrees_with_the_evidence_of_the_rankers(counted_worlds, data):
    world = data.draw(counted_worlds)
    found, _ = all_findings(world.knowledge, world.queries, world.removed)
    protocol = make_protocol(world.knowledge, world.queries, world.removed)
    query, disease = (a.ravel() for a in np.indices(found["similarity"].shape))
    evidence = pair_evidence(protocol, query, disease.astype(np.int32))
    sizes = world.queries.sizes[query]
    assert found["similarity"].ravel() == pytest.approx(evidence.similarity * sizes, abs=1e-5)
    assert found["log_ratio"].ravel() == pytest.approx(evidence.log_ratio, abs=1e-6)
    assert found["annotations"].ravel().tolist() == evidence.annotations.tolist()
    total = world.knowledge.ic[world.queries.observed]
    if total.min(initial=1.0) > 0:
        assert found["matched_share"].ravel() == pytest.approx(evidence.matched_ic, abs=1e-5)


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_lopo_is_what_filtered_annotations_give(counted_worlds, data):
    world = data.draw(counted_worlds)
    queries = world.queries
    found, _ = all_findings(world.knowledge, queries, world.removed)
    for q, publication in enumerate(queries.publications):
        known = world.knowledge if publication is None else world.without(publication)
        alone, _ = all_findings(known, queries.slice(q, q + 1))
        for name in FINDINGS:
            if not name.startswith("log_ratio"):  # their backgrounds are tested in the ranker's
                assert found[name][q].tolist() == alone[name][0].tolist(), name
