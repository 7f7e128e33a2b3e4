"""Commands of the documentation that take hours, GPUs, keys or downloads: as dry runs.

Apart from tests/e2e, whose tests wait for each other: these share nothing with them.
"""

import os
import shutil
import subprocess

import pytest

from doc_blocks import PAGES, ROOT, blocks, commands, environment, shell

DRY = [b for page in PAGES for b in blocks(page) if b.language == "sh" and b.run == "dry"]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone with the files that pages show, and the environment of the commands."""
    folder = tmp_path_factory.mktemp("clone") / "project"
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, files.split("\0")):
        if not name.startswith(("tests/", "docs/")) and (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    shutil.copytree(ROOT / "tests/data/tiny", folder / "tests/data/tiny")
    for page in PAGES:
        for block in blocks(page):
            if block.title and block.language in ("yaml", "text"):
                (folder / block.title).write_text(block.text)
    inherited = {k: v for k, v in os.environ.items() if k != "SNAKEMAKE_PROFILE"}
    return folder, environment(tmp_path_factory.mktemp("tools"), inherited)


@pytest.mark.parametrize("block", DRY, ids=str)
def test_what_takes_long_is_known_to_the_program(clone, block):
    folder, variables = clone
    for command in commands(block):
        program = command.split()[0]
        assert program in ("snakemake", "make"), f"{block}: no dry run of {program}"
        status, printed = shell(f"{command} -n", folder, variables)
        assert status == 0, f"{block}\n{printed}"
        assert "Job stats" in printed or (program == "make" and "snakemake" in printed), printed
