"""The page of the overlap audit: one self-contained HTML file, nothing fetched.

It is readable without scripts; a few lines of script sort and search the table of cases.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from markupsafe import Markup

from rarefuse import __version__
from rarefuse.provenance.overlap_audit import COUNTED, OverlapAudit, Resampling
from rarefuse.report import figures
from rarefuse.report.environment import environment
from rarefuse.report.html import problems_table, skipped_table
from rarefuse.report.labels import MISSING, count, level_name, percent
from rarefuse.report.overlap_text import answer, reasons, summary_groups
from rarefuse.report.parts import INTERVAL, Table

MAX_CASES = 1000
MAX_PUBLICATIONS = 50


@dataclass(frozen=True)
class InputFile:
    """A file or folder that was read.

    Parameters
    ----------
    role : str
        What it was read as.
    name : str
        File name, without its folder.
    release : str
        Release that it states; a dash where it states none.
    size : int
        Bytes.
    sha256 : str
        Digest of the bytes; of a folder, of its files' names and digests.
    """

    role: str
    name: str
    release: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Reading:
    """How the inputs were read, for the page's method text."""

    cases: InputFile
    hpoa: InputFile
    hpo: InputFile | None
    disease_map: InputFile | None
    reader: str
    skipped: pl.DataFrame
    problems: pl.DataFrame

    @property
    def files(self) -> list[InputFile]:
        """All that was read."""
        return [f for f in (self.cases, self.hpoa, self.hpo, self.disease_map) if f is not None]

    @property
    def release(self) -> str:
        """The annotation release as sentences call it."""
        stated = self.hpoa.release
        return f"HPOA {stated}" if stated != MISSING else f"HPOA ({self.hpoa.name})"


def render_overlap_page(audit: OverlapAudit, reading: Reading, resampling: Resampling) -> str:
    """Render the page.

    Parameters
    ----------
    audit : OverlapAudit
        What was found.
    reading : Reading
        What was read.
    resampling : Resampling
        Of the intervals.

    Returns
    -------
    str
        HTML; the same inputs give the same text.
    """
    counted = audit.cases.filter(pl.col("status") == COUNTED)
    histogram = None
    if counted.height:
        histogram = Markup(
            figures.exclusive_shares(
                counted["exclusive_share"].to_list(), counted["overlap"].to_list()
            )
        )
    shown = audit.cases.sort(
        "exclusive_share", "overlap", "record", descending=[True, True, False], nulls_last=True
    ).head(MAX_CASES)
    removed = audit.publications.filter(pl.col("n_removed") > 0)
    return (
        environment()
        .get_template("overlap.html.j2")
        .render(
            title=reading.cases.name,
            release=reading.release,
            reading=reading,
            lead=answer(audit, reading.release, resampling.level),
            level=level_name(resampling.level),
            interval=INTERVAL,
            resampling=resampling,
            resamples=count(resampling.resamples),
            main=_main_table(audit),
            left_out=_reasons_table(audit),
            skipped=skipped_table(reading.skipped),
            problems=problems_table(reading.problems),
            histogram=histogram,
            counted=counted.height,
            count=count,
            publications=_publications_table(removed.head(MAX_PUBLICATIONS)),
            n_removed=removed.height,
            n_publications=audit.publications.height,
            cases=[_case_row(row) for row in shown.iter_rows(named=True)],
            n_cases=audit.cases.height,
            sources=_sources_table(reading.files),
            overlap=percent(audit.value("overlap_share")),
            n_counted=count(audit.value("cases_counted")),
            version=__version__,
        )
    )


def _main_table(audit: OverlapAudit) -> Table:
    return Table(
        "What was counted. Shares are in per cent; n is the number of cases, or of publications, "
        "that a share is taken over.",
        ("", "Value", INTERVAL, "n"),
        tuple((heading, tuple(rows)) for heading, rows in summary_groups(audit)),
    )


def _reasons_table(audit: OverlapAudit) -> Table | None:
    rows = tuple((reason, count(n)) for reason, n in reasons(audit))
    if not rows:
        return None
    return Table(
        "Cases of which overlap cannot be told, by the first reason that applies.",
        ("Reason", "Cases"),
        (("", rows),),
    )


def _publications_table(publications: pl.DataFrame) -> Table | None:
    if publications.is_empty():
        return None
    rows = tuple(
        (
            row["publication_id"],
            count(row["n_cases"]),
            count(row["n_relations"]),
            count(row["n_removed"]),
            count(row["n_diseases"]),
            count(row["n_emptied"]),
        )
        for row in publications.iter_rows(named=True)
    )
    return Table(
        "What LOPO takes away for each publication, most first.",
        ("Publication", "Cases from it", "Annotations citing it", "Removed by LOPO",
         "Diseases touched", "Diseases emptied"),
        (("", rows),),
    )  # fmt: skip


def _case_row(row: dict) -> list[tuple[str, str, str]]:
    """Cells of a case: text, sort key, kind (``w`` for words)."""

    def number(value: float | None, text: str) -> tuple[str, str, str]:
        return (MISSING, "-1", "") if value is None else (text, f"{value:g}", "")

    def words(text: str | None) -> tuple[str, str, str]:
        return (text or MISSING, (text or "").casefold(), "w")

    overlap = {None: MISSING, True: "yes", False: "no"}[row["overlap"]]
    share = row["exclusive_share"]
    return [
        words(row["record"]),
        words(row["publication_id"]),
        words(row["gold_id"] or row["gold_stated"]),
        words(row["gold_name"]),
        words(overlap),
        number(row["n_relations"], count(row["n_relations"])),
        number(row["n_exclusive"], count(row["n_exclusive"])),
        number(share, percent(share)),
        number(row["n_observed"], count(row["n_observed"])),
        number(row["n_covered"], count(row["n_covered"])),
        number(row["n_removed"], count(row["n_removed"])),
        words("" if row["status"] == COUNTED else row["status"]),
    ]


def _sources_table(files: Sequence[InputFile]) -> Table:
    rows = tuple((f.role, f.name, f.release, count(f.size), f.sha256) for f in files)
    return Table(
        "What was read. The digest of a folder is that of its files' names and digests.",
        ("Input", "Name", "Release", "Bytes", "SHA-256"),
        (("", rows),),
        frozenset({1, 2, 4}),
    )
