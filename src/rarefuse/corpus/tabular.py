"""Reader of cases from a table of anybody's: TSV, CSV, JSON lines or Parquet with named columns."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from rarefuse.annotations.crosswalk import disease_curie
from rarefuse.annotations.pmid import pmid
from rarefuse.corpus.build import NO_PUBLICATION, Corpus, RawCase, build, check_file, unreadable
from rarefuse.corpus.phenopackets import BAD_GOLD, NO_GOLD, SEVERAL_GOLD, SEVERAL_PUBLICATIONS
from rarefuse.corpus.rarebench import NOT_JSON
from rarefuse.corpus.terms import Skip, TermResolver
from rarefuse.errors import InputError

RAGGED = "row with another number of fields than the header"
NOT_AN_OBJECT = "not a JSON object"
BAD_LIST = "list of terms not understood"

ROLES: dict[str, tuple[str, ...]] = {
    "case_id": ("case", "id", "record", "patient_id", "patient", "sample_id", "phenopacket_id"),
    "publication": ("publication_id", "pmid", "pubmed_id", "pubmed", "source_publication"),
    "disease": ("disease_id", "gold", "gold_id", "gold_disease_id", "diagnosis", "diagnosis_id",
                "omim_id", "omim", "orpha_id", "orpha"),
    "disease_name": ("disease_label", "gold_label", "diagnosis_name", "diagnosis_label"),
    "observed": ("observed_hpo", "hpo", "hpo_ids", "hpo_terms", "phenotypes", "present"),
    "excluded": ("excluded_hpo", "absent", "negated", "absent_hpo"),
    "sex": (),
}  # fmt: skip
"""What a column can be, and the other names it may have. Case, blanks and hyphens do not count."""

REQUIRED = ("disease", "observed")

_LIST = re.compile(r"[;|,\s]+")
_PUBLICATIONS = re.compile(r"[;|,]+")
_DIGITS = re.compile(r"\s*0*([1-9][0-9]*)(?:\.0)?\s*")
_PUBMED = re.compile(
    r"\s*(?:https?://)?(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)"
    r"/0*([1-9][0-9]*)/?\s*",
    re.IGNORECASE,
)


def read_table(
    name: str,
    path: Path | str,
    resolver: TermResolver,
    columns: Mapping[str, str] | None = None,
) -> Corpus:
    """Read cases from a table with one row a case.

    Parameters
    ----------
    name : str
        Corpus.
    path : Path or str
        Parquet, JSON lines, or tab- or comma-separated text with a header (UTF-8); text and JSON
        lines may be gzipped. What it is shows in its content, not in its name.
    resolver : TermResolver
        The ontology.
    columns : mapping of str to str, optional
        Key of `ROLES` → column, where a column has another name than those.

    Returns
    -------
    Corpus
        ``record`` is the case id, or the row (``row 000001``) where there is none. Term lists are
        divided at ``;``, ``|``, ``,`` and blanks, or are JSON arrays or Parquet lists. A
        publication is a PMID (CURIE, bare number or PubMed address). Gold is the one OMIM id of
        the cell, else the one ORPHA id; bare numbers count in a column named after the database.

    Raises
    ------
    InputError
        If the file is missing or damaged, a needed column is missing or is there twice, or no
        usable case is in it.
    """
    path = check_file(name, path)
    header, rows = _rows(name, path)
    found = _columns(name, path, header, columns or {})
    return build(name, path, _records(rows, found), resolver)


def _rows(name: str, path: Path) -> tuple[list[str], Iterator[tuple[int, object]]]:
    """Column names, and for each row its number and its cells by column (or a reason)."""
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _damaged(name, path, str(error)) from error
    except OSError as error:
        raise unreadable(name, path, error) from error
    if raw[:4] == b"PAR1":
        try:
            frame = pl.read_parquet(io.BytesIO(raw), hive_partitioning=False)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise _damaged(name, path, str(error).splitlines()[0]) from error
        return frame.columns, enumerate(frame.iter_rows(named=True), start=1)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _damaged(name, path, str(error)) from error
    if re.match(r"\s*\[\s*[{\[\]]", text):
        raise _wrong_columns(
            name, path, "a JSON array, whose rows cannot be told apart as lines",
            "write one JSON object a line in place of one array of them",
        )  # fmt: skip
    if text.lstrip().startswith("{"):
        objects = _json_lines(text)
        header = dict.fromkeys(key for _, row in objects if isinstance(row, dict) for key in row)
        return list(header), iter(objects)
    return _delimited(name, path, text)


def _json_lines(text: str) -> list[tuple[int, object]]:
    objects: list[tuple[int, object]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            row = Skip(f"row {number:06d}", "case", NOT_JSON, f"line {number}: {error}"[:200])
        objects.append((number, row))
    return objects


def _delimited(name: str, path: Path, text: str) -> tuple[list[str], Iterator[tuple[int, object]]]:
    text = text.lstrip("\r\n")
    first = text.partition("\n")[0]
    if ";" in first and not {"\t", ","} & set(first):
        raise _wrong_columns(
            name, path, f"one column alone, the header being divided at ';': {first.strip()[:200]}",
            "write the table with tabs or commas between its columns",
        )  # fmt: skip
    delimiter = "\t" if "\t" in first else ","
    try:
        # Strict: a quotation mark that is never closed would take in all rows after it.
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        lines = [row for row in reader if row]
    except csv.Error as error:
        raise _damaged(name, path, f"line {reader.line_num}: {error}") from error
    header = [column.strip() for column in lines[0]] if lines else []

    def rows() -> Iterator[tuple[int, object]]:
        for number, fields in enumerate(lines[1:], start=1):
            if len(fields) == len(header):
                yield number, dict(zip(header, fields, strict=True))
            else:
                detail = f"{len(fields)} fields, {len(header)} in the header"
                yield number, Skip(f"row {number:06d}", "case", RAGGED, detail)

    return header, rows()


def _damaged(name: str, path: Path, found: str) -> InputError:
    return InputError(
        f"corpus '{name}' is not a readable table",
        where=str(path),
        found=found,
        expected="Parquet, JSON lines, or tab- or comma-separated text (UTF-8) with a header",
        todo="check the file; a spreadsheet must be exported as CSV or TSV first",
    )


def _wrong_columns(name: str, path: Path, found: str, todo: str) -> InputError:
    return InputError(
        f"corpus '{name}' has not the columns of a table of cases",
        where=str(path),
        found=found,
        expected="; ".join(
            f"{role} (or {', '.join(others)})" if others else role for role, others in ROLES.items()
        ),
        todo=todo,
    )


def _plain(column: str) -> str:
    return re.sub(r"[\s-]+", "_", column.strip().lower())


def _columns(name: str, path: Path, header: list[str], given: Mapping[str, str]) -> dict[str, str]:
    """Column of each role that the table has."""
    unknown = [role for role in given if role not in ROLES]
    absent = [column for column in given.values() if column not in header]
    found: dict[str, str] = {}
    several: dict[str, list[str]] = {}
    for role, others in ROLES.items():
        if role in given:
            found[role] = given[role]
            continue
        own = [column for column in header if _plain(column) == role]
        matches = own or [column for column in header if _plain(column) in others]
        if len(matches) > 1:
            several[role] = matches
        elif matches:
            found[role] = matches[0]
    missing = [role for role in REQUIRED if role not in {*found, *given, *several}]
    if unknown or absent or several or missing:
        problems = [f"no column of the kind '{role}'" for role in unknown]
        problems += [f"no column '{column}'" for column in absent]
        problems += [
            f"several columns that could be {role}: {', '.join(columns)}"
            for role, columns in several.items()
        ]
        problems += [f"no column '{role}'" for role in missing]
        raise _wrong_columns(
            name,
            path,
            f"{'; '.join(problems)}; the columns are {', '.join(header)[:300] or 'none'}",
            "rename the columns, or name them with the option 'columns', such as "
            '{"disease": "final diagnosis"}; only disease and observed are needed',
        )
    return found


def _records(
    rows: Iterator[tuple[int, object]], columns: Mapping[str, str]
) -> Iterator[RawCase | Skip]:
    for number, row in rows:
        record = f"row {number:06d}"
        if isinstance(row, Skip):
            yield row
            continue
        if not isinstance(row, dict):
            yield Skip(record, "case", NOT_AN_OBJECT, str(row)[:80])
            continue
        cells: dict[str, Any] = {role: row.get(column) for role, column in columns.items()}
        record = str(cells.get("case_id") or "").strip() or record
        yield from _record(record, cells, columns["disease"])


def _record(record: str, cells: Mapping[str, Any], disease_column: str) -> Iterator[RawCase | Skip]:
    gold, reason, detail = _gold(cells["disease"], disease_column)
    if gold is None:
        yield Skip(record, "case", reason, detail)
        return
    publications, other = _publications(cells.get("publication"))
    if len(publications) > 1:
        yield Skip(record, "case", SEVERAL_PUBLICATIONS, ", ".join(publications)[:200])
        return
    terms = {side: _terms(cells.get(side)) for side in ("observed", "excluded")}
    bad = [side for side, found in terms.items() if found is None]
    if bad:
        yield Skip(record, "case", BAD_LIST, f"{bad[0]} {str(cells[bad[0]])[:80]!r}")
        return
    if not publications:
        yield Skip(record, "field", NO_PUBLICATION, ", ".join(other)[:200] or None)
    label = cells.get("disease_name")
    withheld = {("disease_id", gold), ("path", record)}
    withheld |= {("pmid", publication) for publication in publications}
    if label:
        withheld.add(("disease_name", str(label)))
    sex = cells.get("sex")
    yield RawCase(
        record,
        gold,
        terms["observed"] or [],
        terms["excluded"] or [],
        publication_id=publications[0] if publications else None,
        gold_label=str(label) if label else None,
        sex=(sex.strip().upper() or None) if isinstance(sex, str) else sex,
        withheld=withheld,
    )


def _gold(cell: object, column: str) -> tuple[str | None, str, str | None]:
    """Gold id, or the reason and detail of its absence."""
    parts = [part for part in _parts(cell, _PUBLICATIONS) if part.strip()]
    if not parts:
        return None, NO_GOLD, None
    implied = next((base for base in ("OMIM", "ORPHA") if base in column.upper()), None)
    ids: dict[str, None] = {}
    for part in parts:
        bare = _DIGITS.fullmatch(part)
        ids[disease_curie(part) or (f"{implied}:{bare[1]}" if bare and implied else "")] = None
    if "" in ids and len(ids) == 1:
        return None, BAD_GOLD, ", ".join(parts)[:80]
    for base in ("OMIM:", "ORPHA:"):
        of_base = [identifier for identifier in ids if identifier.startswith(base)]
        if len(of_base) > 1:
            return None, SEVERAL_GOLD, ", ".join(of_base)[:200]
        if of_base:
            return of_base[0], "", None
    raise AssertionError("an id is of one of the two databases")


def _publications(cell: object) -> tuple[list[str], list[str]]:
    """Distinct PMIDs of a cell, and what else stands there."""
    found: dict[str, None] = {}
    other: list[str] = []
    for part in _parts(cell, _PUBLICATIONS):
        match = _DIGITS.fullmatch(part) or _PUBMED.fullmatch(part)
        curie = pmid(part) or (f"PMID:{match[1]}" if match else None)
        if curie:
            found[curie] = None
        elif part.strip():
            other.append(part.strip())
    return list(found), other


def _terms(cell: object) -> list[object] | None:
    """Terms of a cell; None if it is no list of terms."""
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = orjson.loads(cell)
        except orjson.JSONDecodeError:
            return None
    if cell is None or isinstance(cell, str):
        return [part for part in _LIST.split(cell or "") if part]
    return list(cell) if isinstance(cell, list) else None


def _parts(cell: object, divider: re.Pattern[str]) -> list[str]:
    if isinstance(cell, list):
        return [str(part) for part in cell if part is not None]
    return [] if cell is None else divider.split(str(cell))
