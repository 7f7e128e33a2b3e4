"""The reference of every command, from the parser of the command line."""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

from rarefuse.cli import parser
from rarefuse.manual.markdown import cell, code, table

WIDTH = 88


def commands() -> dict[str, argparse.ArgumentParser]:
    """Command → its parser, in the order of ``rarefuse --help``."""
    (choices,) = (
        action.choices
        for action in parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return dict(choices)


def stages(rules: Path) -> set[str]:
    """Commands that the rules of the workflow call."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(rules.glob("*.smk"))]
    return {name for text in texts for name in re.findall(r"-m rarefuse ([a-z-]+)", text)}


def commands_page(rules: Path) -> str:
    """Markdown of the whole page.

    Parameters
    ----------
    rules : Path
        Folder of the workflow's rules, which tells commands for people from its stages.
    """
    called = stages(rules)
    parts = [
        "# Every command\n",
        "Made from `rarefuse --help`. The commands of the first part are for you. Those of the "
        "second are the stages that the workflow calls, and may be called by hand as well: each "
        "reads and writes the [artifacts](artifacts.md) that its options name. A command ends with "
        "status 0 if all went well, and with 2 and one message for input that it cannot use.\n",
    ]
    for title, belongs in (("Commands", False), ("Stages of the workflow", True)):
        parts.append(f"## {title}\n")
        for name, command in commands().items():
            if (name in called) == belongs:
                parts += _command(name, command)
    return "\n".join(parts)


def _command(name: str, command: argparse.ArgumentParser) -> Iterator[str]:
    text = command.description or ""
    yield f"### {name}\n\n{cell(text)[:1].upper()}{cell(text)[1:]}.\n"
    command.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=WIDTH)
    usage = command.format_usage().removeprefix("usage: ").rstrip()
    yield f"```text\n{re.sub(r'(?m)^ {7}', '', usage)}\n```\n"
    rows = [_argument(a) for a in command._actions if not isinstance(a, argparse._HelpAction)]
    if rows:
        yield table(("argument", "meaning", "default"), rows)


def _argument(action: argparse.Action) -> list[str]:
    names = ", ".join(code(name) for name in action.option_strings) or code(action.dest)
    if action.option_strings and action.nargs != 0:
        names += f" {code(str(action.metavar or action.dest.upper()))}"
    meaning = cell((action.help or "").replace("%%", "%"))
    if action.choices is not None:
        meaning += f" (one of {', '.join(code(str(choice)) for choice in action.choices)})"
    if isinstance(action, argparse._AppendAction):
        meaning += "; may be repeated" if "repeated" not in meaning else ""
    return [names, meaning, _default(action)]


def _default(action: argparse.Action) -> str:
    if action.required:
        return "needed"
    if action.default in (None, False, []):
        return "none"
    plain = str(action.default) if isinstance(action.default, Path) else action.default
    return code(plain if isinstance(plain, str) else json.dumps(plain))
