"""The tables, from hand-written gold ranks."""

import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.annotations.relations import DISEASES, RELATIONS
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import SPLITS
from rarefuse.errors import InputError
from rarefuse.evaluation.base import Evaluation
from rarefuse.evaluation.stage import table_rows, table_stage
from rarefuse.evaluation.tables import TABLE
from rarefuse.rankers.run import GOLD_RANKS, RANKINGS

# case, publication, gold, observed, split. OMIM:100001 has three relations, two of them PMID:11's.
# The last two cannot be evaluated: nothing observed, and a diagnosis that is no candidate.
ROWS = [
    ("c1", "PMID:11", "OMIM:100001", ["HP:0001251", "HP:0000639"], "train"),
    ("c2", "PMID:11", "OMIM:100001", ["HP:0001251", "HP:0002373"], "train"),
    ("c3", "PMID:14", "OMIM:100003", ["HP:0000519"], "test"),
    ("c4", "PMID:30", "OMIM:100010", ["HP:0001249"] + ["HP:0000639"] * 10, "test"),
    ("c5", "PMID:32", "OMIM:100013", [], "test"),
    ("c6", "PMID:33", "OMIM:999999", ["HP:0001250"], "validation"),
]
# Native place, first and last of its ties: before and after LOPO.
PLACES = {
    "ordinary": {"c1": (1, 1, 1), "c2": (1, 1, 2), "c3": (2, 1, 2), "c4": (4, 4, 4)},
    "lopo": {"c1": (1, 1, 1), "c2": (5, 5, 5), "c3": (3, 3, 4), "c4": (4, 4, 4)},
}


@pytest.fixture
def evaluation(tmp_path, tiny_relations):
    corpus, knowledge = tmp_path / "corpus", tmp_path / "knowledge"
    artifacts.write(tiny_relations.diseases, DISEASES, knowledge / "diseases.parquet")
    artifacts.write(tiny_relations.relations, RELATIONS, knowledge / "relations.parquet")
    cases = [(c, c, p, g, None, None, None, None, o, []) for c, p, g, o, _ in ROWS]
    artifacts.write(
        pl.DataFrame(cases, schema=CASES.dtypes, orient="row"), CASES, corpus / "cases.parquet"
    )
    artifacts.write(
        pl.DataFrame([(r[0], r[4]) for r in ROWS], schema=SPLITS.dtypes, orient="row"),
        SPLITS,
        corpus / "splits.parquet",
    )
    for ranker in ("resnik", "resnik.seed1", "resnik.seed2", "resnik.uncapped"):
        for protocol, places in PLACES.items():
            rows = [(case, *place) for case, place in places.items()]
            if ranker.endswith(("seed2", "uncapped")):
                rows[0] = ("c1", 2, 2, 2)
            artifacts.write(
                pl.DataFrame(rows, schema=GOLD_RANKS.dtypes, orient="row"),
                GOLD_RANKS,
                corpus / "gold_ranks" / ranker / f"{protocol}.parquet",
            )
            first = [(case, 1, "OMIM:1", 1.0, None, 1, last) for case, last in
                     (("c1", 1), ("c2", 2), ("c3", 2), ("c4", 1))]  # fmt: skip
            artifacts.write(
                pl.DataFrame(first, schema=RANKINGS.dtypes, orient="row"),
                RANKINGS,
                corpus / "rankings" / ranker / f"{protocol}.parquet",
            )
    return Evaluation(corpus, knowledge, ["resnik"], [1, 3, 10], 50, 0.95, 1)


def table(evaluation, name):
    frame = pl.DataFrame(table_rows(name, evaluation), schema=TABLE.dtypes, orient="row")
    TABLE.check(frame, name)
    return {
        (r["protocol"], r["variant"], r["subset"], r["metric"]): (r["value"], r["n"])
        for r in frame.iter_rows(named=True)
    }


def with_rankers(evaluation, *rankers):
    return Evaluation(**{**evaluation.__dict__, "rankers": list(rankers)})


def test_cohort_counts(evaluation):
    found = table(evaluation, "cohort")

    def count(metric, subset="all"):
        return found["-", "-", subset, metric][0]

    assert count("cases") == 6
    assert count("publications") == 5
    assert count("gold_diseases") == 5
    assert count("gold_in_hpoa") == 5
    assert count("rankable") == 5
    assert count("eligible") == 4
    assert count("eligible", "test") == 2
    # PMID:14 alone supports all of OMIM:100003; PMID:11 leaves OMIM:100001 one relation.
    assert count("emptied_by_lopo") == 1
    assert count("candidates") == 14
    assert count("hpoa_pmids") == 17


def test_overlap(evaluation):
    found = table(evaluation, "overlap")
    # Gold diseases among the candidates: c1 … c5. c1, c2 and c3 overlap.
    assert found["-", "-", "all", "overlap_share"] == (3 / 5, 5)
    # Exclusive shares 2/3, 2/3, 1, 0, 0.
    assert found["-", "-", "all", "exclusive_share_mean"][0] == pytest.approx(7 / 15)
    assert found["-", "-", "all", "exclusive_share_median"][0] == pytest.approx(2 / 3)
    assert found["-", "-", "all", "entirely_exclusive_share"][0] == 1 / 5
    # Of the observed terms: 2/2, 1/2 (a term of OMIM's own does not count), 1/1, 0; c5 has none.
    assert found["-", "-", "all", "query_terms_covered_mean"] == (pytest.approx(2.5 / 4), 4)


def test_recall_before_after_and_change(evaluation):
    found = table(evaluation, "recall")
    assert found["ordinary", "native", "all", "recall@1"] == (2 / 4, 4)
    assert found["lopo", "native", "all", "recall@1"] == (1 / 4, 4)
    assert found["lopo - ordinary", "native", "all", "recall@1"] == (-1 / 4, 4)
    assert found["ordinary", "native", "test", "recall@3"] == (1 / 2, 2)
    assert found["ordinary", "native", "all", "mrr"][0] == pytest.approx(
        (1 + 1 + 1 / 2 + 1 / 4) / 4
    )
    assert not any(subset == "validation" for _, _, subset, _ in found)  # nothing eligible there


def test_tie_policies_and_blocks(evaluation):
    found = table(evaluation, "ties")
    # Before: c1 alone at 1, c2 and c3 tied over 1..2.
    assert found["ordinary", "averaged", "all", "recall@1"][0] == (1 + 0.5 + 0.5) / 4
    assert found["ordinary", "worst", "all", "recall@1"][0] == 1 / 4
    assert found["ordinary", "native", "all", "rank1_tied_share"][0] == 2 / 4
    assert found["ordinary", "native", "all", "rank1_tie_mean"][0] == 6 / 4
    assert found["ordinary", "native", "all", "rank1_tie_max"][0] == 2


def test_monte_carlo_spread(evaluation):
    seeds = with_rankers(evaluation, "resnik.seed1", "resnik.seed2")
    found = table(seeds, "monte_carlo")
    assert found["ordinary", "seed 1", "all", "recall@1"][0] == 2 / 4
    assert found["ordinary", "seed 2", "all", "recall@1"][0] == 1 / 4
    assert found["ordinary", "mean of seeds", "all", "recall@1"][0] == 3 / 8
    frame = pl.DataFrame(table_rows("monte_carlo", seeds), schema=TABLE.dtypes, orient="row")
    spread = frame.filter(
        pl.col("variant") == "mean of seeds", pl.col("protocol") == "ordinary",
        pl.col("subset") == "all", pl.col("metric") == "recall@1",
    )["seed_sd"].item()  # fmt: skip
    # Two values 1/4 apart: sd = (1/4) / sqrt(2).
    assert spread == pytest.approx(0.25 / 2**0.5)


def test_query_cap_by_query_size(evaluation):
    found = table(with_rankers(evaluation, "resnik", "resnik.uncapped"), "query_cap")
    assert found["ordinary", "capped", "all", "recall@1"] == (2 / 4, 4)
    assert found["ordinary", "uncapped", "all", "recall@1"] == (1 / 4, 4)
    assert found["ordinary", "uncapped - capped", "observed <= 10", "recall@1"] == (-1 / 3, 3)
    assert found["lopo", "capped", "observed > 10", "recall@10"] == (1.0, 1)


def test_a_case_without_rank_is_a_miss_not_dropped(evaluation):
    path = evaluation.corpus / "gold_ranks" / "resnik" / "lopo.parquet"
    artifacts.write(
        artifacts.read(path, GOLD_RANKS).filter(pl.col("case_id") != "c1"), GOLD_RANKS, path
    )
    assert table(evaluation, "recall")["lopo", "native", "all", "recall@1"] == (0.0, 4)


def test_split_sensitivity(evaluation):
    options = {
        "seed": 1, "fractions": [2, 1, 2], "publications": None, "n_cases": None,
        "tolerance": 0.01,
    }  # fmt: skip
    found = table(Evaluation(**{**evaluation.__dict__, "options": options}), "split_sensitivity")
    value, n = found["lopo - ordinary", "native", "test", "recall@1"]
    # Some test parts hold no eligible case (of two publications, both may be without): left out.
    assert 100 < n < 1000
    assert -0.5 <= value <= 0.0


def test_nothing_eligible_is_one_error(evaluation):
    path = evaluation.corpus / "cases.parquet"
    cases = artifacts.read(path, CASES).with_columns(gold_id=pl.lit("ORPHA:1"))
    artifacts.write(cases, CASES, path)
    with pytest.raises(InputError, match="no case of the corpus can be evaluated"):
        table_stage(name="recall", evaluation=evaluation, output=path.parent / "recall.parquet")
    assert not (path.parent / "recall.parquet").exists()
