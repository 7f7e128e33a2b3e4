"""Ranking with deletions: only the gold disease is edited, and only for its own cases."""

import polars as pl
import pytest

from builders import make_knowledge
from rarefuse import artifacts
from rarefuse.annotations.knowledge import INFORMATION_CONTENT, build_knowledge
from rarefuse.annotations.relations import DISEASES, RELATIONS
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import SPLITS
from rarefuse.corpus.view import VIEW, close_view
from rarefuse.evaluation.base import Evaluation
from rarefuse.provenance.deletion_ranks import CONDITIONS, rank_deletions_stage
from rarefuse.provenance.matching import DELETIONS, deletions_stage
from rarefuse.rankers.base import build_queries
from rarefuse.rankers.catalogue import make_ranker
from rarefuse.rankers.order import places
from rarefuse.rankers.run import GOLD_RANKS

# PMID:26 alone supports a febrile seizure of Kyanite seizures, PMID:27 a seizure. The second case
# is of the same publication, but its diagnosis owes it nothing.
ROWS = [
    ("c1", "PMID:26", "OMIM:100012", ["HP:0002373", "HP:0000639"]),
    ("c2", "PMID:26", "OMIM:100008", ["HP:0002373"]),
    ("c3", "PMID:26", "OMIM:100012", ["HP:0001250"]),
]
PAIR = {"removed_id": "HP:0002373", "matched_id": "HP:0001250"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory, tiny, tiny_ontology):
    base = tmp_path_factory.mktemp("matched")
    k, corpus = base / "knowledge", base / "corpus"
    make_knowledge(k, tiny / "tiny.obo", tiny / "tiny.hpoa")
    rows = [(c, c, p, g, None, None, None, None, o, []) for c, p, g, o in ROWS]
    cases = pl.DataFrame(rows, schema=CASES.dtypes, orient="row")
    artifacts.write(cases, CASES, corpus / "cases.parquet")
    artifacts.write(close_view(cases, tiny_ontology), VIEW, corpus / "view.parquet")
    deletions_stage(
        cases=corpus / "cases.parquet", knowledge=k, output=corpus / "deletions.parquet"
    )
    return k, corpus


def test_the_pair(folders):
    found = artifacts.read(folders[1] / "deletions.parquet", DELETIONS)
    assert found.select(*PAIR).rows() == [tuple(PAIR.values())]


@pytest.mark.parametrize("method", ["resnik", "lirical"])
def test_ranks_are_those_of_the_edited_profile(folders, tiny_ontology, method):
    k, corpus = folders
    ranks = corpus / "gold_ranks" / method
    rank_deletions_stage(
        knowledge=k,
        corpus=corpus,
        deletions=corpus / "deletions.parquet",
        method=method,
        options={},
        gold_ranks=ranks,
        threads=1,
    )
    relations = artifacts.read(k / "relations.parquet", RELATIONS)
    ic = artifacts.read(k / "information_content.parquet", INFORMATION_CONTENT)["ic"].to_numpy()
    for condition, column in CONDITIONS.items():
        found = artifacts.read(ranks / f"{condition}.parquet", GOLD_RANKS)
        assert found["case_id"].to_list() == ["c1", "c3"]
        edited = relations.filter(
            (pl.col("disease_id") != "OMIM:100012") | (pl.col("term_id") != PAIR[column])
        )
        knowledge = build_knowledge(
            tiny_ontology, artifacts.read(k / "diseases.parquet", DISEASES), edited, ic
        )
        queries = build_queries(
            knowledge, ["c1", "c3"], [ROWS[0][3], ROWS[2][3]], ["PMID:26", "PMID:26"]
        )
        scores = make_ranker(method, {}).ordinary(knowledge, queries)
        gold = knowledge.disease_index["OMIM:100012"]
        expected = places(scores, pl.Series([gold, gold], dtype=pl.Int32).to_numpy())
        assert found.select("rank", "tie_first", "tie_last").rows() == [
            tuple(row) for row in expected.tolist()
        ]


def test_table(folders, table):
    k, corpus = folders
    splits = pl.DataFrame({"case_id": ["c1", "c2", "c3"], "split": ["test"] * 3})
    artifacts.write(splits, SPLITS, corpus / "splits.parquet")
    places_of = {
        "ordinary": (1, 1), "lopo": (3, 1), "source_deletion": (2, 2), "matched_deletion": (1, 1),
    }  # fmt: skip
    for protocol, (first, second) in places_of.items():
        rows = [("c1", first, first, first), ("c3", second, second, second)]
        artifacts.write(
            pl.DataFrame(rows, schema=GOLD_RANKS.dtypes, orient="row"),
            GOLD_RANKS,
            corpus / "gold_ranks" / "made_up" / f"{protocol}.parquet",
        )
    found = table(Evaluation(corpus, k, ["made_up"], [1, 10], 20, 0.95, 1), "matched_deletion")
    assert found["ordinary", "native", "all", "recall@1"] == (1.0, 2)  # c2 is not matched
    assert found["lopo - ordinary", "native", "test", "recall@1"] == (-0.5, 2)
    assert found["source_deletion - ordinary", "native", "all", "recall@1"] == (-1.0, 2)
    assert found["matched_deletion - ordinary", "native", "all", "recall@1"] == (0.0, 2)
    assert found["-", "-", "all", "matched_pairs"] == (1.0, 1)
    # Seizure lies one level above febrile seizure, in the same branch.
    assert found["-", "-", "all", "within_one_level_share"] == (1.0, 1)
    assert found["-", "-", "all", "same_branch_share"] == (1.0, 1)
