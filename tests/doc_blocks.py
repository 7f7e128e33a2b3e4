"""Fenced blocks of the documentation, and what is to be done with each.

What a block says in its first line:

- ```` ```sh ````: a test runs it, on a small corpus.
- ```` ```sh run=dry ````: a test asks Snakemake or make what it would do; for what takes
  hours, GPUs, keys or downloads.
- ```` ```sh run=ci ````: every line is a line of `.ci/run`, which runs it as it is.
- ```` ```sh run=no why="…" ````: nobody runs it, for this reason.
- ```` ```python ````: a test runs the page's blocks as one script.
- ```` ```diff title="path" ````: a test makes this change in a checkout.
- any language with ``title="path"`` otherwise: a test writes the block into that file.
- ``yaml`` without a title: a fragment of a configuration; ``text``: what is printed.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LANGUAGES = ("sh", "python", "yaml", "diff", "text")

_FENCE = re.compile(r"^(?P<fence>```+)(?P<info>.*)\n(?P<text>(?:.*\n)*?)(?P=fence)$", re.MULTILINE)
_OPTION = re.compile(r'(\w+)=(?:"([^"]*)"|(\S+))')


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    page: str
    line: int
    language: str
    options: dict
    text: str

    @property
    def title(self):
        return self.options.get("title")

    @property
    def run(self):
        """What is done with a shell block."""
        return self.options.get("run", "full")

    def __str__(self):
        return f"{self.page}:{self.line}"


def blocks(page):
    """All blocks of a page.

    Parameters
    ----------
    page : Path
        Markdown below the project's root.
    """
    return blocks_of(page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix())


def blocks_of(text, page):
    """All blocks of a text."""
    found = []
    for match in _FENCE.finditer(text):
        language, _, rest = match["info"].strip().partition(" ")
        options = {key: quoted or plain for key, quoted, plain in _OPTION.findall(rest)}
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(page, line, language, options, match["text"]))
    return found


def complaint(block):
    """Say what is wrong with a block's first line; None if nothing is."""
    if block.language not in LANGUAGES:
        return f"unknown language '{block.language}', expected one of {', '.join(LANGUAGES)}"
    allowed = {"sh": {"run", "why"}}.get(block.language, {"title"})
    if unknown := set(block.options) - allowed:
        return f"unknown option {', '.join(sorted(unknown))}"
    if block.language == "sh":
        if block.run not in ("full", "dry", "ci", "no"):
            return f"unknown run={block.run}"
        if (block.run == "no") != bool(block.options.get("why")):
            return "run=no needs why, and nothing else does"
    if block.language == "diff" and not block.title:
        return "a diff needs a title, the file that it changes"
    return None


def commands(block):
    """Commands of a shell block, one a line; a line that ends with a backslash goes on."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def merged(base, top):
    """Configuration `base` with `top` laid over it, as Snakemake does."""
    both = dict(base)
    for key, value in top.items():
        over = isinstance(value, dict) and isinstance(both.get(key), dict)
        both[key] = merged(both[key], value) if over else value
    return both


def patched(text, diff):
    """Text after the change that a diff's lines say; what it replaces must be there once."""
    before = "\n".join(line[1:] for line in diff.splitlines() if line[0] in " -")
    after = "\n".join(line[1:] for line in diff.splitlines() if line[0] in " +")
    assert text.count(before) == 1, f"{text.count(before)} times in the file: {before}"
    return text.replace(before, after)


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
    """Run a block and return (status, everything printed)."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=variables, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, **settings,
    )  # fmt: skip
    return done.returncode, done.stdout
