"""Rules that look for a disease's name inside a longer text."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Rewritten(NamedTuple):
    """A part of a name that may be the disease's name, and the rest."""

    kept: str
    dropped: str


BRACKETS = frozenset("([")
"""What a name must hold for a rule to find a part of it."""

_PARENTHESES = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")


_EXAMPLE = re.compile(r"\s*(?:e\.?g\b|such as|including|for example|like\b)", re.IGNORECASE)
_REMARKS = "due to|caused by|with|without|but|in|if|as|given|especially|possibly|though|less"
_REMARK = re.compile(rf"\s*(?:{_REMARKS})\b", re.IGNORECASE)
_ALIAS = re.compile(
    r"\s*(?:also|formerly|previously|now)?\s*(?:known as|called|formerly|previously|aka)\b",
    re.IGNORECASE,
)
_SHORT = 8
"""Letters of a single word in parentheses up to which it may be an acronym."""


def _outside(name: str) -> Iterator[Rewritten]:
    """What stands outside parentheses: 'Tuberous sclerosis complex (TSC)'.

    Examples in them, '(e.g., …)', state nothing about the disease outside.
    """
    inside = _PARENTHESES.findall(name)
    if inside:
        stated = [_ALIAS.sub("", text, count=1) for text in inside if not _EXAMPLE.match(text)]
        yield Rewritten(_PARENTHESES.sub(" ", name), " ".join(stated))


def _inside(name: str) -> Iterator[Rewritten]:
    """What stands in parentheses: '22q13.3 deletion syndrome (Phelan-McDermid syndrome)'.

    Neither examples and remarks, nor a single short word: acronyms of other diseases look the same.
    """
    for match in _PARENTHESES.finditer(name):
        part = _ALIAS.sub("", match[1], count=1).strip()
        if _EXAMPLE.match(part) or _REMARK.match(part):
            continue
        if " " in part or len(part) > _SHORT:
            yield Rewritten(part, f"{name[: match.start()]} {name[match.end() :]}")


OUTSIDE, INSIDE = "outside parentheses", "inside parentheses"
REWRITES: dict[str, Callable[[str], Iterator[Rewritten]]] = {
    OUTSIDE: _outside,
    INSIDE: _inside,
}
"""Rules in the order in which they are tried."""
