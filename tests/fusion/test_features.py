"""The 39 features: their order, one case by hand, and what must not change them."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.annotations.lopo import REMOVED
from rarefuse.corpus.view import VIEW
from rarefuse.fusion.evidence import make_protocol, pair_evidence
from rarefuse.fusion.features import (
    FEATURE_NAMES,
    FEATURE_TABLE,
    FEATURES,
    columns_of,
    from_frame,
    list_agreement,
    list_cross,
    list_shape,
    make_features,
    to_frame,
)
from rarefuse.fusion.lists import Lists


def view_of(queries, **given):
    rows = [
        {"case_id": case, "sex": None, "age_days": None, "onset": None, "observed": [],
         "observed_labels": [], "excluded": [], "excluded_labels": [], **given}
        for case in queries.case_ids
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=VIEW.dtypes)


def test_the_order_is_the_papers():
    assert len(FEATURES) == 39
    assert [f.index for f in FEATURES] == list(range(1, 40))
    sizes = {group: len(columns_of(group)) for group in dict.fromkeys(f.group for f in FEATURES)}
    assert sizes == {"context": 14, "shape": 4, "support": 14, "agreement": 4, "cross": 3}
    assert [f.index for f in FEATURES if f.shared] == [*range(1, 15), 33, 34, 35, 36]
    assert FEATURE_TABLE.names == ["case_id", "component", *FEATURE_NAMES]
    assert FEATURE_NAMES[0] == "n_observed"
    assert FEATURE_NAMES[17:19] == ("entropy", "similarity_top1")
    assert FEATURE_NAMES[38] == "cross_mean10"


def test_a_case_by_hand(toy, queries_of, lists):
    # Terms 0 (root) to 5; profiles {3}, {5}, {2}; IC 0, ln 3/2, ln 3/2, ln 3, ln 3, ln 3;
    # depths 0, 1, 1, 2, 2, 3. Observed 3 and 4, excluded 2. Ontology list: diseases 1, 0 with
    # scores 4 and 3 (and 2 last with 1); LLM list: 0, and 7, which is no candidate.
    queries = queries_of(toy, [3, 4], excluded=[[2]])
    protocol = make_protocol(toy, queries, None)
    ontology = lists([1, 0, 2], depth=3, scores=[[4.0, 3.0, 1.0]])
    llm = lists([0, 7], depth=10)
    found = make_features(protocol, view_of(queries, sex="MALE"), ontology, llm)
    ours, theirs = (
        dict(zip(FEATURE_NAMES, x[0].tolist(), strict=True)) for x in (found.ontology, found.llm)
    )
    ln3, half = math.log(3), math.log(1.5)
    evidence = pair_evidence(protocol, np.zeros(3, np.int64), np.array([1, 0, 2], np.int32))
    similarity, ratio = evidence.similarity, evidence.log_ratio
    shared = {
        "n_observed": math.log(3), "n_excluded": math.log(2), "ic_observed_mean": ln3,
        "ic_observed_max": ln3, "ic_observed_sum": math.log1p(2 * ln3), "depth_observed_mean": 2.0,
        "depth_observed_max": 2.0, "ic_excluded_mean": half, "ic_excluded_max": half,
        "depth_excluded_mean": 1.0, "excluded_share": 1 / 3, "has_age": 0.0, "has_onset": 0.0,
        "has_sex": 1.0, "overlap1": 0.0, "overlap3": 1 / 3, "overlap5": 1 / 5, "overlap10": 1 / 10,
    }  # fmt: skip
    # Normalised scores 1, 2/3, 0; their shares 3/5, 2/5.
    entropy = -(0.6 * math.log(0.6) + 0.4 * math.log(0.4)) / math.log(10)
    expected = {
        **shared, "length": 1.0, "gap_second": 1 / 3, "gap_rest": 1 - 1 / 3, "entropy": entropy,
        "similarity_top1": similarity[0], "similarity_best3": similarity.max(),
        "similarity_mean10": similarity.mean(), "ratio_top1": ratio[0],
        "ratio_best3": ratio.max(), "ratio_mean10": ratio.mean(),
        "ratio_gap": ratio[0] - ratio.max(), "annotations_top1": math.log(2),
        "annotations_mean10": math.log(2), "profiles10": 1.0, "matched_top1": 0.5,
        "matched_mean10": (0.5 + 0.5 + 0.0) / 3, "matched_ic_top1": 0.5,
        "excluded_matched_top1": 1.0, "cross_top1": 0.0, "cross_best3": 1.0, "cross_mean10": 1 / 3,
    }  # fmt: skip
    assert ours == pytest.approx(expected)
    # The LLM's list: scores 1 and 1/2 become 1 and 0; disease 7 has no profile.
    floor = ratio_without_a_profile(protocol)
    expected = {
        **shared, "length": 0.2, "gap_second": 1.0, "gap_rest": 1.0, "entropy": 0.0,
        "similarity_top1": similarity[1], "similarity_best3": similarity[1],
        "similarity_mean10": similarity[1] / 2, "ratio_top1": ratio[1], "ratio_best3": ratio[1],
        "ratio_mean10": (ratio[1] + floor) / 2, "ratio_gap": 0.0, "annotations_top1": math.log(2),
        "annotations_mean10": math.log(2) / 2, "profiles10": 0.5, "matched_top1": 0.5,
        "matched_mean10": 0.25, "matched_ic_top1": 0.5, "excluded_matched_top1": 0.0,
        "cross_top1": 0.5, "cross_best3": 0.5, "cross_mean10": 0.25,
    }  # fmt: skip
    assert theirs == pytest.approx(expected)


def ratio_without_a_profile(protocol):
    return pair_evidence(protocol, np.zeros(1, np.int64), np.full(1, -1, np.int32)).log_ratio[0]


@st.composite
def scored_lists(draw, n=1):
    size = draw(st.integers(0, 12))
    disease = np.full((n, 12), -1, np.int32)
    disease[:, :size] = draw(st.permutations(range(12)))[:size]
    score = np.zeros((n, 12))
    score[:, :size] = draw(st.lists(st.integers(-50, 50), min_size=size, max_size=size))
    return Lists(disease, score)


@given(own=scored_lists(), scale=st.floats(0.01, 100), shift=st.floats(-100, 100))
@settings(deadline=None)
def test_positive_affine_rescaling_changes_nothing(own, scale, shift):
    other = Lists(own.disease, np.where(own.disease >= 0, scale * own.score + shift, 0.0))
    assert list_shape(other, 12) == pytest.approx(list_shape(own, 12), abs=1e-8)


@given(own=scored_lists())
@settings(deadline=None)
def test_shapes_are_bounded_and_defined(own):
    length, second, rest, entropy = list_shape(own, 12)[0]
    assert length == own.length[0] / 12
    assert -1 <= second <= 1
    assert -1 <= rest <= 1
    assert -1e-12 <= entropy <= 1 + 1e-12
    if own.length[0] < 2 or np.ptp(own.score[0, : own.length[0]]) == 0:
        assert (second, rest, entropy) == (0, 0, 0)


def test_a_score_of_minus_infinity_counts_as_the_least(lists):
    one = list_shape(lists([0, 1, 2], depth=3, scores=[[3.0, 1.0, -np.inf]]), 3)
    other = list_shape(lists([0, 1, 2], depth=3, scores=[[3.0, 1.0, 1.0]]), 3)
    assert one.tolist() == other.tolist()


@given(data=st.data())
@settings(deadline=None, max_examples=50)
def test_shared_features_agree_swapping_swaps_and_nothing_is_undefined(
    counted_worlds, pairs, lists, data
):
    world = data.draw(counted_worlds)
    knowledge, queries = world.knowledge, world.queries
    drawn = [data.draw(pairs(diseases=len(knowledge.disease_ids) + 2)) for _ in queries.case_ids]
    a, b = (lists(*own, depth=10) for own in zip(*drawn, strict=True))
    protocol = make_protocol(knowledge, queries, world.removed)
    view = view_of(queries)
    there, back = make_features(protocol, view, a, b), make_features(protocol, view, b, a)
    shared = [f.index - 1 for f in FEATURES if f.shared]
    assert np.isfinite(there.ontology).all()
    assert np.isfinite(there.llm).all()
    assert there.ontology[:, shared].tolist() == there.llm[:, shared].tolist()
    assert there.ontology.tolist() == back.llm.tolist()
    assert there.llm.tolist() == back.ontology.tolist()


def test_empty_lists_and_emptied_profiles_give_zeros(toy, queries_of, lists):
    queries = queries_of(toy, [4], publications=["PMID:1"])
    removed = pl.DataFrame(
        [("PMID:1", "OMIM:2", "HP:0000005")], schema=REMOVED.dtypes, orient="row"
    )
    protocol = make_protocol(toy, queries, removed)
    found = make_features(protocol, view_of(queries), lists([1], depth=3), lists([], depth=10))
    own = [i for group in ("shape", "support", "cross") for i in columns_of(group)]
    assert found.llm[0, own].tolist() == [0.0] * len(own)
    ours = dict(zip(FEATURE_NAMES, found.ontology[0].tolist(), strict=True))
    assert ours["profiles10"] == ours["similarity_top1"] == ours["annotations_top1"] == 0
    assert ours["ratio_top1"] == pytest.approx(math.log(0.01 / 1e-4))


def test_overlap_and_cross_ranks_by_hand(lists):
    a, b = lists([5, 6, 7, 8], depth=4), lists([7, 9, 5], depth=10)
    assert list_agreement(a, b).tolist() == [[0, 2 / 3, 2 / 5, 2 / 10]]
    assert list_cross(a, b).tolist() == [[1 / 3, 1.0, pytest.approx((1 / 3 + 1) / 4)]]
    assert list_cross(b, a).tolist() == [[1 / 3, 1.0, pytest.approx((1 / 3 + 1) / 3)]]


def test_the_artifact_keeps_vectors(random_features):
    features = random_features(3)
    frame = to_frame(["b", "a", "c"], features)
    FEATURE_TABLE.check(frame, "features")
    assert frame["case_id"].to_list() == ["a", "a", "b", "b", "c", "c"]
    assert frame["component"].to_list() == ["ontology", "llm"] * 3
    back = from_frame(frame, ["c", "b"])
    assert back.ontology.tolist() == features.ontology[[2, 0]].tolist()
    assert back.llm.tolist() == features.llm[[2, 0]].tolist()
