"""What happens to a run when the machine, the disk or the clock misbehaves.

Two runs at once, a kill at a set moment and damaged artifacts are in test_workflow.py.
"""

import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager

import psutil
import pytest
import yaml

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

KILLS = 20


class Started:
    """A run in the background: what it printed so far, and its processes."""

    def __init__(self, project, folder):
        self.printed = folder / "printed.txt"
        with open(self.printed, "wb") as out:
            self.process = subprocess.Popen(
                project.command(), cwd=project.folder, env=project.environment,
                start_new_session=True, stdout=out, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def text(self):
        return self.printed.read_text(errors="replace")

    def goes_on(self, jobs, seconds):
        """Whether it still runs, so many seconds after so many of its jobs have finished."""
        deadline = time.monotonic() + 300
        while self.text().count("Finished jobid") < jobs:
            if self.process.poll() is not None:
                return False
            assert time.monotonic() < deadline, self.text()
            time.sleep(0.05)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    def kill(self, whom):
        """Kill everything, Snakemake alone, or one job alone; False if there is none to kill."""
        if whom == "everything":
            os.killpg(self.process.pid, signal.SIGKILL)
        elif whom == "snakemake":
            self.process.kill()
        else:
            jobs = [
                process
                for process in psutil.Process(self.process.pid).children(recursive=True)
                if "rarefuse" in _command(process)
            ]
            if not jobs:
                return False
            jobs[-1].kill()
        self.process.wait(120)
        return True


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def temporary_files(project):
    return [path for path in (project.folder / "results").rglob("*.tmp") if path.is_file()]


@contextmanager
def mounted(*arguments, on):
    """A mount for the test, or a skipped test where this process may not mount."""
    on.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", *arguments, on], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this test has to mount a file system: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", on], check=True)


def test_results_that_cannot_be_written(project):
    """Results there are stay usable; a run that has to change them says that it cannot."""
    results = project.folder / "results"
    before = project.artifacts()
    with mounted("--bind", results, on=results):
        subprocess.run(["mount", "-o", "remount,bind,ro", results], check=True)
        status, printed = project.snakemake()
        assert status == 0, printed
        assert "Nothing to be done" in printed
        project.edit("workflow/config/tiny.yaml", "resamples: 200", "resamples: 100")
        status, printed = project.snakemake()
    assert status != 0
    assert "Write-protected output files" in printed
    assert "Traceback" not in printed
    assert project.artifacts() == before


def test_an_empty_results_folder_that_cannot_be_written(fresh):
    with mounted("-t", "tmpfs", "-o", "ro", "tmpfs", on=fresh.folder / "results"):
        status, printed = fresh.snakemake()
    assert status != 0
    assert "the results folder cannot be written" in printed
    assert "Read-only file system" in printed
    assert "Traceback" not in printed


def test_a_full_disk(finished, fresh):
    """The run stops and says why; with more space the next one goes on, to the same bytes."""
    expected = finished[0].artifacts()
    results = fresh.folder / "results"
    whole = sum(map(len, expected.values()))
    with mounted("-t", "tmpfs", "-o", f"size={whole // 2}", "tmpfs", on=results):
        status, printed = fresh.snakemake()
        assert status != 0
        assert "cannot write an artifact" in printed
        assert "No space left on device" in printed
        assert "nothing is left half-written" in printed
        assert "Traceback" not in printed
        made = fresh.artifacts()
        assert made
        assert made == {name: expected[name] for name in made}
        assert temporary_files(fresh) == []
        subprocess.run(["mount", "-o", f"remount,size={20 * whole}", results], check=True)
        status, printed = fresh.snakemake()
        assert status == 0, printed
        assert fresh.artifacts() == expected


def test_a_clock_that_was_moved_back(project):
    """All that was made so far is dated a day from now; a change still reaches what lies below."""
    changed = "resamples: 200", "resamples: 100"
    project.edit("workflow/config/tiny.yaml", *changed)
    status, printed = project.snakemake()
    assert status == 0, printed
    expected = project.artifacts()
    project.edit("workflow/config/tiny.yaml", *reversed(changed))
    status, printed = project.snakemake()
    assert status == 0, printed
    assert project.artifacts() != expected
    for folder in ("results", "resources", ".snakemake", "logs"):
        for path in (project.folder / folder).rglob("*"):
            if path.is_file():
                at = path.stat().st_mtime + 86_400
                os.utime(path, (at, at))
    project.edit("workflow/config/tiny.yaml", *changed)
    status, printed = project.snakemake()
    assert status == 0, printed
    assert "The clock was moved back" in printed
    assert project.artifacts() == expected
    assert project.jobs() == {}
    project.edit("workflow/config/tiny.yaml", *reversed(changed))
    assert "rank" not in project.jobs()


def test_another_place_locale_and_umask(finished, checkout, tmp_path):
    """Blanks and letters beyond ASCII in paths, an ASCII locale, files for their owner only."""
    folder = tmp_path / "größere Studie (Kopie) 希"
    shutil.copytree(checkout, folder, symlinks=True)
    shutil.copytree(folder / "tests/data/tiny/phenopackets", folder / "Fälle von März/phenopackets")
    project = type(finished[0])(folder)
    overlay = folder / "workflow/config/tiny.yaml"
    config = yaml.safe_load(overlay.read_text("utf-8"))
    config["results"] = "Ergebnisse 1 ü"
    config["sources"]["folder"] = "resources/ti ny ß"
    config["corpora"]["tiny"]["path"] = "Fälle von März/phenopackets"
    overlay.write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")
    project.environment |= {"LC_ALL": "POSIX", "LANG": "POSIX"}
    before = os.umask(0o077)
    try:
        status, printed = project.snakemake()
    finally:
        os.umask(before)
    assert status == 0, printed
    results = folder / "Ergebnisse 1 ü"
    assert "Recall@1" in printed
    made = {
        str(path.relative_to(results)): path
        for path in sorted(results.rglob("*"))
        if path.suffix in (".parquet", ".html")
    }
    assert {name: path.read_bytes() for name, path in made.items()} == finished[0].artifacts()
    assert {oct(path.stat().st_mode & 0o777) for path in made.values()} == {"0o600"}


def test_twenty_kills_heal(finished, fresh, tmp_path):
    """Killed at random moments, the next run goes on; at the end the bytes are the same.

    A moment is some time after some jobs of the run at hand have finished, so that the kills
    fall all over the workflow, however fast the machine is. A run that ended in between must have
    made the right bytes; the next one then starts from nothing.
    """
    expected = finished[0].artifacts()
    random_ = random.Random(20_250_701)
    killed = dict.fromkeys(("everything", "snakemake", "a job"), 0)
    completed = refused = 0
    while sum(killed.values()) < KILLS:
        run = Started(fresh, tmp_path)
        whom = random_.choices(list(killed), weights=(3, 1, 1))[0]
        alive = run.goes_on(random_.randrange(4), random_.uniform(0, 2))
        if alive and run.kill(whom):
            killed[whom] += 1
            assert "Traceback" not in run.text(), run.text()
            continue
        run.process.wait(300)
        if "jobs of a killed run are still writing" in run.text():
            refused += 1
            assert refused < 30
            continue
        assert run.process.returncode == 0, run.text()
        assert fresh.artifacts() == expected
        completed += 1
        for name in ("results", "logs", ".snakemake"):
            shutil.rmtree(fresh.folder / name)
    print(f"killed {killed}, refused {refused}, completed {completed}")
    assert min(killed.values()) > 0
    deadline = time.monotonic() + 120
    while True:
        status, printed = fresh.snakemake()
        if "jobs of a killed run" not in printed or time.monotonic() > deadline:
            break
    assert status == 0, printed
    assert fresh.artifacts() == expected
    assert temporary_files(fresh) == []
