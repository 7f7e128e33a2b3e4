"""The report page: one self-contained HTML file, no scripts, nothing fetched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import polars as pl
from markupsafe import Markup

from rarefuse.errors import InputError
from rarefuse.report import figures
from rarefuse.report.findings import background, lead
from rarefuse.report.labels import (
    AFTER,
    BEFORE,
    CHANGE,
    CHECKS,
    LEVELS,
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
    level_name,
    metric_label,
    metrics,
    number,
    percent,
    points,
    rankers,
    require,
    subsets,
    system_label,
)

TEMPLATES = Path(__file__).parent / "templates"
COHORT_METRICS = (
    "cases",
    "publications",
    "gold_diseases",
    "gold_in_hpoa",
    "rankable",
    "eligible",
    "emptied_by_lopo",
)
OVERLAP_METRICS = (
    "overlap_share",
    "exclusive_share_mean",
    "exclusive_share_median",
    "entirely_exclusive_share",
    "query_terms_covered_mean",
)
TIE_METRICS = ("rank1_tied_share", "rank1_tie_mean", "rank1_tie_max")
POLICIES = (NATIVE, "averaged", "worst")
PROVENANCE_KEYS = ("version", "seed", "sources")
SOURCE_KEYS = ("id", "title", "release", "sha256")
_INTERVAL = "interval"  # the template puts the level before it
_LONG = 16  # characters from which the first column may wrap on a narrow screen
_CHANGES = (CHANGE, "uncapped - capped")


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


def render_report(
    corpus: str,
    tables: Mapping[str, pl.DataFrame],
    skipped: pl.DataFrame,
    problems: pl.DataFrame,
    audit: pl.DataFrame,
    provenance: Mapping[str, Any],
) -> str:
    """Render the report page.

    Parameters
    ----------
    corpus : str
        Name of the corpus.
    tables : mapping of str to polars.DataFrame
        `evaluation.tables.TABLE` frames: `cohort`, `overlap`, `recall` and `ties`; optionally
        `monte_carlo` and `query_cap`.
    skipped, problems : polars.DataFrame
        `corpus.cases.SKIPPED` and `annotations.relations.PROBLEMS`.
    audit : polars.DataFrame
        Columns check, passed, value, detail.
    provenance : mapping
        `version` and `seed`; `sources`, each a mapping with `id`, `title`, `release`, `sha256` and
        optionally `licence`; optionally `resamples` and `level` (0.95) of the intervals, and
        `settings` (a mapping of text to anything, shown as it is).

    Returns
    -------
    str
        HTML; the same inputs give the same text.

    Raises
    ------
    InputError
        If a table or a provenance key is missing, or the recall table is incomplete.
    """
    require(tables)
    _check_provenance(provenance)
    recall, ties = tables["recall"], tables["ties"]
    level = float(provenance.get("level", 0.95))
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    optional = {name: tables.get(name) for name in ("monte_carlo", "query_cap", "null_models")}
    return environment.get_template("report.html.j2").render(
        corpus=corpus,
        releases=[f"{source['title']} {source['release']}" for source in provenance["sources"]],
        lead=lead(tables, level),
        level=level_name(level),
        interval=_INTERVAL,
        background=background(tables),
        main_table=_main_table(recall),
        main_figure=Markup(figures.before_after(recall)),
        curves=Markup(figures.recall_curves(recall)),
        cohort=_cohort_table(tables["cohort"]),
        knowledge=_knowledge(tables["cohort"]),
        skipped=_skipped_table(skipped),
        problems=_problems_table(problems),
        overlap=_optional(tables["overlap"], _overlap_table),
        recall=_recall_parts(recall),
        ties=_tie_parts(ties),
        tie_blocks=_tie_blocks(ties),
        tie_figure=Markup(figures.tie_policies(ties)),
        monte_carlo=_optional(optional["monte_carlo"], _seeds_table),
        seeds_figure=_optional(optional["monte_carlo"], _markup(figures.monte_carlo)),
        query_cap=_optional(optional["query_cap"], _cap_table),
        cap_figure=_optional(optional["query_cap"], _markup(figures.query_cap)),
        null_models=_optional(optional["null_models"], _tie_parts),
        nulls_figure=_optional(optional["null_models"], _markup(figures.tie_policies)),
        audit=_audit_table(audit),
        failed=[_check_label(c) for c in audit.filter(~pl.col("passed"))["check"].to_list()],
        sources=_sources_table(provenance["sources"]),
        version=provenance["version"],
        seed=provenance["seed"],
        resamples=_resamples(provenance.get("resamples")),
        settings=[(str(k), str(v)) for k, v in provenance.get("settings", {}).items()],
    )


def _check_provenance(provenance: Mapping[str, Any]) -> None:
    missing = [key for key in PROVENANCE_KEYS if key not in provenance]
    missing += [
        f"{key} of source {i + 1}"
        for i, source in enumerate(provenance.get("sources", []))
        for key in SOURCE_KEYS
        if key not in source
    ]
    if missing:
        raise InputError(
            "the report lacks part of its provenance",
            found=", ".join(provenance) or "nothing",
            expected=f"also {', '.join(missing)}",
        )


def _optional(frame: pl.DataFrame | None, make: Any) -> Any:
    return None if frame is None or frame.is_empty() else make(frame)


def _markup(draw: Any) -> Any:
    return lambda frame: Markup(draw(frame))


def _resamples(value: Any) -> str:
    return "resamples" if value is None else f"{count(float(value))} resamples"


def _check_label(check: str) -> str:
    return CHECKS.get(check, check)


def _value(cell: Cell | None, change: bool = False) -> str:
    if cell is None:
        return MISSING
    return points(cell.value) if change else number(cell.value)


def _largest(found: Sequence[Cell | None]) -> str:
    sizes = [cell.n for cell in found if cell is not None]
    return count(max(sizes)) if sizes else MISSING


def _before_after(
    known: Mapping[Key, Cell], system: str, variant: str, subset: str, metric: str
) -> list[str]:
    """Cells before, after and change, each with its interval, and the number of cases."""
    found = [known.get((system, p, variant, subset, metric)) for p in (BEFORE, AFTER, CHANGE)]
    texts: list[str] = []
    for protocol, cell in zip((BEFORE, AFTER, CHANGE), found, strict=True):
        change = protocol == CHANGE
        texts += [_value(cell, change), interval(cell, change)]
    return [*texts, _largest(found)]


_BEFORE_AFTER = (
    PROTOCOLS[BEFORE],
    _INTERVAL,
    PROTOCOLS[AFTER],
    _INTERVAL,
    PROTOCOLS[CHANGE],
    _INTERVAL,
    "Cases",
)


def _main_table(recall: pl.DataFrame) -> Table:
    known = cells(recall)
    rows = tuple(
        (system_label(system), *_before_after(known, system, NATIVE, "all", "recall@1"))
        for system in rankers(recall)
    )
    return Table(
        "Recall@1 of all eligible cases before and after LOPO, and the paired change in "
        "percentage points.",
        ("Ranker", *_BEFORE_AFTER),
        (("", rows),),
    )


def _recall_parts(recall: pl.DataFrame) -> list[Part]:
    known = cells(recall)
    return [
        Part(
            SUBSETS.get(subset, subset),
            subset in ("all", "test"),
            Table(
                f"{SUBSETS.get(subset, subset)}: recall and mean reciprocal rank (MRR) before and "
                "after LOPO; change in percentage points (0.01 of MRR is one point).",
                ("Metric", *_BEFORE_AFTER),
                tuple(
                    (
                        system_label(system),
                        tuple(
                            (
                                metric_label(metric),
                                *_before_after(known, system, NATIVE, subset, metric),
                            )
                            for metric in metrics(recall)
                        ),
                    )
                    for system in distinct(recall, "system")
                ),
            ),
        )
        for subset in subsets(recall)
    ]


def _cohort_table(cohort: pl.DataFrame) -> Table:
    known = cells(cohort)
    columns = subsets(cohort)
    rows = tuple(
        (
            metric_label(metric),
            *(
                count(cell.value if (cell := _of_data(known, subset, metric)) else None)
                for subset in columns
            ),
        )
        for metric in COHORT_METRICS
        if any(_of_data(known, subset, metric) for subset in columns)
    )
    return Table(
        "Counts of cases, publications and diagnoses.",
        ("", *(_capital("training" if s == "train" else s) for s in columns)),
        (("", rows),),
    )


def _of_data(known: Mapping[Key, Cell], subset: str, metric: str) -> Cell | None:
    return known.get(("hpoa", "-", "-", subset, metric))


def _knowledge(cohort: pl.DataFrame) -> dict[str, str]:
    known = cells(cohort)
    found = {m: _of_data(known, "all", m) for m in ("candidates", "hpoa_pmids")}
    return {metric: count(cell.value) for metric, cell in found.items() if cell is not None}


def _skipped_table(skipped: pl.DataFrame) -> Table | None:
    if skipped.is_empty():
        return None
    counted = skipped.group_by("level", "reason").agg(
        pl.len().alias("times"), pl.col("record").n_unique().alias("records")
    )
    groups = []
    for level in [*LEVELS, *sorted(set(counted["level"]) - set(LEVELS))]:
        rows = counted.filter(pl.col("level") == level).sort(
            "times", "reason", descending=[True, False]
        )
        if rows.height:
            texts = tuple(
                (reason, count(times), count(records))
                for reason, times, records in rows.select("reason", "times", "records").iter_rows()
            )
            groups.append((LEVELS.get(level, level), texts))
    return Table(
        "What the reader left out or changed, by level and reason.",
        ("Reason", "Times", "Records"),
        tuple(groups),
    )


def _problems_table(problems: pl.DataFrame) -> Table | None:
    if problems.is_empty():
        return None
    counted = (
        problems.group_by("reason", maintain_order=True)
        .agg(pl.len().alias("rows"), pl.col("detail").first().alias("example"))
        .sort("rows", "reason", descending=[True, False])
    )
    rows = tuple(
        (reason, count(n), example[:80])
        for reason, n, example in counted.select("reason", "rows", "example").iter_rows()
    )
    return Table(
        "Rows of the annotation file that were mended or left out, by reason.",
        ("Reason", "Rows", "First example"),
        (("", rows),),
        frozenset({2}),
    )


def _overlap_table(overlap: pl.DataFrame) -> Table:
    known = cells(overlap)
    rows = []
    for metric in OVERLAP_METRICS:
        cell = _of_data(known, "all", metric)
        if cell is None:
            continue
        bounds = (
            MISSING
            if cell.low is None or cell.high is None
            else f"[{number(100 * cell.low, 1)}, {number(100 * cell.high, 1)}]"
        )
        rows.append((metric_label(metric), percent(cell.value), bounds, count(cell.n)))
    return Table(
        "Publication-source overlap of the cases whose diagnosis has annotations, in per cent.",
        ("Statistic", "Value", _INTERVAL, "Cases"),
        (("", tuple(rows)),),
    )


def _tie_parts(ties: pl.DataFrame) -> list[Part]:
    known = cells(ties)
    columns: list[str] = ["Metric", "Protocol"]
    for policy in POLICIES:
        columns += [VARIANTS[policy], _INTERVAL]
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
                            _value(cell, protocol == CHANGE),
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


def _tie_blocks(ties: pl.DataFrame) -> Table | None:
    known = cells(ties)
    rows = []
    for system in distinct(ties, "system"):
        for protocol in (BEFORE, AFTER):
            share, mean, largest = (
                known.get((system, protocol, NATIVE, "all", metric)) for metric in TIE_METRICS
            )
            if share or mean or largest:
                rows.append(
                    (
                        system_label(system),
                        PROTOCOLS[protocol],
                        percent(share.value if share else None),
                        number(mean.value if mean else None, 2),
                        count(largest.value if largest else None),
                        _largest([share, mean, largest]),
                    )
                )
    if not rows:
        return None
    return Table(
        "How often the first place is shared by several diseases, and by how many (all eligible "
        "cases).",
        ("Ranker", "Protocol", *map(metric_label, TIE_METRICS), "Cases"),
        (("", tuple(rows)),),
        frozenset({1}),
    )


def _seeds_table(table: pl.DataFrame) -> Table:
    known = cells(table)
    variants = distinct(table, "variant")
    seeds = [variant for variant in variants if variant != "mean of seeds"]
    groups = []
    for system in distinct(table, "system"):
        for subset in subsets(table):
            rows = []
            for metric in metrics(table):
                for protocol in (BEFORE, AFTER, CHANGE):
                    change = protocol == CHANGE
                    mean = known.get((system, protocol, "mean of seeds", subset, metric))
                    found = [known.get((system, protocol, seed, subset, metric)) for seed in seeds]
                    if mean is None and not any(found):
                        continue
                    sd = None if mean is None or mean.sd is None else mean.sd
                    rows.append(
                        (
                            metric_label(metric),
                            PROTOCOLS[protocol],
                            *(_value(cell, change) for cell in found),
                            _value(mean, change),
                            interval(mean, change),
                            number(100 * sd, 2) if sd is not None and change else number(sd),
                        )
                    )
            if rows:
                title = system_label(system)
                if subset != "all":
                    title += f", {SUBSETS.get(subset, subset).lower()}"
                groups.append((title, tuple(rows)))
    return Table(
        "Each seed's result, their mean with its interval, and their standard deviation (SD); "
        "change in percentage points.",
        ("Metric", "Protocol", *map(_capital, seeds), "Mean", _INTERVAL, "SD over seeds"),
        tuple(groups),
        frozenset({1}),
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cap_table(table: pl.DataFrame) -> Table:
    known = cells(table)
    variants = [
        v for v in ("capped", "uncapped", "uncapped - capped") if v in distinct(table, "variant")
    ]
    several = len(distinct(table, "system")) > 1
    groups = []
    for system in distinct(table, "system"):
        for subset in subsets(table):
            rows = []
            for metric in metrics(table):
                for protocol in (BEFORE, AFTER, CHANGE):
                    found = [known.get((system, protocol, v, subset, metric)) for v in variants]
                    if not any(found):
                        continue
                    row = [metric_label(metric), PROTOCOLS[protocol]]
                    for variant, cell in zip(variants, found, strict=True):
                        change = protocol == CHANGE or variant in _CHANGES
                        row += [_value(cell, change), interval(cell, change)]
                    rows.append((*row, _largest(found)))
            name = SUBSETS.get(subset, subset)
            title = f"{system_label(system)}: {name}" if several else name
            if rows:
                groups.append((title, tuple(rows)))
    columns = ["Metric", "Protocol"]
    for variant in variants:
        columns += [VARIANTS[variant], _INTERVAL]
    return Table(
        "Phenomizer with its null distributions capped at ten terms, and without the cap; changes "
        "in percentage points.",
        (*columns, "Cases"),
        tuple(groups),
        frozenset({1}),
    )


def _audit_table(audit: pl.DataFrame) -> Table:
    rows = tuple(
        (
            _check_label(check),
            "Passed" if passed else "FAILED",
            _audit_value(check, value),
            detail,
        )
        for check, passed, value, detail in audit.select(
            "check", "passed", "value", "detail"
        ).iter_rows()
    )
    return Table(
        "Checks of what the systems are given.",
        ("Check", "Result", "Value", "Detail"),
        (("", rows),),
        frozenset({1, 3}),
    )


def _audit_value(check: str, value: float | None) -> str:
    if check == "lexical overlap":
        return percent(value)
    whole = value is not None and value == value and float(value).is_integer()
    return count(value) if whole else number(value)


def _sources_table(sources: Sequence[Mapping[str, Any]]) -> Table:
    rows = tuple(
        (
            str(source["title"]),
            str(source["release"]),
            str(source["id"]),
            str(source.get("licence") or MISSING),
            str(source["sha256"]),
        )
        for source in sources
    )
    return Table(
        "Files that the run read, by their checked digests.",
        ("Source", "Release", "Id", "Licence", "SHA-256"),
        (("", rows),),
        frozenset({1, 2, 3, 4}),
    )
