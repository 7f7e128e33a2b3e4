"""Rules that look for a disease's name inside a longer text."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Rewritten(NamedTuple):
    """A part of a name that may be the disease's name, and the rest."""

    kept: str
    dropped: str


_PARENTHESES = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")


_EXAMPLE = re.compile(r"\s*(?:e\.?g\b|such as|including|for example|like\b)", re.IGNORECASE)


def _outside(name: str) -> Iterator[Rewritten]:
    """What stands outside parentheses: 'Tuberous sclerosis complex (TSC)'.

    Examples in them, '(e.g., …)', state nothing about the disease outside.
    """
    inside = _PARENTHESES.findall(name)
    if inside:
        stated = [text for text in inside if not _EXAMPLE.match(text)]
        yield Rewritten(_PARENTHESES.sub(" ", name), " ".join(stated))


def _inside(name: str) -> Iterator[Rewritten]:
    """What stands in parentheses: '22q13.3 deletion syndrome (Phelan-McDermid syndrome)'.

    A single short word is an acronym, and acronyms of other diseases look the same: it counts only
    beside the name that it stands for.
    """
    for match in _PARENTHESES.finditer(name):
        if not _EXAMPLE.match(match[1]) and (" " in match[1].strip() or len(match[1]) > 8):
            yield Rewritten(match[1], f"{name[: match.start()]} {name[match.end() :]}")


REWRITES: dict[str, Callable[[str], Iterator[Rewritten]]] = {
    "outside parentheses": _outside,
    "inside parentheses": _inside,
}
"""Rules in the order in which they are tried."""
