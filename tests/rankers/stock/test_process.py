"""Processes that end well, badly or never, with arguments that a shell would spoil."""

import sys
import time

import pytest

from rarefuse.errors import InputError
from rarefuse.rankers.stock.presence import find_java
from rarefuse.rankers.stock.process import EXIT_STATUS, TIME_LIMIT, folder_digest, run_process


def python(code, *arguments):
    return [sys.executable, "-c", code, *arguments]


def test_arguments_arrive_as_they_are(tmp_path):
    odd = ["two words", "größer; rm -rf $HOME", "", "'\"", "日本"]
    out = tmp_path / "out.txt"
    code = "import sys; open(sys.argv[1], 'w', encoding='utf-8').write('\\0'.join(sys.argv[2:]))"
    assert run_process(python(code, out, *odd), time_limit=30, log=tmp_path / "log") is None
    assert out.read_text(encoding="utf-8").split("\0") == odd


def test_an_exit_status_is_reported_with_the_last_words(tmp_path):
    code = "import sys; print('x' * 5000); print('no such  term\\n', file=sys.stderr); sys.exit(7)"
    failure = run_process(python(code), time_limit=30, log=tmp_path / "log")
    assert failure.reason == EXIT_STATUS
    assert failure.detail.startswith("status 7; it printed: ")
    assert "no such term" in failure.detail
    assert len(failure.detail) < 500


def test_a_stack_trace_is_cut_to_what_is_wrong(tmp_path):
    trace = "java.io.IOException: no hp.json\n" + "\tat java.base/x.y(Z.java:1)\n" * 99
    code = f"print({trace!r}, flush=True); raise SystemExit('stopped')"
    failure = run_process(python(code), time_limit=30, log=tmp_path / "log")
    assert "it printed: java.io.IOException: no hp.json stopped" in failure.detail


def test_a_killed_program_is_an_exit_status_too(tmp_path):
    code = "import os; os.kill(os.getpid(), 9)"
    failure = run_process(python(code), time_limit=30, log=tmp_path / "log")
    assert failure.detail == "status -9; it printed nothing"


def test_the_time_limit_kills(tmp_path):
    started = time.monotonic()
    failure = run_process(
        python("import time; time.sleep(60)"), time_limit=0.5, log=tmp_path / "log"
    )
    assert failure.reason == TIME_LIMIT
    assert failure.detail == "killed after 0.5 s; it printed nothing"
    assert time.monotonic() - started < 20


def test_what_a_wrapper_script_started_is_killed_with_it(tmp_path):
    """The shell waits for a child that would write a file after two seconds."""
    script, written = tmp_path / "wrapper.sh", tmp_path / "written"
    script.write_text(
        f"#!/bin/sh\n(touch '{tmp_path}/begun'; sleep 2; touch '{written}')\necho never\n"
    )
    script.chmod(0o700)
    failure = run_process(
        [script], time_limit=1.5, log=tmp_path / "log",
        progress=(tmp_path / "begun").exists,
    )  # fmt: skip
    assert failure.reason == TIME_LIMIT
    assert (tmp_path / "begun").exists()
    time.sleep(3)
    assert not written.exists()


def test_progress_puts_the_time_limit_off(tmp_path):
    """Five steps of 0.4 s pass under a limit of 1.2 s, but six seconds of silence do not."""
    step = "open(f'{sys.argv[1]}/{i}', 'w').close(); time.sleep(0.4)"
    code = f"import sys, time\nfor i in range(5): {step}"
    folder = tmp_path / "steps"
    folder.mkdir()
    settings = {
        "time_limit": 1.2,
        "log": tmp_path / "log",
        "progress": lambda: len(list(folder.iterdir())),
    }
    assert run_process(python(code, folder), **settings) is None
    failure = run_process(python(code + "\ntime.sleep(6)", folder), **settings)
    assert failure.reason == TIME_LIMIT


def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be started"):
        run_process([tmp_path / "nothing"], time_limit=1, log=tmp_path / "log")
    with pytest.raises(InputError, match="openjdk") as caught:
        find_java("javanese")
    assert "no program 'javanese'" in str(caught.value)


def test_a_folders_digest_sees_names_and_bytes(tmp_path):
    (tmp_path / "a").write_text("1")
    (tmp_path / "phenotype.hpoa").write_text("x")
    before = folder_digest(tmp_path, skip=("phenotype.hpoa",))
    (tmp_path / "phenotype.hpoa").write_text("y")
    assert folder_digest(tmp_path, skip=("phenotype.hpoa",)) == before
    (tmp_path / "a").write_text("2")
    changed = folder_digest(tmp_path, skip=("phenotype.hpoa",))
    (tmp_path / "a").rename(tmp_path / "b")
    assert len({before, changed, folder_digest(tmp_path, skip=("phenotype.hpoa",))}) == 3
