"""A diagnosis as text: terminal table and JSON. Every one says that it is for research only."""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from rarefuse import __version__
from rarefuse.diagnose.diagnosis import LANGUAGE_MODEL, Candidate, Diagnosis
from rarefuse.diagnose.evidence import Match
from rarefuse.pheval.results import USE
from rarefuse.retrieval.notes import BY_NAME, WIDER, Finding

FORMAT = "rarefuse-diagnosis-1"


@dataclass(frozen=True)
class Provenance:
    """What a result was made with.

    Parameters
    ----------
    hpo, hpoa : str
        Releases.
    knowledge : str
        Digest of the knowledge artifacts.
    ranker : dict
        Method and options of the ontology component.
    models : list of dict
        Checkpoints: kind, path and SHA-256.
    depth : int
        Places of every ranker's list.
    """

    hpo: str
    hpoa: str
    knowledge: str
    ranker: dict[str, Any]
    models: list[dict[str, str]]
    depth: int


def as_json(diagnosis: Diagnosis, provenance: Provenance) -> str:
    """A diagnosis as indented JSON."""
    value = {
        "format": FORMAT,
        "use": USE,
        "rarefuse": __version__,
        "provenance": provenance,
        "diagnosis": diagnosis,
    }
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def counted(number: int, noun: str) -> str:
    """A number and its noun, in the plural unless it is one."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def printable(text: str) -> str:
    """A text without control characters, which a terminal would obey."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def frequency_text(match: Match) -> str:
    """How many patients have an annotation; HPOA's own frequency classes are pooled counts too."""
    if match.numerator is None or match.denominator is None:
        return ""
    if match.numerator == 0:
        return f"absent in {match.denominator}"
    return f"{match.numerator}/{match.denominator}"


def explained_of(matches: Iterable[Match]) -> int:
    """Findings with an annotation behind them that a patient had."""
    return sum(match.annotation is not None and match.numerator != 0 for match in matches)


def p_text(p_value: float | None) -> str:
    """A p-value in few digits; a dash where there is none."""
    return "–" if p_value is None else f"{p_value:.2g}"


def ratio_text(log10: float | None) -> str:
    """A likelihood ratio as a power of ten; a dash where there is none."""
    return "–" if log10 is None else f"10^{log10:.1f}"


def place_text(place: int | None, depth: int) -> str:
    """A place in a list, or that the list does not reach so far."""
    return f">{depth}" if place is None else str(place)


def how_text(finding: Finding) -> str:
    """How a phrase came to its term, in words."""
    if finding.by == BY_NAME:
        return "by name"
    cosine = f"similarity {finding.similarity or 0.0:.2f}"
    return f"by {finding.by}, {cosine}" if finding.by == WIDER else cosine


def mapping_line(finding: Finding) -> str:
    """A phrase of a free text, its term, and what it counts as."""
    term = f"{finding.term_id} {finding.label}" if finding.term_id else "nothing"
    counts = finding.reason or finding.status
    return printable(f"'{finding.text}' → {counts}: {term} ({how_text(finding)})")


def as_table(diagnosis: Diagnosis, provenance: Provenance, width: int | None = None) -> str:
    """A diagnosis as a table for the terminal."""
    width = width or shutil.get_terminal_size((100, 24)).columns
    lines = [
        f"{printable(diagnosis.name)}: {len(diagnosis.observed)} observed, "
        f"{len(diagnosis.excluded)} excluded findings",
        f"HPO {provenance.hpo}, HPOA {provenance.hpoa}, rarefuse {__version__}",
    ]
    removal = diagnosis.removal
    if removal.publications:
        without = f"Without {', '.join(removal.publications)}: "
        lines.append(
            without + f"{counted(removal.relations, 'annotation')} of "
            f"{counted(removal.diseases, 'disease')} removed, "
            f"{removal.emptied} left without any"
            if removal.relations
            else without + "no annotation rests on it alone, nothing removed"
        )
    lines += [printable(note) for note in diagnosis.notes]
    for reason, details in diagnosis.left_out.items():
        lines.append(f"{len(details)} × {reason}: {printable(', '.join(details))}")
    lines += map(mapping_line, diagnosis.mappings)
    if diagnosis.unused:
        fields = ", ".join(f"{printable(path)} ({n})" for path, n in diagnosis.unused.items())
        lines.append(f"Fields not used: {fields}")
    for name in diagnosis.unmatched:
        lines.append(f"Name {name.place} '{printable(name.name or '')}': {name.reason}")
    lists = list(diagnosis.candidates[0].lists) if diagnosis.candidates else []
    head = ["#", "disease", "name", *lists]
    head += ["p-value", "LR", "explained"]
    if diagnosis.answered_by is not None:
        head.append("weights")
    rows = [_row(candidate, diagnosis, provenance, lists) for candidate in diagnosis.candidates]
    room = max(20, width - sum(_widths([head, *rows], skip=2)) - 2 * len(head))
    for row in (head, *rows):
        row[2] = row[2] if len(row[2]) <= room else row[2][: room - 1] + "…"
    widths = _widths([head, *rows])
    lines.append("")
    for row, candidate in zip((head, *rows), (None, *diagnosis.candidates), strict=True):
        cells = [cell.ljust(w) if i in (1, 2) else cell.rjust(w)
                 for i, (cell, w) in enumerate(zip(row, widths, strict=True))]  # fmt: skip
        lines.append("  ".join(cells).rstrip())
        if candidate is not None and candidate.no_ontology_evidence:
            lines.append(
                f"{'':{widths[0]}}  no ontology evidence: {candidate.no_ontology_evidence}"
            )
    lines += ["", USE]
    return "\n".join(lines) + "\n"


def _row(
    candidate: Candidate, diagnosis: Diagnosis, provenance: Provenance, lists: list[str]
) -> list[str]:
    explained = explained_of(candidate.matches)
    row = [
        str(candidate.rank),
        candidate.disease_id,
        printable(candidate.name),
        *(_place(candidate.lists, name, provenance.depth) for name in lists),
        p_text(candidate.p_value),
        ratio_text(candidate.log10_likelihood_ratio),
        f"{explained}/{len(candidate.matches)}",
    ]
    if diagnosis.answered_by is not None:
        row.append(f"{candidate.weight_ontology:.2f} + {candidate.weight_language_model:.2f}")
    return row


def _place(lists: Mapping[str, int | None], name: str, depth: int) -> str:
    if name == LANGUAGE_MODEL:
        return "–" if lists[name] is None else str(lists[name])
    return place_text(lists[name], depth)


def _widths(rows: list[list[str]], skip: int | None = None) -> list[int]:
    return [0 if i == skip else max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
