"""Seeds, query cap and splits, from hand-written gold ranks."""

from itertools import islice

import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import admissible_permutations, publication_groups
from rarefuse.evaluation.base import Evaluation
from rarefuse.evaluation.stage import table_rows
from rarefuse.evaluation.tables import TABLE
from rarefuse.provenance.matching import DELETIONS
from rarefuse.provenance.variants import split_sensitivity_table


def test_monte_carlo_spread(evaluation, table, with_rankers):
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


def test_query_cap_by_query_size(evaluation, table, with_rankers):
    found = table(with_rankers(evaluation, "resnik", "resnik.uncapped"), "query_cap")
    assert found["ordinary", "capped", "all", "recall@1"] == (2 / 4, 4)
    assert found["ordinary", "uncapped", "all", "recall@1"] == (1 / 4, 4)
    assert found["ordinary", "uncapped - capped", "observed <= 10", "recall@1"] == (-1 / 3, 3)
    assert found["lopo", "capped", "observed > 10", "recall@10"] == (1.0, 1)


OPTIONS = {
    "seed": 7, "fractions": [2, 1, 2], "publications": None, "n_cases": None, "tolerance": 0.01,
}  # fmt: skip
# Test parts of the first six permutations; no case of the last can be evaluated.
TEST_PARTS = [
    {"PMID:11", "PMID:32"},
    {"PMID:11", "PMID:14"},
    {"PMID:14", "PMID:33"},
    {"PMID:11", "PMID:30"},
    {"PMID:11", "PMID:33"},
    {"PMID:32", "PMID:33"},
]


@pytest.fixture
def splits_of(evaluation):
    """Evaluation with central halves; PMID:11's deletions of OMIM:100001 are matched."""
    pair = ("PMID:11", "OMIM:100001", "HP:1", "HP:2", True, 1.0, 1, 1.0, 1.0, 1, 1.0)
    artifacts.write(
        pl.DataFrame([pair], schema=DELETIONS.dtypes, orient="row"),
        DELETIONS,
        evaluation.corpus / "deletions.parquet",
    )
    return Evaluation(**{**evaluation.__dict__, "options": OPTIONS, "level": 0.5})


def test_split_sensitivity_by_hand(splits_of):
    """Five test parts with cases: quartiles are their second, third and fourth values in order.

    Reciprocal ranks: c1 and c2 (PMID:11) 1 and 1, after LOPO 1 and 1/5; c3 (PMID:14) 1/2 and 1/3;
    c4 (PMID:30) 1/4 and 1/4. LOPO empties c3's diagnosis.
    """
    _, sizes = publication_groups(artifacts.read(splits_of.corpus / "cases.parquet", CASES))
    names, counts = sizes["group"].to_list(), sizes["len"].to_numpy()
    permutations = admissible_permutations(counts, max_permutations=1, **OPTIONS)
    parts = [{names[i] for i in order[ends[1] :]} for order, ends in islice(permutations, 6)]
    assert parts == TEST_PARTS

    rows = list(split_sensitivity_table(splits_of, 6))
    found = {(r.subset, r.protocol, r.metric): (r.ci_low, r.value, r.ci_high, r.n) for r in rows}
    assert len(found) == len(rows)

    def check(subset, protocol, metric, low, median, high, n):
        assert found[subset, protocol, metric] == (*map(pytest.approx, (low, median, high)), n)

    # 2, 3, 1, 3, 2 cases; mean reciprocal ranks 1, 5/6, 1/2, 3/4, 1, after LOPO
    # 3/5, 23/45, 1/3, 29/60, 3/5, so changes -2/5, -29/90, -1/6, -4/15, -2/5.
    check("test", "-", "cases", 2, 2, 3, 5)
    check("test", "ordinary", "mrr", 3 / 4, 5 / 6, 1, 5)
    check("test", "lopo", "mrr", 29 / 60, 23 / 45, 3 / 5, 5)
    check("test", "lopo - ordinary", "mrr", -2 / 5, -29 / 90, -4 / 15, 5)
    check("test", "ordinary", "recall@1", 2 / 3, 2 / 3, 1, 5)  # 1, 2/3, 0, 2/3, 1
    check("test", "lopo", "recall@1", 1 / 3, 1 / 3, 1 / 2, 5)  # 1/2, 1/3, 0, 1/3, 1/2
    # c3, c3, c4: between 1/4 and 1/2 the lower quartile lies half way.
    one = "test: one case a publication"
    check(one, "-", "cases", 1, 1, 1, 3)
    check(one, "ordinary", "mrr", 3 / 8, 1 / 2, 1 / 2, 3)
    # c1 and c2, c1 and c2, all three, c1 and c2: 3/4 once and 1 three times.
    kept = "test: profile kept"
    check(kept, "-", "cases", 2, 2, 9 / 4, 4)
    check(kept, "ordinary", "mrr", 15 / 16, 1, 1, 4)
    # c3 twice.
    check("test: profile emptied", "lopo", "mrr", 1 / 3, 1 / 3, 1 / 3, 2)
    check("test: profile emptied", "lopo - ordinary", "mrr", -1 / 6, -1 / 6, -1 / 6, 2)
    # c1 and c2 four times; c4's diagnosis keeps its annotations, but has no matched ones.
    check("test: matched", "-", "cases", 2, 2, 2, 4)
    check("test: matched", "lopo", "recall@1", 1 / 2, 1 / 2, 1 / 2, 4)
    check("test: matched", "lopo", "mrr", 3 / 5, 3 / 5, 3 / 5, 4)


def test_split_sensitivity_without_matched_deletions(splits_of, table):
    path = splits_of.corpus / "deletions.parquet"
    artifacts.write(artifacts.read(path, DELETIONS).clear(), DELETIONS, path)
    subsets = {subset for _, _, subset, _ in table(splits_of, "split_sensitivity")}
    assert "test: profile kept" in subsets
    assert "test: matched" not in subsets
