"""The tiny corpus ranked by a stock program through the workflow."""

import hashlib

import polars as pl
import pytest
import yaml

pytestmark = pytest.mark.e2e


@pytest.fixture
def with_lirical(project, lirical_jar, tmp_path):
    """The finished project with a LIRICAL stand-in configured and in the tables."""
    data = tmp_path / "lirical data"
    data.mkdir()
    (data / "behaviour.txt").write_text(f"log {tmp_path / 'calls.log'}\nHP:0002943 exit\n")
    overlay = project.folder / "workflow/config/tiny.yaml"
    config = yaml.safe_load(overlay.read_text())
    config["rankers"]["lirical-stock"] = {
        "method": "lirical-stock",
        "jar": str(lirical_jar),
        "sha256": hashlib.sha256(lirical_jar.read_bytes()).hexdigest(),
        "data": str(data),
        "time_limit": 60,
    }
    config["evaluation"]["rankers"] = ["resnik", "lirical-stock"]
    config["stock_comparison"] = {"pairs": [["lirical", "lirical-stock"]]}
    project.config = config

    def save():
        overlay.write_text(yaml.safe_dump(config))

    save()
    project.save, project.calls, project.data = save, tmp_path / "calls.log", data
    return project


def test_a_stock_program_drops_into_every_table(with_lirical):
    project = with_lirical
    assert project.jobs()["stock_rank"] == 1
    assert "rank" not in project.jobs()
    status, printed = project.snakemake("all", "stock_comparison")
    assert status == 0, printed
    assert "misses, lopo: 1 × exit status" in printed
    folder = project.folder / "results/tiny"
    recall = pl.read_parquet(folder / "tables/recall.parquet").filter(
        pl.col("system") == "lirical-stock", pl.col("subset") == "all",
        pl.col("metric") == "recall@1",
    )  # fmt: skip
    value = dict(recall.select("protocol", "value").iter_rows())
    assert value["ordinary"] > value["lopo"]
    assert "lirical-stock" in set(pl.read_parquet(folder / "tables/ties.parquet")["system"])
    compared = pl.read_parquet(folder / "tables/stock_comparison.parquet")
    assert compared.filter(pl.col("metric") == "unanswered_cases", pl.col("subset") == "all")[
        "value"
    ].to_list() == [1.0, 1.0]
    failures = pl.read_parquet(folder / "rankings/lirical-stock/failures.parquet")
    assert set(failures["reason"]) == {"exit status"}

    # PMID:24 alone supports OMIM:100009: the program never saw it under LOPO.
    cases = pl.read_parquet(folder / "cases.parquet")
    (case,) = cases.filter(pl.col("publication_id") == "PMID:24")["case_id"]
    lists = {
        protocol: pl.read_parquet(folder / f"rankings/lirical-stock/{protocol}.parquet").filter(
            pl.col("case_id") == case
        )["disease_id"]
        for protocol in ("ordinary", "lopo")
    }
    assert lists["ordinary"][0] == "OMIM:100009"
    assert "OMIM:100009" not in lists["lopo"]

    # Nothing to do; another depth ranks again without a single call but for the failed case.
    assert project.jobs() == {}
    calls = project.calls.read_text().split()
    project.config["evaluation"]["depth"] = 5
    project.save()
    assert project.jobs()["stock_rank"] == 1
    status, printed = project.snakemake("results/tiny/rankings/lirical-stock/lopo.parquet")
    assert status == 0, printed
    assert project.calls.read_text().split() == calls
    # Other data of the program: every answer anew.
    (project.data / "hp.json").write_text("{}")
    assert project.jobs("results/tiny/rankings/lirical-stock/lopo.parquet") == {"stock_rank": 1}


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("jar", "/nowhere/lirical-cli-2.4.1.jar", "the LIRICAL program is missing"),
        ("data", "/nowhere/data", "download -d /nowhere/data"),
        ("java", "javanese", "no program 'javanese'"),
        ("sha256", "abc", "lirical-stock.sha256"),
        ("jars", "/x", "no such option"),
    ],
)
def test_what_a_stock_program_lacks_is_said_before_anything_runs(with_lirical, key, value, says):
    with_lirical.config["rankers"]["lirical-stock"][key] = value
    with_lirical.save()
    status, printed = with_lirical.snakemake("--dry-run")
    assert status != 0
    assert says in printed
    assert "Traceback" not in printed
    assert not with_lirical.calls.exists()


def test_a_comparison_without_a_pair(project):
    status, printed = project.snakemake("--dry-run", "stock_comparison")
    assert status != 0
    assert "no stock program to compare with" in printed
