"""Real vLLM on the CPU: the embedded model offline, and behind vLLM's own server.

What is checked is the path, never a diagnosis: the model has no diagnostic skill.
"""

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter

import polars as pl
import pytest

from rarefuse.llm.answers import COMPLETIONS
from rarefuse.llm.names import names_of
from rarefuse.llm.prepare import prepare_model

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("vllm") is None,
        reason="vLLM is not installed; 'make llm' installs it",
    ),
]
N = 32
CPU = {
    **os.environ,
    "OMP_NUM_THREADS": str(os.cpu_count()),
    "OMP_WAIT_POLICY": "PASSIVE",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
}


@pytest.fixture(scope="session")
def model(resource, tmp_path_factory):
    """The embedded model, unpacked from what the registry pins."""
    folder = tmp_path_factory.mktemp("model") / "smollm2"
    prepare_model(resource("smollm2-135m-instruct"), folder)
    return folder


def run(corpus, entry, output, *more):
    """Ask on the command line, as the rule does; return (answers, what was printed)."""
    done = subprocess.run(
        [sys.executable, "-m", "rarefuse", *corpus.command(entry, output, *more)],
        env=CPU, stderr=subprocess.PIPE, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    frame = pl.read_parquet(output)
    COMPLETIONS.check(frame, str(output))
    return frame, done.stderr


def check_answers(frame, n):
    """The shape of `n` answers and of the names in them."""
    answered = frame.filter(pl.col("text").is_not_null())
    assert answered.height == n
    assert answered["finish_reason"].is_in(["stop", "length"]).all()
    assert answered["completion_tokens"].is_between(1, 384).all()
    assert answered["prompt_tokens"].is_between(100, 4096).all()
    cut = answered.filter(pl.col("finish_reason") == "length")
    assert (cut["completion_tokens"] == 384).all()
    assert (cut["status"] == "truncated").all()
    names = names_of(frame)
    per_case = names.group_by("case_id").agg(pl.col("rank").sort())
    assert all(ranks == list(range(1, len(ranks) + 1)) for ranks in per_case["rank"].to_list())
    assert names["rank"].max() <= 10
    # It follows the form nearly always, whatever it writes.
    assert per_case.height >= 0.9 * n
    assert names.height >= 5 * n


def test_the_unpacked_model(model):
    names = {path.name for path in model.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"} <= names
    config = json.loads((model / "config.json").read_text())
    assert "quantization_config" not in config
    assert config["dtype"] == "bfloat16"
    assert "<|im_start|>" in (model / "chat_template.jinja").read_text()


def test_embedded_cases_offline(model, embedded, tmp_path):
    """32 cases are answered; one more, far too long for the context, is counted."""
    path = embedded.artifacts["view"]
    view = pl.read_parquet(path)
    terms = pl.read_parquet(embedded.artifacts["terms"]).head(2000)
    long = pl.col("case_id") == view["case_id"][N]
    every = {"observed": terms["term_id"], "observed_labels": terms["label"]}
    view.with_columns(
        **{
            name: pl.when(long).then(pl.lit(values.implode())).otherwise(pl.col(name))
            for name, values in every.items()
        }
    ).write_parquet(path)
    output = tmp_path / "llm" / "arm" / "completions.parquet"
    entry = {"backend": "vllm", "source": "s", "dtype": "bfloat16", "enforce_eager": True,
             "max_cases": N + 1, "shard_size": 16}  # fmt: skip
    frame, _ = run(embedded, entry, output, "--model", str(model))
    check_answers(frame, N)
    counts = Counter(frame["status"].to_list())
    assert counts["not asked"] == frame.height - N - 1
    assert counts["failed"] == 1
    (failed,) = frame.filter(pl.col("status") == "failed").iter_rows(named=True)
    assert failed["case_id"] == view["case_id"][N]
    assert failed["reason"] == "prompt longer than the context of 4096 tokens"
    assert failed["prompt_tokens"] > 4096
    assert not (output.parent / "attempts").exists()  # asking again would change nothing
    assert len(list((output.parent / "shards").glob("*/*.parquet"))) == 2

    before = output.read_bytes()
    _, printed = run(embedded, {**entry, "max_cases": N}, output, "--model", str(model))
    assert "32 of 32 cases answered before, 0 to ask" in printed
    assert output.read_bytes() != before


class VllmServer:
    """vLLM's OpenAI-compatible server on loopback, in a process group of its own."""

    def __init__(self, model, log):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.model, self.log, self.process = model, log, None

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--host", "127.0.0.1",
                 "--port", str(self.port), "--model", str(self.model), "--served-model-name", "m",
                 "--dtype", "bfloat16", "--enforce-eager", "--max-model-len", "4096"],
                env={**CPU, "VLLM_CPU_OMP_THREADS_BIND": "nobind"},
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.5)
        raise AssertionError(self.log.read_text()[-3000:])

    def kill(self):
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


@pytest.fixture
def vllm_server(model, tmp_path):
    server = VllmServer(model, tmp_path / "server.log")
    yield server
    server.kill()


def test_a_server_that_is_killed_and_restarted(vllm_server, embedded, tmp_path):
    output = tmp_path / "llm" / "arm" / "completions.parquet"
    entry = {
        "backend": "openai", "model": "m", "base_url": vllm_server.base_url, "max_cases": N,
        "shard_size": 4, "concurrency": 8, "retries": 1, "backoff_s": 0.1, "give_up_after": 4,
    }  # fmt: skip

    def shards():
        return sorted((output.parent / "shards").glob("*/*.parquet"))

    def kill_in_the_middle():
        while not shards():
            time.sleep(0.05)
        vllm_server.kill()

    vllm_server.start()
    killer = threading.Thread(target=kill_in_the_middle, daemon=True)
    killer.start()
    frame, printed = run(embedded, entry, output)
    killer.join(timeout=5)
    assert not killer.is_alive()
    first = Counter(frame["status"].to_list())
    asked = N - first["failed"]
    assert first["failed"] + asked == N
    assert 4 <= asked < N, printed
    reasons = set(frame["reason"].drop_nulls())
    assert reasons <= {
        "no connection", "the connection broke", "the answer was cut off",
        "not tried: 4 cases in a row had failed",
    }  # fmt: skip
    assert (output.parent / "attempts").read_text() == "1\n"
    kept = {row[0]: row for row in frame.filter(pl.col("text").is_not_null()).iter_rows()}

    vllm_server.start()
    frame, printed = run(embedded, entry, output)
    assert f"{asked} of {N} cases answered before, {N - asked} to ask" in printed
    check_answers(frame, N)
    assert Counter(frame["status"].to_list())["failed"] == 0
    # Answered once: no case stands in two shards, and what was there stayed as it was.
    rows = [case for path in shards() for case in pl.read_parquet(path)["case_id"].to_list()]
    assert sorted(rows) == sorted(frame["case_id"].to_list()[:N])
    assert all(row == kept[row[0]] for row in frame.iter_rows() if row[0] in kept)
