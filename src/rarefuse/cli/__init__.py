"""The command line: one subcommand a stage, in a module named as the folder that does the work.

Stages are imported when they run, so help is quick.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rarefuse import __version__
from rarefuse.cli import (
    annotations,
    config,
    corpus,
    diagnose,
    evaluation,
    explorer,
    fusion,
    llm,
    naming,
    pheval,
    provenance,
    rankers,
    report,
    rerank,
    retrieval,
    sources,
)
from rarefuse.cli.arguments import Commands
from rarefuse.errors import InputError
from rarefuse.locks import running

_GROUPS: tuple[Commands, ...] = (
    sources.COMMANDS,
    annotations.RELEASES,
    corpus.COMMANDS,
    annotations.LOPO,
    llm.RECORDED,
    naming.COMMANDS,
    rankers.COMMANDS,
    rerank.COMMANDS,
    provenance.COMMANDS,
    llm.ASKED,
    fusion.COMMANDS,
    evaluation.COMMANDS,
    report.COMMANDS,
    explorer.COMMANDS,
    retrieval.COMMANDS,
    diagnose.COMMANDS,
    pheval.COMMANDS,
    config.COMMANDS,
)
_COMMANDS: Commands = {name: command for group in _GROUPS for name, command in group.items()}


def parser() -> argparse.ArgumentParser:
    """Build the parser of all subcommands."""
    top = argparse.ArgumentParser(prog="rarefuse", description="Stages of the workflow.")
    top.add_argument("--version", action="version", version=f"rarefuse {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (function, text, arguments) in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(function=function)
        for argument, settings in arguments.items():
            typed = {} if settings.get("action") == "store_true" else {"type": Path}
            command.add_argument(argument, **{**typed, **settings})
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand.

    Returns
    -------
    int
        0 if all went well, 2 for an `InputError`, whose message goes to stderr; 1 when a check
        that was asked for did not pass.
    """
    parsed = parser().parse_args(arguments)
    try:
        with running(os.environ.get("RAREFUSE_JOBS_LOCK")):
            return parsed.function(parsed) or 0
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
