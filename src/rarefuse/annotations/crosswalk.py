"""OMIM and ORPHA ids of the same disease, where the equivalent is unique.

Orphanet states for each of its OMIM references how the two relate: E (exact), BTNT and NTBT (one
is broader than the other), ND (not decided). Only an exact equivalent that is the only one is
followed; the first of several would be a guess. Files with no such column are taken at their word.
"""

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rarefuse.annotations.hpoa import read_text
from rarefuse.errors import InputError

MAPPED = "mapped"
AMBIGUOUS = "several exact equivalents"
INEXACT = "no exact equivalent, only broader or narrower ones"
UNMAPPED = "not in the disease map"
EXACT = "E"

_DISEASE = re.compile(r"\s*(OMIM|MIM|ORPHA|ORPHANET)\s*[:_ ]\s*(?:Orphanet_)?([0-9]+)\s*", re.I)


class Equivalent(NamedTuple):
    """What became of one id: its equivalent, or the reason why there is none."""

    disease_id: str | None
    reason: str


def disease_curie(text: object) -> str | None:
    """Plain CURIE (``OMIM:154700``, ``ORPHA:558``) of an OMIM or ORPHA id; None if it is none."""
    match = _DISEASE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    return f"{'ORPHA' if match[1].upper().startswith('ORPHA') else 'OMIM'}:{match[2]}"


@dataclass(frozen=True)
class Crosswalk:
    """Equivalents in both directions.

    Parameters
    ----------
    omim, orpha : mapping of str to set of str
        Exact equivalents of each OMIM and each ORPHA id that the file names. An id without an
        exact one has an empty set.
    """

    omim: Mapping[str, frozenset[str]]
    orpha: Mapping[str, frozenset[str]]

    def orpha_to_omim(self, ids: Iterable[str]) -> list[Equivalent]:
        """The one OMIM id that is an exact equivalent of each ORPHA id, or why there is none."""
        return [_only(self.orpha, identifier) for identifier in ids]

    def omim_to_orpha(self, ids: Iterable[str]) -> list[Equivalent]:
        """The one ORPHA id that is an exact equivalent of each OMIM id, or why there is none."""
        return [_only(self.omim, identifier) for identifier in ids]


def _only(known: Mapping[str, frozenset[str]], identifier: str) -> Equivalent:
    if identifier not in known:
        return Equivalent(None, UNMAPPED)
    found = known[identifier]
    if len(found) != 1:
        return Equivalent(None, AMBIGUOUS if found else INEXACT)
    return Equivalent(next(iter(found)), MAPPED)


def read_crosswalk(path: Path | str) -> Crosswalk:
    """Read a table of OMIM and ORPHA ids that belong together.

    Parameters
    ----------
    path : path
        Tab- or comma-separated text, gzipped or not, with a column of OMIM and one of ORPHA
        CURIEs in either order, with a header or without. A column headed ``relation`` says how
        they relate; only rows with ``E`` (exact) are then equivalents. Lines that begin with
        ``#`` are passed over.

    Returns
    -------
    Crosswalk
        Ids in their plain form (``MIM:`` and ``Orphanet:`` are read as ``OMIM:`` and ``ORPHA:``).

    Raises
    ------
    InputError
        If the file cannot be read, a row lacks one of the ids, or there is no row.
    """
    lines = [line for line in read_text(path).splitlines() if line.strip() and line[0] != "#"]
    delimiter = "\t" if lines and "\t" in lines[0] else ","
    rows = list(csv.reader(lines, delimiter=delimiter))
    header = rows[0] if rows and not any(map(disease_curie, rows[0])) else []
    names = [name.strip().lower() for name in header]
    column = names.index("relation") if "relation" in names else None
    pairs: dict[str, dict[str, set[str]]] = {"OMIM": {}, "ORPHA": {}}
    for number, row in enumerate(rows[bool(header) :], start=1 + bool(header)):
        ids = {curie.split(":")[0]: curie for field in row if (curie := disease_curie(field))}
        if len(ids) != 2 or (column is not None and column >= len(row)):
            raise InputError(
                "a row of the disease map lacks an OMIM or an ORPHA id",
                where=f"{path}, row {number} (blank lines and comments not counted)",
                found=" | ".join(row)[:120],
                expected="an id like OMIM:154700 and one like ORPHA:558",
                todo="correct or remove the row",
            )
        exact = column is None or row[column].strip() == EXACT
        for own, other in (("OMIM", "ORPHA"), ("ORPHA", "OMIM")):
            known = pairs[own].setdefault(ids[own], set())
            if exact:
                known.add(ids[other])
    if not pairs["OMIM"]:
        raise InputError(
            "the disease map has no row",
            where=str(path),
            expected="a table with a column of OMIM and one of ORPHA ids",
            todo="check the path",
        )
    return Crosswalk(
        *(
            {own: frozenset(others) for own, others in pairs[side].items()}
            for side in ("OMIM", "ORPHA")
        )
    )
