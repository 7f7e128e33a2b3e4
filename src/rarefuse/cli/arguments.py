"""What the tables of commands are made of: types of arguments, and arguments that several share."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST_RESAMPLES = 100_000

Arguments = argparse.Namespace

Commands = dict[str, tuple[Callable[[Arguments], int | None], str, dict[str, dict[str, Any]]]]
"""Command → function, help, arguments. An argument is a path unless its type is given."""


def json_value(text: str) -> Any:
    """Read JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from error


def ids(text: str) -> list[str]:
    """Read ids divided by commas or blanks."""
    return text.replace(",", " ").split()


def share(text: str) -> float:
    """Read a number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"not a share in 0..1: {text}")
    return value


def positive(text: str) -> int:
    """Read a whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"not a whole number above 0: {text}")
    return int(text)


def resamples(text: str) -> int:
    """Read a number of resamples that fits in memory."""
    value = positive(text)
    if value > MOST_RESAMPLES:
        raise argparse.ArgumentTypeError(f"more than {MOST_RESAMPLES} do not fit in memory: {text}")
    return value


def seed(text: str) -> int:
    """Read a whole number of 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"not a whole number of 0 or more: {text}")
    return int(text)


def columns(text: str) -> dict[str, str]:
    """Read a JSON object of column names."""
    value = json_value(text)
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value.values()):
        raise argparse.ArgumentTypeError(
            f'not a JSON object of column names, such as {{"disease": "final diagnosis"}}: {text}'
        )
    return value


def needed(**names: str) -> dict[str, dict[str, Any]]:
    """Paths that a command cannot do without: name → help."""
    return {
        f"--{name.replace('_', '-')}": {"required": True, "help": text}
        for name, text in names.items()
    }


FROM_SOURCE: dict[str, dict[str, Any]] = {
    "--registry": {"default": Path("resources/sources.yaml"), "help": "source registry"},
    "--source-id": {"type": str, "help": "registry entry to verify the file against"},
}
ONTOLOGY = needed(terms="artifact terms", aliases="artifact aliases")
OPTIONS: dict[str, Any] = {
    "type": json_value,
    "default": {},
    "help": "options as a JSON object",
}
RANKER: dict[str, dict[str, Any]] = {
    "--method": {"type": str, "required": True, "help": "ranking method"},
    "--options": OPTIONS,
    "--threads": {"type": int, "default": 1, "help": "threads to use"},
}
