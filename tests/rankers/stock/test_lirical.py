"""LIRICAL's process, outputs, failures and resumption, against a compiled stand-in."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from rarefuse.errors import InputError
from rarefuse.rankers.base import LOPO, ORDINARY
from rarefuse.rankers.stock.answers import Store, answer_of
from rarefuse.rankers.stock.lirical import parse_json, parse_tsv
from rarefuse.rankers.stock.process import (
    EXIT_STATUS,
    GARBAGE,
    INCOMPLETE,
    NO_OUTPUT,
    TIME_LIMIT,
    UNORDERED,
    Failure,
)
from rarefuse.rankers.stock.run import rank_world

STORED = 100


def rank(program, world, folder, threads=2):
    world, gold = world
    store = Store(folder / program.identity(world))
    return rank_world(program, world, store, gold, STORED, threads)


def with_term(world, term):
    """Case ids whose view has an observed term."""
    queries, ids = world[0].queries, world[0].knowledge.ontology.term_ids
    return [
        case
        for i, case in enumerate(queries.case_ids)
        if term in [ids[t] for t in queries.observed[queries.observed_ptr[i] :][: queries.sizes[i]]]
    ]


def test_scores_come_from_the_filtered_file(lirical, tiny_world, tmp_path):
    """The stand-in scores by its phenotype.hpoa: 2000 a term annotated, 0.01 a term not.

    PMID:24's case has two terms, both annotations of OMIM:100009 that only PMID:24 supports: before
    LOPO they give 2000², afterwards that disease has no row, so it is not in the file at all.
    """
    world, _ = tiny_world
    results, failures = rank(lirical(), tiny_world, tmp_path)
    assert failures.is_empty()
    case = world.queries.case_ids[world.queries.publications.index("PMID:24")]
    rows, places = {}, {}
    for protocol in (ORDINARY, LOPO):
        rows[protocol], places[protocol] = (
            f.filter(pl.col("case_id") == case) for f in results[protocol]
        )
    first = rows[ORDINARY].row(0, named=True)
    assert (first["disease_id"], first["rank"], first["tie_last"]) == ("OMIM:100009", 1, 1)
    assert first["score"] == pytest.approx(math.log(4e6))
    assert places[ORDINARY].row(0) == (case, 1, 1, 1)
    assert rows[ORDINARY].height == 14
    assert rows[LOPO].height == 13
    assert "OMIM:100009" not in rows[LOPO]["disease_id"]
    assert places[LOPO].row(0) == (case, None, None, None)


def test_ties_are_runs_of_equal_scores_in_the_programs_order(lirical, tiny_world, tmp_path):
    """Nystagmus and intellectual disability: one disease has both, three one, ten none."""
    world, _ = tiny_world
    results, _ = rank(lirical(), tiny_world, tmp_path)
    case = world.queries.case_ids[world.queries.publications.index("PMID:30")]
    rows = results[ORDINARY][0].filter(pl.col("case_id") == case)
    blocks = Counter(rows.select("tie_first", "tie_last").iter_rows())
    both = {"OMIM:100010"}
    one = {"OMIM:100001", "OMIM:100003", "OMIM:100005"}
    assert blocks == {(1, 1): 1, (2, 4): 3, (5, 14): 10}
    assert set(rows["disease_id"][:1]) == both
    assert rows["disease_id"][1:4].to_list() == sorted(one)  # the file's order
    assert rows["p_value"].null_count() == 14


def test_excluded_terms_are_given_unless_switched_off(lirical, tiny_world, tmp_path):
    world, _ = tiny_world
    case = world.queries.case_ids[world.queries.publications.index("PMID:25")]
    scores = {}
    for excluded in (True, False):
        program = lirical(excluded=excluded)
        results, _ = rank(program, tiny_world, tmp_path)
        rows = results[ORDINARY][0].filter(
            pl.col("case_id") == case, pl.col("disease_id") == "OMIM:100011"
        )
        scores[excluded] = rows["score"].item()
    # HP:0000510 is excluded in the case and annotated to its diagnosis.
    assert scores[True] - scores[False] == pytest.approx(math.log(0.01))


@pytest.mark.parametrize("output", ["json", "tsv"])
def test_each_failure_is_a_miss_with_its_reason(output, lirical, tiny_world, tmp_path):
    reasons = {
        "HP:0002133": ("sleep", TIME_LIMIT),
        "HP:0002943": ("exit", EXIT_STATUS),
        "HP:0000519": ("garbage", GARBAGE),
        "HP:0000510": ("half", GARBAGE if output == "json" else INCOMPLETE),
        "HP:0002373": ("fewer", GARBAGE if output == "json" else INCOMPLETE),
        "HP:0002650": ("none", NO_OUTPUT),
    }
    behaviour = [f"{term} {what}" for term, (what, _) in reasons.items()]
    program = lirical(*behaviour, output=output, time_limit=4.0)
    results, failures = rank(program, tiny_world, tmp_path)
    expected = {
        (case, protocol): reason
        for term, (_, reason) in reasons.items()
        for case in with_term(tiny_world, term)
        for protocol in (ORDINARY, LOPO)
    }
    found = {(c, p): reason for c, p, reason, _ in failures.iter_rows()}
    assert found == expected
    details = dict(failures.select("reason", "detail").iter_rows())
    assert details[TIME_LIMIT].startswith("killed after 4 s")
    assert "status 3; it printed: Fehler: ungültige Zeile abgebrochen" in details[EXIT_STATUS]
    for rankings, gold_ranks in results.values():
        assert gold_ranks.height == 14
        missed = {case for case, _ in expected}
        assert set(rankings["case_id"]) == set(gold_ranks["case_id"]) - missed
        nulls = gold_ranks.filter(pl.col("case_id").is_in(list(missed)))
        assert nulls["rank"].null_count() == nulls.height == len(missed)
    # No temporary folder stays, and a failure is tried again the next time.
    assert list(tmp_path.rglob("scratch-*")) == []


def test_failed_cases_alone_are_tried_again(lirical, tiny_world, tmp_path, finished):
    program = lirical("HP:0002943 none")
    _, first = rank(program, tiny_world, tmp_path)
    assert first.height == 2
    before = Counter(finished())
    _, again = rank(program, tiny_world, tmp_path)
    assert again.equals(first)
    assert set(Counter(finished()) - before) == set(with_term(tiny_world, "HP:0002943"))


def test_if_every_case_fails_there_is_one_error(lirical, tiny_world, tmp_path, finished):
    terms = tiny_world[0].knowledge.ontology.term_ids
    program = lirical(*(f"{term} garbage" for term in terms))
    with pytest.raises(InputError, match="answered no case") as caught:
        rank(program, tiny_world, tmp_path)
    assert "20 × unreadable output" in str(caught.value)
    assert len(finished()) == 20  # and not 28
    assert list(tmp_path.rglob("scratch-*")) == []


def test_nothing_is_computed_twice(lirical, tiny_world, tmp_path, finished):
    """Four cases' publications remove nothing, so their answers serve both protocols."""
    first = rank(lirical(), tiny_world, tmp_path)
    calls = Counter(finished())
    untouched = {
        case
        for case, publication in zip(
            tiny_world[0].queries.case_ids, tiny_world[0].queries.publications, strict=True
        )
        if publication in ("PMID:12", "PMID:15", "PMID:30", "PMID:31")
    }
    assert {c for c, n in calls.items() if n == 1} == untouched
    assert set(calls.values()) == {1, 2}
    again = rank(lirical(), tiny_world, tmp_path)
    assert Counter(finished()) == calls
    assert again[0][LOPO][0].equals(first[0][LOPO][0])
    for case in untouched:
        one, other = (first[0][p][0].filter(pl.col("case_id") == case) for p in (ORDINARY, LOPO))
        assert one.equals(other)


def test_other_options_or_data_are_another_program(lirical, tiny_world):
    world, _ = tiny_world
    seen = {lirical(**options).identity(world) for options in (
        {}, {"output": "tsv"}, {"excluded": False}, {"java_options": ("-Xmx1g",)},
        {"sha256": "0" * 64},
    )}  # fmt: skip
    seen.add(lirical("HP:0000001 none").identity(world))
    assert len(seen) == 6
    assert lirical(time_limit=5.0).identity(world) == lirical().identity(world)


def test_a_damaged_answer_is_computed_again(lirical, tiny_world, tmp_path, finished):
    rank(lirical(), tiny_world, tmp_path)
    calls = len(finished())
    victim = next(tmp_path.rglob("annotations-*/*.parquet"))
    victim.write_bytes(victim.read_bytes()[:100])
    rank(lirical(), tiny_world, tmp_path)
    assert len(finished()) == calls + 1


def test_another_jar_is_not_executed(lirical, artifacts_of_tiny, tmp_path, finished):
    program = lirical(sha256="0" * 64)
    done = stage(program, artifacts_of_tiny, tmp_path).wait()
    assert done == 2
    assert "it was not executed" in (tmp_path / "printed").read_text()
    assert finished() == []


def stage(program, folders, tmp_path):
    """Start `rarefuse stock` in a process group of its own; its state folder is relative."""
    options = {"jar": program.jar, "sha256": program.sha256, "data": program.data}
    out = tmp_path / "out"
    printed = open(tmp_path / "printed", "w")  # noqa: SIM115
    return subprocess.Popen(
        [
            sys.executable, "-m", "rarefuse", "stock", "--method", "lirical-stock",
            "--options", json.dumps(options), "--knowledge", folders.knowledge,
            "--corpus", folders.corpus, "--hpoa", folders.hpoa, "--state", "state",
            "--rankings", out / "rankings", "--gold-ranks", out / "gold_ranks",
            "--failures", out / "failures.parquet",
        ],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src"), "LC_ALL": "C"},
        cwd=tmp_path, stdout=printed, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip


def test_a_killed_job_goes_on_where_it_stopped(
    lirical, artifacts_of_tiny, tiny_world, tmp_path, finished
):
    """The case with thoracic scoliosis waits for a file; the job is killed while it does."""
    gate = tmp_path / "Tor auf"
    program = lirical(f"HP:0002943 wait {gate}")
    (waiting,) = with_term(tiny_world, "HP:0002943")
    job = stage(program, artifacts_of_tiny, tmp_path)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob(f"state/*/scratch-*/out/{waiting}/log.txt")):
        assert job.poll() is None, (tmp_path / "printed").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()
    before = finished()
    assert 0 < len(before) < 14
    assert waiting not in before
    assert list(tmp_path.glob("state/*/scratch-*"))
    gate.touch()
    assert stage(program, artifacts_of_tiny, tmp_path).wait() == 0, (
        tmp_path / "printed"
    ).read_text()
    # 14 cases, 10 of them under both protocols: each once and none lost.
    calls = Counter(finished())
    assert set(calls) == set(tiny_world[0].queries.case_ids)
    assert sum(calls.values()) == 14 + 10
    assert finished()[: len(before)] == before
    assert list(tmp_path.glob("state/*/scratch-*")) == []
    (tmp_path / "whole").mkdir()
    uninterrupted, _ = rank(program, tiny_world, tmp_path / "whole")
    for protocol in (ORDINARY, LOPO):
        written = pl.read_parquet(tmp_path / f"out/rankings/{protocol}.parquet")
        assert written.equals(uninterrupted[protocol][0])


def test_two_processes_at_once_are_refused(lirical, artifacts_of_tiny, tiny_world, tmp_path):
    gate = tmp_path / "Tor auf"
    program = lirical(f"HP:0002943 wait {gate}")
    job = stage(program, artifacts_of_tiny, tmp_path)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("state/*/scratch-*")):
        assert job.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert stage(program, artifacts_of_tiny, tmp_path).wait() == 2
    assert "another process is running this stock program" in (tmp_path / "printed").read_text()
    gate.touch()
    assert job.wait() == 0


def parsed(parser, path, text):
    path.write_text(text, encoding="utf-8")
    try:
        return parser(path)
    except Exception as error:
        return error.failure


def results(*rows):
    """LIRICAL's JSON of (number, ratio, post-test) with a pretest probability of one half."""
    listed = ", ".join(
        f'{{"diseaseId": "OMIM:{number}", "pretestProbability": 0.5, '
        f'"posttestProbability": {posttest}, "compositeLR": {ratio}}}'
        for number, ratio, posttest in rows
    )
    return f'{{"analysisResults": [{listed}]}}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", GARBAGE),
        ("[]", GARBAGE),
        ('{"analysisResults": []}', INCOMPLETE),
        ('{"analysisResults": [{"diseaseId": "OMIM:1"}]}', GARBAGE),
        (results((1, 2, 0.6)), INCOMPLETE),
        (results((1, 2, 0.6), (1, 2, 0.6)), GARBAGE),
        (results((1, 2, 0.6), (2, '"NaN"', 0.6)), GARBAGE),
        (results((1, 2, 0.6), (2, -1, 0.6)), GARBAGE),
        (results((1, "1" + "0" * 400, 1.0), (2, 1, 0.6)), GARBAGE),
        (results((1, 2, 0.6), (2, 1, 0.4)).replace("0.5", "1e-320"), INCOMPLETE),
        (results((1, 2, '"NaN"'), (2, 1, 0.4)), GARBAGE),
        (results((1, 2, 1.5), (2, 1, 0.4)), GARBAGE),
        (results((1, 2, 0.6), (2, 1, 0.4)).replace("posttest", "after"), GARBAGE),
        (results((1, 1, 0.4), (2, 2, 0.6)), UNORDERED),
    ],
)
def test_json_that_cannot_be_used(text, reason, tmp_path):
    assert parsed(parse_json, tmp_path / "x.json", text).reason == reason


def test_json_keeps_order_and_extreme_ratios(tmp_path):
    frame = parsed(parse_json, tmp_path / "x.json", results((7, "1e300", 1.0), (3, "0.0", 0.0)))
    assert frame["disease_id"].to_list() == ["OMIM:7", "OMIM:3"]
    assert frame["score"].to_list() == [pytest.approx(300 * math.log(10)), -math.inf]


def test_ties_are_of_the_post_test_probability(tmp_path):
    """1e17 stands below 1e18 and above 1e19, but all are certain to the program: its input order.

    Two that differ in the probability are no tie, and one that is no candidate is in no block.
    """
    rows = [
        (1, 1e17, 1.0),
        (2, 1e18, 1.0),
        (9, 1e16, 1.0),
        (3, 1e19, 1.0),
        (4, 3, 0.75),
        (5, 1, 0.5),
    ]
    text = results(*rows).replace('"pretestProbability": 0.5', f'"pretestProbability": {1 / 6}')
    frame = parsed(parse_json, tmp_path / "x.json", text)
    known = {f"OMIM:{number}": number for number in (1, 2, 3, 4, 5)}
    answer = answer_of(frame, SimpleNamespace(disease_index=known))
    assert answer.disease.tolist() == [1, 2, 3, 4, 5]
    assert [places.tolist() for places in answer.ties()] == [[1, 1, 1, 4, 5], [3, 3, 3, 4, 5]]
    assert answer.score[:2].tolist() == [
        pytest.approx(math.log(1e17)),
        pytest.approx(math.log(1e18)),
    ]


HEADER = (
    "! LIRICAL TSV Output\nrank\tdiseaseName\tdiseaseCurie\tpretestprob\tposttestprob\tcompositeLR"
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rank\tname\n", GARBAGE),
        (f"{HEADER}\n", INCOMPLETE),
        (f"{HEADER}\n1\tA\tOMIM:1\t1/2\t9%\t5\n", INCOMPLETE),
        (f"{HEADER}\n1\tA\tOMIM:1\t1/1\t9%\t5", INCOMPLETE),
        (f"{HEADER}\n1\tA\tOMIM:1\n", INCOMPLETE),
        (f"{HEADER}\n2\tA\tOMIM:1\t1/1\t9%\t5\n", GARBAGE),
        (f"{HEADER}\n1\tA\tOMIM:1\t1/1\t9%\tfive\n", GARBAGE),
        (f"{HEADER}\n1\tA\tOMIM:1\t1/0\t9%\t5\n", GARBAGE),
        (f"{HEADER}\n1\tA\tOMIM:1\t1/1\tlots\t5\n", GARBAGE),
        (f"{HEADER}\n1\tA\tOMIM:1\t1/1\t101%\t5\n", GARBAGE),
        (f"{HEADER}\n1\tA\tOMIM:1\t1/2\t9%\t5\n2\tB\tOMIM:2\t1/2\t9.5%\t4\n", UNORDERED),
    ],
)
def test_tsv_that_cannot_be_used(text, reason, tmp_path):
    assert parsed(parse_tsv, tmp_path / "x.tsv", text).reason == reason


def test_tsv_with_thousands(tmp_path):
    rows = "".join(f"{i:,}\tA; B\tOMIM:{i}\t1/1,200\t0%\t{6000 - i:,}.5\n" for i in range(1, 1201))
    frame = parsed(parse_tsv, tmp_path / "x.tsv", f"{HEADER}\n{rows}")
    assert frame.height == 1200
    assert frame["score"][0] == pytest.approx(math.log(5999.5))
    assert frame["posttest"].unique().to_list() == [0.0]
    assert not isinstance(frame, Failure)
