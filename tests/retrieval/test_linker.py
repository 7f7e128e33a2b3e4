"""Linking and ranking on a tree of six nodes: 0 over 1 and 2, 1 over 3 and 4, 2 over 5."""

import numpy as np
import pytest

from rarefuse.retrieval.geometry import exp_origin
from rarefuse.retrieval.indexes import build_index
from rarefuse.retrieval.linker import POOL, RELATED, SHORT, make_linker
from rarefuse.retrieval.subsets import REFERENCE, make_subset
from rarefuse.retrieval.templates import HIERARCHY, SIBLING
from rarefuse.retrieval.terms import Term, Vocabulary
from rarefuse.retrieval.unseen import UnseenModel

PARENTS = {"A": (), "B": ("A",), "C": ("A",), "D": ("B",), "E": ("B",), "F": ("C",)}
SUBSET = make_subset(
    Vocabulary({t: Term(t, t, "", (), p) for t, p in PARENTS.items()}), REFERENCE, None, 0
)
AT = np.array(
    [[0.1, 0.0], [1.5, 0.3], [-1.5, 0.3], [3.0, 0.9], [3.0, 0.3], [-3.0, 0.6]], np.float32
)  # fmt: skip


def units(rows):
    rows = np.asarray(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


LABELS = units(np.eye(6) + 0.3 * np.eye(6)[[1, 0, 0, 4, 3, 2]])
DEFINITIONS = units(np.eye(6) + 0.6 * np.eye(6)[[1, 0, 0, 1, 1, 2]])


def linker(subset=SUBSET, labels=LABELS, definitions=DEFINITIONS, at=AT):
    owner = np.tile(np.arange(6), 2)
    text = build_index("text-flat", np.concatenate([labels, definitions]), list("ABCDEF") * 2, "e")
    spaces = {i: build_index("lorentz-flat", at, list("ABCDEF"), "e") for i in RELATED}
    origin, temperature = dict.fromkeys(RELATED, 0.5), dict.fromkeys(RELATED, 1.0)
    return make_linker(subset, text, owner, spaces, origin, temperature, UnseenModel())


def ask(made, vector, *, family=None, hidden=-1, k=6):
    probabilities = np.array([float(f == family) for f in (None, HIERARCHY, SIBLING)])
    return made.search(vector, probabilities, k, hidden).tolist()


def test_a_name_is_answered_by_hyperbolic_order():
    """x + c o with c = 1/2, scaled back to the hyperboloid; then the distances in order."""
    x = exp_origin(AT.astype(np.float64))
    moved = x[3] + np.array([0.5, 0.0, 0.0])
    moved /= np.sqrt(moved[0] ** 2 - moved[1] ** 2 - moved[2] ** 2)
    apart = np.arccosh(moved[0] * x[:, 0] - x[:, 1:] @ moved[1:])
    found = ask(linker(), LABELS[3], family=HIERARCHY)
    assert found == np.argsort(apart).tolist()
    assert found[0] == 1
    assert found[-1] == 5


def test_the_entity_itself():
    made = linker()
    assert ask(made, LABELS[4])[0] == 4
    assert ask(made, units([[0, 0.2, 0, 1, 0.1, 0]])[0], k=1) == [3]


def test_a_definition_counts_twice_but_a_name_comes_first():
    """Node 1 has the larger cosine, node 0 the larger sum; a name word for word is before both."""
    vector = units([[1.0, 1.2, 0, 0, 0, 0]])[0]
    labels, definitions = LABELS.copy(), DEFINITIONS.copy()
    labels[1], definitions[1] = units([[0.8, 1.2, 0.1, 0, 0, 0]])[0], units([[0, 0, 1, 0, 0, 0]])[0]
    labels[0] = definitions[0] = units([[1.0, 1.2, 0.3, 0, 0, 0]])[0]
    assert ask(linker(labels=labels, definitions=definitions), vector)[0] == 0
    labels[1] = vector
    assert ask(linker(labels=labels, definitions=definitions), vector)[0] == 1


def test_a_mention_without_a_name_is_answered_from_its_neighbours():
    vector = units([[0, 0, 0, 1, 1, 0]])[0]
    made = linker()
    rows, cosines = made.entities(made.hits(vector[None])[0])
    assert made.named(rows, cosines) == -1
    above = [row for row in ask(made, vector, family=HIERARCHY) if row in (0, 1, 2, 5)]
    assert above[0] == 1
    assert set(ask(made, vector, family=SIBLING, k=2)) <= {1, 3, 4}


@pytest.mark.parametrize("family", [None, HIERARCHY, SIBLING])
@pytest.mark.parametrize("hidden", [1, 3])
def test_a_hidden_term_is_not_used(family, hidden):
    """Its texts, its point and its edges may be anything: the answer stays the same."""
    labels, definitions, at = LABELS.copy(), DEFINITIONS.copy(), AT.copy()
    labels[hidden], definitions[hidden], at[hidden] = LABELS[5], LABELS[5], AT[5]
    name = "ABCDEF"[hidden]
    moved = {t: tuple(x for x in p if x != name) for t, p in PARENTS.items()} | {name: ("F",)}
    other = make_subset(
        Vocabulary({t: Term(t, t, "", (), p) for t, p in moved.items()}), REFERENCE, None, 0
    )
    vector = units([LABELS[hidden] + 0.2 * LABELS[4]])[0]
    first = ask(linker(), vector, family=family, hidden=hidden)
    assert first == ask(linker(other, labels, definitions, at), vector, family=family,
                        hidden=hidden)  # fmt: skip
    assert hidden not in first


def test_an_unsure_gate_interleaves():
    found = linker().search(LABELS[3], np.array([0.5, 0.5, 0.0]), 6)
    assert found[0] == 3
    assert sorted(found.tolist()) == list(range(6))


def test_only_what_is_no_name_is_looked_for_thoroughly():
    terms = {f"T{i:03d}": Term(f"T{i:03d}", "t", "", (), ()) for i in range(100)}
    subset = make_subset(Vocabulary(terms), REFERENCE, None, 0)
    vectors = units(np.random.default_rng(0).normal(size=(200, 8)))
    text = build_index("text-flat", vectors, [], "e")
    made = make_linker(subset, text, np.tile(np.arange(100), 2), {}, {}, {}, UnseenModel())
    both = np.stack([vectors[7], units([vectors[7] + vectors[8]])[0]])

    def lengths(**how):
        return [len(rows) for _, rows in made.hits(both, **how)]

    assert lengths() == [SHORT, 2 * POOL]
    assert lengths(thorough=False) == [SHORT, SHORT]
    assert lengths(thorough=True) == [2 * POOL, 2 * POOL]
    assert made.hits(both)[0][1][0] == 7
