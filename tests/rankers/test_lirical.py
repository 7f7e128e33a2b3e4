"""LIRICAL's rules one by one, on a toy with backgrounds that can be added up by hand.

    0 (Phenotypic abnormality)
    ├─ 1 ── 3 ── 6 ── 9 ── 10
    │       ├─ 7
    │       └─ 8
    └─ 2 ── 4

Term 5 has two ways up: it is_a 2 and is_a 1, in this order. 11 is below 5.
"""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.annotations.lopo import REMOVED
from rarefuse.rankers import lirical
from rarefuse.rankers.base import lopo_columns
from rarefuse.rankers.lirical import Lirical, breadth_first, penalty

#          0   1    2    3    4    5       6    7    8    9    10   11
PARENTS = [[], [0], [0], [1], [2], [2, 1], [3], [3], [3], [6], [9], [5]]
PROFILES = [
    {3: (3, 4), 6: (1, 2)},  # A
    {7: (1, 5), 4: (0, 9)},  # B: 4 absent
    {4: (2, 5), 3: (0, 3)},  # C: 3 absent
    {10: (1, 1)},  # D
    {8: (1, 1), 4: (1, 2)},  # E
]
A, B, C, D, E = range(5)
# F of each disease:     A     B    C    D    E
BACKGROUND = {
    0: (0.75 + 0.2 + 0.4 + 1.0 + 1.0) / 5,
    1: (0.75 + 0.2 + 0.0 + 1.0 + 1.0) / 5,
    2: (0.4 + 0.5) / 5,
    3: (0.75 + 0.2 + 0.0 + 1.0 + 1.0) / 5,
    4: (0.4 + 0.5) / 5,
    6: (0.5 + 1.0) / 5,
    7: 0.2 / 5,
    8: 1 / 5,
    9: 1 / 5,
    10: 1 / 5,
}


@pytest.fixture
def known(knowledge_of):
    return knowledge_of(PARENTS, PROFILES)


@pytest.fixture
def ratio(known, queries_of):
    """Likelihood ratio of one observed term in one disease."""

    def of(term, disease):
        return math.exp(Lirical().ordinary(known, queries_of(known, [term])).score[0, disease])

    return of


@pytest.fixture
def excluded_ratio(known, queries_of):
    """Likelihood ratio of one excluded term in one disease (beside an observed root, taken out)."""

    def of(term, disease):
        queries = queries_of(known, [0], excluded=[[term]])
        both = Lirical().ordinary(known, queries).score[0, disease]
        root = Lirical(excluded=False).ordinary(known, queries).score[0, disease]
        return math.exp(both - root)

    return of


def test_rule_1_an_absent_annotation_at_or_above_the_term(ratio):
    assert ratio(4, B) == pytest.approx(1 / 1000)
    assert ratio(3, C) == pytest.approx(1 / 1000)
    assert ratio(10, C) == pytest.approx(1 / 1000)  # 3 is an ancestor of 10


def test_an_absent_annotation_below_the_term_is_none(ratio):
    # C's 3 is below 1; nothing present is at or below 1, no parent is annotated, and the walk
    # (1, then 0) meets no induced frequency: those stop below Phenotypic abnormality.
    assert ratio(1, C) == pytest.approx(0.01)


def test_rule_2_an_annotated_term_has_its_own_frequency(ratio):
    assert ratio(3, A) == pytest.approx(0.75 / BACKGROUND[3])
    assert ratio(6, A) == pytest.approx(0.5 / BACKGROUND[6])


def test_rule_2_goes_before_rule_3_where_a_term_below_is_more_frequent(knowledge_of, queries_of):
    known = knowledge_of([[], [0], [1]], [{1: (1, 5), 2: (4, 5)}, {1: (1, 1)}])
    score = Lirical().ordinary(known, queries_of(known, [1])).score[0]
    # The background takes the larger one, 0.8, all the same.
    assert np.exp(score) == pytest.approx([0.2 / 0.9, 1 / 0.9])


def test_rule_3_a_term_above_annotations_has_the_largest_of_their_frequencies(ratio):
    assert ratio(1, A) == pytest.approx(0.75 / BACKGROUND[1])
    assert ratio(0, E) == pytest.approx(1 / BACKGROUND[0])
    assert ratio(9, D) == pytest.approx(1 / BACKGROUND[9])


def test_rule_4_a_child_of_an_annotation_gets_its_share(ratio):
    # 3 has three children, and A has 3 in 0.75: 0.25 for 7. 9 is the only child of 6.
    assert ratio(7, A) == pytest.approx(0.25 / BACKGROUND[7])
    assert ratio(9, A) == pytest.approx(0.5 / BACKGROUND[9])


def test_rule_4_the_penalty_is_the_least_share(knowledge_of, queries_of):
    assert penalty(np.array([0.01, 0.1, 0.5])) == pytest.approx(
        [0.01 * 0.002, 0.1 * 0.1, 0.5 * (0.002 + 0.49 * 0.098 / 0.09)]
    )
    # Disease 1 has 1 in 1/50; its child 2 gets 0.02, less than the penalty of 2's background 1/2.
    known = knowledge_of([[], [0], [1]], [{1: (1, 50)}, {2: (1, 1)}])
    score = Lirical().ordinary(known, queries_of(known, [2])).score[0]
    assert math.exp(score[0]) == pytest.approx(0.002 + 0.49 * 0.098 / 0.09)


def test_rule_4_takes_the_largest_share_of_several_parents(knowledge_of, queries_of):
    # 3 is a child of 1, which has two children, and of 2, which has one.
    known = knowledge_of(
        [[], [0], [0], [1, 2], [1]], [{1: (1, 1), 2: (3, 5)}, {3: (1, 10)}, {1: (1, 5), 2: (1, 50)}]
    )
    score = Lirical().ordinary(known, queries_of(known, [3])).score[0]
    assert np.exp(score)[[0, 2]] == pytest.approx(np.array([0.6, 0.1]) / (0.1 / 3))


def test_rule_4_does_not_reach_grandchildren(ratio):
    # 10 is below A's 6 and 3, but a child of neither. On the walk 10, 9, 6, 3, … the first term
    # with an induced frequency is 3, from 6 one step below: 0.05. (6 has none of its own.)
    assert ratio(10, A) == pytest.approx(0.05 / BACKGROUND[3])


def test_rule_5_a_tenth_for_every_step(ratio):
    # 8 in D: 10 is three steps below 3, and 0.001 / 0.59 is less than the least ratio.
    assert ratio(8, D) == pytest.approx(0.01)
    # 7 in E: 8 is one step below 3.
    assert ratio(7, E) == pytest.approx(0.1 / BACKGROUND[3])
    # 8 in B: 7 gives 3 a tenth of 0.2.
    assert ratio(8, B) == pytest.approx(0.02 / BACKGROUND[3])


def test_rule_5_the_largest_induced_frequency_counts(knowledge_of, queries_of):
    # 1 has 0.03 from 2 one step below and 0.005 from 4 two steps below (0.5 / 100).
    known = knowledge_of([[], [0], [1], [1], [3], [1]], [{2: (3, 10), 4: (1, 2)}, {1: (1, 10)}])
    score = Lirical().ordinary(known, queries_of(known, [5])).score[0]
    assert math.exp(score[0]) == pytest.approx(0.03 / ((0.5 + 0.1) / 2))


def test_rule_5_walks_breadth_first_in_the_order_of_is_a(known, ratio, queries_of):
    assert breadth_first(known.ontology, 11) == [11, 5, 2, 1, 0]
    assert breadth_first(known.ontology, 10) == [10, 9, 6, 3, 1, 0]
    # 2 comes before 1. E: 4 gives 2 a tenth of 0.5; 8, two steps below 1, gives it 0.01.
    assert ratio(11, E) == pytest.approx(0.05 / BACKGROUND[2])
    # A has nothing below 2: the walk goes on to 1, which has 0.075 from 3 and 0.005 from 6.
    assert ratio(11, A) == pytest.approx(0.075 / BACKGROUND[1])


def test_rule_5_goes_by_level_and_not_by_branch(knowledge_of, queries_of):
    # 5 is below 3 (below 1) and 2. Both 1 and 2 carry induced frequencies; 2 is nearer.
    known = knowledge_of([[], [0], [0], [1], [1], [3, 2], [2]], [{4: (1, 1), 6: (1, 2)}])
    assert breadth_first(known.ontology, 5) == [5, 3, 2, 1, 0]
    score = Lirical().ordinary(known, queries_of(known, [5])).score[0]
    assert math.exp(score[0]) == pytest.approx(0.05 / 0.5)


def test_rule_5_is_at_least_a_hundredth(knowledge_of, queries_of):
    known = knowledge_of([[], [0], [1], [1]], [{2: (1, 50)}, {1: (1, 1)}])
    score = Lirical().ordinary(known, queries_of(known, [3])).score[0]
    assert math.exp(score[0]) == pytest.approx(0.01)  # 0.002 / 0.51 is less


def test_rule_6_nothing_in_common(ratio):
    assert ratio(4, A) == pytest.approx(0.01)
    assert ratio(2, D) == pytest.approx(0.01)


def test_excluded_an_absent_annotation_at_or_below_the_term(excluded_ratio):
    assert excluded_ratio(4, B) == pytest.approx(1000)
    assert excluded_ratio(2, B) == pytest.approx(1000)
    assert excluded_ratio(0, B) == pytest.approx(1000)  # though B has present annotations below


def test_excluded_nothing_at_or_below_the_term(excluded_ratio):
    assert excluded_ratio(4, A) == pytest.approx(1 / (1 - BACKGROUND[4]))
    assert excluded_ratio(10, A) == pytest.approx(1 / (1 - BACKGROUND[10]))
    # C's absent 3 is above 6, not below it.
    assert excluded_ratio(6, C) == pytest.approx(1 / (1 - BACKGROUND[6]))


def test_excluded_annotations_at_or_below_the_term(excluded_ratio):
    assert excluded_ratio(3, A) == pytest.approx(0.25 / (1 - BACKGROUND[3]))
    assert excluded_ratio(1, A) == pytest.approx(0.25 / (1 - BACKGROUND[1]))
    assert excluded_ratio(2, E) == pytest.approx(0.5 / (1 - BACKGROUND[2]))
    assert excluded_ratio(10, D) == pytest.approx(0.01 / (1 - BACKGROUND[10]))  # not 0


def test_excluded_a_term_that_all_have_says_nothing_unless_absent(knowledge_of, queries_of):
    # Background of 1: 399 of 400 diseases have it.
    known = knowledge_of([[], [0], [0]], [{1: (0, 5), 2: (1, 1)}] + [{1: (1, 1)}] * 399)
    queries = queries_of(known, [2], excluded=[[1]])
    both = Lirical().ordinary(known, queries).score[0]
    alone = Lirical(excluded=False).ordinary(known, queries).score[0]
    assert np.exp(both - alone)[:2] == pytest.approx([1000, 1])


def test_the_least_background_is_a_ten_thousandth(knowledge_of, queries_of):
    known = knowledge_of([[], [0], [1]], [{1: (1, 1)}, {0: (1, 1)}])
    score = Lirical().ordinary(known, queries_of(known, [2])).score[0]
    # Nobody has 2, the only child of 1; the penalty of a background of 0 is 0.
    assert math.exp(score[0]) == pytest.approx(1 / 1e-4)


def test_ratios_multiply(known, queries_of, ratio, excluded_ratio):
    queries = queries_of(known, [7, 11, 4], excluded=[[10, 6]])
    scores = Lirical().ordinary(known, queries)
    for d in range(5):
        product = math.prod([ratio(t, d) for t in (7, 11, 4)])
        product *= math.prod([excluded_ratio(t, d) for t in (10, 6)])
        assert math.exp(scores.score[0, d]) == pytest.approx(product)
    assert scores.order.tolist() == [0, 1, 2, 3, 4]
    assert scores.p_value is None


@pytest.mark.parametrize("lanes", [1, 2, 3])
def test_diseases_side_by_side_do_not_mix(knowledge_of, queries_of, monkeypatch, lanes):
    known = knowledge_of(PARENTS, [*PROFILES, {}, PROFILES[A]])
    queries = queries_of(known, [7, 11], [4], [10, 3], excluded=[[6, 2], [3], []])
    together = Lirical().ordinary(known, queries).score
    assert np.isinf(together[:, 5]).all()
    assert together[:, 6].tolist() == together[:, A].tolist()
    monkeypatch.setattr(lirical, "LANES", lanes)
    assert Lirical().ordinary(known, queries).score.tolist() == together.tolist()


def test_an_emptied_disease_is_last_and_the_others_lose_its_share_of_the_background(
    known, queries_of
):
    queries = queries_of(known, [9], publications=["PMID:1"])
    removed = pl.DataFrame(
        [("PMID:1", "OMIM:4", "HP:0000010")], schema=REMOVED.dtypes, orient="row"
    )
    ranker = Lirical()
    scores = ranker.ordinary(known, queries)
    assert math.exp(scores.score[0, D]) == pytest.approx(5)
    scores = ranker.lopo(known, queries, lopo_columns(known, queries, removed), scores)
    assert scores.score[0, D] == -math.inf
    # Nobody has 9 any more; A has its parent 6 in 0.5.
    assert math.exp(scores.score[0, A]) == pytest.approx(0.5 / 1e-4)
    # E: 6 has no induced frequency, 3 has a tenth of 1; background of 3 over four diseases.
    assert math.exp(scores.score[0, E]) == pytest.approx(0.1 / (1.95 / 4))


def by_definition(knowledge, observed, excluded):
    """Scores of one query by the rules as REFERENCE_LIRICAL words them, shape (D,)."""
    ontology = knowledge.ontology
    up = [set(ontology.ancestors_of(t).tolist()) for t in range(len(ontology.term_ids))]
    children = np.bincount(ontology.parents, minlength=len(up))
    present, absent = [], []
    for d in range(len(knowledge.disease_ids)):
        rows = range(knowledge.profile_ptr[d], knowledge.profile_ptr[d + 1])
        pooled = {
            int(knowledge.profile_terms[i]): knowledge.numerator[i] / knowledge.denominator[i]
            for i in rows
        }
        present.append({t: f for t, f in pooled.items() if f > 0})
        absent.append({t for t, f in pooled.items() if f == 0})
    alive = [d for d in range(len(present)) if present[d] or absent[d]]

    def largest(d, t):
        return max((f for a, f in present[d].items() if t in up[a]), default=0.0)

    def mean(t):
        return sum(largest(d, t) for d in alive) / max(1, len(alive))

    def background(t):
        return max(1e-4, mean(t))

    def distance(low, high):
        level, steps = {low}, 0
        while high not in level:
            level = {int(p) for t in level for p in ontology.parents_of(t)}
            steps += 1
        return steps

    def induced(d, s):
        return max(
            (f / 10 ** distance(a, s) for a, f in present[d].items() if s in up[a] - {a}),
            default=0.0,
        )

    def observed_ratio(d, t):
        if absent[d] & up[t]:
            return 1 / 1000
        if t in present[d]:
            return present[d][t] / background(t)
        if largest(d, t):
            return largest(d, t) / background(t)
        parents = set(ontology.parents_of(t).tolist())
        share = max((present[d][a] / children[a] for a in present[d] if a in parents), default=0)
        if share > 0:
            b = mean(t)
            return max(share, b * (0.002 + (b - 0.01) * (0.098 / 0.09))) / background(t)
        queue = [t]
        while queue:
            s = queue.pop(0)
            if s != 0 and induced(d, s) > 0:
                return max(0.01, induced(d, s) / background(s))
            queue += ontology.parents_of(s).tolist()
        return 0.01

    def excluded_ratio(d, t):
        if any(t in up[a] for a in absent[d]):
            return 1000
        if background(t) > 0.99:
            return 1
        if not largest(d, t):
            return 1 / (1 - background(t))
        return max(0.01, 1 - largest(d, t)) / (1 - background(t))

    return [
        sum(math.log(observed_ratio(d, t)) for t in observed.tolist())
        + sum(math.log(excluded_ratio(d, t)) for t in excluded.tolist())
        if d in alive
        else -math.inf
        for d in range(len(present))
    ]


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_scores_are_those_of_the_rules(counted_worlds, data):
    world = data.draw(counted_worlds)
    known, queries = world.knowledge, world.queries
    scores = Lirical().ordinary(known, queries).score
    for q in range(len(queries)):
        own = queries.slice(q, q + 1)
        assert scores[q] == pytest.approx(by_definition(known, own.observed, own.excluded))
