"""Whole publications held out, diagnoses of the fold never read, contributions, checkpoints."""

import json

import numpy as np
import pytest

from rarefuse.errors import InputError
from rarefuse.rerank.checkpoint import load_reranker, save_reranker, score_candidates
from rarefuse.rerank.columns import GROUPS
from rarefuse.rerank.model import score_values
from rarefuse.rerank.stage import Corpus, gold_places, reranked_frame, train_reranker
from rarefuse.rerank.training import make_folds


@pytest.fixture(scope="module")
def trained(small):
    evidence = small.evidence()
    return train_reranker(small.source, {"ontology": evidence}, small.plan, 8), evidence


def test_folds_hold_whole_publications_and_every_case_once(small):
    clusters = np.array(small.source.clusters)
    for seed in (1, 2):
        folds = make_folds(small.source.clusters, small.plan, seed)
        assert np.sort(np.concatenate([f.test for f in folds])).tolist() == list(range(60))
        for fold in folds:
            sides = [set(clusters[rows]) for rows in (fold.train, fold.validation, fold.test)]
            assert all(sides)
            assert not sides[0] & sides[1]
            assert not (sides[0] | sides[1]) & sides[2]


def test_diagnoses_of_a_fold_change_none_of_its_predictions(small, trained):
    """Permute the diagnoses of one fold: the other folds' models change, that fold's do not."""
    reranker, evidence = trained
    score, _ = score_candidates(reranker, evidence, small.source.clusters)
    query = evidence.lists.query
    for number, fold in enumerate(make_folds(small.source.clusters, small.plan, 1)):
        gold = small.source.gold.copy()
        gold[fold.test] = (gold[fold.test] + 5) % 12
        other = Corpus(small.source.protocol, small.source.clusters, gold)
        again = train_reranker(other, {"ontology": evidence}, small.plan, 8)
        new, _ = score_candidates(again, evidence, small.source.clusters)
        own = np.isin(query, fold.test)
        assert new[own].tolist() == score[own].tolist(), number
        assert new[~own].tolist() != score[~own].tolist()


def test_contributions_sum_to_the_score(small, trained):
    reranker, evidence = trained
    score, parts = score_candidates(reranker, evidence)
    assert parts.sum(axis=1).tolist() == score.tolist()
    whole = np.mean([score_values(m.shapes, evidence.values) for m in reranker.fitted], axis=0)
    assert score == pytest.approx(whole, abs=1e-9)
    assert (parts[:, GROUPS.index("language_model")] == 0).all()
    assert np.abs(parts[:, GROUPS.index("observed_findings")]).max() > 0


def test_reranking_beats_the_lists_it_joins(small, trained):
    reranker, evidence = trained
    score, _ = score_candidates(reranker, evidence, small.source.clusters)
    position = np.arange(12, dtype=np.int32)
    rank = gold_places(small.source, evidence.lists, score, position)["rank"]
    first = (rank == 1).mean()
    for frame in small.rankings.values():
        gold = dict(zip(small.source.protocol.queries.case_ids, small.source.gold, strict=True))
        hits = [
            f"OMIM:{gold[case] + 1}" == disease
            for case, r, disease in frame.select("case_id", "rank", "disease_id").iter_rows()
            if r == 1
        ]
        assert first >= np.mean(hits)


def test_a_language_models_names_count(small):
    evidence = small.evidence(llm=True)
    reranker = train_reranker(small.source, {"model": evidence}, small.plan, 8)
    _, parts = score_candidates(reranker, evidence, small.source.clusters)
    added = parts[:, GROUPS.index("language_model")]
    named = evidence.lists.rank[:, -1] == 1
    assert added[named].min() > added[~named].max()


def test_gold_places_and_frame_by_hand(small, trained):
    reranker, evidence = trained
    lists = evidence.lists
    score = np.zeros(len(lists.disease))
    position = np.arange(12, dtype=np.int32)[::-1].copy()
    frame = gold_places(small.source, lists, score, position)
    case = small.source.protocol.queries.case_ids[0]
    begin, end = lists.ptr[:2]
    own = lists.disease[begin:end]
    row = next(r for r in frame.iter_rows(named=True) if r["case_id"] == case)
    gold = small.source.gold[0]
    assert gold in own
    assert row["rank"] == 1 + (own > gold).sum()
    assert (row["tie_first"], row["tie_last"]) == (1, end - begin)
    score, parts = score_candidates(reranker, evidence, small.source.clusters)
    table = reranked_frame(small.source, evidence, score, parts, position, 3)
    assert table["rank"].max() == 3
    names = [f"from_{group}" for group in GROUPS]
    for r in table.iter_rows(named=True):
        assert sum(r[name] for name in names) == pytest.approx(r["score"], abs=1e-9)
        assert r["lists"]
        assert set(r["matched"]).isdisjoint(r["excluded_matched"])


def test_checkpoint_round_trip_has_the_same_bytes_and_scores(small, trained, tmp_path):
    reranker, evidence = trained
    save_reranker(reranker, tmp_path / "a")
    loaded = load_reranker(tmp_path / "a")
    save_reranker(loaded, tmp_path / "b")
    for name in ("reranker.safetensors", "reranker.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    for clusters in (None, small.source.clusters):
        before, after = (score_candidates(r, evidence, clusters) for r in (reranker, loaded))
        assert np.array_equal(before[0], after[0])
        assert np.array_equal(before[1], after[1])


def test_training_again_gives_the_same_bytes(small, trained, tmp_path):
    reranker, evidence = trained
    save_reranker(reranker, tmp_path / "a")
    save_reranker(
        train_reranker(small.source, {"ontology": evidence}, small.plan, 8), tmp_path / "b"
    )
    for name in ("reranker.safetensors", "reranker.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda d: d["columns"].pop(), "other evidence"),
        (lambda d: d["columns"].reverse(), "other evidence"),
        (lambda d: d["columns"][0].update(direction=-1), "other evidence"),
        (lambda d: d.update(version=0), "other evidence"),
        (lambda d: d.update(sha256="0"), "are not those"),
        (lambda d: d.pop("fold_of"), "cannot be read"),
    ],
)
def test_other_checkpoints_are_refused(trained, tmp_path, damage, message):
    save_reranker(trained[0], tmp_path)
    described = json.loads((tmp_path / "reranker.json").read_text())
    damage(described)
    (tmp_path / "reranker.json").write_text(json.dumps(described))
    with pytest.raises(InputError, match=message):
        load_reranker(tmp_path)


def test_a_cut_off_file_is_refused(trained, tmp_path):
    save_reranker(trained[0], tmp_path)
    path = tmp_path / "reranker.safetensors"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="cannot be read"):
        load_reranker(tmp_path)


def test_evidence_with_other_columns_is_refused(small, trained):
    with pytest.raises(InputError, match="other columns"):
        score_candidates(trained[0], small.evidence(llm=True))


def test_a_case_of_no_corpus_is_scored_by_all_models(small, trained):
    reranker, evidence = trained
    mean, _ = score_candidates(reranker, evidence)
    fresh, _ = score_candidates(reranker, evidence, ["PMID:99"] * 60)
    assert fresh.tolist() == mean.tolist()
