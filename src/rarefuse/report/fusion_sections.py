"""Sections of the page about fusion: one builder a table."""

from collections.abc import Callable, Sequence

import polars as pl
from markupsafe import Markup

from rarefuse.report import fusion_figures
from rarefuse.report.labels import (
    MACRO,
    MISSING,
    PROTOCOLS,
    SUBSETS,
    VARIANTS,
    Cell,
    arm_label,
    cells,
    count,
    distinct,
    interval,
    metric_label,
    metrics,
    number,
    percent,
    percent_interval,
    points,
    system_label,
)
from rarefuse.report.parts import INTERVAL, Part, Section, Table, largest_count, value_text

Builder = Callable[[pl.DataFrame, str], Section]

_DIFFERENCE = " - "
_COVERAGE = {
    "gold_in_union": "Diagnosis among the candidates of either list",
    "gold_in_prefix": "Diagnosis in the ontology's stored list",
    "gold_in_llm_list": "Diagnosis in the LLM's list",
    "oracle@1": "Oracle: either first candidate right",
    "oracle_gain": "Oracle above the stronger component",
    "gate_gain": "Gate above the stronger component",
    "llm_right_in_ontology_errors": "LLM first right, of the ontology's errors",
    "llm_first_where_listed": "LLM first right, of its lists with the diagnosis",
    "correct_in_prefix": "In the ontology's stored list, of correct fused predictions",
    "first_outside_prefix": "Outside it, of all fused predictions",
    "outside_precision": "Correct, of predictions from outside",
    "promoted_2_to_10": "From the ontology's places 2 to 10, of all fused predictions",
    "promoted_2_to_10_precision": "Correct, of those",
}


def _system(name: str) -> str:
    """A system's label; that of the minuend's and the subtrahend's for a difference."""
    component, colon, system = name.rpartition(": ")
    text = " − ".join(system_label(part) for part in system.split(_DIFFERENCE))
    return f"{system_label(component)}: {text}" if colon else text


def _sd(cell: Cell | None, change: bool) -> str:
    if cell is None or cell.sd is None:
        return MISSING
    return number(100 * cell.sd, 2) if change else number(cell.sd)


def systems_table(
    table: pl.DataFrame, caption: str, protocol: str, subset: str, shown: Sequence[str]
) -> tuple[Table, ...]:
    """Systems under each arm, metrics side by side, and the differences of the first metric.

    Parameters
    ----------
    shown : sequence of str
        Metrics.
    """
    part = table.filter(pl.col("protocol") == protocol, pl.col("subset") == subset)
    known = cells(part)
    listed = part.filter(pl.col("metric").is_in(list(shown)))
    groups: list[tuple[str, tuple[tuple[str, ...], ...]]] = []
    differences: list[tuple[str, tuple[tuple[str, ...], ...]]] = []
    for variant in distinct(listed, "variant"):
        rows: list[tuple[str, ...]] = []
        changes: list[tuple[str, ...]] = []
        for system in distinct(listed, "system"):
            change = _DIFFERENCE in system
            found = [known.get((system, protocol, variant, subset, m)) for m in shown]
            if not any(found):
                continue
            first = found[0]
            if change:
                changes.append(
                    (_system(system), value_text(first, True), interval(first, True),
                     _sd(first, True), largest_count(found))
                )  # fmt: skip
            else:
                rows.append(
                    (_system(system), value_text(first), interval(first), _sd(first, False),
                     *(value_text(cell) for cell in found[1:]), largest_count(found))
                )  # fmt: skip
        groups.append((arm_label(variant), tuple(rows)))
        differences.append((arm_label(variant), tuple(changes)))
    heads = [metric_label(m) for m in shown]
    made = [
        Table(
            caption,
            ("System", heads[0], INTERVAL, "SD over seeds", *heads[1:], "Cases"),
            tuple(g for g in groups if g[1]),
        )
    ]
    if any(rows for _, rows in differences):
        made.append(
            Table(
                f"Paired differences of {heads[0]}, in percentage points.",
                ("Difference", "Points", INTERVAL, "SD over seeds", "Cases"),
                tuple(g for g in differences if g[1]),
            )
        )
    return tuple(made)


def _one(table: pl.DataFrame) -> tuple[str, str]:
    """Protocol and subset of a table that has one of each."""
    return distinct(table, "protocol")[0], distinct(table, "subset")[0]


def _where(table: pl.DataFrame) -> str:
    protocol, subset = _one(table)
    return f"{PROTOCOLS.get(protocol, protocol)}, {SUBSETS.get(subset, subset).lower()}"


def _fusion(table: pl.DataFrame, level: str) -> Section:
    held = table.filter(pl.col("metric") == "family_held_out", pl.col("value") == 0)
    inside = ", ".join(held["variant"].to_list())
    note = (
        f" For {inside} the model's own family could not be held out or was not to be."
        if inside
        else ""
    )
    results = table.filter(pl.col("metric") != "family_held_out")
    shown = [m for m in ("recall@1", "recall@5", "recall@10", "mrr") if m in metrics(results)]
    return Section(
        "fusion",
        "Fusion",
        "Ontology list and language model, fused",
        "A gate weighs the two lists of each case by what can be seen of them: how much the case "
        "says, how decided each list is, how well the ontology supports its candidates, and how "
        "far the lists agree. It is trained on other language models only, the target's whole "
        "family held out, and predicts cases whose publication it was not trained on. A "
        f"diagnosis that neither list has counts as missed.{note}",
        Markup(fusion_figures.fusion_curves(results)),
        f"Recall@k, mean over models. Bars are {level} intervals.",
        systems_table(results, f"{_where(results)}. The fixed weight is fitted with the target "
                      "model's own labels.", *_one(results), shown),
    )  # fmt: skip


def _rank_fusion(table: pl.DataFrame, level: str) -> Section:
    known = cells(table)
    protocol, subset = _one(table)
    policies = ("native", "averaged", "worst")
    arms = list(dict.fromkeys(v.rpartition(", ")[0] for v in distinct(table, "variant")))
    groups = []
    for arm in arms:
        rows = []
        for system in distinct(table, "system"):
            row = [_system(system)]
            for policy in policies:
                cell = known.get((system, protocol, f"{arm}, {policy}", subset, "recall@1"))
                row += [value_text(cell), interval(cell)]
            rows.append(tuple(row))
        groups.append((arm_label(arm), tuple(rows)))
    columns = ["System"]
    for policy in policies:
        columns += [VARIANTS[policy], INTERVAL]
    return Section(
        "rank-fusion",
        "Rank fusion",
        "Rank fusion and ties",
        "Rules that know ranks only give many candidates the same score. In native order equal "
        "scores keep the ontology's order, then the language model's.",
        parts=(
            Part(
                "All rules",
                True,
                Table(f"Recall@1. {_where(table)}.", tuple(columns), tuple(groups)),
            ),
        ),
    )


def _coverage(table: pl.DataFrame, level: str) -> Section:
    known = cells(table)
    protocol = distinct(table, "protocol")[0]
    subset = table.filter(pl.col("metric") == "oracle_gain")["subset"][0]
    groups = []
    for variant in distinct(table, "variant"):
        rows = []
        for metric, text in _COVERAGE.items():
            for system in ("gate", "llm"):
                cell = known.get((system, protocol, variant, subset, metric))
                if cell is None:
                    continue
                gain = metric.endswith("_gain")
                value = points(cell.value) if gain else percent(cell.value)
                bounds = percent_interval(cell.low, cell.high)
                rows.append((text, value, bounds, count(cell.n)))
        groups.append((arm_label(variant), tuple(rows)))
    return Section(
        "coverage",
        "Coverage",
        "What the lists hold, and where predictions come from",
        "Fusion can only reorder what the two lists name. A prediction that the ontology's stored "
        "list has too comes with matched findings that can be looked at; one from outside it does "
        "not.",
        Markup(fusion_figures.gains_and_weights(table)),
        f"Above: gain over the stronger component of the gate (diamonds, {level} intervals) and of "
        "the oracle (bars). Below: the gate's weight of the ontology list by which first candidate "
        "is right; median, quartiles, and from the tenth to the ninetieth percentile.",
        (
            Table(
                "Shares in per cent, gains in percentage points; n is what the share is of.",
                ("Statistic", "Value", INTERVAL, "n"),
                tuple(groups),
            ),
        ),
    )


def _learned(anchor: str, nav: str, title: str, text: str) -> Builder:
    def build(table: pl.DataFrame, level: str) -> Section:
        shown = [m for m in ("recall@1", "recall@10", "mrr") if m in metrics(table)]
        return Section(
            anchor,
            nav,
            title,
            text,
            tables=systems_table(table, f"{_where(table)}.", *_one(table), shown),
        )

    return build


def _paired_seeds(table: pl.DataFrame, level: str) -> Section:
    known = cells(table)
    protocol, subset = _one(table)
    rows = []
    for system in distinct(table, "system"):
        change = _DIFFERENCE in system
        cell = known[system, protocol, MACRO, subset, "recall@1"]
        above = known.get((system, protocol, MACRO, subset, "seeds_above"))
        rows.append(
            (
                _system(system),
                value_text(cell, change),
                interval(cell, change),
                _sd(cell, change),
                f"{count(above.value)} of {count(above.n)}" if above else MISSING,
            )
        )
    return Section(
        "paired-seeds",
        "Paired seeds",
        "Matched initialisations",
        "Gate and routers were fitted many times, from the same seeds and rows. Intervals here "
        "are of the mean over fits: they measure optimisation, not the sampling of cases.",
        tables=(
            Table(
                "Recall@1, mean over models; differences in percentage points.",
                ("System", "Recall@1", INTERVAL, "SD over seeds", "Seeds above"),
                (("", tuple(rows)),),
            ),
        ),
    )


def _transfer(table: pl.DataFrame, level: str) -> Section:
    parts: list[Part] = []
    for protocol in distinct(table, "protocol"):
        for subset in distinct(table.filter(pl.col("protocol") == protocol), "subset"):
            name = f"{PROTOCOLS.get(protocol, protocol)}, {SUBSETS.get(subset, subset).lower()}"
            made = systems_table(table, f"{name}.", protocol, subset, ["recall@1", "mrr"])
            parts += [
                Part(name if i == 0 else f"{name}: differences", not parts, one)
                for i, one in enumerate(made)
            ]
    return Section(
        "transfer",
        "Transfer",
        "Other components and protocols",
        "The whole protocol again with other ontology components, without LOPO, and on the cases "
        "whose diagnosis keeps annotations. Language models named as test-only are scored by the "
        "gate that was trained on all others.",
        parts=tuple(parts),
    )


FUSION_SECTIONS: dict[str, Builder] = {
    "fusion": _fusion,
    "rank_fusion": _rank_fusion,
    "coverage": _coverage,
    "controls": _learned(
        "controls",
        "Controls",
        "Learned controls",
        "Routers choose one list a case; the asymmetric network weighs both from their two "
        "descriptions; the linear scorer is the gate without hidden layers. All have the gate's "
        "features, rows and hold-out.",
    ),
    "ablation": _learned(
        "ablation",
        "Ablation",
        "What the gate needs to see",
        "The gate trained again without each group of features, and with ontology support and "
        "cross-list features alone.",
    ),
    "paired_seeds": _paired_seeds,
    "developers": _learned(
        "developers",
        "Developers",
        "All models of a developer held out",
        "The gate again, trained on models of other developers only. Two families of one "
        "developer may share training data; this is the strictest reading of a family.",
    ),
    "depth": _learned(
        "depth",
        "Depth",
        "Depth of the ontology list",
        "Everything trained again on the first places of the ontology's list, and the same gate "
        "with the ranker's whole order in place of the stored list.",
    ),
    "transfer": _transfer,
}
"""Table → builder of its section, in the page's order."""
