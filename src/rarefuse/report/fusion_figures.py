"""Figures about fusion: recall curves, gain against the oracle, weights by type of case."""

from collections.abc import Mapping, Sequence
from typing import Literal

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rarefuse.report.figures import (
    _COLOURS,
    _FAINT,
    _INK,
    _WIDTH,
    _drawing,
    _legend,
    _spaced,
    _svg,
)
from rarefuse.report.labels import (
    AFTER,
    BEFORE,
    MACRO,
    Cell,
    Key,
    arm_label,
    cells,
    cutoff,
    distinct,
    metrics,
    system_label,
)

_LINES: dict[str, tuple[str, Literal["-", "--", ":"], str]] = {
    "gate": (_COLOURS[AFTER], "-", "D"),
    "ontology": (_COLOURS[BEFORE], "-", "o"),
    "llm": (_COLOURS[BEFORE], ":", "s"),
    "combmnz": (_INK, "--", "^"),
}
"""System → colour, dash and marker of its curve."""
_KINDS = {
    "both right": "Both right",
    "only ontology right": "Only ontology right",
    "only llm right": "Only model right",
    "neither right": "Neither right",
}
_QUANTILES = (10, 25, 50, 75, 90)


def fusion_curves(table: pl.DataFrame, variant: str = MACRO) -> str:
    """Recall@k against k of the gate, its components and CombMNZ, with interval bars.

    Parameters
    ----------
    table : polars.DataFrame
        The table ``fusion``.
    variant : str
        An arm, or ``macro`` for the mean over arms.
    """
    known = cells(table)
    (protocol, *_), (subset, *_) = distinct(table, "protocol"), distinct(table, "subset")
    ks = sorted(k for k in map(cutoff, metrics(table)) if k is not None)
    drawn = [s for s in _LINES if (s, protocol, variant, subset, f"recall@{ks[0]}") in known]
    with _drawing():
        figure = Figure(figsize=(_WIDTH, 3.2), layout="constrained")
        axis = figure.subplots()
        for system in drawn:
            found = [known[system, protocol, variant, subset, f"recall@{k}"] for k in ks]
            _line(axis, ks, found, system)
        axis.set_xscale("log")
        axis.set_xticks(ks, ["" if k not in _spaced(ks) else str(k) for k in ks])
        axis.minorticks_off()
        axis.set_ylim(bottom=0)
        axis.set_xlabel("k, places looked at (log scale)")
        axis.set_ylabel("Recall@k, share of cases")
        _legend(figure, [_handle(system) for system in drawn], [system_label(s) for s in drawn])
        return _svg(figure, "fusion-curves", "Recall@k of the gate, its components and CombMNZ")


def _line(axis: Axes, ks: Sequence[int], found: Sequence[Cell], system: str) -> None:
    colour, dash, marker = _LINES[system]
    axis.plot(
        ks, [c.value or 0.0 for c in found], dash, color=colour, marker=marker, markersize=4.5
    )
    for k, cell in zip(ks, found, strict=True):
        if cell.low is not None and cell.high is not None:
            axis.plot([k, k], [cell.low, cell.high], color=colour, linewidth=1, alpha=0.6)


def _handle(system: str) -> Line2D:
    colour, dash, marker = _LINES[system]
    return Line2D([], [], color=colour, linestyle=dash, marker=marker, markersize=4.5)


def gains_and_weights(table: pl.DataFrame) -> str:
    """Gain of gate and oracle over the stronger component, and weights by type of case.

    Parameters
    ----------
    table : polars.DataFrame
        The table ``coverage``.
    """
    known = cells(table)
    (protocol, *_) = distinct(table, "protocol")
    subset = table.filter(pl.col("metric") == "oracle_gain")["subset"][0]
    arms = distinct(table.filter(pl.col("metric") == "oracle_gain"), "variant")
    kinds = distinct(table.filter(pl.col("metric") == "weight_q50"), "subset")
    with _drawing():
        figure = Figure(
            figsize=(_WIDTH, 1.9 + 0.28 * (len(arms) + (len(arms) + 1) * len(kinds))),
            layout="constrained",
        )
        upper, lower = figure.subplots(
            2, 1, height_ratios=[1 + len(arms), 1 + (len(arms) + 1) * max(1, len(kinds))]
        )
        _gains(upper, known, protocol, subset, arms)
        _weights(lower, known, protocol, kinds, [arm for arm in arms if arm != MACRO])
        return _svg(figure, "fusion-gains", "Gain against the oracle; ontology weight by case type")


def _gains(
    axis: Axes, known: Mapping[Key, Cell], protocol: str, subset: str, arms: Sequence[str]
) -> None:
    for y, arm in enumerate(arms):
        oracle = known["gate", protocol, arm, subset, "oracle_gain"].value or 0.0
        gate = known["gate", protocol, arm, subset, "gate_gain"]
        axis.barh(y, oracle, height=0.7, color=_FAINT)
        axis.plot([gate.value or 0.0], [y], "D", color=_COLOURS[AFTER], markersize=5)
        if gate.low is not None and gate.high is not None:
            axis.plot([gate.low, gate.high], [y, y], color=_COLOURS[AFTER], linewidth=1.4)
    axis.set_yticks(range(len(arms)), [arm_label(arm) for arm in arms])
    axis.invert_yaxis()
    axis.set_xlabel("Gain in Recall@1, share of cases")


def _weights(
    axis: Axes,
    known: Mapping[Key, Cell],
    protocol: str,
    kinds: Sequence[str],
    arms: Sequence[str],
) -> None:
    labels: list[str] = []
    headings: list[int] = []
    for kind in kinds:
        headings.append(len(labels))
        labels.append(_KINDS.get(kind, kind))
        for arm in arms:
            found = [known.get(("gate", protocol, arm, kind, f"weight_q{q}")) for q in _QUANTILES]
            values = [cell.value for cell in found if cell is not None and cell.value is not None]
            if len(values) < len(_QUANTILES):
                continue
            y = [float(len(labels))] * 2
            axis.plot([values[0], values[4]], y, color=_INK, linewidth=0.9)
            axis.plot(
                [values[1], values[3]], y, solid_capstyle="butt", color=_COLOURS[BEFORE], lw=5
            )
            axis.plot(values[2:3], y[:1], "|", color=_INK, markersize=11, markeredgewidth=1.6)
            labels.append(arm)
    axis.set_yticks(range(len(labels)), labels)
    for row in headings:
        axis.get_yticklabels()[row].set_fontweight("bold")
    axis.invert_yaxis()
    axis.set_xlim(0, 1)
    axis.set_xlabel("Weight of the ontology list, 0 to 1")
