import re
from pathlib import Path

import pytest

from rarefuse.cli import main
from rarefuse.manual.commands import commands, commands_page, stages

ROOT = Path(__file__).resolve().parents[2]
PAGE = commands_page(ROOT / "rules")
SPLIT = re.split(r"^### (.+)$", PAGE, flags=re.MULTILINE)[1:]
PARTS = dict(zip(SPLIT[::2], SPLIT[1::2], strict=True))


def test_every_command_is_there_once_with_all_its_arguments(capsys):
    assert sorted(PARTS) == sorted(commands())
    for name, body in PARTS.items():
        with pytest.raises(SystemExit):
            main([name, "--help"])
        options = set(re.findall(r"^  (--[a-z-]+)", capsys.readouterr().out, re.MULTILINE))
        assert set(re.findall(r"^\| `(--[a-z-]+)`", body, re.MULTILINE)) == options, name


def test_what_the_workflow_calls_stands_apart():
    called = stages(ROOT / "rules")
    assert {"rank", "table", "report", "ask"} <= called <= set(commands())
    mine, _, stage = PAGE.partition("## Stages of the workflow")
    assert "### audit-overlap\n" in mine
    assert "### rank\n" in stage
    assert "### rank\n" not in mine


def test_some_rows_by_hand():
    rank = PARTS["rank"]
    assert "| `--depth` `DEPTH` | places to keep | `100` |" in rank
    audit = PARTS["audit-overlap"]
    assert re.search(r"\| `--hpoa` `HPOA` \| [^|]+ \| needed \|", audit)
    assert "| `--output` `OUTPUT` | folder to write into | `overlap-audit` |" in audit
    assert "rarefuse audit-overlap [-h] --hpoa HPOA" in audit
