"""Sections of the page that are there when their table is: one builder a table."""

from collections.abc import Callable, Mapping

import polars as pl
from markupsafe import Markup

from rarefuse.report import figures
from rarefuse.report.fusion_sections import FUSION_SECTIONS
from rarefuse.report.labels import (
    AFTER,
    BEFORE,
    CHANGE,
    MISSING,
    NATIVE,
    PROTOCOLS,
    SUBSETS,
    VARIANTS,
    cells,
    count,
    distinct,
    interval,
    metric_label,
    metrics,
    number,
    percent,
    percent_interval,
    subsets,
    system_label,
)
from rarefuse.report.parts import (
    BEFORE_AFTER,
    INTERVAL,
    Part,
    Section,
    Table,
    before_after_cells,
    capital,
    largest_count,
    tie_parts,
    value_text,
)
from rarefuse.report.reranker_section import reranker_section

_CHANGES = (CHANGE, "uncapped - capped")


def optional_sections(tables: Mapping[str, pl.DataFrame], level: str) -> list[Section]:
    """Sections of the tables that there are, in the page's order; empty tables have none.

    Parameters
    ----------
    tables : mapping of str to polars.DataFrame
        Result tables by name.
    level : str
        Coverage of the intervals, as text.
    """
    return [
        build(tables[name], level)
        for name, build in SECTIONS.items()
        if name in tables and not tables[name].is_empty()
    ]


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
                            *(value_text(cell, change) for cell in found),
                            value_text(mean, change),
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
        ("Metric", "Protocol", *map(capital, seeds), "Mean", INTERVAL, "SD over seeds"),
        tuple(groups),
        frozenset({1}),
    )


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
                        row += [value_text(cell, change), interval(cell, change)]
                    rows.append((*row, largest_count(found)))
            name = SUBSETS.get(subset, subset)
            title = f"{system_label(system)}: {name}" if several else name
            if rows:
                groups.append((title, tuple(rows)))
    columns = ["Metric", "Protocol"]
    for variant in variants:
        columns += [VARIANTS[variant], INTERVAL]
    return Table(
        "Phenomizer with its null distributions capped at ten terms, and without the cap; changes "
        "in percentage points.",
        (*columns, "Cases"),
        tuple(groups),
        frozenset({1}),
    )


def _grouped_parts(
    table: pl.DataFrame, text: str, heading: Callable[[str], str] = capital
) -> tuple[Part, ...]:
    """Recall@1 of groups of cases (subsets such as ``all: profile kept``), one part a split."""
    known = cells(table)
    found = [tuple(subset.split(": ", 1)) for subset in distinct(table, "subset")]
    parts = []
    for split in dict.fromkeys(split for split, _ in found):
        groups = tuple(
            (
                heading(group),
                tuple(
                    (
                        system_label(system),
                        *before_after_cells(known, system, NATIVE, f"{split}: {group}", "recall@1"),
                    )
                    for system in distinct(table, "system")
                    if (system, BEFORE, NATIVE, f"{split}: {group}", "recall@1") in known
                ),
            )
            for other, group in found
            if other == split
        )
        name = SUBSETS.get(split, split)
        caption = f"{name}: Recall@1 {text}; change in percentage points."
        shown = split in ("all", "test")
        parts.append(Part(name, shown, Table(caption, ("Ranker", *BEFORE_AFTER), groups)))
    return tuple(parts)


def _single_case(table: pl.DataFrame, level: str) -> Section:
    return Section(
        "single",
        "Single cases",
        "One case a publication",
        "Annotations cite publications, not patients. Where a publication has a single case in the "
        "corpus, what LOPO removes cannot belong to another of its cases; what it contributes to "
        "such a case's rank is seen here.",
        parts=_grouped_parts(table, "by the number of cases that the publication has here"),
    )


def _retained(table: pl.DataFrame, level: str) -> Section:
    return Section(
        "retained",
        "Profile kept",
        "Diagnoses that keep annotations, and those that lose all",
        "LOPO leaves some diagnoses without any annotation, and nothing can rank those. Among the "
        "other cases the change is one of ranking.",
        parts=_grouped_parts(table, "where the diagnosis keeps annotations and where it does not"),
    )


def _dose(table: pl.DataFrame, level: str) -> Section:
    shares = {
        subset: cell
        for (system, _, _, subset, metric), cell in cells(table).items()
        if metric == "exclusive_share_mean"
    }
    rows = tuple(
        (subset.partition(": ")[2], number(cell.value, 3), count(cell.n))
        for subset, cell in shares.items()
        if subset.startswith("all: ")
    )
    return Section(
        "dose",
        "Dose",
        "By how much of the diagnosis's profile is source-exclusive",
        "If a case's own publication is what LOPO takes away, cases that owe it more must lose "
        "more. Cases with overlap, by the share of their diagnosis's annotations that their "
        "publication alone supports.",
        Markup(figures.dose(table)),
        "Recall@1 before (solid, circles) and after LOPO (dashed, diamonds), at the mean share of "
        f"each group. Bars are {level} intervals.",
        (Table("Groups of all eligible cases.", ("Share", "Mean", "Cases"), (("", rows),)),),
        _grouped_parts(
            table.filter(pl.col("system") != "hpoa"),
            "by the source-exclusive share",
            lambda group: f"Share {group}" if group.isdigit() else f"Share in {group}",
        ),
    )


_DELETIONS = {
    BEFORE: "Nothing deleted",
    AFTER: "LOPO, all diseases",
    "source_deletion": "Own annotations, diagnosis alone",
    "matched_deletion": "Matched annotations, diagnosis alone",
    CHANGE: "Change by LOPO",
    "source_deletion - ordinary": "Change by own annotations",
    "matched_deletion - ordinary": "Change by matched annotations",
}
_BALANCE = {
    "matched_pairs": "Pairs of annotations",
    "matched_groups": "Publications with a diagnosis of theirs",
    "within_one_ic_share": "Information content within one nat",
    "within_one_level_share": "Depth within one level",
    "same_branch_share": "A major branch in common",
    "smd_ic": "Standardised mean difference, information content",
    "smd_depth": "Standardised mean difference, depth",
    "smd_log_contribution": "Standardised mean difference, log contribution to the profile",
}


def _matched(table: pl.DataFrame, level: str) -> Section:
    known = cells(table)
    splits = [s for s in subsets(table) if s in ("all", "test")]
    groups = tuple(
        (
            f"{system_label(system)}, {SUBSETS.get(subset, subset).lower()}",
            tuple(
                (text, value_text(cell, change), interval(cell, change), count(cell.n))
                for protocol, text in _DELETIONS.items()
                for change in [protocol.endswith(f"- {BEFORE}")]
                if (cell := known.get((system, protocol, NATIVE, subset, "recall@1")))
            ),
        )
        for system in distinct(table, "system")
        if system != "hpoa"
        for subset in splits
    )
    balance = tuple(
        (
            text,
            *(
                _balance(metric, cell.value)
                if (cell := known.get(("hpoa", "-", "-", subset, metric)))
                else MISSING
                for subset in splits
            ),
        )
        for metric, text in _BALANCE.items()
    )
    return Section(
        "matched",
        "Matched deletion",
        "Own annotations against matched ones",
        "Does a ranker suffer because annotations go, or because these annotations go? In place "
        "of each one that only the case's publication supports, another of the same disease is "
        "deleted that other publications support and that is alike in information content, "
        "depth, branch and share of the profile. Cases whose diagnosis has too few such "
        "annotations are not in this table.",
        tables=(
            Table(
                "Recall@1 with annotations of the diagnosis deleted; changes in percentage points.",
                ("Deleted", "Recall@1", INTERVAL, "Cases"),
                groups,
            ),
            Table(
                "How alike the matched annotations are.",
                ("", *(SUBSETS.get(s, s) for s in splits)),
                (("", balance),),
            ),
        ),
    )


def _balance(metric: str, value: float | None) -> str:
    if metric.endswith("_share"):
        return percent(value)
    return number(value, 3) if metric.startswith("smd") else count(value)


_CROSS = {
    "cases": "Cases",
    "publications": "Publications",
    "publication_known_share": "Publication anywhere in the annotations",
    "overlap_share": "Overlap",
    "exclusive_share_mean": "Source-exclusive share, mean",
    "entirely_exclusive_share": "Entirely source-exclusive",
    "in_reference_share": "Same publication and diagnosis as a reference case",
}


def _cross_corpus(table: pl.DataFrame, level: str) -> Section:
    known = cells(table)
    groups = []
    for corpus in distinct(table, "system"):
        for variant in distinct(table.filter(pl.col("system") == corpus), "variant"):
            rows = []
            for metric, text in _CROSS.items():
                cell = known.get((corpus, "-", variant, "all", metric))
                if cell is None:
                    continue
                counted = metric in ("cases", "publications")
                bounds = percent_interval(cell.low, cell.high)
                value = count(cell.value) if counted else percent(cell.value)
                rows.append((text, value, bounds, count(cell.n)))
            groups.append((f"{corpus}, {variant}", tuple(rows)))
    return Section(
        "corpora",
        "Other corpora",
        "Overlap of other corpora",
        "The same join of publications for several corpora. Where diagnoses are ORPHA ids they are "
        "taken to their unique OMIM equivalents; what that costs is seen on the reference corpus, "
        "sent there and back. How many publications the annotations know at all depends on no "
        "mapping.",
        tables=(
            Table(
                "Publication-source overlap by corpus, in per cent of cases with a publication.",
                ("Statistic", "Value", INTERVAL, "Cases"),
                tuple(groups),
            ),
        ),
    )


def _unchanged(table: pl.DataFrame, level: str) -> Section:
    known = cells(table)
    rows = tuple(
        (
            system_label(system),
            count(known[system, "-", NATIVE, "nothing removed", "cases"].value),
            percent(known[system, "-", NATIVE, "nothing removed", "identical_share"].value, 2),
        )
        for system in distinct(table, "system")
    )
    return Section(
        "unchanged",
        "Untouched cases",
        "Cases that LOPO removes nothing for",
        "A check of the protocol itself: where nothing is removed, both rankings must be the same, "
        "candidate by candidate, with the same scores, p-values and ties.",
        tables=(
            Table(
                "Rankable cases that nothing is removed for.",
                ("Ranker", "Cases", "Identical"),
                (("", rows),),
            ),
        ),
    )


_AGREEMENT = {
    "same_first_share": "Same first disease",
    "same_gold_rank_share": "Same rank of the diagnosis",
    "gold_rank_distance_median": "Distance of the diagnosis's ranks, median",
    "overlap@10_mean": "First ten in common, mean share",
    "kendall@10_mean": "Kendall's tau over what the first ten share, mean",
}


def _stock(table: pl.DataFrame, level: str) -> Section:
    known = cells(table)
    pairs = table.filter(pl.col("variant").str.starts_with("against ")).select("system", "variant")
    groups = []
    for stock, variant in pairs.unique(maintain_order=True).iter_rows():
        native = variant.removeprefix("against ")
        for protocol in (BEFORE, AFTER):
            rows = []
            for metric in ("recall@1", "mrr"):
                change = known.get((stock, protocol, f"minus {native}", "all", metric))
                rows.append(
                    (
                        f"{metric_label(metric)}, program less port, points",
                        value_text(change, True),
                        interval(change, True),
                        largest_count([change]),
                    )
                )
            for metric, text in _AGREEMENT.items():
                if cell := known.get((stock, protocol, variant, "all", metric)):
                    plain = metric.startswith(("gold_rank", "kendall"))
                    value = number(cell.value, 3) if plain else percent(cell.value)
                    rows.append((text, value, interval(cell), count(cell.n)))
            failed = known.get((stock, protocol, "-", "all", "unanswered_cases"))
            rows.append(
                (
                    "Cases without a usable answer, counted as misses",
                    count(failed.value if failed else None),
                    MISSING,
                    largest_count([failed]),
                )
            )
            title = f"{system_label(stock)} against {system_label(native)}, {PROTOCOLS[protocol]}"
            groups.append((title, tuple(rows)))
    return Section(
        "stock",
        "Stock programs",
        "Stock programs beside our ports",
        "The same cases and the same annotations given to the program itself. Where port and "
        "program disagree, the difference is seen here and not in the figures above.",
        tables=(
            Table(
                "Agreement of the programs with our ports, all eligible cases.",
                ("Statistic", "Value", INTERVAL, "Cases"),
                tuple(groups),
            ),
        ),
    )


def _seeds(table: pl.DataFrame, level: str) -> Section:
    return Section(
        "seeds",
        "Monte Carlo",
        "Monte Carlo",
        "The sampled null distribution of Phenomizer depends on random queries. The same "
        "evaluation was run with several seeds; how far they lie apart is noise of the method, "
        "not of the cases.",
        Markup(figures.monte_carlo(table)),
        "Recall@1 of each seed as a distance from the mean over seeds, before and after LOPO.",
        (_seeds_table(table),),
    )


def _cap(table: pl.DataFrame, level: str) -> Section:
    return Section(
        "cap",
        "Query cap",
        "Query cap",
        "The reference Phenomizer has null distributions for queries of one to ten terms; a longer "
        "query is compared with the null for ten. Here the cap is lifted to see whether the result "
        "hangs on it.",
        Markup(figures.query_cap(table)),
        "Recall@1 with the cap (filled) and without it (open), by number of observed terms. Lines "
        f"are {level} intervals.",
        (_cap_table(table),),
    )


def _nulls(table: pl.DataFrame, level: str) -> Section:
    return Section(
        "nulls",
        "Null models",
        "Null models",
        "The same score under three null distributions: sampled once for all diseases, computed "
        "exactly, and sampled the way the reference Phenomizer does. Where the exact one ranks "
        "worse, the reason is that sampling leaves many candidates equal at the smallest p-value, "
        "and among those the score decides.",
        Markup(figures.tie_policies(table)),
        "Recall@1 with each null distribution under the three tie policies, all eligible cases. "
        f"Lines are {level} intervals.",
        parts=tuple(tie_parts(table)),
    )


_ANSWERS = {
    "ok": "Ok",
    "empty": "Empty",
    "truncated": "Truncated",
    "refused": "Refused",
    "failed": "Failed",
    "not asked": "Not asked",
    "reasoning": "Reasoning",
    "without a name": "No name",
}


def _llm(table: pl.DataFrame, level: str) -> Section:
    rows, failures = [], []
    for arm in distinct(table, "system"):
        found = table.filter(pl.col("system") == arm)
        value = dict(found.select("metric", "value").iter_rows())
        note = found["variant"][0]
        rows.append(
            (
                system_label(arm),
                *(count(value.get(metric)) for metric in _ANSWERS),
                number(value.get("names"), 2),
                MISSING if note == "-" else capital(note),
            )
        )
        failures += [
            (system_label(arm), metric.removeprefix("failed: "), count(n))
            for metric, n in value.items()
            if metric.startswith("failed: ")
        ]
    tables = [
        Table(
            "Cases by what came back; names an answer, at most ten.",
            ("Model", *_ANSWERS.values(), "Names", "Note"),
            (("", tuple(rows)),),
            frozenset({len(_ANSWERS) + 2}),
        )
    ]
    if failures:
        tables.append(
            Table(
                "Cases without an answer; the next run asks again unless that cannot help.",
                ("Model", "Reason", "Cases"),
                (("", tuple(failures)),),
                frozenset({1}),
            )
        )
    return Section(
        "llm",
        "Language models",
        "What the language models answered",
        "Every model gets the same prompt: sex, age or onset, and the labels of observed and "
        "excluded findings. An answer is empty if it is blank, refused if the model declines, "
        "truncated if it met the limit of 384 tokens; names of truncated answers count. Reasoning "
        "is removed before names are read.",
        tables=tuple(tables),
    )


SECTIONS: dict[str, Callable[[pl.DataFrame, str], Section]] = {
    "unchanged": _unchanged,
    "single_case": _single_case,
    "retained_profile": _retained,
    "dose": _dose,
    "matched_deletion": _matched,
    "cross_corpus": _cross_corpus,
    "stock_comparison": _stock,
    "monte_carlo": _seeds,
    "query_cap": _cap,
    "null_models": _nulls,
    "llm": _llm,
    **FUSION_SECTIONS,
    "reranker": reranker_section,
}
"""Table → builder of its section, in the page's order."""
