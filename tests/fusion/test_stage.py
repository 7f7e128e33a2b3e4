"""Whole stages on a made-up corpus of 60 cases: what is predicted, and what may not change it."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.annotations.lopo import REMOVED
from rarefuse.annotations.relations import DISEASES, RELATIONS
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import SPLITS
from rarefuse.errors import InputError
from rarefuse.evaluation.base import Evaluation
from rarefuse.evaluation.stage import table_rows
from rarefuse.evaluation.tables import TABLE
from rarefuse.fusion.catalogue import SUITES
from rarefuse.fusion.features import FEATURE_TABLE, columns_of, to_frame
from rarefuse.fusion.fit import fit_stage
from rarefuse.fusion.fused import FUSED, fuse_stage
from rarefuse.fusion.gate import load_fits
from rarefuse.fusion.stage import FUSED_RANKS, rules_stage, score_stage
from rarefuse.naming.stage import RANKING
from rarefuse.rankers.run import RANKINGS

ARMS = ("one", "two", "new")
N = 60
OPTIONS = {
    "grouping": "publications",
    "folds": 3,
    "validation_share": 0.25,
    "kappa": 0,
    "rows_per_case": 1,
    "seeds": [1, 2],
    "arms": ["one", "two"],
    "depth": 100,
    "seed": 7,
    "alphas": [1.0],
    "optimiser": {"epochs": 5, "patience": 3, "batch": 16},
}


@pytest.fixture
def made(tmp_path, tiny_relations, random_features):
    """Folders of a corpus whose lists are drawn at random, about half with the diagnosis first."""
    random = np.random.default_rng(5)
    corpus, knowledge = tmp_path / "corpus", tmp_path / "knowledge"
    artifacts.write(tiny_relations.diseases, DISEASES, knowledge / "diseases.parquet")
    artifacts.write(tiny_relations.relations, RELATIONS, knowledge / "relations.parquet")
    diseases = tiny_relations.diseases["disease_id"].to_list()
    gold = random.integers(0, len(diseases), N)
    ids = [f"case{i:02d}" for i in range(N)]
    cases = [
        (case, case, f"PMID:{i // 2}", diseases[gold[i]], None, None, None, None,
         ["HP:0001250", f"HP:{1000000 + i // 3}"], [])
        for i, case in enumerate(ids)
    ]  # fmt: skip
    artifacts.write(
        pl.DataFrame(cases, schema=CASES.dtypes, orient="row"), CASES, corpus / "cases.parquet"
    )
    parts = ["train", "train", "validation", "test"]
    artifacts.write(
        pl.DataFrame(
            [(case, parts[i // 2 % 4]) for i, case in enumerate(ids)],
            schema=SPLITS.dtypes, orient="row",
        ),
        SPLITS, corpus / "splits.parquet",
    )  # fmt: skip
    artifacts.write(pl.DataFrame(schema=REMOVED.dtypes), REMOVED, corpus / "lopo.parquet")

    def drawn(size, share):
        lists = []
        for i in range(N):
            order = random.permutation(len(diseases))
            if random.random() < share:
                order = np.concatenate([[gold[i]], order[order != gold[i]]])
            lists.append(order[:size])
        return lists

    ontology = drawn(6, 0.4)
    rows = [
        (ids[i], r + 1, diseases[d], 9.0 - r, None, r + 1, r + 1)
        for i, own in enumerate(ontology)
        for r, d in enumerate(own)
    ]
    artifacts.write(
        pl.DataFrame(rows, schema=RANKINGS.dtypes, orient="row"),
        RANKINGS,
        corpus / "rankings/phenomizer/lopo.parquet",
    )
    for k, arm in enumerate(ARMS):
        named = drawn(3, 0.5)
        rows = [
            (ids[i], r + 1, diseases[d], r + 1, "n", None, None, "exact")
            for i, own in enumerate(named)
            for r, d in enumerate(own)
            if i % 7  # some lists are empty
        ]
        artifacts.write(
            pl.DataFrame(rows, schema=RANKING.dtypes, orient="row"),
            RANKING,
            corpus / f"llm/{arm}/ranking.parquet",
        )
        features = random_features(N, seed=k)
        column = columns_of("support")[0]
        for values, lists in ((features.ontology, ontology), (features.llm, named)):
            values[:, column] = [2.0 * (own[0] == g) for own, g in zip(lists, gold, strict=True)]
        artifacts.write(
            to_frame(ids, features),
            FEATURE_TABLE,
            corpus / f"features/phenomizer/lopo/{arm}.parquet",
        )
    return {"corpus": corpus, "knowledge": knowledge}


SEEN = {"component": "phenomizer", "protocol": "lopo"}


def fitted(made, folder, suite="gate", **changed):
    files = {"tensors": folder / f"{suite}.safetensors", "description": folder / f"{suite}.json"}
    options = {**OPTIONS, "methods": list(SUITES[suite]), **changed}
    fit_stage(**made, **SEEN, options=options, **files)
    return files


def fused_list(made, files, output, arm="one", method="gate", **changed):
    fuse_stage(
        **made, **SEEN, arm=arm, method=method, options={**OPTIONS, **changed},
        **(files or {"tensors": None, "description": None}), output=output,
    )  # fmt: skip
    return artifacts.read(output, FUSED)


def permute_diagnoses(made, cases):
    """Give the diagnoses of some cases to each other."""
    path = made["corpus"] / "cases.parquet"
    frame = artifacts.read(path, CASES)
    chosen = frame["case_id"].is_in(list(cases)).to_numpy()
    gold = np.array(frame["gold_id"].to_list())
    gold[chosen] = np.roll(gold[chosen], 1)
    assert gold.tolist() != frame["gold_id"].to_list()
    artifacts.write(frame.with_columns(gold_id=pl.Series(gold.tolist())), CASES, path)


@pytest.mark.parametrize("suite", ["gate", "controls"])
def test_diagnoses_of_the_test_part_change_no_prediction(made, tmp_path, suite):
    changed = {"grouping": "splits"}
    before = fitted(made, tmp_path / "before", suite, **changed)
    lists = {
        method: fused_list(made, before, tmp_path / "a.parquet", method=method, **changed)
        for method in SUITES[suite]
    }
    rules = fused_list(made, None, tmp_path / "a.parquet", method="bayes-fuse", **changed)
    splits = artifacts.read(made["corpus"] / "splits.parquet", SPLITS)
    test = splits.filter(pl.col("split") == "test")["case_id"].to_list()
    assert lists[SUITES[suite][0]]["case_id"].unique().sort().to_list() == sorted(test)
    permute_diagnoses(made, test)
    after = fitted(made, tmp_path / "after", suite, **changed)
    for name in before:
        assert before[name].read_bytes() == after[name].read_bytes()
    for method, known in lists.items():
        again = fused_list(made, after, tmp_path / "b.parquet", method=method, **changed)
        assert known.equals(again)
    again = fused_list(made, None, tmp_path / "b.parquet", method="bayes-fuse", **changed)
    assert rules.equals(again)


def test_diagnoses_of_a_fold_change_no_prediction_of_that_fold(made, tmp_path):
    before = fused_list(made, fitted(made, tmp_path / "before"), tmp_path / "a.parquet")
    cases = artifacts.read(made["corpus"] / "cases.parquet", CASES)
    from rarefuse.fusion.protocol import publication_folds

    fold = publication_folds(cases["publication_id"].to_list(), 3, 0.25, 7)[0]
    tested = [cases["case_id"][int(i)] for i in fold.test]
    permute_diagnoses(made, tested)
    after = fused_list(made, fitted(made, tmp_path / "after"), tmp_path / "b.parquet")
    own = pl.col("case_id").is_in(tested)
    assert before.filter(own).equals(after.filter(own))
    assert not before.filter(~own).equals(after.filter(~own))  # the others trained on them


def test_a_new_test_only_arm_is_scored_by_the_frozen_gate(made, tmp_path):
    files = fitted(made, tmp_path)
    before = {name: path.read_bytes() for name, path in files.items()}
    score_stage(**made, **SEEN, arm="new", options=OPTIONS, **files, output=tmp_path / "r.parquet")
    assert {name: path.read_bytes() for name, path in files.items()} == before
    ranks = artifacts.read(tmp_path / "r.parquet", FUSED_RANKS)
    assert ranks.height == 2 * N
    assert "new" not in json.loads(before["description"])["options"]["arms"]


def test_ranks_are_those_of_the_fused_lists(made, tmp_path):
    files = fitted(made, tmp_path, seeds=[1])
    score_stage(**made, **SEEN, arm="one", options=OPTIONS, **files, output=tmp_path / "r.parquet")
    ranks = artifacts.read(tmp_path / "r.parquet", FUSED_RANKS)
    lists = fused_list(made, files, tmp_path / "a.parquet")
    assert (lists["weight_ontology"] + lists["weight_llm"]).to_list() == pytest.approx(
        [1.0] * lists.height
    )
    cases = artifacts.read(made["corpus"] / "cases.parquet", CASES)
    found = cases.select("case_id", disease_id="gold_id").join(
        lists, on=["case_id", "disease_id"], how="left"
    )
    known = dict(found.select("case_id", "rank").iter_rows())
    assert dict(ranks.select("case_id", "rank").iter_rows()) == known
    first = lists.filter(pl.col("rank") == 1)
    inside = dict(first.select("case_id", "in_prefix").iter_rows())
    for case, top in ranks.select("case_id", "top_rank").iter_rows():
        assert (top is not None) == inside[case]


def test_rules_include_both_components_as_they_are(made, tmp_path):
    rules_stage(**made, **SEEN, arm="one", options=OPTIONS, output=tmp_path / "r.parquet")
    ranks = artifacts.read(tmp_path / "r.parquet", FUSED_RANKS)
    cases = artifacts.read(made["corpus"] / "cases.parquet", CASES)
    gold = dict(cases.select("case_id", "gold_id").iter_rows())
    for method, path, schema in (
        ("ontology", "rankings/phenomizer/lopo.parquet", RANKINGS),
        ("llm", "llm/one/ranking.parquet", RANKING),
    ):
        listed = artifacts.read(made["corpus"] / path, schema)
        known = {
            case: rank
            for case, rank, disease in listed.select("case_id", "rank", "disease_id").iter_rows()
            if gold[case] == disease
        }
        own = ranks.filter(pl.col("method") == method)
        assert {c: r for c, r in own.select("case_id", "rank").iter_rows() if r} == known
    assert set(ranks["method"]) == {
        "ontology", "llm", "equal-weight", "rrf", "borda", "combmnz", "probfuse", "bayes-fuse",
        "fixed-weight",
    }  # fmt: skip


def test_profiles_choose_alpha_on_the_selection_fold(made, tmp_path):
    alphas = [0, 0.5, 1]
    files = fitted(made, tmp_path, grouping="profiles", kappa=60, alphas=alphas, folds=3)
    fits, _ = load_fits(files["tensors"], files["description"])
    assert set(fits["gate"].alpha.tolist()) <= set(alphas)


def test_a_missing_case_in_the_features_is_refused(made, tmp_path):
    path = made["corpus"] / "features/phenomizer/lopo/one.parquet"
    frame = artifacts.read(path, FEATURE_TABLE)
    artifacts.write(frame.filter(pl.col("case_id") != "case03"), FEATURE_TABLE, path)
    with pytest.raises(InputError, match="features are missing"):
        fitted(made, tmp_path)


def test_every_table_comes_of_these_ranks(made, tmp_path):
    corpus = made["corpus"]
    for suite in ("gate", "controls", "paired"):
        files = fitted(made, tmp_path, suite, seeds=[1, 2])
        for arm in ARMS:
            output = corpus / f"fused_ranks/phenomizer/lopo/{suite}/{arm}.parquet"
            score_stage(**made, **SEEN, arm=arm, options=OPTIONS, **files, output=output)
    files = fitted(made, tmp_path / "strict", arms=["two"])
    for arm in ARMS:
        output = corpus / f"fused_ranks/phenomizer/lopo/gate-by-developer/{arm}.parquet"
        score_stage(**made, **SEEN, arm=arm, options=OPTIONS, **files, output=output)
    for arm in ARMS:
        output = corpus / f"fused_ranks/phenomizer/lopo/rules/{arm}.parquet"
        rules_stage(**made, **SEEN, arm=arm, options=OPTIONS, output=output)
    options = {
        "arms": list(ARMS), "macro": ["one", "two"], "ranker": "phenomizer", "protocol": "lopo",
        "needs": [["phenomizer", "lopo", "gate"]], "subset": "all", "test_only": ["new"],
        "in_family": [],
    }  # fmt: skip
    evaluation = Evaluation(
        Path(corpus), made["knowledge"], ["phenomizer"], [1, 10], 50, 0.95, 1, options
    )
    tables = {}
    for name in ("fusion", "rank_fusion", "coverage", "controls", "ablation", "paired_seeds",
                 "developers", "depth", "transfer"):  # fmt: skip
        tables[name] = pl.DataFrame(table_rows(name, evaluation), schema=TABLE.dtypes, orient="row")
        TABLE.check(tables[name], name)
        assert tables[name].height > 0

    def value(table, system, variant, metric="recall@1"):
        (found,) = tables[table].filter(
            pl.col("system") == system, pl.col("variant") == variant, pl.col("metric") == metric,
            pl.col("subset") == "all",
        )["value"]  # fmt: skip
        return found

    one, two = (value("fusion", "gate", arm) for arm in ("one", "two"))
    assert value("fusion", "gate", "macro") == pytest.approx((one + two) / 2)
    gain = value("fusion", "gate - rrf", "macro")
    assert gain == pytest.approx(value("fusion", "gate", "macro") - value("fusion", "rrf", "macro"))
    strict = value("developers", "gate-by-developer", "one", "mrr")
    assert strict != value("fusion", "gate", "one", "mrr")  # it learnt from one model only
    assert value("developers", "gate-by-developer - gate", "one", "mrr") == pytest.approx(
        strict - value("fusion", "gate", "one", "mrr")
    )
    oracle = value("coverage", "gate", "one", "oracle@1")
    assert oracle >= max(value("fusion", system, "one") for system in ("ontology", "llm"))
    inside = value("coverage", "gate", "one", "correct_in_prefix")
    outside = value("coverage", "gate", "one", "correct_outside_prefix")
    assert inside + outside == pytest.approx(1.0)
    assert value("controls", "gate", "macro") == value("fusion", "gate", "macro")
