"""Tables and cells in Markdown."""

import re
from collections.abc import Iterable, Sequence


def code(text: str) -> str:
    """Text as inline code, whatever backticks are in it."""
    fence = "``" if "`" in text else "`"
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def cell(text: str) -> str:
    """Text for a table's cell: one line, with what is no code shown as it stands."""
    parts = " ".join(text.split()).split("`")
    for i in range(0, len(parts), 2):
        # A brace at a cell's end would be read as attributes of the cell.
        parts[i] = re.sub(r"([|{}*_])", r"\\\1", parts[i]).replace("<", "&lt;")
    return "`".join(parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Table of cells that are Markdown already.

    Raises
    ------
    ValueError
        If a row has not as many cells as the head.
    """
    lines = [head, ["---"] * len(head), *rows]
    if wrong := [line for line in lines if len(line) != len(head)]:
        raise ValueError(f"{len(wrong[0])} cells below {len(head)} headings: {wrong[0]}")
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
