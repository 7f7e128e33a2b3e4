"""Read ``phenotype.hpoa`` with all its columns, as the release has them."""

import gzip
import re
import zlib
from pathlib import Path

import polars as pl

from rarefuse.artifacts import Column, Schema
from rarefuse.errors import InputError

HPOA_COLUMNS = (
    "database_id",
    "disease_name",
    "qualifier",
    "hpo_id",
    "reference",
    "evidence",
    "onset",
    "frequency",
    "sex",
    "modifier",
    "aspect",
    "biocuration",
)
"""Columns of the HPOA format since 2023, in its order."""

_UNTIL_2023 = {"databaseid": "database_id", "diseasename": "disease_name"}
_STATED = re.compile(r"#\s*(version|date|hpo-version):\s*(\S.*?)\s*", re.IGNORECASE)

ANNOTATIONS = Schema(
    "annotations",
    (
        Column("row", pl.Int32, "line number in the file, the first line being 1"),
        *(
            Column(name, pl.String, "as in phenotype.hpoa; empty text for no value")
            for name in HPOA_COLUMNS
        ),
    ),
    key=("row",),
)


def read_text(path: Path | str) -> str:
    """Text of ``phenotype.hpoa``, gzipped or not."""
    try:
        raw = Path(path).read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
        return raw.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(
            "the annotation file cannot be read",
            where=str(path),
            found=str(error),
            expected="phenotype.hpoa as text (UTF-8) or gzip",
            todo="fetch the release again",
        ) from error


def read_hpoa(path: Path | str) -> pl.DataFrame:
    """Read an HPOA release.

    Parameters
    ----------
    path : path
        ``phenotype.hpoa``, gzipped or not, with Unix or Windows line ends.

    Returns
    -------
    polars.DataFrame
        `ANNOTATIONS`: every row and column of the file, in its order.

    Raises
    ------
    InputError
        If the header lacks a column, a row has another number of fields, or the file is cut off.

    Notes
    -----
    Releases before 2023 have the same columns under other names (``DatabaseID``, ``HPO_ID``), in
    a header line that begins with ``#``; they are read as well.
    """
    text = read_text(path)
    lines = text.replace("\r\n", "\n").split("\n")
    start, header = _header(lines)
    if start is None or "hpo_id" not in header:
        _missing(path, header, HPOA_COLUMNS)
    if len(set(header)) < len(header):
        raise InputError(
            "the annotation file has a column twice",
            where=f"{path}, header",
            found=", ".join(header),
            expected="every column once",
            todo="fetch the release again",
        )
    missing = [name for name in HPOA_COLUMNS if name not in header]
    if missing:
        _missing(path, header, missing)
    assert start is not None
    rows = []
    for number, line in enumerate(lines[start + 1 :], start=start + 2):
        if not line:
            continue
        fields = line.split("\t")
        if len(fields) != len(header):
            raise InputError(
                "an annotation row has the wrong number of fields",
                where=f"{path}, row {number}",
                found=f"{len(fields)} fields: {line[:80]!r}",
                expected=f"{len(header)} tab-separated fields, as in the header",
                todo="fetch the release again; the file may be cut off",
            )
        rows.append((number, *fields))
    frame = pl.DataFrame(
        rows, schema={"row": pl.Int32, **dict.fromkeys(header, pl.String)}, orient="row"
    )
    return frame.select(ANNOTATIONS.names)


def stated_release(text: str) -> tuple[str | None, str | None]:
    """Release and HPO release that the comment lines of ``phenotype.hpoa`` state.

    Parameters
    ----------
    text : str
        The file.

    Returns
    -------
    release, hpo_release : str or None
        Such as ``2026-06-23`` and the address of its ``hp.json``; None where it is not stated.
    """
    stated: dict[str, str] = {}
    for line in text.splitlines()[:50]:
        if match := _STATED.fullmatch(line):
            stated.setdefault(match[1].lower(), match[2])
    return stated.get("version") or stated.get("date"), stated.get("hpo-version")


def _header(lines: list[str]) -> tuple[int | None, list[str]]:
    """Number of the header line and its column names as they are called since 2023."""
    for number, line in enumerate(lines):
        # Releases before 2023 begin the header line itself with '#'.
        names = line.removeprefix("#").split("\t")
        plain = [name.strip().lower() for name in names]
        if "hpo_id" in plain:
            return number, [_UNTIL_2023.get(name, name) for name in plain]
        if line and not line.startswith("#"):
            return number, names
    return None, []


def _missing(path: Path | str, header: list[str], missing: tuple[str, ...] | list[str]) -> None:
    raise InputError(
        "the annotation file lacks columns",
        where=f"{path}, header",
        found=", ".join(header) or "no header line",
        expected=f"also {', '.join(missing)}",
        todo="use phenotype.hpoa of a release since 2018, not genes_to_phenotype.txt or "
        "phenotype_annotation.tab",
    )
