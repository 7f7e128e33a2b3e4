"""The report page: one self-contained HTML file, no scripts, nothing fetched."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from markupsafe import Markup

from rarefuse.errors import InputError
from rarefuse.report import figures
from rarefuse.report.environment import environment
from rarefuse.report.findings import background, lead
from rarefuse.report.labels import (
    AFTER,
    BEFORE,
    CHECKS,
    LEVELS,
    MISSING,
    NATIVE,
    PROTOCOLS,
    SUBSETS,
    Cell,
    Key,
    cells,
    count,
    distinct,
    level_name,
    metric_label,
    metrics,
    number,
    percent,
    percent_interval,
    rankers,
    require,
    subsets,
    system_label,
)
from rarefuse.report.parts import (
    BEFORE_AFTER,
    INTERVAL,
    TIE_METRICS,
    Part,
    Table,
    before_after_cells,
    capital,
    largest_count,
    tie_parts,
)
from rarefuse.report.sections import optional_sections

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
PROVENANCE_KEYS = ("version", "seed", "sources")
SOURCE_KEYS = ("id", "title", "release", "sha256")


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
        those of `rarefuse.report.sections.SECTIONS`.
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
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            corpus=corpus,
            releases=[f"{source['title']} {source['release']}" for source in provenance["sources"]],
            lead=lead(tables, level),
            level=level_name(level),
            interval=INTERVAL,
            background=background(tables),
            main_table=_main_table(recall),
            main_figure=Markup(figures.before_after(recall)),
            curves=Markup(figures.recall_curves(recall)),
            cohort=_cohort_table(tables["cohort"]),
            knowledge=_knowledge(tables["cohort"]),
            skipped=skipped_table(skipped),
            problems=problems_table(problems),
            overlap=_optional(tables["overlap"], _overlap_table),
            recall=_recall_parts(recall),
            ties=tie_parts(ties),
            tie_blocks=_tie_blocks(ties),
            tie_figure=Markup(figures.tie_policies(ties)),
            sections=optional_sections(tables, level_name(level)),
            audit=_audit_table(audit),
            failed=[_check_label(c) for c in audit.filter(~pl.col("passed"))["check"].to_list()],
            sources=_sources_table(provenance["sources"]),
            version=provenance["version"],
            seed=provenance["seed"],
            resamples=_resamples(provenance.get("resamples")),
            settings=[_setting(str(k), str(v)) for k, v in provenance.get("settings", {}).items()],
        )
    )


def _setting(name: str, value: str) -> tuple[str, str, bool]:
    """A setting's name, with a ranker's label; its value; whether that is code."""
    kind, _, entry = name.partition(" ")
    label = system_label(entry) if kind == "ranker" else entry
    if label != entry:
        name = f"{name}: {label}"
    return name[:1].upper() + name[1:], value, value.startswith("{")


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


def _resamples(value: Any) -> str:
    return "resamples" if value is None else f"{count(float(value))} resamples"


def _check_label(check: str) -> str:
    return CHECKS.get(check, check)


def _main_table(recall: pl.DataFrame) -> Table:
    known = cells(recall)
    rows = tuple(
        (system_label(system), *before_after_cells(known, system, NATIVE, "all", "recall@1"))
        for system in rankers(recall)
    )
    return Table(
        "Recall@1 of all eligible cases before and after LOPO, and the paired change in "
        "percentage points.",
        ("Ranker", *BEFORE_AFTER),
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
                ("Metric", *BEFORE_AFTER),
                tuple(
                    (
                        system_label(system),
                        tuple(
                            (
                                metric_label(metric),
                                *before_after_cells(known, system, NATIVE, subset, metric),
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
        ("", *(capital("training" if s == "train" else s) for s in columns)),
        (("", rows),),
    )


def _of_data(known: Mapping[Key, Cell], subset: str, metric: str) -> Cell | None:
    return known.get(("hpoa", "-", "-", subset, metric))


def _knowledge(cohort: pl.DataFrame) -> dict[str, str]:
    known = cells(cohort)
    found = {m: _of_data(known, "all", m) for m in ("candidates", "hpoa_pmids")}
    return {metric: count(cell.value) for metric, cell in found.items() if cell is not None}


def skipped_table(skipped: pl.DataFrame) -> Table | None:
    """What a reader left out or changed; None where there is nothing."""
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


def problems_table(problems: pl.DataFrame) -> Table | None:
    """Rows of the annotation file that were mended or left out; None where there is none."""
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
        bounds = percent_interval(cell.low, cell.high)
        rows.append((metric_label(metric), percent(cell.value), bounds, count(cell.n)))
    return Table(
        "Publication-source overlap of the cases whose diagnosis has annotations, in per cent.",
        ("Statistic", "Value", INTERVAL, "Cases"),
        (("", tuple(rows)),),
    )


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
                        largest_count([share, mean, largest]),
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


def _audit_table(audit: pl.DataFrame) -> Table:
    rows = tuple(
        (
            _check_label(check),
            "Passed" if passed else "FAILED",
            _audit_value(check, value),
            # Kinds of answers are named as columns are.
            detail.replace("_", " "),
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
