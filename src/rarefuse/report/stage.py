"""The report stage: artifacts in, page and summary out."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import polars as pl

from rarefuse import artifacts
from rarefuse.annotations.relations import PROBLEMS
from rarefuse.corpus.cases import SKIPPED
from rarefuse.evaluation.tables import TABLE
from rarefuse.report.html import render_report
from rarefuse.report.summary import terminal_summary


def read_tables(tables: Mapping[str, Path]) -> dict[str, pl.DataFrame]:
    """Read result tables by name."""
    return {name: artifacts.read(path, TABLE) for name, path in tables.items()}


def write_report(
    corpus: str,
    tables: Mapping[str, Path],
    skipped: Path,
    problems: Path,
    audit: Path,
    provenance: Mapping[str, Any],
    output: Path,
) -> None:
    """Write the report page.

    Parameters
    ----------
    corpus : str
        Name of the corpus.
    tables : mapping of str to Path
        Result tables by name; see `rarefuse.report.html.render_report`.
    skipped, problems, audit : Path
        What the readers left out, what was wrong with the annotations, and the input audit.
    provenance : mapping
        See `rarefuse.report.html.render_report`.
    output : Path
        The page.

    Raises
    ------
    InputError
        If an artifact is missing or of another kind, or a table is incomplete.
    """
    from rarefuse.corpus.audit import AUDIT

    page = render_report(
        corpus,
        read_tables(tables),
        artifacts.read(skipped, SKIPPED),
        artifacts.read(problems, PROBLEMS),
        artifacts.read(audit, AUDIT),
        provenance,
    )
    artifacts.write_text(page, output)


def write_summary(
    corpus: str,
    tables: Mapping[str, Path],
    report: Path | str,
    stream: TextIO | None = None,
    level: float = 0.95,
) -> None:
    """Print the summary of a run.

    Parameters
    ----------
    corpus : str
        Name of the corpus.
    tables : mapping of str to Path
        At least `cohort` and `recall`.
    report : Path or str
        Where the page lies, as it is to be shown.
    stream : file, optional
        Where to print; standard output by default.
    level : float
        Coverage of the intervals.
    """
    text = terminal_summary(read_tables(tables), corpus, str(report), level)
    print(text, file=sys.stdout if stream is None else stream)
