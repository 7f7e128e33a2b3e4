"""Every block of the documentation says what is to be done with it."""

import re

import pytest
import yaml

from doc_blocks import PAGES, ROOT, blocks, blocks_of, commands, complaint, merged, patched
from rarefuse.config import check_config, load_schema

ALL = [block for page in PAGES for block in blocks(page)]
SCHEMA = load_schema(ROOT / "workflow/schemas/config.schema.yaml")


def test_blocks_are_found_with_their_options():
    text = 'a\n```sh run=no why="no network"\npip install x\n```\n\n'
    text += '```yaml title="a.yaml"\nb: 1\n```\n'
    first, second = blocks_of(text, "page.md")
    assert (first.language, first.run, first.options["why"]) == ("sh", "no", "no network")
    assert str(first) == "page.md:2"
    assert commands(first) == ["pip install x"]
    assert (second.title, second.text) == ("a.yaml", "b: 1\n")


@pytest.mark.parametrize(
    ("info", "wrong"),
    [
        ("", "unknown language"),
        ("console", "unknown language"),
        ("sh run=sometimes", "unknown run"),
        ("sh run=no", "needs why"),
        ('sh why="no network"', "needs why"),
        ("sh rum=dry", "unknown option"),
        ("diff", "needs a title"),
    ],
)
def test_a_block_without_a_rule_is_refused(info, wrong):
    (block,) = blocks_of(f"```{info}\nsnakemake\n```\n", "page.md")
    assert wrong in complaint(block)


def test_a_diff_changes_what_is_there_once():
    assert patched("a\nb: [x, y]\nc\n", " a\n-b: [x,\n+b: [w, x,\n") == "a\nb: [w, x, y]\nc\n"
    with pytest.raises(AssertionError, match="0 times"):
        patched("a\n", "-b\n+c\n")
    with pytest.raises(AssertionError, match="2 times"):
        patched("a\na\n", "-a\n+c\n")


def test_no_fence_is_overlooked():
    """An odd fence, an indented or an unclosed one would hide a command."""
    for page in PAGES:
        fences = re.findall(r"^\s*(?:```|~~~)", page.read_text(), re.MULTILINE)
        assert len(fences) == 2 * len(blocks(page)), page


@pytest.mark.parametrize("block", ALL, ids=str)
def test_every_block_of_the_documentation_has_a_rule(block):
    assert complaint(block) is None, f"{block}: {complaint(block)}"


@pytest.mark.parametrize("block", [b for b in ALL if b.run == "ci"], ids=str)
def test_what_ci_runs_is_in_its_script(block):
    script = (ROOT / ".ci/run").read_text().splitlines()
    for command in commands(block):
        assert command in script, f"{block}: {command}"


FRAGMENTS = [b for b in ALL if b.language == "yaml"]


@pytest.mark.parametrize("block", FRAGMENTS, ids=str)
def test_every_configuration_that_is_shown_is_valid(block):
    shown = yaml.safe_load(block.text.replace("sha256: …", f"sha256: {'a' * 64}"))
    config = merged(yaml.safe_load((ROOT / "config.yaml").read_text()), shown)
    for entry in config["rankers"].values():
        # The one method of a page that shows how a method is added.
        if entry["method"] == "simgic":
            entry["method"] = "resnik"
    check_config(config, SCHEMA)


def test_how_many_commands_are_run():
    counts = dict.fromkeys(("full", "dry", "ci", "no"), 0)
    for block in ALL:
        if block.language == "sh":
            counts[block.run] += len(commands(block))
    assert counts["full"] >= 12, "what a small corpus is enough for is run, not dry-run"
    assert counts["no"] <= 4, "a command that nobody runs needs a good reason"
