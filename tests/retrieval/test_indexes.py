import json

import numpy as np
import pytest

from rarefuse.errors import InputError
from rarefuse.retrieval import geometry
from rarefuse.retrieval.indexes import KINDS, build_index, read_index, write_index


def coordinates(n=2000, d=8, radius=5.0, seed=0):
    """Normal coordinates of clusters, as a trained table has them."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(40, d))
    u = centres[draw.integers(40, size=n)] + 0.2 * draw.normal(size=(n, d))
    u *= (radius * draw.uniform(0.6, 1.0, (n, 1))) / np.linalg.norm(u, axis=1, keepdims=True)
    return u.astype(np.float32)


def brute_force(u, queries, k):
    apart = geometry.distance(geometry.log_origin(queries)[:, None], u[None].astype(np.float64))
    return np.argsort(apart, axis=1, kind="stable")[:, :k]


def share(found, truth):
    return np.mean([np.isin(t, f).mean() for t, f in zip(truth, found, strict=True)])


@pytest.fixture(scope="module")
def table():
    return coordinates()


@pytest.fixture(scope="module")
def queries(table):
    own = geometry.exp_origin(table[:100])[:, None]
    return geometry.centroid(own, np.ones((100, 1)), 0.4)


def test_lorentz_flat_is_exact(table, queries):
    index = build_index("lorentz-flat", table, [str(i) for i in range(len(table))], "e")
    scores, found = index.search(queries, 10)
    truth = brute_force(table, queries, 10)
    assert share(found, truth) == 1.0
    apart = np.arccosh(-scores[:, 0])
    nearest = geometry.distance(geometry.log_origin(queries), table[truth[:, 0]])
    np.testing.assert_allclose(apart, nearest, rtol=1e-2, atol=2e-2)


def test_lorentz_graph_finds_nearly_all(table, queries):
    index = build_index("lorentz-hnsw", table, [], "e")
    assert share(index.search(queries, 10)[1], brute_force(table, queries, 10)) >= 0.99


def test_a_tangent_index_needs_many_candidates(table, queries):
    """At R = 5 the tangent order is another one: what the Lorentz index is for."""
    index = build_index("tangent-flat", table, [], "e")
    truth = brute_force(table, queries, 10)
    few, many = (
        share(index.search(geometry.log_origin(queries), length)[1], truth) for length in (10, 1000)
    )
    assert few < 0.9 < many


def test_text_is_by_cosine():
    vectors = np.eye(3, dtype=np.float32)
    asked = np.array([[0.8, 0.6, 0.0]], np.float32)
    for kind in ("text-flat", "text-hnsw"):
        scores, found = build_index(kind, vectors, ["a", "b", "c"], "e").search(asked, 3)
        assert found.tolist() == [[0, 1, 2]]
        np.testing.assert_allclose(scores, [[0.8, 0.6, 0.0]], atol=1e-6)


def test_tangent_scores_are_minus_the_distance():
    u = np.array([[0.0, 1.0], [0.0, 3.0]], np.float32)
    scores, found = build_index("tangent-flat", u, [], "e").search(np.zeros((1, 2)), 2)
    assert found.tolist() == [[0, 1]]
    np.testing.assert_allclose(scores, [[-1.0, -3.0]])


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded(kind, table, queries, tmp_path):
    ids = [f"X:{i}" for i in range(len(table))]
    index = build_index(kind, table, ids, "e")
    write_index(index, tmp_path, "x")
    again = read_index(tmp_path, "x", "e")
    assert again.ids == tuple(ids)
    asked = queries if kind.startswith("lorentz") else geometry.log_origin(queries)
    for a, b in zip(index.search(asked, 10), again.search(asked, 10), strict=True):
        assert (a == b).all()
    first = (tmp_path / "x.faiss").read_bytes()
    write_index(build_index(kind, table, ids, "e"), tmp_path, "x")
    assert (tmp_path / "x.faiss").read_bytes() == first


def test_another_encoder_is_refused_with_both_names(table, tmp_path):
    write_index(build_index("lorentz-flat", table[:5], list("abcde"), "MiniLM (1)"), tmp_path, "x")
    with pytest.raises(InputError, match="another sentence encoder") as caught:
        read_index(tmp_path, "x", "BioBERT (2)")
    assert "MiniLM (1)" in str(caught.value)
    assert "BioBERT (2)" in str(caught.value)


def test_damaged_indexes(table, tmp_path):
    write_index(build_index("lorentz-flat", table[:5], list("abcde"), "e"), tmp_path, "x")
    meta = json.loads((tmp_path / "x.json").read_text())
    (tmp_path / "x.json").write_text(json.dumps({**meta, "ids": ["a"]}))
    with pytest.raises(InputError, match="do not belong together"):
        read_index(tmp_path, "x", "e")
    (tmp_path / "x.faiss").write_bytes(b"no")
    with pytest.raises(InputError, match="cannot be read"):
        read_index(tmp_path, "x", "e")
    with pytest.raises(InputError, match="cannot be read"):
        read_index(tmp_path, "y", "e")
    with pytest.raises(InputError, match="unknown index"):
        build_index("lorentz-tree", table, [], "e")
