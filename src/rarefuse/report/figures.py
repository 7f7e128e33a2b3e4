"""Figures as SVG text for the report page.

Drawn without pyplot and without the user's matplotlib settings, text kept as text, every id
prefixed with the figure's name so that several can stand in one page. Colours are written as
CSS variables with a fallback: the page may set ``--before``, ``--after``, ``--ink``, ``--faint``
and ``--page`` for a dark background.
"""

import io
import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import matplotlib.style
import polars as pl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter

from rarefuse.report.labels import (
    AFTER,
    BEFORE,
    NATIVE,
    PROTOCOLS,
    SUBSETS,
    VARIANTS,
    Cell,
    Key,
    cells,
    cutoff,
    distinct,
    metrics,
    number,
    system_label,
)

# Blue and vermilion of Okabe and Ito (2008), told apart in every common colour blindness.
_COLOURS = {BEFORE: "#0072b2", AFTER: "#d55e00"}
_INK, _FAINT, _PAGE = "#222222", "#b9bec5", "#fefefe"
_VARIABLES = {
    _COLOURS[BEFORE]: "--before",
    _COLOURS[AFTER]: "--after",
    _INK: "--ink",
    _FAINT: "--faint",
    _PAGE: "--page",
}
_MARKERS = {BEFORE: "o", AFTER: "D"}
_POLICIES = {NATIVE: "o", "averaged": "^", "worst": "s"}
_WIDTH = 4.25  # inch; 306 units of the view box: 9.5 of them are 11 px on a screen of 390 px
_ROW = 0.23  # inch
_STEPS = [1, 2, 2.5, 5, 10]
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "rarefuse",
    "font.size": 10.5,
    "axes.labelsize": 10.5,
    "axes.titlesize": 10.5,
    "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5,
    "legend.fontsize": 10,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": _FAINT,
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "legend.frameon": False,
}


@dataclass(frozen=True)
class Row:
    """One line of a forest figure: a marker with its interval and the value in figures."""

    cell: Cell
    colour: str
    marker: str
    filled: bool = True


def recall_curves(recall: pl.DataFrame, subset: str = "all") -> str:
    """Recall@k against k before (solid) and after (dashed) LOPO, one panel a ranker.

    Parameters
    ----------
    recall : polars.DataFrame
        The recall table.
    subset : str
        Cases to draw.

    Returns
    -------
    str
        SVG element; marks and interval bars at the values of k in the table.
    """
    known = cells(recall)
    ks = sorted(k for k in map(cutoff, metrics(recall)) if k is not None)
    systems = distinct(recall, "system")
    columns = min(2, len(systems))
    lines = -(-len(systems) // columns)
    with _drawing():
        figure = Figure(figsize=(_WIDTH, 0.75 + 1.95 * lines), layout="constrained")
        axes = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axis, system in zip(axes, systems, strict=False):
            axis.set_title(_wrapped(system_label(system), 20 if columns == 2 else 50), loc="left")
            for protocol in (BEFORE, AFTER):
                _curve(axis, known, (system, protocol, NATIVE, subset), ks)
            _recall_axes(axis, ks, 0.1 * columns)
        for axis in axes[len(systems) :]:
            axis.set_axis_off()
        # The last panel of each column carries the labels of the axis below it.
        for column in range(columns):
            axes[len(systems) - 1 - (len(systems) - 1 - column) % columns].xaxis.set_tick_params(
                labelbottom=True
            )
        figure.supxlabel("k, places looked at (log scale)", fontsize=10.5)
        figure.supylabel("Recall@k, share of cases", fontsize=10.5)
        _protocol_legend(figure)
        return _svg(figure, "curves", "Recall at k before and after LOPO for each ranker")


def dose(table: pl.DataFrame, split: str = "all", metric: str = "recall@1") -> str:
    """Recall against the mean source-exclusive share of each group of cases (paper, Figure 2).

    Parameters
    ----------
    table : polars.DataFrame
        The dose table.
    split : str
        Cases to draw.
    """
    known = cells(table)
    shares = {
        subset: cell.value
        for (_, _, _, subset, name), cell in known.items()
        if name == "exclusive_share_mean" and subset.startswith(f"{split}: ")
    }
    systems = [s for s in distinct(table, "system") if s != "hpoa"]
    columns = min(2, len(systems))
    lines = -(-len(systems) // columns)
    with _drawing():
        figure = Figure(figsize=(_WIDTH, 0.95 + 1.95 * lines), layout="constrained")
        axes = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axis, system in zip(axes, systems, strict=False):
            axis.set_title(_wrapped(system_label(system), 20 if columns == 2 else 50), loc="left")
            for protocol in (BEFORE, AFTER):
                found = [
                    (share, cell)
                    for subset, share in shares.items()
                    if share is not None
                    and (cell := known.get((system, protocol, NATIVE, subset, metric)))
                ]
                _marks(axis, found, protocol)
            axis.set_ylim(0, 1)
            axis.set_xlim(-0.05, 1.05)
            axis.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        for axis in axes[len(systems) :]:
            axis.set_axis_off()
        figure.supxlabel("Source-exclusive share of the profile, 0 to 1", fontsize=10.5)
        figure.supylabel("Recall@1, share of cases", fontsize=10.5)
        _protocol_legend(figure)
        return _svg(figure, "dose", "Recall@1 by source-exclusive share of the profile")


def before_after(recall: pl.DataFrame, subset: str = "all", metric: str = "recall@1") -> str:
    """Recall@1 before and after LOPO for each ranker, with 95 % intervals."""
    known = cells(recall)
    groups = [
        (
            system_label(system),
            [
                Row(cell, _COLOURS[protocol], _MARKERS[protocol])
                for protocol in (BEFORE, AFTER)
                if (cell := known.get((system, protocol, NATIVE, subset, metric)))
            ],
        )
        for system in distinct(recall, "system")
    ]
    legend = [(PROTOCOLS[p], _COLOURS[p], _MARKERS[p], True) for p in (BEFORE, AFTER)]
    return _forest(groups, legend, "Recall@1, share of cases", "before-after")


def tie_policies(ties: pl.DataFrame, subset: str = "all", metric: str = "recall@1") -> str:
    """Recall@1 under each tie policy, before and after LOPO, for each ranker."""
    known = cells(ties)
    groups = [
        (
            system_label(system),
            [
                Row(cell, _COLOURS[protocol], marker)
                for protocol in (BEFORE, AFTER)
                for policy, marker in _POLICIES.items()
                if (cell := known.get((system, protocol, policy, subset, metric)))
            ],
        )
        for system in distinct(ties, "system")
    ]
    legend = [(VARIANTS[policy], _INK, marker, True) for policy, marker in _POLICIES.items()]
    legend += [(PROTOCOLS[p], _COLOURS[p], "", True) for p in (BEFORE, AFTER)]
    return _forest(groups, legend, "Recall@1, share of cases", "ties")


def query_cap(table: pl.DataFrame, metric: str = "recall@1") -> str:
    """Recall@1 with and without the cap on the query size, by number of observed terms."""
    known = cells(table)
    several = len(distinct(table, "system")) > 1
    groups = []
    for system in distinct(table, "system"):
        for subset in distinct(table, "subset"):
            rows = [
                Row(cell, _COLOURS[protocol], _MARKERS[protocol], variant == "capped")
                for protocol in (BEFORE, AFTER)
                for variant in ("capped", "uncapped")
                if (cell := known.get((system, protocol, variant, subset, metric)))
            ]
            name = SUBSETS.get(subset, subset)
            groups.append((f"{system_label(system)}: {name}" if several else name, rows))
    legend = [
        (f"{PROTOCOLS[p]}, {text}", _COLOURS[p], _MARKERS[p], filled)
        for p in (BEFORE, AFTER)
        for text, filled in (("capped", True), ("no cap", False))
    ]
    return _forest(groups, legend, "Recall@1, share of cases", "cap")


def monte_carlo(table: pl.DataFrame, subset: str = "all", metric: str = "recall@1") -> str:
    """Recall@1 of each seed as a distance from the mean over seeds."""
    known = cells(table)
    seeds = [v for v in distinct(table, "variant") if v != "mean of seeds"]
    lines: list[tuple[str, str, list[float]]] = []
    for system in distinct(table, "system"):
        for protocol in (BEFORE, AFTER):
            mean = known.get((system, protocol, "mean of seeds", subset, metric))
            if mean is None or mean.value is None:
                continue
            found = [known.get((system, protocol, seed, subset, metric)) for seed in seeds]
            values = [cell.value for cell in found if cell is not None and cell.value is not None]
            spread = "" if mean.sd is None else f", SD {number(mean.sd)}"
            title = f"{system_label(system)}: mean {number(mean.value)}{spread}"
            lines.append((title, protocol, [100 * (v - mean.value) for v in values]))
    with _drawing():
        figure = Figure(figsize=(_WIDTH, 1.25 + 0.47 * len(lines)), layout="constrained")
        axis = figure.subplots()
        for i, (title, protocol, values) in enumerate(lines):
            axis.plot([0, 0], [i - 0.25, i + 0.25], color=_INK, linewidth=1.2)
            axis.plot(
                values,
                [i] * len(values),
                _MARKERS[protocol],
                color=_COLOURS[protocol],
                alpha=0.75,
                markersize=6,
                linestyle="none",
            )
            axis.text(0, i - 0.32, title, transform=axis.get_yaxis_transform(), va="bottom")
        widest = max((abs(v) for _, _, values in lines for v in values), default=0.0)
        axis.set_xlim(-1.15 * max(widest, 0.05), 1.15 * max(widest, 0.05))
        axis.set_ylim(len(lines) - 0.5, -0.85)
        axis.set_yticks([])
        axis.grid(False)  # lines would run through the titles
        axis.xaxis.set_major_locator(MaxNLocator(5, steps=_STEPS))
        axis.set_xlabel("Recall@1 of a seed less the mean, points")
        axis.spines["left"].set_visible(False)
        _legend(
            figure,
            [_handle(_COLOURS[p], _MARKERS[p], True) for p in (BEFORE, AFTER)],
            [PROTOCOLS[p] for p in (BEFORE, AFTER)],
        )
        return _svg(figure, "seeds", "Recall at 1 of each Monte Carlo seed around the mean")


def exclusive_shares(exclusive: Sequence[float], overlap: Sequence[bool]) -> str:
    """Histogram of the source-exclusive share over cases, those without overlap set apart.

    Parameters
    ----------
    exclusive : sequence of float
        Source-exclusive share of each case, in 0..1; not empty.
    overlap : sequence of bool
        Whether the case has overlap.

    Returns
    -------
    str
        SVG element. Exactly 0 and exactly 1 have bars of their own, and the ten bars between
        them are (0, 0.1], (0.1, 0.2], …, (0.9, 1).
    """
    # Shares are ratios of small whole numbers: rounding takes 0.30000000000000004 back to 0.3.
    bins = [
        0 if share == 0 else 11 if share == 1 else min(10, math.ceil(round(10 * share, 9)))
        for share in exclusive
    ]
    groups = {
        "Overlap": (_COLOURS[BEFORE], [i for i, o in zip(bins, overlap, strict=True) if o]),
        "No overlap": (_FAINT, [i for i, o in zip(bins, overlap, strict=True) if not o]),
    }
    n_bars = 12
    with _drawing():
        figure = Figure(figsize=(_WIDTH, 2.7), layout="constrained")
        axis = figure.subplots()
        below = [0.0] * n_bars
        for colour, found in groups.values():
            heights = [found.count(i) / len(bins) for i in range(n_bars)]
            axis.bar(range(n_bars), heights, bottom=below, color=colour, width=0.86)
            below = [low + height for low, height in zip(below, heights, strict=True)]
        upright = max(map(bins.count, range(n_bars))) >= 1000  # wider than a bar
        for i, height in enumerate(below):
            if height:
                axis.text(
                    i,
                    height + 0.02 * max(below),
                    f"{bins.count(i):,}",
                    ha="center",
                    va="bottom",
                    fontsize=9.5,
                    rotation=90 if upright else 0,
                )
        axis.set_ylim(0, max(below) * (1.3 if upright else 1.12))
        # Edges of the bars between, so that 10 stands where (0, 10] ends.
        axis.set_xticks(
            [0, *(i + 0.5 for i in range(2, 10, 2)), 11], ["0", "20", "40", "60", "80", "100"]
        )
        axis.xaxis.grid(False)
        axis.yaxis.set_major_locator(MaxNLocator(4, steps=_STEPS))
        axis.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")
        axis.set_xlabel("Source-exclusive share of annotations, %")
        axis.set_ylabel("Cases, %")
        _legend(
            figure,
            [_handle(colour, "s", True) for colour, _ in groups.values()],
            list(groups),
        )
        return _svg(figure, "exclusive", "Histogram of the source-exclusive share over cases")


def _curve(
    axis: Axes,
    known: dict[Key, Cell],
    key: tuple[str, str, str, str],
    ks: Sequence[int],
) -> None:
    found = [(k, known.get((*key, f"recall@{k}"))) for k in ks]
    _marks(axis, [(k, cell) for k, cell in found if cell is not None], key[1])


def _marks(axis: Axes, found: Sequence[tuple[float, Cell]], protocol: str) -> None:
    """Line through the values of a protocol, with interval bars."""
    drawn = [(k, cell) for k, cell in found if cell.value is not None]
    axis.plot(
        [k for k, _ in drawn],
        [cell.value or 0.0 for _, cell in drawn],
        color=_COLOURS[protocol],
        linestyle=_dash(protocol),
        marker=_MARKERS[protocol],
        markersize=3.5,
        linewidth=1.6,
    )
    bounded = [(k, c.low, c.high) for k, c in drawn if c.low is not None and c.high is not None]
    axis.vlines(
        [k for k, _, _ in bounded],
        [low for _, low, _ in bounded],
        [high for _, _, high in bounded],
        color=_COLOURS[protocol],
        linewidth=1.2,
        alpha=0.7,
    )


def _recall_axes(axis: Axes, ks: Sequence[int], room: float) -> None:
    labelled = _spaced(ks, room)
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(FixedLocator(labelled))
    axis.set_xticks(labelled, [str(k) for k in labelled])
    axis.xaxis.set_minor_locator(FixedLocator(list(ks)))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_ylim(0, 1)
    axis.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.50", "0.75", "1"])


def _spaced(ks: Sequence[int], room: float = 0.14) -> list[int]:
    """Values of k with `room` (share of a log axis) between them for labels; the last is one."""
    span = math.log(ks[-1] / ks[0]) if ks else 0.0
    labelled: list[int] = []
    for k in reversed(ks):
        if not labelled or math.log(labelled[-1] / k) > room * span:
            labelled.append(k)
    return labelled[::-1]


def _forest(
    groups: Sequence[tuple[str, list[Row]]],
    legend: Sequence[tuple[str, str, str, bool]],
    xlabel: str,
    name: str,
) -> str:
    """Groups of rows from top to bottom, each under its title."""
    lines = sum(1.35 + len(rows) for _, rows in groups)
    legend_lines = -(-len(legend) // 2)
    height = 0.6 + _ROW * lines + 0.2 * legend_lines
    highest = max(
        (v for _, rows in groups for r in rows for v in (r.cell.high, r.cell.value) if v), default=1
    )
    with _drawing():
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axis = figure.subplots()
        y = 0.0
        for title, rows in groups:
            axis.text(
                0,
                y,
                title,
                transform=axis.get_yaxis_transform(),
                va="center",
                fontweight="bold",
            )
            for row in rows:
                y += 1
                _forest_row(axis, y, row, highest)
            y += 1.35
        axis.set_xlim(0, 1.2 * highest)
        axis.set_ylim(y - 0.6, -0.6)
        axis.set_yticks([])
        ticks = MaxNLocator(5, steps=_STEPS).tick_values(0, min(1.0, highest))
        axis.set_xticks([t for t in ticks if 0 <= t <= min(1.0, 1.2 * highest)])
        axis.set_xlabel(xlabel)
        axis.spines["left"].set_visible(False)
        _legend(
            figure,
            [_handle(colour, marker, filled) for _, colour, marker, filled in legend],
            [text for text, *_ in legend],
        )
        return _svg(figure, name, xlabel)


def _forest_row(axis: Axes, y: float, row: Row, highest: float) -> None:
    cell = row.cell
    if cell.value is None:
        return
    if cell.low is not None and cell.high is not None:
        axis.plot([cell.low, cell.high], [y, y], color=row.colour, linewidth=1.6)
    axis.plot(
        [cell.value],
        [y],
        row.marker,
        color=row.colour,
        markerfacecolor=row.colour if row.filled else _PAGE,
        markersize=6,
        clip_on=False,
    )
    end = max(cell.value, cell.high or 0.0)
    axis.text(end + 0.025 * highest, y, number(cell.value), va="center", fontsize=9.5)


def _handle(colour: str, marker: str, filled: bool) -> Line2D:
    return Line2D(
        [],
        [],
        color=colour,
        marker=marker or None,
        linestyle="none" if marker else "-",
        linewidth=2,
        markersize=6,
        markerfacecolor=colour if filled else _PAGE,
    )


def _protocol_legend(figure: Figure) -> None:
    handles = [
        Line2D([], [], color=_COLOURS[p], linestyle=_dash(p), marker=_MARKERS[p], markersize=4.5)
        for p in (BEFORE, AFTER)
    ]
    _legend(figure, handles, [PROTOCOLS[BEFORE], PROTOCOLS[AFTER]])


def _legend(figure: Figure, handles: Sequence[Line2D], texts: Sequence[str]) -> None:
    figure.legend(
        handles,
        texts,
        loc="outside upper left",
        ncols=2,
        handlelength=2.2,
        columnspacing=1.5,
        borderaxespad=0,
        labelspacing=0.3,
    )


def _dash(protocol: str) -> Literal["-", "--"]:
    return "-" if protocol == BEFORE else "--"


def _wrapped(text: str, width: int) -> str:
    return textwrap.fill(text, width, max_lines=2, placeholder=" …")


@contextmanager
def _drawing() -> Iterator[None]:
    with matplotlib.style.context(["default", _STYLE]):
        yield


def _svg(figure: Figure, name: str, description: str) -> str:
    """Write the figure as one SVG element that can stand in a page beside others."""
    target = io.StringIO()
    canvas = FigureCanvasSVG(figure)
    canvas.print_svg(target, metadata={"Date": None, "Creator": None})
    text = target.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(
        r"<svg [^>]*?viewBox=\"([^\"]*)\"[^>]*>",
        rf'<svg class="figure" viewBox="\1" role="img" aria-label="{description}">',
        text,
        count=1,
    )
    text = re.sub(r'\b(id|clip-path|href)="(url\()?(#?)', rf'\1="\2\3{name}-', text)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var({variable}, {colour})")
    return text.strip() + "\n"
