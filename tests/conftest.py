"""Fixtures that several folders use.

The tiny corpus's knowledge, hand-written gold ranks, Java programs, and a real HTTP server that
behaves as a test tells it.
"""

import json
import os
import shutil
import subprocess
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from builders import make_corpus, make_knowledge
from rarefuse import artifacts
from rarefuse.annotations.hpoa import read_hpoa
from rarefuse.annotations.lopo import REMOVED, removed_relations
from rarefuse.annotations.relations import DISEASES, RELATIONS, build_relations
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import SPLITS
from rarefuse.evaluation.base import Evaluation
from rarefuse.evaluation.stage import table_rows
from rarefuse.evaluation.tables import TABLE
from rarefuse.ontology import read_obo
from rarefuse.rankers.run import GOLD_RANKS, RANKINGS

pytest_plugins = ("worlds",)

TINY = Path(__file__).parent / "data" / "tiny"


@pytest.fixture(scope="session")
def data():
    """Folder of the real corpora, for tests marked `realdata`."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("RAREFUSE_DATA", root.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set RAREFUSE_DATA")
    return folder


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config, log):
    """Let two processes share the work: a file stays in one, and so does all that runs workflows.

    Those share a project folder, so that their kernels are compiled once.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.split("::")[0]
            return "workflows" if "/e2e/" in file else file

    return ByFile(config, log)


@pytest.fixture(scope="session")
def tiny():
    return TINY


@pytest.fixture(scope="session")
def artifacts_of_tiny(tmp_path_factory, tiny):
    """Folders of knowledge and corpus, and the annotation file."""
    root = tmp_path_factory.mktemp("tiny")
    knowledge, corpus = root / "knowledge", root / "corpus"
    make_knowledge(knowledge, tiny / "tiny.obo", tiny / "tiny.hpoa")
    make_corpus(corpus, knowledge, tiny / "phenopackets")
    return SimpleNamespace(knowledge=knowledge, corpus=corpus, hpoa=tiny / "tiny.hpoa")


@pytest.fixture(scope="session")
def tiny_ontology():
    return read_obo(TINY / "tiny.obo")


@pytest.fixture(scope="session")
def tiny_relations(tiny_ontology):
    return build_relations(read_hpoa(TINY / "tiny.hpoa"), tiny_ontology)


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
    removed = removed_relations(tiny_relations.relations, {p for _, p, *_ in ROWS})
    artifacts.write(removed, REMOVED, corpus / "lopo.parquet")
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


@pytest.fixture
def table():
    """Make a table: (protocol, variant, subset, metric) → value and number of cases."""

    def make(evaluation, name, system=None):
        frame = pl.DataFrame(table_rows(name, evaluation), schema=TABLE.dtypes, orient="row")
        TABLE.check(frame, name)
        return {
            (r["protocol"], r["variant"], r["subset"], r["metric"]): (r["value"], r["n"])
            for r in frame.iter_rows(named=True)
            if system in (None, r["system"])
        }

    return make


@pytest.fixture
def with_rankers():
    def changed(evaluation, *rankers):
        return Evaluation(**{**evaluation.__dict__, "rankers": list(rankers)})

    return changed


def java_tool(name):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} on this machine; install a Java development kit, 17 or newer")
    return found


def build_jar(sources, jar, main=None):
    """Compile Java sources into a jar; where there is no compiler the test is skipped."""
    classes = jar.with_suffix("")
    subprocess.run([java_tool("javac"), "-encoding", "UTF-8", "-d", classes, *sources], check=True)
    entry = ["--main-class", main] if main else []
    subprocess.run(
        [java_tool("jar"), "--create", "--file", jar, *entry, "-C", classes, "."], check=True
    )
    shutil.rmtree(classes)
    return jar


@pytest.fixture(scope="session")
def lirical_jar(tmp_path_factory):
    """A program with LIRICAL's command line and formats (tests/data/java)."""
    folder = tmp_path_factory.mktemp("programme für Tests")  # a blank and a letter beyond ASCII
    source = TINY.parent / "java" / "LiricalStandIn.java"
    return build_jar([source], folder / "lirical-cli.jar", "LiricalStandIn")


@pytest.fixture(scope="session")
def phenol_jars(tmp_path_factory):
    """Three jars named as phenol's artifacts; the first has the classes that the driver needs."""
    folder = tmp_path_factory.mktemp("phenol jars")
    sources = sorted((TINY.parent / "java" / "phenol").rglob("*.java"))
    build_jar(sources, folder / "phenol-core-1.3.3.jar")
    for name in ("phenol-io", "phenol-analysis"):
        source = folder / f"Empty{name[7:]}.java"
        source.write_text(f"final class Empty{name[7:]} {{}}\n")
        build_jar([source], folder / f"{name}-1.3.3.jar")
    return folder


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


@pytest.fixture(scope="module")
def browser():
    """A real headless Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium on this machine; install Debian's package `chromium`")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()
