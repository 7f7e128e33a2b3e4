"""Section of the page about the evidence reranker."""

import polars as pl

from rarefuse.report.labels import (
    AFTER,
    cells,
    distinct,
    interval,
    metric_label,
    metrics,
    system_label,
)
from rarefuse.report.parts import INTERVAL, Section, Table, capital, value_text

_OTHERS = {"alone": "Its list alone", "gate": "Fusion gate"}


def reranker_section(table: pl.DataFrame, level: str) -> Section:
    """Systems, then paired differences of Recall@1."""
    known = cells(table)
    shown = [m for m in metrics(table) if m in ("recall@1", "recall@10", "mrr", "pool_coverage")]
    lists, differences = [], []
    for variant in distinct(table, "variant"):
        for system in distinct(table, "system"):
            first = known.get((system, AFTER, variant, "all", "recall@1"))
            if first is None:
                continue
            if " - " in variant:
                other = variant.removeprefix("reranked - ")
                text = _OTHERS.get(other) or system_label(other)
                row = (text, value_text(first, True), interval(first, True))
                differences.append((system_label(system), *row))
            else:
                values = (known.get((system, AFTER, variant, "all", metric)) for metric in shown)
                texts = (value_text(cell, False) for cell in values)
                lists.append((system_label(system), capital(variant), *texts, interval(first)))
    held = table.filter(pl.col("metric") == "family_held_out", pl.col("value") == 0)
    inside = ", ".join(held["system"].to_list())
    note = f" For {inside} no other family was there to learn from." if inside else ""
    return Section(
        "reranker",
        "Evidence reranker",
        "Evidence reranker",
        "One additive scorer orders the union of several rankers' lists and a language model's "
        "names. Each part of a score counts in its clinical direction only, and the parts add up "
        "to it. Every case is scored by models that saw neither its publication nor an answer of "
        "its language model's family. The row of the ontology has no language model at all: what "
        "a model's row gains on it is the language model's merit, the rest is a better use of the "
        "ontology. No reranker can exceed the share of diagnoses among the candidates." + note,
        tables=(
            Table(
                f"After LOPO, all eligible cases. The {level} interval is that of Recall@1.",
                ("System", "List", *map(metric_label, shown), INTERVAL),
                (("", tuple(lists)),),
                frozenset({1}),
            ),
            Table(
                "Recall@1 of the reranked list less that of another, in points, with the interval "
                "of the paired difference.",
                ("Reranked", "Less", "Change", INTERVAL),
                (("", tuple(differences)),),
                frozenset({1}),
            ),
        ),
    )
