"""Mentions, intents and search modes on hand-made input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarefuse.errors import InputError
from rarefuse.retrieval.gates import rule_gate
from rarefuse.retrieval.indexes import build_index
from rarefuse.retrieval.intents import IntentGate, train_intents, training_frames
from rarefuse.retrieval.linker import merge
from rarefuse.retrieval.mentions import STUB, MentionTagger, best_run, prose_words, train_tagger
from rarefuse.retrieval.search import hard_route, pooled, soft_mix, standardised, tangent_search
from rarefuse.retrieval.templates import HIERARCHY, REFERENCE, SIBLING
from rarefuse.retrieval.unseen import (
    covering_order,
    fit_weights,
    likely_parents,
    link_weights,
    votes,
)

NAMES = [
    f"{a} {b} of the {c}"
    for a in ("Abnormal", "Reduced", "Congenital", "Recurrent")
    for b in ("hypoplasia", "morphology", "cyst", "infection")
    for c in ("kidney", "eye", "skull", "left atrium", "liver")
]


@pytest.fixture(scope="module")
def tagger():
    return train_tagger(NAMES, ["a thing that is commonly seen"], 0, examples=3000)


@pytest.mark.parametrize("template", [*REFERENCE[HIERARCHY], *REFERENCE[SIBLING], "{}"])
def test_a_name_is_found_in_every_template(tagger, template):
    name = "Abnormal cyst of the left atrium"
    parsed = tagger.parse(template.format(name))
    assert parsed.mention == name
    assert STUB in parsed.frame
    assert name not in parsed.frame


def test_known_names_win(tagger):
    blind = MentionTagger(np.zeros_like(tagger.weights))
    text = "does anybody know what Green urine is above?"
    assert blind.parse(text, {"green urine", "urine"}.__contains__).mention == "Green urine"


def test_a_number_is_not_left_out():
    numbered = [f"{name} {number}" for name in NAMES for number in ("1", "2", "7A", "IV")]
    tagger = train_tagger([*NAMES, *numbered], [], 0, examples=3000)
    text = "What are the superclasses of Reduced infection of the liver{}?"
    known = {"reduced infection of the liver"}.__contains__
    for number in ("", " 2", " IV", " 7A"):
        assert tagger.parse(text.format(number), known).mention == (
            f"Reduced infection of the liver{number}"
        )


def test_a_long_query_and_an_empty_one(tagger):
    assert tagger.parse("kidney " * 1500).mention
    with pytest.raises(InputError, match="empty"):
        tagger.parse("  ")


def test_best_run():
    assert best_run([-1.0, 2.0, -0.5, 3.0, -4.0, 1.0]) == (1, 3)
    assert best_run([-3.0, -1.0, -2.0]) == (1, 1)


def test_prose_is_what_definitions_say_and_names_do_not():
    words = prose_words(["renal cyst"] * 30, ["a renal cyst which is seen"] * 30)
    assert {"which", "is", "seen", "a"} == set(words)


def test_gate_learns_its_templates_and_knows_a_bare_mention():
    """One direction a family; the temperature comes from left-out templates."""
    frames, family, template = training_frames(0)
    draw = np.random.default_rng(0)
    vectors = (np.eye(3)[family] + 0.3 * draw.normal(size=(len(family), 3))).astype(np.float32)
    gate = train_intents(vectors, family, template, 0)
    found = gate.probabilities(vectors, frames)
    assert (found.argmax(1) == family).mean() > 0.95
    np.testing.assert_allclose(found.sum(1), 1.0)
    assert gate.probabilities(vectors[:1], [STUB]).tolist() == [[1.0, 0.0, 0.0]]


def test_noise_makes_the_gate_unsure():
    _, family, template = training_frames(0)
    draw = np.random.default_rng(1)
    sure, unsure = (
        train_intents(v.astype(np.float32), family, template, 0).probabilities(
            np.eye(3, 8, dtype=np.float32), ["?", "?", "?"]
        )
        for v in (
            np.eye(3, 8)[family],
            np.eye(3, 8)[family] + 2.0 * draw.normal(size=(len(family), 8)),
        )
    )
    assert np.diag(sure).min() > np.diag(unsure).max()


def test_rule_gate():
    assert rule_gate(["parents of x", "x", "is-a taxonomy of x", "transparent x"]).tolist() == [
        1.0, 0.0, 1.0, 0.0,
    ]  # fmt: skip


def test_merge():
    a, b = np.array([1, 2, 3]), np.array([9, 1])
    assert merge([a, b], [0.99, 0.01], 4).tolist() == [1, 2, 3, 9]
    assert merge([a, b], [0.5, 0.5], 3).tolist()[0] == 1
    assert set(merge([a, b], [0.5, 0.5], 3).tolist()) == {1, 9, 2}
    assert merge([a], [1.0], 2).tolist() == [1, 2]


def test_votes_by_hand():
    parents = [[], [0], [0], [1, 2]]
    first, second = votes([3, 1], np.array([0.75, 0.25]), parents)
    assert first == {1: 0.75, 2: 0.75, 0: 0.25}
    assert second == {0: 1.5}
    weights = link_weights(np.array([0.9, 0.8]))
    np.testing.assert_allclose(weights, np.array([1.0, np.exp(-1.0)]) / (1 + np.exp(-1.0)))


def test_votes_pass_no_edge_of_a_hidden_term():
    parents = [[], [0], [0], [1, 2]]
    first, second = votes([3], np.array([1.0]), parents, hidden=1)
    assert first == {2: 1.0}
    assert second == {0: 1.0}


def test_likely_parents_by_hand():
    rows, chance = likely_parents(np.array([4, 7]), np.log(np.array([1.0, 3.0])))
    assert rows.tolist() == [7, 4]
    assert chance == pytest.approx([0.75, 0.25])


def test_every_likely_parent_is_answered_by_its_most_similar_child():
    below = np.array([[1, 0], [1, 0], [0, 1], [0, 0], [1, 0]], bool)
    similarity = np.array([0.1, 0.9, 0.2, 0.8, 0.5])
    order = covering_order(below, np.array([0.6, 0.4]), similarity)
    assert order.tolist() == [1, 2, 4, 0, 3]
    again = covering_order(below, np.array([0.6, 0.4]), similarity, 0.8)
    assert again.tolist() == [1, 4, 2, 0, 3]  # Gains: 0.6, 0.48, 0.4, 0.384.
    both = np.array([[1, 0], [0, 1], [1, 1]], bool)
    assert covering_order(both, np.array([0.6, 0.4]), np.zeros(3)).tolist() == [2, 0, 1]


@given(st.integers(1, 12), st.integers(1, 6), st.floats(0.0, 1.0), st.integers(0, 2**31))
def test_covering_loses_no_node(n, p, repeat, seed):
    draw = np.random.default_rng(seed)
    below, chance = draw.random((n, p)) < 0.4, draw.random(p) + 0.01
    order = covering_order(below, chance, draw.random(n), repeat)
    assert sorted(order) == list(range(n))
    covered = below[order].any(axis=1)
    first = int(np.argmax(~covered)) if not covered.all() else n
    assert not covered[first:].any()


def test_weights_learn_what_tells():
    draw = np.random.default_rng(0)
    lists = []
    for _ in range(50):
        x = draw.normal(size=(20, 2))
        y = np.zeros(20, bool)
        y[np.argmax(x[:, 1])] = True
        lists.append((x, y))
    first, second = fit_weights(lists)
    assert second > 3.0
    assert abs(first) < 1.0


def test_soft_mix_by_hand():
    """Three nodes; α decides between what is near and what is alike."""
    nodes = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], np.float32)
    table = np.array([[2.0, 0.0], [0.1, 0.0], [0.0, 1.0]], np.float32)
    text = build_index("text-flat", nodes, [], "e")
    tangent = build_index("tangent-flat", table, [], "e")
    vectors, points = nodes[:1].repeat(2, 0), np.zeros((2, 2), np.float32)
    found = soft_mix(text, tangent, nodes, table, vectors, points, np.array([0.0, 1.0]), 3)
    assert found.tolist() == [[0, 2, 1], [1, 2, 0]]
    alone = soft_mix(
        text, tangent, nodes, table, vectors[:1], points[:1], np.array([0.0]), 3,
        candidates=1, pool=("tangent",),
    )  # fmt: skip
    assert alone.tolist() == [[1, -1, -1]]
    assert tangent_search(tangent, table, points[:1], 2).tolist() == [[1, 2]]
    assert hard_route(np.array([0.5, 0.49]), found, -found).tolist() == [[0, 2, 1], [-1, -2, 0]]
    assert pooled(np.array([3, -1]), np.array([1, 3])).tolist() == [1, 3]
    np.testing.assert_allclose(standardised(np.array([1.0, 3.0])), [-1.0, 1.0], atol=1e-5)


def test_gate_survives_a_file(tmp_path):
    from rarefuse.retrieval.intents import read_gate, write_gate

    gate = IntentGate(np.ones((2, 3), np.float32), np.zeros(3, np.float32))
    write_gate(gate, tmp_path / "g.safetensors")
    again = read_gate(tmp_path / "g.safetensors")
    assert (again.weight == gate.weight).all()
    with pytest.raises(InputError, match="cannot be read"):
        read_gate(tmp_path / "none")
