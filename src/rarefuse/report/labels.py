"""Names and numbers as a reader sees them, and look-up of cells in result tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from rarefuse.errors import InputError
from rarefuse.fusion.catalogue import component_of

BEFORE = "ordinary"
AFTER = "lopo"
CHANGE = "lopo - ordinary"
NATIVE = "native"
MISSING = "–"
REQUIRED = ("cohort", "overlap", "recall", "ties")

SYSTEMS = {
    "resnik": "Resnik similarity",
    "bma": "Best-match average",
    "phenomizer": "Phenomizer (sampled null)",
    "phenomizer-exact": "Phenomizer (exact null)",
    "phenomizer-reference": "Phenomizer (reference null)",
    "phenomizer-uncapped": "Phenomizer (no query cap)",
    "phenomizer-java": "Phenomizer (reference program)",
    "nb-lr": "Naive Bayes",
    "nb-lr-excluded": "Naive Bayes, excluded terms too",
    "lirical": "LIRICAL",
    "lirical-stock": "LIRICAL (stock program)",
    "gate": "Gate",
    "gate-by-developer": "Gate, developer held out",
    "ontology": "Ontology list alone",
    "llm": "Language model alone",
    "equal-weight": "Equal weights",
    "rrf": "Reciprocal-rank fusion",
    "borda": "Borda-fuse",
    "combmnz": "CombMNZ",
    "probfuse": "ProbFuse",
    "bayes-fuse": "Bayes-fuse",
    "fixed-weight": "Fixed weight",
    "logistic-router": "Logistic router",
    "mlp-router": "MLP router",
    "asymmetric": "Asymmetric MLP",
    "linear-shared": "Linear shared scorer",
    "without-context": "Gate without patient context",
    "without-shape": "Gate without list shape",
    "without-support": "Gate without ontology support",
    "without-cross": "Gate without cross-list features",
    "support-and-cross": "Gate with support and cross-list alone",
    "ontology-only": "Ontology only",
    "macro mean": "Macro mean over language models",
}
PROTOCOLS = {
    BEFORE: "Before\u00a0LOPO",
    AFTER: "After\u00a0LOPO",
    CHANGE: "Change,\u00a0points",
}
SUBSETS = {
    "all": "All eligible cases",
    "train": "Training split",
    "validation": "Validation split",
    "test": "Test split",
    "observed <= 10": "10 observed terms or fewer",
    "observed > 10": "More than 10 observed terms",
}
VARIANTS = {
    NATIVE: "Native order",
    "averaged": "Averaged over ties",
    "worst": "Worst case",
    "capped": "Capped at 10",
    "uncapped": "No cap",
    "uncapped - capped": "Change,\u00a0points",
    "mean of seeds": "Mean of seeds",
}
METRICS = {
    "mrr": "MRR",
    "cases": "Cases read",
    "publications": "Publications",
    "gold_diseases": "Distinct diagnoses",
    "gold_in_hpoa": "Cases whose diagnosis has annotations",
    "rankable": "Cases with an observed term",
    "eligible": "Eligible cases (both)",
    "emptied_by_lopo": "Eligible cases whose diagnosis LOPO leaves without annotations",
    "candidates": "Candidate diseases",
    "hpoa_pmids": "Publications cited by the annotations",
    "overlap_share": "Cases with overlap",
    "exclusive_share_mean": "Source-exclusive share of the diagnosis's profile, mean",
    "exclusive_share_median": "Source-exclusive share of the diagnosis's profile, median",
    "entirely_exclusive_share": "Cases whose diagnosis has a profile that is entirely exclusive",
    "query_terms_covered_mean": "Observed terms that are source-exclusive annotations of the "
    "diagnosis, mean share",
    "pool_coverage": "Diagnosis among the candidates",
    "rank1_tied_share": "First place tied",
    "rank1_tie_mean": "Mean size of the first tie block",
    "rank1_tie_max": "Largest first tie block",
}
LEVELS = {
    "file": "File in the archive that is not a record",
    "case": "Whole record left out",
    "term": "Term left out",
    "field": "Other value left out",
    "mapped": "Term kept under its current id",
}
CHECKS = {
    "planted answers found": "Planted answers are found",
    "no answer in the real view": "No answer in what the systems see",
    "labels are canonical": "Labels are the ontology's own",
    "publications stay in one split": "Publications stay in one split",
    "lexical overlap": "Lexical overlap of findings and diagnosis",
    "label names the answer": "Answers that are part of an ontology label",
}
MACRO = "macro"
"""Variant of a table that is the mean over language models."""
_FIRST_SUBSETS = ("all", "train", "validation", "test")

Key = tuple[str, str, str, str, str]


class Cell(NamedTuple):
    """One value of a result table with its interval."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    sd: float | None


def system_label(system: str) -> str:
    """Ranker as a reader knows it, and how much of its list; its id where there is no label."""
    if system in SYSTEMS:
        return SYSTEMS[system]
    component = component_of(system)
    label = SYSTEMS.get(component.ranker, component.ranker)
    if component.depth is not None:
        return f"{label}, first {component.depth}"
    return f"{label}, whole order" if component.full else label


def arm_label(variant: str) -> str:
    """Language model as a reader knows it."""
    return "Mean over models" if variant == MACRO else variant


def metric_label(metric: str) -> str:
    """Metric as a reader knows it."""
    if metric.startswith("recall@"):
        return f"Recall@{metric.removeprefix('recall@')}"
    return METRICS.get(metric, metric)


def cells(frame: pl.DataFrame) -> dict[Key, Cell]:
    """Cells by (system, protocol, variant, subset, metric)."""
    columns = ("system", "protocol", "variant", "subset", "metric")
    values = ("value", "ci_low", "ci_high", "n", "seed_sd")
    return {
        (row[0], row[1], row[2], row[3], row[4]): Cell(*row[5:])
        for row in frame.select(*columns, *values).iter_rows()
    }


def distinct(frame: pl.DataFrame, column: str) -> list[str]:
    """Values of a text column in order of first appearance."""
    return frame[column].unique(maintain_order=True).to_list()


def subsets(frame: pl.DataFrame) -> list[str]:
    """Subsets of a table: all, train, validation, test, then the others as they come."""
    found = distinct(frame, "subset")
    return [s for s in _FIRST_SUBSETS if s in found] + [s for s in found if s not in _FIRST_SUBSETS]


def metrics(frame: pl.DataFrame) -> list[str]:
    """Metrics of a table: recall by growing k, then the others as they come."""
    found = distinct(frame, "metric")
    recalls = [m for m in found if cutoff(m) is not None]
    return sorted(recalls, key=lambda m: cutoff(m) or 0) + [m for m in found if m not in recalls]


def cutoff(metric: str) -> int | None:
    """Return k of ``recall@k``; None for any other metric."""
    text = metric.removeprefix("recall@")
    return int(text) if text != metric and text.isdecimal() else None


def number(value: float | None, digits: int = 4) -> str:
    """Fixed digits with a true minus sign; a dash where there is no value."""
    if value is None or value != value:
        return MISSING
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", "−")


def count(value: float | None) -> str:
    """Whole number with separated thousands."""
    return MISSING if value is None or value != value else f"{round(value):,}"


def percent(value: float | None, digits: int = 1) -> str:
    """Share in 0..1 as a percentage."""
    return MISSING if value is None or value != value else f"{number(100 * value, digits)}\u00a0%"


def level_name(level: float) -> str:
    """Coverage of the intervals, such as ``95 %``."""
    return f"{100 * level:g}\u00a0%"


def points(value: float | None, digits: int = 2) -> str:
    """Difference of shares in percentage points, with its sign."""
    if value is None or value != value:
        return MISSING
    text = number(100 * value, digits)
    return text if text.startswith("−") or float(text) == 0 else f"+{text}"


def percent_interval(low: float | None, high: float | None) -> str:
    """Interval of a share in per cent, without the sign; a dash where there is none."""
    if low is None or high is None:
        return MISSING
    return f"[{number(100 * low, 1)}, {number(100 * high, 1)}]"


def interval(cell: Cell | None, change: bool = False, digits: int | None = None) -> str:
    """Interval of a cell as ``[low, high]``; a dash where there is none."""
    if cell is None or cell.low is None or cell.high is None:
        return MISSING
    if change:
        digits = 2 if digits is None else digits
        return f"[{points(cell.low, digits)}, {points(cell.high, digits)}]"
    digits = 4 if digits is None else digits
    return f"[{number(cell.low, digits)}, {number(cell.high, digits)}]"


def require(tables: Mapping[str, object], needed: Iterable[str] = REQUIRED) -> None:
    """Raise `InputError` unless all needed tables are there."""
    missing = [name for name in needed if name not in tables]
    if missing:
        raise InputError(
            "the report lacks a table",
            found=", ".join(tables) or "no table",
            expected=f"also {', '.join(missing)}",
            todo="run the workflow so that they are made",
        )


def rankers(recall: pl.DataFrame, subset: str = "all") -> list[str]:
    """Rankers of the recall table, in its order.

    Raises
    ------
    InputError
        If there is none, or one lacks Recall@1 before LOPO, after it, or the change.
    """
    found = distinct(recall, "system")
    known = cells(recall)
    lacking = [
        f"{system}, {protocol}"
        for system in found
        for protocol in (BEFORE, AFTER, CHANGE)
        if known.get((system, protocol, NATIVE, subset, "recall@1"), _NOTHING).value is None
    ]
    if not found or lacking:
        raise InputError(
            "the recall table is incomplete",
            where=f"subset '{subset}', metric 'recall@1'",
            found=f"no value for {'; '.join(lacking)}" if found else "no rows",
            expected="a value for each ranker before LOPO, after it, and for the change",
            todo="make the table again; a corpus without an eligible case has nothing to report",
        )
    return found


def main_ranker(systems: Sequence[str]) -> str:
    """Ranker that the first sentence is about: `phenomizer` where there is one, else the first."""
    return "phenomizer" if "phenomizer" in systems else systems[0]


_NOTHING = Cell(None, None, None, 0, None)
