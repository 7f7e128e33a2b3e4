"""Rank fusion by hand, and against ranx itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranx import Qrels, Run, fuse
from ranx.fusion.probfuse import probfuse_train

from rarefuse.fusion import rules
from rarefuse.fusion.lists import places_by_score

RANX = {
    "rrf": ("rrf", rules.rrf_scores),
    "borda": ("bordafuse", rules.borda_scores),
    "combmnz": ("mnz", rules.combmnz_scores),
}


def as_runs(union):
    """Both lists for ranx: document = column of the union, score = 1/rank."""
    return [
        Run(
            {
                f"q{i:03d}": {f"d{j:03d}": float(values[j]) for j in np.flatnonzero(values)}
                for i, values in enumerate(reciprocal)
            }
        )
        for reciprocal in (union.ontology, union.llm)
    ]


def ranx_table(union, method, **params):
    fused = fuse(as_runs(union), norm="min-max", method=method, params=params or None)
    table = np.zeros(union.disease.shape)
    for query, results in fused.run.items():
        for document, score in results.items():
            table[int(query[1:]), int(document[1:])] = score
    return table


def test_rrf_and_combmnz_of_three_documents_by_hand(union_of):
    # Ontology a, b, c; LLM b, a. RRF: a 1/61 + 1/62, b 1/62 + 1/61, c 1/63.
    union = union_of([[0, 1, 2]], [[1, 0]])
    assert rules.rrf_scores(union)[0, :3] == pytest.approx(
        [1 / 61 + 1 / 62, 1 / 62 + 1 / 61, 1 / 63]
    )
    # Scores 1, 1/2, 1/3 become 1, 1/4, 0 and 1, 1/2 become 1, 0: a (1 + 0) 2, b (1/4 + 1) 2, c 0.
    assert rules.combmnz_scores(union)[0, :3] == pytest.approx([2.0, 2.5, 0.0])
    # Borda of three: 3, 2, 1 and 2, 3, and c gets the last place's 1 from the LLM.
    assert rules.borda_scores(union)[0, :3].tolist() == [5.0, 5.0, 2.0]


def test_bayes_fuse_by_hand(union_of):
    # Two training rows with lists of two; the diagnosis is first in one and nowhere in the other.
    ratios = rules.rank_ratios(np.array([1, 0]), np.array([2, 2]))
    n = len(rules.RANK_BINS)
    right, wrong = 1 + 0.5 * n, 3 + 0.5 * n
    assert ratios[0] == pytest.approx(np.log((1.5 / right) / (1.5 / wrong)))
    assert ratios[1] == pytest.approx(np.log((0.5 / right) / (2.5 / wrong)))
    union = union_of([[0, 1]], [[2]])
    scores = rules.bayes_scores(union, [ratios, np.full(n, 7.0)])
    assert scores[0, :3] == pytest.approx([ratios[0], ratios[1], 7.0])  # absence adds nothing


def test_probfuse_probabilities_are_ranxs_own(union_of):
    union = union_of([[0, 1, 2], [3, 4, 5], [6, 7, 8]], [[1], [3], [0]])
    gold = np.array([1, 0, 3])  # columns: second of the first list, first, only the LLM's
    ours = [
        rules.hit_shares(ranks, reciprocal.shape[1])
        for ranks, reciprocal in zip(
            rules.gold_ranks_in(union, gold), (union.ontology, union.llm), strict=True
        )
    ]
    qrels = Qrels({f"q{i:03d}": {f"d{g:03d}": 1} for i, g in enumerate(gold)})
    theirs = probfuse_train(qrels, as_runs(union), 3)
    assert ours[0].tolist() == [1 / 3, 1 / 3, 0.0, 0.0]
    assert ours[0].tolist()[:3] == pytest.approx(theirs[0].tolist())
    assert ours[1].tolist()[:3] == pytest.approx(theirs[1].tolist())


@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_rules_score_as_ranx_does(pairs, union_of, data):
    cases = data.draw(st.lists(pairs(least=1), min_size=1, max_size=4))
    union = union_of(*zip(*cases, strict=True))
    for method, scores in RANX.values():
        assert scores(union) == pytest.approx(ranx_table(union, method), abs=1e-12)
    depths = union.ontology.shape[1], union.llm.shape[1]
    shares = [np.linspace(0.5, 0.1, depth) for depth in depths]
    theirs = ranx_table(union, "probfuse", probs=[s[: (r > 0).sum(axis=1).max()] for s, r in
                        zip(shares, (union.ontology, union.llm), strict=True)])  # fmt: skip
    lengths = [(r > 0).sum(axis=1) for r in (union.ontology, union.llm)]
    if all((n == n[0]).all() for n in lengths):  # ranx's segments then are places
        assert rules.probfuse_scores(union, shares) == pytest.approx(theirs, abs=1e-12)


def test_the_fixed_weight_is_the_best_on_labelled_rows(union_of):
    # The LLM is right in two rows of three: weights below 1/2; the nearest to it wins.
    union = union_of([[0, 1]] * 3, [[2], [3], [4]])

    def weight(*diagnoses):
        gold = union.places(np.array(diagnoses, np.int32))
        return rules.best_fixed_weight(rules.right_by_weight(union, gold))

    assert weight(2, 3, 0) == pytest.approx(0.49)
    assert weight(0, 0, 0) == 0.5


def test_ties_of_a_rule_are_blocks(union_of):
    union = union_of([[0, 1, 2]], [[1, 0]])
    places = places_by_score(union, rules.rrf_scores(union), np.array([1]))
    assert places.tolist() == [[2, 1, 2]]
