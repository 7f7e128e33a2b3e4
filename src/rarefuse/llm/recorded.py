"""Arms that were recorded elsewhere: tables of answers as text, as names or as ids.

A table is Parquet, JSON lines or TSV with one row an answer or one row a name. Its cases are named
by a key: the corpus' record or hashed case id, or anything that a table of keys leads to a record.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from rarefuse import artifacts
from rarefuse.artifacts import Column, Schema
from rarefuse.corpus.cases import CASES
from rarefuse.errors import InputError
from rarefuse.llm.answers import COMPLETIONS, EMPTY, NAMES, NOT_ASKED, OK
from rarefuse.llm.ask import completions as completions_of
from rarefuse.llm.backends.base import Answer
from rarefuse.llm.names import names_of
from rarefuse.llm.parser import DATABASES, database_curie

UNKNOWN_CASE = "case that is not in the corpus"
REPEATED = "same case, rank and name again"
NOTHING = "neither name nor id"
RENUMBERED = "case whose ranks were no places from 1 up; its rows count in their order"

COLUMNS = ("case", "rank", "name", "id", "text")

PROBLEMS = Schema(
    "recorded_problems",
    (
        Column("reason", pl.String, "what was left out or changed, a fixed phrase; sorted"),
        Column("count", pl.Int64, "rows, or cases where the reason says so"),
        Column("example", pl.String, "the first of them"),
    ),
    key=("reason",),
)

_READERS = {
    ".parquet": lambda path: pl.read_parquet(path, hive_partitioning=False),
    ".jsonl": lambda path: pl.read_ndjson(path, infer_schema_length=None),
    ".tsv": lambda path: pl.read_csv(path, separator="\t", quote_char=None, infer_schema=False),
}


def read_table(path: Path, what: str) -> pl.DataFrame:
    """Read a Parquet, JSON lines or TSV table by its ending.

    Raises
    ------
    InputError
        If it cannot be read or is of another kind.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{what} is of a kind that is not read",
            where=str(path),
            found=path.suffix or "no ending",
            expected=", ".join(_READERS),
            todo="convert the table",
        )
    try:
        return reader(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{what} cannot be read",
            where=str(path),
            found=str(error).splitlines()[0],
            expected="a whole table",
            todo="check the file, or fetch the source again",
        ) from error


def _need(table: pl.DataFrame, columns: Mapping[str, str], path: Path, what: str) -> None:
    for role, column in columns.items():
        if column not in table.columns:
            raise InputError(
                f"{what} lacks a column",
                where=f"{path}, column '{column}' ({role})",
                found=", ".join(table.columns),
                expected="the columns that the config names",
                todo="correct the arm's 'columns' or 'keys' in the config",
            )


def read_recorded(
    path: Path,
    cases: pl.DataFrame,
    columns: Mapping[str, str],
    *,
    case_pattern: str | None = None,
    keys: pl.DataFrame | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Read recorded answers.

    Parameters
    ----------
    path : Path
        Table of answers.
    cases : polars.DataFrame
        `CASES` of the corpus.
    columns : mapping
        Role → column; roles are `COLUMNS`. ``case`` and one of ``name``, ``id`` and ``text`` are
        needed. Without ``rank`` rows count in their order; with ``text`` the names are parsed from
        it and ``rank``, ``name`` and ``id`` may not be given.
    case_pattern : str, optional
        Regular expression whose first group, found in the case column, is the key.
    keys : polars.DataFrame, optional
        Columns ``record`` and ``key``; by default a key is a record or a hashed case id.

    Returns
    -------
    completions, names, problems : polars.DataFrame
        `COMPLETIONS` with every case of the corpus: a case without a row was not asked, one whose
        rows name nothing is empty, and a text is what `rarefuse.llm.ask.status_of` says of it;
        `NAMES`; and `PROBLEMS`.

    Raises
    ------
    InputError
        If the table lacks a column or no row belongs to a case of the corpus.
    """
    _check_roles(columns, path)
    table = read_table(path, "a table of recorded answers")
    _need(table, columns, path, "a table of recorded answers")
    _check_kinds(table, columns, path)
    problems: dict[str, tuple[int, str]] = {}
    rows = table.select(
        *(pl.col(column).cast(pl.String).alias(role) for role, column in columns.items())
    ).with_columns(
        key=pl.col("case").str.extract(case_pattern, 1) if case_pattern else pl.col("case")
    )
    rows = rows.join(_identities(cases, keys), on="key", how="left", maintain_order="left")
    strangers = rows.filter(pl.col("case_id").is_null())
    _count(problems, UNKNOWN_CASE, strangers["case"].unique(maintain_order=True))
    rows = rows.filter(pl.col("case_id").is_not_null())
    if rows.is_empty():
        raise InputError(
            "no recorded answer belongs to a case of the corpus",
            where=f"{path}, column '{columns['case']}'",
            found=str(table[columns["case"]].head(1).to_list()),
            expected=f"keys such as {cases['record'].head(1).to_list()}",
            todo="correct the arm's 'case_pattern' or 'keys' in the config",
        )
    texts: dict[str, str | None] | None = None
    if "text" in columns:
        names, texts = _parsed(rows, problems)
    else:
        names = _named(rows, problems)
    return (
        _completions(cases, rows["case_id"].to_list(), names["case_id"].to_list(), texts),
        names,
        pl.DataFrame(
            sorted((reason, *found) for reason, found in problems.items()),
            schema=PROBLEMS.dtypes,
            orient="row",
        ),
    )


def _check_roles(columns: Mapping[str, str], path: Path) -> None:
    unknown = sorted(columns.keys() - set(COLUMNS))
    given = [role for role in ("name", "id") if role in columns]
    alone = "text" in columns and (given or "rank" in columns)
    if unknown or "case" not in columns or alone or not (given or "text" in columns):
        raise InputError(
            "the columns of recorded answers are not described correctly",
            where=f"config, columns for {path}",
            found=", ".join(columns) or "none",
            expected="'case' and 'text'; or 'case' and 'name' or 'id' or both, and maybe 'rank'",
            todo="correct the arm's 'columns' in the config",
        )


def _check_kinds(table: pl.DataFrame, columns: Mapping[str, str], path: Path) -> None:
    for role, column in columns.items():
        if table.schema[column].is_nested():
            raise InputError(
                "a column of recorded answers holds more than one value a row",
                where=f"{path}, column '{column}' ({role})",
                found=str(table.schema[column]),
                expected="text, or numbers for ranks",
                todo="write one name a row",
            )


def _count(problems: dict[str, tuple[int, str]], reason: str, found: pl.Series) -> None:
    if found.len():
        problems[reason] = (found.len(), str(found[0]))


def _identities(cases: pl.DataFrame, keys: pl.DataFrame | None) -> pl.DataFrame:
    """Key → hashed case id; a key of two cases leads to none."""
    if keys is None:
        known = pl.concat(
            [
                cases.select("case_id", key="record"),
                cases.select("case_id", key="case_id"),
            ]
        )
    else:
        known = cases.select("case_id", "record").join(
            keys.select("record", "key").drop_nulls(), on="record"
        )
    known = known.select("key", "case_id").unique()
    return known.filter(~pl.col("key").is_duplicated())


def _parsed(
    rows: pl.DataFrame, problems: dict[str, tuple[int, str]]
) -> tuple[pl.DataFrame, dict[str, str | None]]:
    """Names in answers kept as text; a case's first answer counts."""
    first = rows.unique("case_id", keep="first", maintain_order=True)
    twice = rows.filter(pl.col("case_id").is_duplicated() & ~pl.col("case_id").is_first_distinct())
    _count(problems, REPEATED, twice["case"])
    return names_of(first), dict(first.select("case_id", "text").iter_rows())


def _named(rows: pl.DataFrame, problems: dict[str, tuple[int, str]]) -> pl.DataFrame:
    """Names and ids that stand in rows of their own."""
    rows = rows.with_columns(
        name=pl.col("name").str.strip_chars().replace("", None)
        if "name" in rows.columns
        else pl.lit(None, pl.String),
        disease_id=pl.col("id").str.strip_chars().replace("", None).map_elements(curie, pl.String)
        if "id" in rows.columns
        else pl.lit(None, pl.String),
        place=pl.col("rank").cast(pl.Float64, strict=False).cast(pl.Int64, strict=False)
        if "rank" in rows.columns
        else pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("case_id"),
    )
    blank = pl.col("name").is_null() & pl.col("disease_id").is_null()
    _count(problems, NOTHING, rows.filter(blank)["case"])
    rows = rows.filter(~blank)
    # A name that was grounded to several ids stands in several rows; without ids it is one.
    identity = ["case_id", "place", "name", *(["disease_id"] if "id" in rows.columns else [])]
    again = ~pl.struct(identity).is_first_distinct()
    _count(problems, REPEATED, rows.filter(again)["case"])
    rows = rows.filter(~again).sort("case_id", "place", maintain_order=True, nulls_last=True)
    wrong = rows.filter(
        pl.col("place").is_null()
        | (pl.col("place") < 1)
        | pl.struct("case_id", "place").is_duplicated()
    )
    _count(problems, RENUMBERED, wrong["case"].unique(maintain_order=True))
    order = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("case_id")
    renumber = pl.col("case_id").is_in(wrong["case_id"].unique().implode())
    return rows.with_columns(rank=pl.when(renumber).then(order).otherwise(pl.col("place"))).select(
        NAMES.names
    )


_CURIE = re.compile(r"([A-Za-z]+)[:_](?:[A-Za-z]+_)?0*(\d+)")


def curie(text: str) -> str:
    """OMIM, Orphanet and Mondo ids in one spelling, anything else as it is.

    ``Orphanet:110`` is ``ORPHA:110``, ``MONDO_15229`` is ``MONDO:0015229``.
    """
    match = _CURIE.fullmatch(text)
    database = DATABASES.get(match[1].upper()) if match else None
    if match is None or database is None:
        return text
    return database_curie(database, match[2])


def _completions(
    cases: pl.DataFrame,
    asked: Iterable[str],
    named: Iterable[str],
    texts: Mapping[str, str | None] | None,
) -> pl.DataFrame:
    """`COMPLETIONS`; what a text is, the rules of asked arms say."""
    if texts is not None:
        return completions_of(
            cases["case_id"].to_list(), {case: Answer(case, text) for case, text in texts.items()}
        )
    asked, named = set(asked), set(named)
    rows = []
    for case in sorted(cases["case_id"]):
        status = OK if case in named else EMPTY if case in asked else NOT_ASKED
        rows.append((case, status, None, None, False, None, None, None))
    return pl.DataFrame(rows, schema=COMPLETIONS.dtypes, orient="row")


def recorded_stage(
    *,
    answers: Path,
    cases: Path,
    keys: Path | None,
    options: Mapping[str, object],
    completions: Path,
    names: Path,
    problems: Path,
) -> None:
    """Read recorded answers and write `COMPLETIONS`, `NAMES` and `PROBLEMS`.

    `options` are the arm's ``columns``, ``case_pattern`` and ``keys`` (columns ``record`` and
    ``key`` of the table of keys).
    """
    columns = options["columns"]
    pattern = options.get("case_pattern")
    assert isinstance(columns, Mapping)
    lead = None
    if keys is not None:
        given = options["keys"]
        assert isinstance(given, Mapping)
        roles = {role: str(given[role]) for role in ("record", "key")}
        table = read_table(keys, "a table of case keys")
        _need(table, roles, keys, "a table of case keys")
        lead = table.select(pl.col(c).cast(pl.String).alias(role) for role, c in roles.items())
    answered, found, left_out = read_recorded(
        answers,
        artifacts.read(cases, CASES),
        columns,
        case_pattern=str(pattern) if pattern else None,
        keys=lead,
    )
    artifacts.write(left_out, PROBLEMS, problems)
    artifacts.write(answered, COMPLETIONS, completions)
    artifacts.write(found, NAMES, names)
