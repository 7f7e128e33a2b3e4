"""Jars by coordinates: where they are found, how they are checked, what is said if they lack."""

import http.server
import threading

import pytest

from rarefuse.errors import InputError
from rarefuse.rankers.stock.maven import get_jars, verify_jars
from rarefuse.rankers.stock.presence import (
    PHENOL,
    check_lirical,
    check_phenomizer,
    coordinate_paths,
    find_jar,
)
from rarefuse.rankers.stock.process import file_digest


def test_paths_of_a_coordinate():
    name, below = coordinate_paths("org.monarchinitiative.phenol:phenol-core:1.3.3")
    assert name == "phenol-core-1.3.3.jar"
    assert below == "org/monarchinitiative/phenol/phenol-core/1.3.3/phenol-core-1.3.3.jar"
    with pytest.raises(InputError, match="Maven coordinate"):
        coordinate_paths("phenol-core-1.3.3")


def test_found_in_the_folder_or_in_mavens_own(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "jars"
    folder.mkdir()
    assert find_jar(PHENOL[0], folder) is None
    own = tmp_path / ".m2/repository" / coordinate_paths(PHENOL[0])[1]
    own.parent.mkdir(parents=True)
    own.write_text("maven")
    assert find_jar(PHENOL[0], folder) == own
    (folder / own.name).write_text("folder")
    assert find_jar(PHENOL[0], folder) == folder / own.name


def test_missing_jars_are_named_with_the_way_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "phenol-io-1.3.3.jar").write_text("")
    tools = {"java": "true", "javac": "true"}  # programs that every machine has
    with pytest.raises(InputError, match="are missing") as caught:
        check_phenomizer("config, rankers.x", jars=str(tmp_path), **tools)
    text = str(caught.value)
    assert "phenol-core:1.3.3" in text
    assert "phenol-io" not in text
    assert "https://repo1.maven.org/maven2/org/monarchinitiative/phenol/phenol-core/1.3.3" in text
    check_phenomizer("x", jars=str(tmp_path), repository="https://example.org", **tools)


def test_a_missing_program_or_data_folder(tmp_path):
    jar = tmp_path / "lirical.jar"
    with pytest.raises(InputError, match="program is missing") as caught:
        check_lirical("config, rankers.x", jar=str(jar), data=str(tmp_path), java="true")
    assert "config, rankers.x.jar" in str(caught.value)
    jar.write_text("")
    with pytest.raises(InputError, match="data folder is missing") as caught:
        check_lirical("x", jar=str(jar), data=str(tmp_path / "none"), java="true")
    assert "download -d" in str(caught.value)
    check_lirical("x", jar=str(jar), data=str(tmp_path), java="true")


def test_digests_are_a_set_and_all_must_be_met(tmp_path):
    jars = [tmp_path / name for name in "abc"]
    for jar in jars:
        jar.write_text(jar.name)
    digests = [file_digest(jar, "sha1") for jar in jars]
    verify_jars(jars, digests[::-1])
    verify_jars(jars, [digest.upper() for digest in digests])
    for wrong in (digests[:2], [*digests, "0" * 40], ["0" * 40, *digests[1:]]):
        with pytest.raises(InputError, match="nothing was executed") as caught:
            verify_jars(jars, wrong)
        assert digests[0] in str(caught.value)


def test_downloads_what_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    served = tmp_path / "served"
    target = served / coordinate_paths(PHENOL[0])[1]
    target.parent.mkdir(parents=True)
    target.write_bytes(b"PK")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(served))

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        (jar,) = get_jars(PHENOL[:1], tmp_path / "jars", url, "config")
        assert jar.read_bytes() == b"PK"
        with pytest.raises(InputError, match=r"not downloaded: .*phenol-io.*HTTPError"):
            get_jars(PHENOL[:2], tmp_path / "jars", url, "config")
        server.shutdown()
