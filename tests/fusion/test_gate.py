"""The gate's shape and symmetry, its training, and its checkpoints."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.errors import InputError
from rarefuse.fusion.features import Features, columns_of
from rarefuse.fusion.gate import METHODS, load_fits, save_fits
from rarefuse.fusion.lists import fused_score
from rarefuse.fusion.rows import Fit, Rows
from rarefuse.fusion.training import Settings, _Listwise, split_tail, train

QUICK = Settings(epochs=30, patience=5, batch=64)


@pytest.fixture(scope="module")
def rows(union_of, random_features):
    """600 rows in which one feature says which list is right.

    Lists are 0, 1 and 2, 3; the diagnosis is 0 (ontology) or 2 (LLM) by the sign of the
    difference of `similarity_top1`.
    """
    n = 600
    features = random_features(n, seed=3)
    column = columns_of("support")[0]
    ours = features.ontology[:, column] > features.llm[:, column]
    union = union_of([[0, 1]] * n, [[2, 3]] * n)
    return Rows(features, union, union.places(np.where(ours, 0, 2).astype(np.int32)))


def plan(n=600, seeds=(1, 2)):
    rows = np.arange(n)
    return [
        Fit(f"fold0.seed{s}", s, "fold0", rows[: n * 2 // 3], rows[n * 2 // 3 :]) for s in seeds
    ]


def test_parameter_counts_are_the_papers():
    assert METHODS["gate"].n_parameters == 3121
    assert METHODS["asymmetric"].n_parameters == METHODS["mlp-router"].n_parameters == 3073
    assert len(METHODS["support-and-cross"].columns) == 21
    assert METHODS["linear-shared"].sizes == [39, 1]
    assert METHODS["logistic-router"].sizes == [78, 1]


@pytest.mark.parametrize("kappa", [0.0, 60.0])
@given(w=st.floats(0, 1), data=st.data())
@settings(deadline=None, max_examples=40)
def test_the_loss_is_cross_entropy_and_its_gradient_is_right(union_of, kappa, w, data):
    # 40 ontology candidates, of which most are in the tail; the LLM names some and others.
    named = data.draw(st.lists(st.integers(0, 60), min_size=1, max_size=10, unique=True))
    union = union_of([list(range(40))], [named], kappa)
    column = data.draw(st.sampled_from(np.flatnonzero(union.disease[0] >= 0).tolist()))
    r_t, r_l = (torch.tensor(r) for r in (union.ontology, union.llm))
    there = torch.tensor(union.disease >= 0)
    weight = torch.tensor([w], dtype=torch.float64, requires_grad=True)
    logits = 8 * (weight[:, None] * r_t + (1 - weight[:, None]) * r_l)
    expected = torch.nn.functional.cross_entropy(
        logits.masked_fill(~there, -torch.inf), torch.tensor([column])
    )
    (gradient,) = torch.autograd.grad(expected, weight)

    again = torch.tensor([w], dtype=torch.float64, requires_grad=True)
    parts = [torch.tensor(part) for part in split_tail(union)]
    loss = _Listwise.apply(again, *parts, 8 * (r_t - r_l)[:, column], 8 * r_l[:, column])
    loss.sum().backward()
    assert loss.item() == pytest.approx(expected.item(), abs=1e-9)
    assert again.grad.item() == pytest.approx(gradient.item(), abs=1e-8)


@pytest.mark.parametrize("method", ["gate", "linear-shared", "asymmetric", "logistic-router",
                                    "mlp-router"])  # fmt: skip
def test_methods_learn_which_list_to_trust(rows, method):
    longer = Settings(epochs=100, patience=20, batch=32, learning_rate=0.01)
    fits, log = train(method, rows, plan(), longer)
    unseen = np.arange(400, 600)
    own = Features(rows.features.ontology[unseen], rows.features.llm[unseen])
    w_t, w_l = fits.list_weights(0, own)
    assert w_t + w_l == pytest.approx(1.0)
    right = (w_t > 0.5) == (rows.gold[unseen] == 0)
    assert right.mean() > 0.8
    assert log["fold0.seed1"][0] == 400


def test_support_dropped_the_gate_cannot_know(rows):
    fits, _ = train("without-support", rows, plan(), QUICK)
    unseen = np.arange(400, 600)
    own = Features(rows.features.ontology[unseen], rows.features.llm[unseen])
    right = (fits.list_weights(0, own)[0] > 0.5) == (rows.gold[unseen] == 0)
    assert right.mean() < 0.65


def test_training_is_deterministic_and_alone_or_stacked_it_is_the_same_fit(rows):
    stacked, _ = train("gate", rows, plan(seeds=(1, 2, 3)), QUICK)
    again, _ = train("gate", rows, plan(seeds=(1, 2, 3)), QUICK)
    for a, b in zip(stacked.weights + stacked.biases, again.weights + again.biases, strict=True):
        assert a.tobytes() == b.tobytes()
    alone, _ = train("gate", rows, plan(seeds=(2,)), QUICK)
    for a, b in zip(stacked.weights, alone.weights, strict=True):
        assert a[1] == pytest.approx(b[0], abs=1e-5)


def test_rows_without_the_diagnosis_train_nothing(rows, union_of):
    none = Rows(rows.features, rows.union, np.full(600, -1))
    fits, log = train("gate", none, plan(seeds=(1,)), QUICK)
    assert log["fold0.seed1"][:2] == (0, 0)
    w_t, _ = fits.list_weights(0, rows.features)
    assert np.isfinite(w_t).all()


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_swapping_the_lists_swaps_the_weights(trained, random_features, union_of, seed):
    features = random_features(5, seed)
    w_t, w_l = trained.list_weights(0, features)
    swapped = trained.list_weights(0, Features(features.llm, features.ontology))
    assert w_t.tolist() == swapped[1].tolist()
    assert w_l.tolist() == swapped[0].tolist()
    there, back = union_of([[0, 1]] * 5, [[1, 2]] * 5), union_of([[1, 2]] * 5, [[0, 1]] * 5)
    score, other = fused_score(there, w_t, w_l), fused_score(back, *swapped)
    for i in range(5):
        known = dict(zip(there.disease[i].tolist(), score[i].tolist(), strict=True))
        assert known == dict(zip(back.disease[i].tolist(), other[i].tolist(), strict=True))


@pytest.fixture(scope="module")
def trained(rows):
    return train("gate", rows, plan(), QUICK)[0]


def test_alpha_shrinks_weights_toward_a_half(trained, random_features):
    features = random_features(4)
    before, _ = trained.list_weights(1, features)
    trained.alpha[1] = 0.25
    after, _ = trained.list_weights(1, features)
    trained.alpha[1] = 1.0
    assert after - 0.5 == pytest.approx(0.25 * (before - 0.5))


def test_a_checkpoint_comes_back_as_it_was_with_the_same_bytes(trained, random_features, tmp_path):
    paths = [tmp_path / name for name in ("a.safetensors", "a.json", "b.safetensors", "b.json")]
    save_fits([trained], {"options": {"seeds": [1, 2]}}, *paths[:2])
    save_fits([trained], {"options": {"seeds": [1, 2]}}, *paths[2:])
    assert paths[0].read_bytes() == paths[2].read_bytes()
    assert paths[1].read_bytes() == paths[3].read_bytes()
    fits, meta = load_fits(*paths[:2])
    assert meta["options"] == {"seeds": [1, 2]}
    features = random_features(4)
    for m in range(2):
        assert (
            fits["gate"].list_weights(m, features)[0].tolist()
            == trained.list_weights(m, features)[0].tolist()
        )


def test_a_checkpoint_of_other_features_is_refused(trained, tmp_path):
    tensors, description = tmp_path / "a.safetensors", tmp_path / "a.json"
    save_fits([trained], {}, tensors, description)
    meta = json.loads(description.read_text())
    meta["features"][0], meta["features"][1] = meta["features"][1], meta["features"][0]
    description.write_text(json.dumps(meta))
    with pytest.raises(InputError, match="other features"):
        load_fits(tensors, description)


def test_a_changed_or_broken_checkpoint_is_refused(trained, tmp_path):
    tensors, description = tmp_path / "a.safetensors", tmp_path / "a.json"
    save_fits([trained], {}, tensors, description)
    content = bytearray(tensors.read_bytes())
    content[-1] ^= 1
    tensors.write_bytes(bytes(content))
    with pytest.raises(InputError, match="not those that its description names"):
        load_fits(tensors, description)
    tensors.write_bytes(b"not tensors")
    with pytest.raises(InputError, match="cannot be read"):
        load_fits(tensors, description)


def test_a_checkpoint_without_a_digest_is_refused(trained, tmp_path):
    tensors, description = tmp_path / "a.safetensors", tmp_path / "a.json"
    save_fits([trained], {}, tensors, description)
    meta = json.loads(description.read_text())
    del meta["sha256"]
    for content in (meta, [], 3):
        description.write_text(json.dumps(content))
        with pytest.raises(InputError, match="cannot be read"):
            load_fits(tensors, description)
