"""A copy of the project with the tiny corpus run once; each test works on a copy of that."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("Snakefile", "config.yaml", "rules", "workflow", "profiles", "envs", "src", "tests/data")
TINY = ("--configfile", "workflow/config/tiny.yaml")


class Project:
    """A checkout in which Snakemake can be run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # A clean environment: nothing of the test run's paths may reach the workflow.
        self.environment = {
            k: v
            for k, v in os.environ.items()
            if k not in ("PYTHONPATH", "SNAKEMAKE_PROFILE")
            and not k.startswith(("RAREFUSE_MIRROR", "RAREFUSE_OFF", "RAREFUSE_JOBS"))
        }

    def command(self, *arguments, cores=2, config=TINY):
        """Command line; a profile that names its executor needs no `cores`."""
        limit = [] if cores is None else ["--cores", str(cores)]
        return [sys.executable, "-m", "snakemake", *limit, *arguments, *config]

    def snakemake(self, *arguments, timeout=600, **settings):
        """Run and return (status, everything printed)."""
        done = subprocess.run(
            self.command(*arguments, **settings), cwd=self.folder, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            timeout=timeout,
        )  # fmt: skip
        return done.returncode, done.stdout

    def jobs(self, *arguments, **settings):
        """Rule → number of jobs that a run would do now."""
        status, text = self.snakemake("--dry-run", *arguments, **settings)
        assert status == 0, text
        if "Nothing to be done" in text:
            return {}
        counts = dict(re.findall(r"^(\w+) +(\d+)$", text.split("Job stats:")[1], re.MULTILINE))
        counts.pop("total")
        return {rule: int(n) for rule, n in counts.items()}

    def artifacts(self):
        """Path below results → bytes, of every Parquet file and the report."""
        results = self.folder / "results"
        return {
            str(path.relative_to(results)): path.read_bytes()
            for path in sorted(results.rglob("*"))
            if path.suffix in (".parquet", ".html")
        }

    def edit(self, path, old, new):
        """Replace text in a file of the project; it must be there."""
        file = self.folder / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """The one folder in which every project of the session is run.

    Compiled kernels are cached by path, so a second project in the same place finds them.
    """
    return tmp_path_factory.mktemp("run") / "project"


def copy(source: Path, target: Path) -> Project:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)  # copies times, which Snakemake compares
    return Project(target)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory):
    """The project as a fresh clone has it."""
    folder = tmp_path_factory.mktemp("checkout") / "project"
    folder.mkdir()
    for part in PARTS:
        source, target = ROOT / part, folder / part
        target.parent.mkdir(exist_ok=True)
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(
                source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy2(source, target, follow_symlinks=False)
    return folder


@pytest.fixture(scope="session")
def finished(checkout, place, tmp_path_factory):
    """A project in which the tiny corpus was run, and what that printed."""
    status, printed = copy(checkout, place).snakemake()
    assert status == 0, printed
    kept = tmp_path_factory.mktemp("finished") / "project"
    return copy(place, kept), printed


@pytest.fixture
def project(finished, place):
    """A copy of the finished project, for a test to change."""
    return copy(finished[0].folder, place)


@pytest.fixture
def fresh(renew):
    """A copy of the project in which nothing has run."""
    return renew()


@pytest.fixture
def renew(checkout, place):
    """Make a project in which nothing has run, in the place of any other."""
    return lambda: copy(checkout, place)
