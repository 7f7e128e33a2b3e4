"""Seeds, query cap and splits, from hand-written gold ranks."""

import polars as pl
import pytest

from rarefuse.evaluation.base import Evaluation
from rarefuse.evaluation.stage import table_rows
from rarefuse.evaluation.tables import TABLE


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


def test_split_sensitivity(evaluation, table):
    options = {
        "seed": 1, "fractions": [2, 1, 2], "publications": None, "n_cases": None,
        "tolerance": 0.01,
    }  # fmt: skip
    found = table(Evaluation(**{**evaluation.__dict__, "options": options}), "split_sensitivity")
    value, n = found["lopo - ordinary", "native", "test", "recall@1"]
    # Some test parts hold no eligible case (of two publications, both may be without): left out.
    assert 100 < n < 1000
    assert -0.5 <= value <= 0.0
