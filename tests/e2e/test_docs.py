"""Every command of the documentation is run, on a small corpus or as a dry run.

`doc_blocks` says which is which. Commands run in one folder, page after page, as a reader's would.
Its default corpus has the name of the embedded one and the cases of the tiny one; the server that a
page asks is the test's own.
"""

import os
import re
import shutil
import subprocess
import sys

import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml

from doc_blocks import PAGES, ROOT, blocks, commands, merged, patched
from rarefuse.manual.artifacts import FILES

pytestmark = pytest.mark.e2e

SHOWN_SERVER = "http://127.0.0.1:8000/v1"
LAST = "docs/how-to/add-a-ranker.md"
"""Changes the code, and so what is up to date; its commands are run last."""


def has(page, *kinds):
    return any(b.language in kinds and b.run == "full" for b in blocks(page))


RUN = sorted((p for p in PAGES if has(p, "sh", "python")), key=lambda p: p == ROOT / LAST)
DRY = [b for page in PAGES for b in blocks(page) if b.language == "sh" and b.run == "dry"]


def small_config(root):
    """The project's configuration with the tiny corpus in the embedded one's place."""
    config = yaml.safe_load((root / "config.yaml").read_text())
    tiny = yaml.safe_load((root / "workflow/config/tiny.yaml").read_text())
    del tiny["corpus"]
    config = merged(config, tiny)
    config["corpora"][config["corpus"]] = config["corpora"]["tiny"]
    # Enough to find a page's mistakes, and soon done.
    config["evaluation"]["tables"] = ["cohort", "overlap", "recall", "ties"]
    config["evaluation"]["rankers"] = ["resnik", "phenomizer"]
    config["fusion"]["tables"] = []  # no lexicon of names, so nothing to fuse
    return config


def environment(folder, base):
    """Environment in which a reader's commands are found, below `folder`."""
    tools = folder / "tools"
    tools.mkdir(parents=True)
    for name in ("snakemake", "rarefuse", "python"):
        module = "" if name == "python" else f" -m {name}"
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{module} "$@"\n')
        (tools / name).chmod(0o755)
    return {**base, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}


def shell(text, folder, variables, **settings):
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=variables, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, **settings,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def reader(finished, place, tiny, tmp_path_factory):
    """Folder in which a reader has run the tiny corpus, and the environment of the commands."""
    project = finished[0]
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(project.folder, place, symlinks=True)
    (place / "config.yaml").write_text(yaml.safe_dump(small_config(ROOT)))
    shutil.copytree(tiny / "phenopackets", place / "my-phenopackets")
    shutil.copytree(tiny / "phenopackets", place / "CASES")
    shutil.copy(tiny / "tiny.hpoa", place / "phenotype.hpoa")
    shutil.copy(tiny / "tiny.obo", place / "hp.obo")
    variables = environment(tmp_path_factory.mktemp("reader"), project.environment)
    variables["PYTHONPATH"] = str(place / "src")
    status, printed = shell("snakemake --cores 2", place, variables)
    assert status == 0, printed
    return place, variables


@pytest.fixture(scope="module")
def clone(checkout, tmp_path_factory):
    """A checkout with all that a dry run needs, and the environment of the commands."""
    folder = tmp_path_factory.mktemp("clone") / "project"
    shutil.copytree(checkout, folder, symlinks=True)
    for part in ("Makefile", "pyproject.toml", "requirements", "resources/sources.yaml"):
        (folder / part).parent.mkdir(exist_ok=True)
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, folder / part)
    (folder / "my-answers.tsv").write_text("case\trank\tname\n")
    for page in PAGES:
        for block in blocks(page):
            if block.title and block.language == "yaml":
                (folder / block.title).write_text(block.text)
    return folder, environment(tmp_path_factory.mktemp("tools"), dict(os.environ))


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_shows_works(reader, page, server):
    folder, variables = reader
    script = []
    for block in blocks(page):
        if block.language == "diff":
            file = folder / block.title
            file.write_text(patched(file.read_text(), block.text))
        elif block.title:
            file = folder / block.title
            file.write_text(block.text.replace(SHOWN_SERVER, server.base_url))
        elif block.language == "sh" and block.run == "full":
            status, printed = shell(block.text, folder, variables)
            assert status == 0, f"{block}\n{printed}"
        elif block.language == "python":
            script.append(block.text)
            source = "\n".join(script)
            status, printed = shell("python -", folder, variables, input=source)
            assert status == 0, f"{block}\n{printed}"


@pytest.mark.parametrize("block", DRY, ids=str)
def test_what_takes_long_is_known_to_the_program(clone, block):
    folder, variables = clone
    for command in commands(block):
        program = command.split()[0]
        assert program in ("snakemake", "make"), f"{block}: no dry run of {program}"
        status, printed = shell(f"{command} -n", folder, variables)
        assert status == 0, f"{block}\n{printed}"
        assert "rarefuse" in printed or "Job stats" in printed, printed


def test_the_added_ranker_ranks_untouched_cases_alike(reader):
    """Runs after the page that adds it."""
    results = reader[0] / "results/tiny"
    cases = pl.read_parquet(results / "cases.parquet")
    touched = pl.read_parquet(results / "lopo.parquet")["publication_id"].to_list()
    untouched = cases.filter(~pl.col("publication_id").is_in(touched).fill_null(False))
    before, after = (
        pl.read_parquet(results / f"rankings/simgic/{protocol}.parquet")
        for protocol in ("ordinary", "lopo")
    )
    assert not before.equals(after)
    one, other = (f.join(untouched, on="case_id", how="semi") for f in (before, after))
    assert one.height > 0
    assert one.equals(other)


def test_every_file_lies_where_the_reference_says(reader):
    results = reader[0] / "results"
    seen = set()
    for path in sorted(results.rglob("*.parquet")):
        name = pq.read_schema(path).metadata[b"artifact"].decode()
        place = path.relative_to(results).as_posix()
        patterns = [
            re.sub(r"\{\w+\}", "[^/]+", pattern).replace("/**/", "/(?:.+/)?")
            for pattern in FILES[name].split(", ")
        ]
        assert any(re.fullmatch(pattern, place) for pattern in patterns), (name, place)
        seen.add(name)
    assert len(seen) > 18
