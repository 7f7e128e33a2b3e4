"""Read disease names from an answer (paper, A.2): numbered lines, the first ten.

A line counts when it reads ``<number>. <name>`` or ``<number>) <name>``: one to three digits, a
dot or bracket, white space, and something. What becomes of other shapes:

- Text before, between and after such lines, bullets without a number, code fences: ignored.
- White space before the number, and Markdown emphasis around number, name or line: ignored.
- ``1.Name`` without a blank, ``1: Name``, ``1 - Name``: not the form, ignored.
- Several names in one line, ``1. A 2. B``: one name, as written.
- An explanation behind the name: part of the name, as written.
- Ranks run from 1 in the order of the lines, whatever their numbers are; a second list goes on
  where the first ended. Names written twice stay; mapping removes repeats.
- A number without a name does not count, nor does a name without a letter.
- An id in brackets behind the name, ``Marfan syndrome (OMIM:154700)``, is taken as the id and left
  out of the name; a line that is only an id has no name.
- The last line of a truncated answer may be cut short; it is kept as written.
- Reasoning is removed first: blocks between markers; with a closing marker alone, all before it;
  with an opening marker alone (cut off while it thinks), all behind it.
"""

import re
from dataclasses import dataclass

MAX_NAMES = 10

_NUMBERED = re.compile(r"\s*[*_]{0,3}[0-9]{1,3}[.)][*_]{0,3}\s+(\S.*)")
_EMPHASIS = re.compile(r"([*_`]{1,3})(.+?)\1")
DATABASES = {"OMIM": "OMIM", "MIM": "OMIM", "ORPHA": "ORPHA", "ORPHANET": "ORPHA",
             "ORDO": "ORPHA", "MONDO": "MONDO"}  # fmt: skip
"""Prefix as it is written, in capitals → prefix of the CURIE."""
_CURIE = r"(?P<prefix>OMIM|MIM|ORPHANET|ORPHA|ORDO|MONDO)\s*[:#_ ]\s*#?(?P<local>[0-9]{1,8})"
_ID_ONLY = re.compile(_CURIE, re.IGNORECASE)
_ID_BEHIND = re.compile(rf"(?P<name>.*?\S)\s*[(\[]\s*{_CURIE}\s*[)\]]\s*", re.IGNORECASE)

_BLOCKS = tuple(
    tuple(re.compile(marker, re.IGNORECASE | re.MULTILINE) for marker in markers)
    for markers in (
        (r"<think(?:ing)?>", r"</think(?:ing)?>"),
        (r"<thoughts?>", r"</thoughts?>"),
        (r"<reason(?:ing)?>", r"</reason(?:ing)?>"),
        (r"\[THINK\]", r"\[/THINK\]"),
        (r"<unused94>", r"<unused95>"),  # MedGemma
        (r"<\|channel\|>analysis", r"<\|channel\|>final(?:<\|message\|>)?"),  # gpt-oss
        (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
        (r"^## Thinking\b", r"^## Final Response\b"),  # HuatuoGPT
    )
)
"""What opens and what closes a block of reasoning, by the models that write it."""


@dataclass(frozen=True)
class Name:
    """One disease that an answer names: as written, and the CURIE that it gave itself."""

    rank: int
    name: str | None
    disease_id: str | None


def without_reasoning(text: str) -> tuple[str, bool]:
    """Answer without its reasoning, and whether it holds a marker of any.

    Parameters
    ----------
    text : str
        Answer as it came.

    Returns
    -------
    rest : str
        What remains; empty if the answer ends while it still reasons.
    marked : bool
        Whether there was a marker.
    """
    marked = False
    for opening, closing in _BLOCKS:
        while True:
            start, end = opening.search(text), closing.search(text)
            if start is None and end is None:
                break
            marked = True
            if end is None:
                assert start is not None
                text = text[: start.start()]
            elif start is None or end.start() < start.start():
                text = text[end.end() :]
            else:
                end = closing.search(text, start.end())
                text = text[: start.start()] + (text[end.end() :] if end else "")
    return text, marked


def parse(text: str | None) -> list[Name]:
    """Names in an answer.

    Parameters
    ----------
    text : str or None
        Answer as it came; None if there is none.

    Returns
    -------
    list of Name
        Ten at most, ranks 1, 2, … without a gap. Never an error, whatever the text.
    """
    found: list[Name] = []
    for line in without_reasoning(text or "")[0].splitlines():
        numbered = _NUMBERED.fullmatch(line)
        if numbered is None:
            continue
        written = _plain(numbered[1])
        name, disease_id = _apart(written)
        if disease_id is None and not any(letter.isalpha() for letter in written):
            continue
        found.append(Name(len(found) + 1, name, disease_id))
        if len(found) == MAX_NAMES:
            break
    return found


def _plain(written: str) -> str:
    """Name without Markdown emphasis and the white space around it."""
    return _EMPHASIS.sub(r"\2", written).strip(" \t*_`")


def _apart(written: str) -> tuple[str | None, str | None]:
    """Name and id of a line."""
    if only := _ID_ONLY.fullmatch(written):
        return None, _curie(only)
    if behind := _ID_BEHIND.fullmatch(written):
        return behind["name"], _curie(behind)
    return written, None


def _curie(found: re.Match[str]) -> str:
    return database_curie(DATABASES[found["prefix"].upper()], found["local"])


def database_curie(database: str, local: str) -> str:
    """CURIE of a database's id; Mondo's have seven digits."""
    return f"{database}:{local.zfill(7) if database == 'MONDO' else local}"
