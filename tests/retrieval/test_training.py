"""What training must bring about, on a small tree where a right answer is known."""

import numpy as np
import pytest

from rarefuse.errors import InputError
from rarefuse.retrieval import geometry
from rarefuse.retrieval.centroid import (
    CentroidOptions,
    Neighbours,
    Relations,
    relations,
    train_centroid,
)
from rarefuse.retrieval.embeddings import EmbeddingOptions, train_embedding
from rarefuse.retrieval.foldin import hidden_relations, known_part, train_inductive
from rarefuse.retrieval.learning import RelationMask, tangent_distance
from rarefuse.retrieval.subsets import REFERENCE, make_subset
from rarefuse.retrieval.templates import HIERARCHY, SIBLING
from rarefuse.retrieval.terms import Term, Vocabulary

SMALL = CentroidOptions(dimension=8, min_steps=250, epochs=1, negatives=64)


@pytest.fixture(scope="module")
def subset():
    """A tree of 3 levels with 4 children each: 85 nodes."""
    terms, level = {"X": Term("X", "X", "", (), ())}, ["X"]
    for _ in range(3):
        level = [f"{p}{i}" for p in level for i in range(4)]
        terms |= {t: Term(t, t, "", (), (t[:-1],)) for t in level}
    return make_subset(Vocabulary(dict(sorted(terms.items()))), REFERENCE, None, 0)


def nearest(table, intent, rows, k):
    x = geometry.exp_origin(table.u)
    here = geometry.centroid(x[rows][:, None], np.ones((len(rows), 1)), table.origin[intent])
    apart = geometry.distances(geometry.log_origin(here), table.u)
    apart[np.arange(len(rows)), rows] = np.inf
    return np.argsort(apart, axis=1)[:, :k]


def test_parents_are_found_and_the_budget_is_filled(subset):
    table = train_centroid(subset, [HIERARCHY], 0, SMALL)
    rows = np.array([r for r in range(85) if subset.parents[r]])
    found = nearest(table, HIERARCHY, rows, 3)
    first = np.mean([subset.parents[r][0] == f[0] for r, f in zip(rows, found, strict=True)])
    assert first > 0.9  # The parent before the grandparent.
    radii = np.linalg.norm(table.u, axis=1)
    assert 0.8 * SMALL.radius <= radii.mean()
    assert radii.max() <= SMALL.radius


def test_siblings_are_found(subset):
    table = train_centroid(subset, [SIBLING], 0, SMALL)
    rows = np.array([r for r in range(85) if subset.parents[r]])
    found = nearest(table, SIBLING, rows, 3)
    assert np.mean([set(f) == subset.siblings(r) for r, f in zip(rows, found, strict=True)]) > 0.9


def test_same_seed_same_table(subset):
    options = CentroidOptions(dimension=4, min_steps=5, epochs=0.1)
    a, b, c = (train_centroid(subset, [HIERARCHY, SIBLING], s, options).u for s in (1, 1, 2))
    assert (a == b).all()
    assert (a != c).any()


def test_relations_by_hand(subset):
    row = {t: i for i, t in enumerate(subset.nodes["term_id"])}
    found = relations(subset, HIERARCHY).lists()
    assert set(found[row["X01"]]) == {row["X0"], row["X"]}
    assert found[row["X"]] == []
    related = Relations.of([{}, {5: 3.0, 6: 1.0}, {}])
    drawn, weights = related.sample(np.array([1]), 4000, np.random.default_rng(0))
    assert set(drawn.ravel()) == {5, 6}
    assert 0.7 < (drawn == 5).mean() < 0.8
    assert (weights == np.where(drawn == 5, 3.0, 1.0)).all()


def test_mask():
    mask = RelationMask.of([[1, 9], [], *[[] for _ in range(8)]])
    found = mask.lookup(np.array([0, 1]), np.array([0, 1, 2, 9])).tolist()
    assert found == [[True, True, False, True], [False, True, False, False]]


def test_a_hidden_term_is_not_learned_from(subset):
    """Moving a hidden term's edges about changes no other point, known or hidden."""
    row = {t: i for i, t in enumerate(subset.nodes["term_id"])}
    known = np.ones(85, bool)
    hidden = [row["X012"], row["X3"], row["X123"]]
    known[hidden] = False
    rows = np.tile(np.flatnonzero(known)[:3], (85, 1))
    near = Neighbours(rows, np.full((85, 3), 1 / 3, np.float32))
    options = CentroidOptions(dimension=4, min_steps=30, epochs=0.1)
    other = subset.edges.copy()
    other[(other[:, 1] == row["X012"]), 0] = row["X22"]
    changed = type(subset)(subset.nodes, other)
    for intent in (HIERARCHY, SIBLING):
        a = train_inductive(subset, known, [intent], 0, options, near).u
        b = train_inductive(changed, known, [intent], 0, options, near).u
        assert (a[known] == b[known]).all()
        assert (a[row["X012"]] != b[row["X012"]]).any()


def test_relations_of_hidden_terms_pass_no_other_hidden_term(subset):
    row = {t: i for i, t in enumerate(subset.nodes["term_id"])}
    known = np.ones(85, bool)
    known[[row["X0"], row["X01"]]] = False
    found = hidden_relations(subset, known, HIERARCHY).lists()
    assert found[row["X01"]] == []  # Its only parent is hidden too.
    assert found[row["X0"]] == [row["X"]]
    assert found[row["X012"]] == [row["X01"]]
    assert row["X0"] in found[row["X021"]]
    part = known_part(subset, known)
    assert not any(row["X0"] in edge or row["X01"] in edge for edge in part.edges.tolist())


@pytest.mark.parametrize("space", ["hyem", "no-budget", "euclidean", "hgcn", "cones"])
def test_reference_embeddings_bring_edges_together(subset, space):
    options = EmbeddingOptions(dimension=8, epochs=200, batch=64, hgcn_epochs=100)
    u = train_embedding(space, 85, subset.edges, 0, options)
    assert np.isfinite(u).all()
    draw = np.random.default_rng(0)
    p, c = subset.edges.T
    other = draw.integers(85, size=len(c))
    near, far = (
        np.linalg.norm(u[p] - u[x], axis=1)
        if space == "euclidean"
        else geometry.distance(u[p], u[x])
        for x in (c, other)
    )
    assert near.mean() < far.mean()


def test_the_reference_budget_does_not_bind(subset):
    """Its radii stay near 1, so that R of 3 or 5 gives the very same table (HYEM_SPEC 2)."""
    a, b = (
        train_embedding("hyem", 85, subset.edges, 0, EmbeddingOptions(radius=r)) for r in (3.0, 5.0)
    )
    assert (a == b).all()
    with pytest.raises(InputError, match="unknown embedding"):
        train_embedding("spherical", 85, subset.edges, 0, EmbeddingOptions())


def test_trainable_distance_is_the_distance():
    torch = pytest.importorskip("torch")
    draw = np.random.default_rng(0)
    u, v = draw.normal(size=(2, 20, 6))
    found = tangent_distance(torch.from_numpy(u), torch.from_numpy(v)).numpy()
    np.testing.assert_allclose(found, geometry.distance(u, v), rtol=1e-9)
