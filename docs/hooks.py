"""What `make docs` does besides rendering: pages made from the program, sections of the README.

- The pages of Reference come from `rarefuse.manual`.
- A line that is nothing but a link to a section of README.md is replaced by that section, so that
  the README stays the one place of its text and the link works where nobody renders the site.
- What a shell block says to the tests (``run=…``) is taken away.
- An interval in a table is not broken between its ends.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from rarefuse.config import load_schema
from rarefuse.manual.artifacts import artifacts_page
from rarefuse.manual.commands import commands_page
from rarefuse.manual.config import config_page

ROOT = Path(__file__).resolve().parents[1]
SECTION = re.compile(r"^\[[^]]*\]\(\.\./README\.md#([a-z0-9-]+)\)$", re.MULTILINE)
INTERVAL = re.compile(r"(\[[-+−]?[\d.]+,) (?=[-+−]?[\d.]+\])")
SHELL = re.compile(r"^```sh .*$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of Reference."""
    pages = {
        "config": config_page(load_schema(ROOT / "workflow/schemas/config.schema.yaml")),
        "commands": commands_page(ROOT / "rules"),
        "artifacts": artifacts_page(),
    }
    for name, text in pages.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def readme_section(anchor: str) -> str:
    """Text below a heading of the README up to the next one.

    Raises
    ------
    KeyError
        If it has no such heading.
    """
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    parts = re.split(r"^#+ (.+)\n", text, flags=re.MULTILINE)
    sections = {
        re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-"): body
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
    }
    return sections[anchor].strip().replace("](docs/", "](")


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put sections of the README in, take the tests' marks away, keep intervals together."""
    markdown = SECTION.sub(lambda match: readme_section(match[1]), markdown)
    markdown = SHELL.sub("```sh", markdown)
    return "\n".join(
        INTERVAL.sub("\\1\u00a0", line) if line.startswith("|") else line
        for line in markdown.split("\n")
    )
