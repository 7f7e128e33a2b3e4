"""Asking a whole corpus: nothing sent that may not be, nothing asked twice, nothing lost."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import polars as pl
import pytest

from rarefuse.cli import main
from rarefuse.errors import InputError
from rarefuse.llm.answers import COMPLETIONS, NAMES
from rarefuse.llm.ask import arm_digest, status_of
from rarefuse.llm.backends.base import Answer
from rarefuse.llm.names import names_of
from rarefuse.llm.table import arm_rows

KEY = "sk-planted-0123456789"
N = 15


@pytest.fixture
def entry(server):
    return {
        "backend": "openai",
        "model": "m",
        "base_url": server.base_url,
        "retries": 1,
        "backoff_s": 0.01,
        "timeout_s": 5.0,
        "shard_size": 4,
        "concurrency": 2,
    }


@pytest.fixture
def output(tmp_path):
    return tmp_path / "llm" / "arm" / "completions.parquet"


def counts(frame):
    return Counter(frame["status"].to_list())


def shards(output):
    return sorted((output.parent / "shards").glob("*/*.parquet"))


def test_every_case_gets_an_answer_in_shards(corpus, server, entry, output):
    frame = corpus.ask(output, **entry)
    COMPLETIONS.check(frame, "completions")
    assert counts(frame) == {"ok": N}
    assert frame["case_id"].is_sorted()
    assert set(server.answered.values()) == {1}
    assert [pl.read_parquet(path).height for path in shards(output)] == [4, 4, 4, 3]
    names = names_of(frame)
    NAMES.check(names, "names")
    assert names.height == 10 * N


def test_the_first_cases_only(corpus, server, entry, output):
    frame = corpus.ask(output, max_cases=6, **entry)
    assert counts(frame) == {"ok": 6, "not asked": 9}
    assert frame["status"].to_list()[:6] == ["ok"] * 6
    assert sum(server.asked.values()) == 6
    assert counts(corpus.ask(output, max_cases=8, **entry)) == {"ok": 8, "not asked": 7}
    assert sum(server.asked.values()) == 8


def test_a_later_run_fills_only_the_gaps(corpus, server, entry, output):
    """Every kind of misbehaviour at once: each failure is counted, then mended."""
    broken = {}

    def misbehave(handler, request, nth):
        kind = broken.setdefault(handler.prompt, len(broken))
        match kind:
            case 0:
                handler.answer({}, 429)
            case 1:
                handler.answer({}, 500)
            case 2:
                time.sleep(1.0)
            case 3:
                handler.cut_off()
            case 4:
                handler.answer(b"busy")
            case 5:
                handler.complete("x" * 100_000)
            case _:
                handler.complete()

    server.behave = misbehave
    entry |= {"timeout_s": 0.3, "max_body_bytes": 50_000}
    frame = corpus.ask(output, **entry)
    assert counts(frame) == {"ok": N - 6, "failed": 6}
    assert set(frame["reason"].drop_nulls()) == {
        "HTTP 429 Too Many Requests",
        "HTTP 500 Internal Server Error",
        "no answer within 0.3 s",
        "the answer was cut off",
        "the answer is not JSON",
        "the answer is longer than 50000 bytes",
    }
    assert max(server.asked.values()) == 2  # one try and one more
    assert (output.parent / "attempts").read_text() == "1\n"
    answered = {prompt for prompt, kind in broken.items() if kind > 5}
    before = dict(server.asked)

    server.behave = lambda handler, request, nth: handler.complete()
    assert counts(corpus.ask(output, **entry)) == {"ok": N}
    for prompt in answered:
        assert server.asked[prompt] == before[prompt]
    for prompt in broken.keys() - answered:
        assert server.asked[prompt] == before[prompt] + 1
    assert (output.parent / "attempts").read_text() == "1\n"


def test_the_same_answers_give_the_same_bytes(corpus, server, entry, output, tmp_path):
    corpus.ask(output, **entry)
    other = tmp_path / "other" / "completions.parquet"
    corpus.ask(other, **{**entry, "concurrency": 5, "shard_size": 100})
    assert output.read_bytes() == other.read_bytes()
    assert not (output.parent / "attempts").exists()


def test_nothing_is_asked_again_for_how_it_is_asked(corpus, server, entry, output):
    corpus.ask(output, **entry)
    for change in ({"concurrency": 1}, {"retries": 9}, {"shard_size": 1}, {"timeout_s": 9.0}):
        corpus.ask(output, **{**entry, **change})
    assert sum(server.asked.values()) == N
    corpus.ask(output, **{**entry, "extra_body": {"enable_thinking": False}})
    assert sum(server.asked.values()) == 2 * N
    corpus.ask(output, **entry)  # the first model's answers are still there
    assert sum(server.asked.values()) == 2 * N


def test_a_case_whose_view_changed_is_asked_again(corpus, server, entry, output):
    corpus.ask(output, **entry)
    path = corpus.artifacts["view"]
    view = pl.read_parquet(path)
    changed = view.with_columns(
        age_days=pl.when(pl.int_range(pl.len()) == 0).then(5000.0).otherwise(pl.col("age_days"))
    )
    changed.write_parquet(path)
    assert counts(corpus.ask(output, **entry)) == {"ok": N}
    assert sum(server.asked.values()) == N + 1


@pytest.mark.parametrize(
    "planted", ["Marfan syndrome", "FBN1", "c.3217G>A", "NM_000138.5:c.3217G>A", "PMID:1852208"]
)
def test_a_planted_answer_stops_the_run_before_any_prompt_is_sent(
    corpus, server, entry, output, planted
):
    path = corpus.artifacts["view"]
    view = pl.read_parquet(path)
    labels = view["observed_labels"].to_list()
    last = max(i for i, row in enumerate(labels) if row)
    labels[last][0] += f" {planted}"
    view.with_columns(pl.Series("observed_labels", labels)).write_parquet(path)
    with pytest.raises(InputError, match="none was sent"):
        corpus.ask(output, **entry)
    assert not server.asked
    assert not output.exists()


def test_a_failed_audit_stops_the_run(corpus, server, entry, output):
    path = corpus.artifacts["audit"]
    pl.read_parquet(path).with_columns(passed=pl.lit(False)).write_parquet(path)
    with pytest.raises(InputError, match="audit failed"):
        corpus.ask(output, **entry)
    assert not server.asked


def test_a_killed_job_loses_one_shard_at_most(corpus, server, entry, output):
    entry |= {"concurrency": 1}
    enough = 10

    def behave(handler, request, nth):
        if sum(server.answered.values()) >= enough:
            time.sleep(30.0)
        handler.complete()

    server.behave = behave
    job = subprocess.Popen(
        [sys.executable, "-m", "rarefuse", *corpus.command(entry, output)],
        env=os.environ, stderr=subprocess.PIPE,
    )  # fmt: skip
    while sum(server.answered.values()) < enough:
        assert job.poll() is None, job.stderr.read()
        time.sleep(0.02)
    time.sleep(0.2)
    job.send_signal(signal.SIGKILL)
    job.communicate()
    kept = sum(pl.read_parquet(path).height for path in shards(output))
    assert kept == 8  # of 10 answers, in shards of 4
    assert not output.exists()

    server.behave = lambda handler, request, nth: handler.complete()
    server.asked.clear()
    assert counts(corpus.ask(output, **entry)) == {"ok": N}
    assert sum(server.asked.values()) == N - kept


def test_an_error_keeps_what_came(corpus, server, entry, output):
    server.behave = lambda handler, request, nth: (
        handler.complete() if sum(server.answered.values()) < 5 else handler.answer({}, 401)
    )
    with pytest.raises(InputError, match="turns every request away"):
        corpus.ask(output, **{**entry, "concurrency": 1})
    assert sum(pl.read_parquet(path).height for path in shards(output)) == 5


def test_a_planted_key_is_in_no_file_and_no_log(
    corpus, server, entry, output, tmp_path, monkeypatch, capfd
):
    monkeypatch.setenv("PLANTED_KEY", KEY)
    echo = {}

    def behave(handler, request, nth):
        match echo.setdefault(handler.prompt, len(echo)):
            case 0:
                handler.complete(f"1. Your key is {KEY}")
            case 1:
                handler.answer({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 500)
            case 2:
                handler.answer(f"<p>{KEY}</p>".encode())
            case 3:
                handler.complete(finish=KEY)
            case 4:
                handler.answer({}, 302, [("Location", f"http://127.0.0.1:1/{KEY}")])
            case 5:
                handler.answer({}, 429, [("Retry-After", KEY)])
            case _:
                handler.complete()

    server.behave = behave
    entry |= {"api_key_env": "PLANTED_KEY"}
    assert main(corpus.command(entry, output)) == 0
    assert server.keys[0] == f"Bearer {KEY}"
    server.behave = lambda handler, request, nth: handler.answer({"error": KEY}, 403)
    assert main(corpus.command(entry, output)) == 2
    printed = "".join(capfd.readouterr())
    assert "turns every request away" in printed
    assert KEY not in printed
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path
        if path.suffix == ".parquet":
            assert KEY not in pl.read_parquet(path).write_json(), path


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (Answer("a", "1. A", "stop"), "ok"),
        (Answer("a", "1. A", None), "ok"),
        (Answer("a", "nothing of the form", "stop"), "ok"),
        (Answer("a", "1. A\n2. B", "length"), "truncated"),
        (Answer("a", "<think>hm", "length"), "truncated"),
        (Answer("a", "", "stop"), "empty"),
        (Answer("a", " \n", "length"), "empty"),
        (Answer("a", None, "stop"), "empty"),
        (Answer("a", None, "stop", refused=True), "refused"),
        (Answer("a", "", "content_filter"), "refused"),
        (Answer("a", "I'm sorry, but I cannot help.", "stop"), "refused"),
        (Answer("a", "I can’t provide a diagnosis.", "stop"), "refused"),
        (Answer("a", "As an AI language model, I do not", "length"), "refused"),
        (Answer("a", "<think>So.</think>I am unable to do that.", "stop"), "refused"),
        (Answer("a", "Sorry for the delay:\n1. A", "stop"), "ok"),
        (Answer("a", "I canvassed the literature", "stop"), "ok"),
        (Answer("a", failure="no connection"), "failed"),
    ],
)
def test_what_an_answer_is(answer, status):
    assert status_of(answer) == status


def test_what_makes_another_arm_of_it():
    entry = {"backend": "vllm", "model": "m", "dtype": "bfloat16"}
    same = [{"max_cases": 3}, {"note": "n"}, {"gpus": 2}, {"family": "f"}, {"shard_size": 1},
            {"tensor_parallel_size": 4}]  # fmt: skip
    other = [{"dtype": "float16"}, {"quantization": "awq"}, {"revision": "main"}, {"model": "n"},
             {"chat_template_kwargs": {"thinking_mode": "off"}}, {"sha256": "0" * 64}]  # fmt: skip
    assert {arm_digest({**entry, **change}) for change in same} == {arm_digest(entry)}
    assert len({arm_digest(entry), *(arm_digest({**entry, **change}) for change in other)}) == 7


def test_the_table_counts_everything(corpus, server, entry, output):
    texts = {0: "", 1: "I'm sorry.", 2: "<think>a</think>\n1. A", 3: "1. A\n2. B"}
    order = {}

    def behave(handler, request, nth):
        number = order.setdefault(handler.prompt, len(order))
        if number == 4:
            handler.answer({}, 500)
        else:
            handler.complete(texts[number], "length" if number == 3 else "stop")

    server.behave = behave
    frame = corpus.ask(output, max_cases=5, **{**entry, "concurrency": 1})
    names_of(frame).write_parquet(output.parent / "names.parquet")
    rows = list(arm_rows("arm", "a note", output.parent))
    assert {(row.variant, row.system, row.subset) for row in rows} == {("a note", "arm", "all")}
    assert {row.metric: (row.value, row.n) for row in rows} == {
        "ok": (1.0, 15),
        "empty": (1.0, 15),
        "truncated": (1.0, 15),
        "refused": (1.0, 15),
        "failed": (1.0, 15),
        "not asked": (10.0, 15),
        "failed: HTTP 500 Internal Server Error": (1.0, 15),
        "reasoning": (1.0, 4),
        "without a name": (2.0, 4),
        "names": (0.75, 4),
        "prompt_tokens": (100.0, 4),
        "completion_tokens": (50.0, 4),
    }
