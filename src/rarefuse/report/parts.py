"""Tables of the page as text, and the cells that all of them share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from rarefuse.report.labels import (
    AFTER,
    BEFORE,
    CHANGE,
    MISSING,
    NATIVE,
    PROTOCOLS,
    SUBSETS,
    VARIANTS,
    Cell,
    Key,
    cells,
    count,
    distinct,
    interval,
    metric_label,
    metrics,
    number,
    points,
    subsets,
    system_label,
)

INTERVAL = "interval"
"""Column head; the template puts the level before it."""

POLICIES = (NATIVE, "averaged", "worst")
TIE_METRICS = ("rank1_tied_share", "rank1_tie_mean", "rank1_tie_max")
_LONG = 16  # characters from which the first column may wrap on a narrow screen


@dataclass(frozen=True)
class Table:
    """A table of the page, all cells as text.

    Parameters
    ----------
    caption : str
        What it shows, in what units.
    columns : tuple of str
        Column heads.
    groups : tuple of (str, rows)
        Rows under a heading of their own; an empty heading is not shown.
    words : frozenset of int
        Columns of words, left-aligned; the first always is.
    """

    caption: str
    columns: tuple[str, ...]
    groups: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]
    words: frozenset[int] = frozenset()

    @property
    def long(self) -> bool:
        """Whether the first column holds more than a word or two."""
        return any(len(row[0]) > _LONG for _, rows in self.groups for row in rows)


@dataclass(frozen=True)
class Part:
    """A table that can be folded away, such as one subset's."""

    title: str
    shown: bool
    table: Table


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Parameters
    ----------
    anchor, nav, title : str
        Its id, its name in the navigation, its heading.
    text : str
        What was done and how to read it.
    figure, caption : str or None
        SVG and what it shows.
    tables : tuple of Table
        Shown as they are.
    parts : tuple of Part
        Shown folded or open.
    """

    anchor: str
    nav: str
    title: str
    text: str
    figure: str | None = None
    caption: str = ""
    tables: tuple[Table, ...] = ()
    parts: tuple[Part, ...] = ()


def value_text(cell: Cell | None, change: bool = False) -> str:
    """Value of a cell; in points if it is a change."""
    if cell is None:
        return MISSING
    return points(cell.value) if change else number(cell.value)


def largest_count(found: Sequence[Cell | None]) -> str:
    """Largest number of cases among cells."""
    sizes = [cell.n for cell in found if cell is not None]
    return count(max(sizes)) if sizes else MISSING


def before_after_cells(
    known: Mapping[Key, Cell], system: str, variant: str, subset: str, metric: str
) -> list[str]:
    """Cells before, after and change, each with its interval, and the number of cases."""
    found = [known.get((system, p, variant, subset, metric)) for p in (BEFORE, AFTER, CHANGE)]
    texts: list[str] = []
    for protocol, cell in zip((BEFORE, AFTER, CHANGE), found, strict=True):
        change = protocol == CHANGE
        texts += [value_text(cell, change), interval(cell, change)]
    return [*texts, largest_count(found)]


BEFORE_AFTER = (
    PROTOCOLS[BEFORE],
    INTERVAL,
    PROTOCOLS[AFTER],
    INTERVAL,
    PROTOCOLS[CHANGE],
    INTERVAL,
    "Cases",
)


def tie_parts(ties: pl.DataFrame) -> list[Part]:
    """Results under the three tie policies, one part a subset."""
    known = cells(ties)
    columns: list[str] = ["Metric", "Protocol"]
    for policy in POLICIES:
        columns += [VARIANTS[policy], INTERVAL]
    parts = []
    shown = [m for m in metrics(ties) if m not in TIE_METRICS]
    for subset in subsets(ties):
        groups = []
        for system in distinct(ties, "system"):
            rows = []
            for metric in shown:
                for protocol in (BEFORE, AFTER, CHANGE):
                    found = [known.get((system, protocol, p, subset, metric)) for p in POLICIES]
                    if not any(found):
                        continue
                    row = [metric_label(metric), PROTOCOLS[protocol]]
                    for cell in found:
                        row += [
                            value_text(cell, protocol == CHANGE),
                            interval(cell, protocol == CHANGE),
                        ]
                    rows.append(tuple(row))
            groups.append((system_label(system), tuple(rows)))
        name = SUBSETS.get(subset, subset)
        parts.append(
            Part(
                name,
                subset == "all",
                Table(
                    f"{name}: the same rankings under three tie policies; change in percentage "
                    "points.",
                    tuple(columns),
                    tuple(groups),
                    frozenset({1}),
                ),
            )
        )
    return parts


def capital(text: str) -> str:
    """Text with a capital first letter."""
    return text[:1].upper() + text[1:]
