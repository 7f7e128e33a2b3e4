"""Our lists as PhEval results, and results of other tools as a ranker and as an arm.

The tiny corpus has 14 cases that can be ranked. OMIM:100001 is MONDO:0000001, OMIM:100003 is
ORPHA:7; nothing else has an exact match.
"""

import json
import shutil

import polars as pl
import pytest

from builders import ROOT, project_config
from rarefuse import artifacts
from rarefuse.cli import main
from rarefuse.config import check_config, load_schema
from rarefuse.corpus.cases import CASES
from rarefuse.errors import InputError
from rarefuse.llm.recorded import read_recorded
from rarefuse.naming.lexicon import CROSSWALK
from rarefuse.pheval.results import FOLDER, read_result, record_stem
from rarefuse.rankers.order import neutral_order
from rarefuse.rankers.run import GOLD_RANKS, RANKINGS, read_knowledge
from rarefuse.rankers.stock.answers import FAILURES
from rarefuse.rankers.stock.run import stock_stage
from rarefuse.workflow import Run


@pytest.fixture(scope="module")
def base(artifacts_of_tiny, tmp_path_factory):
    root = tmp_path_factory.mktemp("pheval")
    knowledge, corpus = root / "knowledge", root / "corpus"
    shutil.copytree(artifacts_of_tiny.knowledge, knowledge)
    shutil.copytree(artifacts_of_tiny.corpus, corpus)
    walk = [("MONDO:0000001", "OMIM:100001"), ("ORPHA:7", "OMIM:100003")]
    artifacts.write(
        pl.DataFrame(walk, schema=CROSSWALK.dtypes, orient="row"),
        CROSSWALK,
        knowledge / "crosswalk.parquet",
    )
    return root


@pytest.fixture
def cases(base):
    return artifacts.read(base / "corpus" / "cases.parquet", CASES)


def write(folder, stem, rows, columns=("rank", "score", "disease_identifier", "mondo_identifier")):
    """A result as PhEval 0.7 writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame(rows, schema=list(columns), orient="row")
    frame = frame.with_columns(true_positive=pl.lit(False))
    frame.write_parquet(folder / f"{stem}-disease_result.parquet")


@pytest.fixture
def imported(base, tmp_path, tiny, cases):
    """Rank the tiny corpus with what is in a folder; by record: list, gold's places, failures."""

    def rank(folder, lopo=None, corpus=None):
        out = tmp_path / "out"
        stock_stage(
            knowledge=base / "knowledge",
            corpus=corpus or base / "corpus",
            hpoa=tiny / "tiny.hpoa",
            crosswalk=base / "knowledge" / "crosswalk.parquet",
            method="pheval",
            options={"results": str(folder), "lopo_results": str(lopo or folder)},
            depth=100,
            state=tmp_path / "state",
            rankings=out / "rankings",
            gold_ranks=out / "gold",
            failures=out / "failures.parquet",
            threads=1,
        )
        stem = {c: record_stem(r) for c, r in cases.select("case_id", "record").iter_rows()}
        lists = {}
        for row in artifacts.read(out / "rankings" / "ordinary.parquet", RANKINGS).iter_rows(
            named=True
        ):
            own = (row["disease_id"], row["tie_first"], row["tie_last"])
            lists.setdefault(stem[row["case_id"]], []).append(own)
        gold = {
            protocol: {
                stem[case]: tuple(places)
                for case, *places in artifacts.read(
                    out / "gold" / f"{protocol}.parquet", GOLD_RANKS
                ).iter_rows()
            }
            for protocol in ("ordinary", "lopo")
        }
        return lists, gold, artifacts.read(out / "failures.parquet", FAILURES)

    return rank


def test_ids_of_other_namespaces_meet_through_exact_matches(imported, tmp_path):
    # Gold of PMID_11_A is OMIM:100001: Mondo's id of it stands third, an ORPHA id first.
    write(tmp_path / "r", "PMID_11_A", [
        (1, 0.9, "ORPHA:7", None),
        (2, 0.8, "OMIM:100002", None),
        (3, 0.7, "MONDO:0000001", None),
    ])  # fmt: skip
    lists, gold, _ = imported(tmp_path / "r")
    assert [d for d, *_ in lists["PMID_11_A"]] == ["OMIM:100003", "OMIM:100002", "OMIM:100001"]
    assert gold["ordinary"]["PMID_11_A"] == (3, 3, 3)


def test_the_mondo_column_helps_where_the_identifier_is_unknown(imported, tmp_path):
    write(tmp_path / "r", "PMID_11_A", [(1, 0.9, "DECIPHER:5", "MONDO:0000001")])
    assert imported(tmp_path / "r")[0]["PMID_11_A"] == [("OMIM:100001", 1, 1)]


def test_two_ids_of_one_disease_take_one_rank(imported, tmp_path):
    write(tmp_path / "r", "PMID_11_A", [
        (1, 0.9, "OMIM:100003", None),
        (2, 0.8, "Orphanet:7", None),
        (3, 0.7, "OMIM:100001", None),
        (4, 0.6, "OMIM:999999", None),
        (5, 0.5, "OMIM:100002", None),
    ])  # fmt: skip
    lists, gold, _ = imported(tmp_path / "r")
    # The second is the first again, the fourth no candidate: the places close up.
    assert lists["PMID_11_A"] == [
        ("OMIM:100003", 1, 1), ("OMIM:100001", 2, 2), ("OMIM:100002", 3, 3),
    ]  # fmt: skip
    assert gold["ordinary"]["PMID_11_A"] == (2, 2, 2)


def test_equal_ranks_are_a_tie_block_in_a_neutral_order(imported, base, tmp_path):
    tied = ["OMIM:100001", "OMIM:100002", "OMIM:100004"]
    write(tmp_path / "r", "PMID_11_A", [
        (1, 0.9, "OMIM:100003", None),
        # PhEval ranks equal scores by the last place of the block.
        *((4, 0.5, disease, None) for disease in tied),
        (5, 0.1, "OMIM:100005", None),
    ])  # fmt: skip
    lists, gold, _ = imported(tmp_path / "r")
    ids = read_knowledge(base / "knowledge").disease_ids
    position = dict(zip(ids, neutral_order(ids), strict=True))
    order = sorted(tied, key=position.__getitem__)
    assert lists["PMID_11_A"] == [
        ("OMIM:100003", 1, 1), *((d, 2, 4) for d in order), ("OMIM:100005", 5, 5),
    ]  # fmt: skip
    assert gold["ordinary"]["PMID_11_A"] == (2 + order.index("OMIM:100001"), 2, 4)


def test_a_case_without_a_result_is_a_miss_and_not_left_out(imported, tmp_path, cases):
    write(tmp_path / "r", "PMID_12_A", [(1, 0.9, "OMIM:100002", None)])
    write(tmp_path / "r", "PMID_14_A", [(1, 0.9, "OMIM:424242", None)])
    lists, gold, failures = imported(tmp_path / "r")
    assert list(lists) == ["PMID_12_A"]
    assert len(gold["ordinary"]) == 14
    assert gold["ordinary"]["PMID_12_A"] == (1, 1, 1)
    assert {places for stem, places in gold["ordinary"].items() if stem != "PMID_12_A"} == {
        (None, None, None)
    }
    counts = failures.filter(pl.col("protocol") == "lopo")["reason"].value_counts().rows()
    assert sorted(counts) == [
        ("the tool wrote no result", 12), ("the tool's result names no candidate", 1),
    ]  # fmt: skip


def test_phevals_mark_of_a_missed_diagnosis_is_no_first_place(imported, tmp_path):
    write(
        tmp_path / "r", "PMID_11_A", [(1, 0.9, "OMIM:100002", None), (0, 0.0, "OMIM:100001", None)]
    )
    lists, gold, _ = imported(tmp_path / "r")
    assert lists["PMID_11_A"] == [("OMIM:100002", 1, 1)]
    assert gold["ordinary"]["PMID_11_A"] == (None, None, None)


def test_a_diagnosis_of_another_namespace_is_found(imported, base, tmp_path, cases):
    corpus = tmp_path / "corpus"
    for name in ("view", "lopo"):
        (corpus / f"{name}.parquet").parent.mkdir(exist_ok=True)
        (corpus / f"{name}.parquet").write_bytes((base / "corpus" / f"{name}.parquet").read_bytes())
    other = cases.with_columns(
        pl.when(pl.col("gold_id") == "OMIM:100001")
        .then(pl.lit("MONDO:0000001"))
        .otherwise(pl.col("gold_id"))
        .alias("gold_id")
    )
    artifacts.write(other, CASES, corpus / "cases.parquet")
    write(
        tmp_path / "r", "PMID_11_A", [(1, 1.0, "OMIM:100002", None), (2, 0.5, "OMIM:100001", None)]
    )
    assert imported(tmp_path / "r", corpus=corpus)[1]["ordinary"]["PMID_11_A"] == (2, 2, 2)


def test_lopo_has_results_of_its_own(imported, tmp_path):
    write(tmp_path / "r", "PMID_11_A", [(1, 0.9, "OMIM:100001", None)])
    write(
        tmp_path / "l", "PMID_11_A", [(1, 0.9, "OMIM:100002", None), (2, 0.1, "OMIM:100001", None)]
    )
    gold = imported(tmp_path / "r", tmp_path / "l")[1]
    assert gold["ordinary"]["PMID_11_A"] == (1, 1, 1)
    assert gold["lopo"]["PMID_11_A"] == (2, 2, 2)


def test_older_formats_are_read(tmp_path):
    write(tmp_path, "a", [(1, 0.9, "Name", "OMIM:1")],
          ("rank", "score", "disease_name", "disease_identifier"))  # fmt: skip
    row = read_result(tmp_path / "a-disease_result.parquet").row(0)
    assert row == (1, "OMIM:1", None, "Name")
    old = tmp_path / "b-pheval_disease_result.tsv"
    old.write_text(
        "rank\tscore\tdisease_name\tdisease_identifier\n2\t1\tB\tOMIM:2\n1\t2\tA\tOMIM:1\n"
    )
    assert read_result(old)["disease_identifier"].to_list() == ["OMIM:1", "OMIM:2"]


@pytest.mark.parametrize(
    "text",
    ["", "a\tb\n1\t2\n", "rank\tdisease_identifier\n-1\tx\n", "rank\tdisease_identifier\nx\ty\n"],
)
def test_what_is_no_result_is_refused(tmp_path, text):
    path = tmp_path / "b-pheval_disease_result.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match="cannot be used"):
        read_result(path)


def test_a_folder_without_results_is_refused(imported, tmp_path):
    (tmp_path / "r").mkdir()
    with pytest.raises(InputError, match="holds no PhEval disease result"):
        imported(tmp_path / "r")
    with pytest.raises(InputError, match=r"another tool's results are missing"):
        imported(tmp_path / "none")


def test_what_we_export_comes_back_with_the_same_places(base, imported, tmp_path, cases, capsys):
    usable = cases.filter(pl.col("observed").list.len() > 0)
    one, two = usable["case_id"].to_list()[:2]
    golds = dict(usable.select("case_id", "gold_id").iter_rows())
    others = [d for d in ("OMIM:100005", "OMIM:100006", "OMIM:100007") if d != golds[one]]
    rows = [
        (one, 1, others[0], 2.0, 1e-3, 1, 1),
        (one, 2, golds[one], 3.0, 1e-2, 2, 3),
        (one, 3, others[1], 3.0, 1e-2, 2, 3),
    ]
    ranking = tmp_path / "ranking.parquet"
    artifacts.write(pl.DataFrame(rows, schema=RANKINGS.dtypes, orient="row"), RANKINGS, ranking)
    arguments = [
        "pheval-export", "--cases", base / "corpus" / "cases.parquet", "--ranking", ranking,
        "--crosswalk", base / "knowledge" / "crosswalk.parquet",
    ]  # fmt: skip
    for ties, ranks in (("native", [1, 2, 3]), ("worst", [1, 3, 3])):
        folder = tmp_path / ties
        assert main([*map(str, arguments), "--ties", ties, "--output", str(folder)]) == 0
        assert f"{cases.height} results" in capsys.readouterr().err
        files = sorted((folder / FOLDER).iterdir())
        assert len(files) == cases.height
        stem = record_stem(dict(cases.select("case_id", "record").iter_rows())[one])
        frame = pl.read_parquet(folder / FOLDER / f"{stem}-disease_result.parquet")
        assert frame.columns == [
            "rank", "score", "disease_identifier", "mondo_identifier", "true_positive",
        ]  # fmt: skip
        assert frame["rank"].to_list() == ranks
        # The p-value orders first: its negative logarithm never rises.
        assert frame["score"].to_list() == pytest.approx([3.0, 2.0, 2.0])
        assert frame["true_positive"].to_list() == [False, True, False]
    # A case without a list has PhEval's row for a missed diagnosis, in both ways of ours.
    stem = record_stem(dict(cases.select("case_id", "record").iter_rows())[two])
    missed = pl.read_parquet(tmp_path / "native" / FOLDER / f"{stem}-disease_result.parquet")
    assert missed.select("rank", "score", "true_positive").rows() == [(0, 0.0, True)]
    stem = record_stem(dict(cases.select("case_id", "record").iter_rows())[one])
    assert imported(tmp_path / "native")[1]["ordinary"][stem] == (2, 2, 2)
    first, last = imported(tmp_path / "worst")[1]["ordinary"][stem][1:]
    assert (first, last) == (2, 3)


def test_results_are_a_recorded_arm_as_well(base, tmp_path, cases, capsys):
    write(tmp_path / "r", "PMID_11_A", [(1, 0.9, "OMIM:100002", None), (2, 0.8, "ORPHA:7", None)])
    write(tmp_path / "r", "stranger", [(1, 0.9, "OMIM:100002", None)])
    table = tmp_path / "names.parquet"
    arguments = ["--results", tmp_path / "r", "--cases", base / "corpus" / "cases.parquet"]
    assert main(["pheval-names", *map(str, arguments), "--output", str(table)]) == 0
    assert "1 cases" in (said := capsys.readouterr().err)
    assert "1 results of no case" in said
    columns = {"case": "case_id", "rank": "rank", "name": "name", "id": "id"}
    completions, names, _ = read_recorded(table, cases, columns)
    (case,) = cases.filter(pl.col("record") == "PMID_11_A.json")["case_id"]
    assert names.select("case_id", "rank", "disease_id").rows() == [
        (case, 1, "OMIM:100002"), (case, 2, "ORPHA:7"),
    ]  # fmt: skip
    assert completions.height == cases.height
    assert completions.filter(pl.col("status") == "ok")["case_id"].to_list() == [case]


def test_records_that_would_be_one_file_are_refused(base, tmp_path, cases, capsys):
    twice = cases.with_columns(record=pl.lit("a/") + pl.col("record"))
    twice = pl.concat([cases.head(1), twice.head(1).with_columns(case_id=pl.lit("other"))])
    artifacts.write(twice, CASES, tmp_path / "cases.parquet")
    ranking = tmp_path / "r.parquet"
    artifacts.write(pl.DataFrame(schema=RANKINGS.dtypes), RANKINGS, ranking)
    arguments = ["--cases", tmp_path / "cases.parquet", "--ranking", ranking, "--output", tmp_path]
    assert main(["pheval-export", *map(str, arguments)]) == 2
    assert "two records would be one file" in capsys.readouterr().err


def test_the_workflow_knows_the_method():
    config = project_config()
    config["rankers"]["exomiser"] = {
        "method": "pheval", "results": "a", "lopo_results": "b",
    }  # fmt: skip
    schema = load_schema(ROOT / "workflow" / "schemas" / "config.schema.yaml")
    run = Run(check_config(config, schema), {})
    assert run.rankers.stock == ["exomiser"]
    assert json.loads(run.rankers.options("exomiser")) == {"results": "a", "lopo_results": "b"}
    assert run.rankers.method("exomiser") == "pheval"
