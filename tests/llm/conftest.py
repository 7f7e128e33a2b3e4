"""A real HTTP server on loopback that behaves as it is told, and a corpus to ask about."""

import json
import shutil
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import polars as pl
import pytest

from rarefuse.annotations.build import annotations_stage
from rarefuse.corpus.audit import audit_stage
from rarefuse.corpus.readers import corpus_stage
from rarefuse.corpus.splits import splits_stage
from rarefuse.corpus.view import view_stage
from rarefuse.llm.ask import ask_stage
from rarefuse.ontology.obo import ontology_stage

TEN = "\n".join(f"{i}. Disease number {i}" for i in range(1, 11))


class Server(ThreadingHTTPServer):
    """Chat completions as `behave` decides.

    `behave(handler, request, nth)` answers one request: the parsed body, and how many times this
    prompt has come, counted from 1. The default answers with ten names.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.behave = lambda handler, request, nth: handler.complete()
        self.asked = Counter()
        self.answered = Counter()
        self.keys = []
        self.times = []
        self.lock = threading.Lock()

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        pass  # a client that hung up, as several tests want it to


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        assert self.path == "/v1/chat/completions"
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.prompt = body["messages"][-1]["content"]
        with self.server.lock:
            self.server.asked[self.prompt] += 1
            nth = self.server.asked[self.prompt]
            self.server.keys.append(self.headers.get("Authorization"))
            self.server.times.append(time.monotonic())
        self.server.behave(self, body, nth)

    def answer(self, body, status=200, headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        if status == 200:
            with self.server.lock:
                self.server.answered[self.prompt] += 1

    def complete(self, text=TEN, finish="stop", **message):
        """Answer with a chat completion."""
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text, **message},
            "finish_reason": finish,
        }
        usage = {"prompt_tokens": 100, "completion_tokens": 50}
        self.answer({"choices": [choice], "usage": usage})

    def cut_off(self):
        """Promise more bytes than come."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"choices": [')
        self.wfile.flush()
        self.close_connection = True

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Corpus:
    """Artifacts of a corpus, and the stage that asks about it."""

    def __init__(self, folder):
        self.folder = folder
        names = ("view", "audit", "cases", "withheld", "diseases", "terms", "aliases")
        self.artifacts = {name: folder / f"{name}.parquet" for name in names}

    def ask(self, output, **entry):
        """Ask and return what stands in `output`."""
        ask_stage(**self.artifacts, arm="arm", entry=entry, output=output)
        return pl.read_parquet(output)


@pytest.fixture(scope="session")
def made_corpus(tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    at = lambda name: folder / f"{name}.parquet"  # noqa: E731
    ontology = {"terms": at("terms"), "aliases": at("aliases")}
    ontology_stage(obo=tiny / "tiny.obo", **ontology)
    annotations_stage(
        hpoa=tiny / "tiny.hpoa", annotations=at("annotations"), diseases=at("diseases"),
        relations=at("relations"), information_content_path=at("information_content"),
        problems=at("problems"), keep_zero_frequency=True, **ontology,
    )  # fmt: skip
    corpus_stage(
        name="tiny", reader="phenopackets", source=tiny / "phenopackets", options={},
        cases=at("cases"), skipped=at("skipped"), withheld=at("withheld"), **ontology,
    )  # fmt: skip
    view_stage(cases=at("cases"), view=at("view"), **ontology)
    options = {"seed": 1, "fractions": [0.5, 0.2, 0.3], "publications": None, "n_cases": None,
               "tolerance": 0.01}  # fmt: skip
    splits_stage(cases=at("cases"), options=options, splits=at("splits"))
    audit_stage(
        view=at("view"), cases=at("cases"), withheld=at("withheld"), splits=at("splits"),
        diseases=at("diseases"), output=at("audit"), **ontology,
    )  # fmt: skip
    return folder


@pytest.fixture
def corpus(made_corpus, tmp_path):
    """The tiny corpus, 15 cases, in a folder of the test's own."""
    return Corpus(shutil.copytree(made_corpus, tmp_path / "corpus"))
