"""The result in a few lines for the terminal: plain ASCII, at most 100 columns, no colour."""

import textwrap
from collections.abc import Mapping

import polars as pl

from rarefuse.report.findings import emptied
from rarefuse.report.labels import (
    AFTER,
    BEFORE,
    CHANGE,
    MISSING,
    NATIVE,
    SUBSETS,
    Cell,
    Key,
    cells,
    count,
    distinct,
    interval,
    level_name,
    metric_label,
    number,
    percent,
    points,
    rankers,
    require,
    system_label,
)

METRICS = ("recall@1", "recall@10", "recall@100", "mrr")
WIDTH = 100
_NAME_WIDTH = 34


def terminal_summary(
    tables: Mapping[str, pl.DataFrame], corpus: str, report_path: str, level: float = 0.95
) -> str:
    """Summarise the run for the terminal.

    Parameters
    ----------
    tables : mapping of str to polars.DataFrame
        At least `cohort` and `recall`.
    corpus : str
        Name of the corpus.
    report_path : str
        Where the report page lies; the only line that may be longer than 100 columns.
    level : float
        Coverage of the intervals.

    Returns
    -------
    str
        Lines without a last line break.
    """
    require(tables, ("cohort", "recall"))
    recall = tables["recall"]
    systems = rankers(recall)
    known = cells(recall)
    lines = [*textwrap.wrap(_corpus_line(tables["cohort"], corpus), WIDTH), ""]
    for subset in ("all", "test"):
        if subset in distinct(recall, "subset"):
            lines += [*_table(known, systems, subset, level), ""]
    lines += textwrap.wrap(_emptied_line(tables["cohort"]), WIDTH)
    return "\n".join([*map(_plain, lines), f"Report: {report_path}"])


def _plain(text: str) -> str:
    return text.replace("−", "-").replace(MISSING, "-").replace("\u00a0", " ").rstrip()


def _corpus_line(cohort: pl.DataFrame, corpus: str) -> str:
    known = cells(cohort)
    found = [
        known.get(("hpoa", "-", "-", "all", metric))
        for metric in ("cases", "publications", "eligible")
    ]
    cases, publications, eligible = (count(cell.value if cell else None) for cell in found)
    return f"Corpus {corpus}: {cases} cases, {publications} publications, {eligible} eligible cases"


def _emptied_line(cohort: pl.DataFrame) -> str:
    found = emptied(cohort)
    if found is None:
        return "How many gold profiles LOPO empties is not known."
    gone, eligible = found
    share = f" ({percent(gone / eligible)})" if eligible else ""
    amount = f"{count(gone)} of {count(eligible)}"
    return f"LOPO empties the gold profile of {amount} eligible cases{share}."


def _table(known: Mapping[Key, Cell], systems: list[str], subset: str, level: float) -> list[str]:
    names = {system: _clip(system_label(system)) for system in systems}
    width = max(map(len, [*names.values(), "Ranker"]))
    n = max(
        (cell.n for key, cell in known.items() if key[3] == subset and key[4] == "recall@1"),
        default=0,
    )
    lines = [
        f"{SUBSETS[subset]} (n = {n:,})",
        f"  {'Ranker':<{width}}  {'Metric':<10}  {'Before':>6}  {'LOPO':>6}  {'Change':>6}"
        f"  {level_name(level)} interval, points",
    ]
    for system in systems:
        name = names[system]
        for metric in METRICS:
            before, after, change = (
                known.get((system, protocol, NATIVE, subset, metric))
                for protocol in (BEFORE, AFTER, CHANGE)
            )
            if before is None and after is None and change is None:
                continue
            values = [number(cell.value if cell else None) for cell in (before, after)]
            lines.append(
                f"  {name:<{width}}  {metric_label(metric):<10}  {values[0]:>6}  {values[1]:>6}"
                f"  {points(change.value if change else None):>6}  {interval(change, change=True)}"
            )
            name = ""
    return lines


def _clip(name: str) -> str:
    return name if len(name) <= _NAME_WIDTH else f"{name[: _NAME_WIDTH - 3]}..."
