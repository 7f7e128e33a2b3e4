"""Reader of the table of cases that the 2024 evaluation of pheval.llm prompted with."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from rarefuse.annotations.pmid import pmid
from rarefuse.corpus.build import NO_PUBLICATION, Corpus, RawCase, build, check_file
from rarefuse.corpus.terms import Skip, TermResolver
from rarefuse.errors import InputError

NO_GOLD = "no gold disease"

_COLUMNS: dict[str, pl.DataType] = {
    "original_file": pl.String(),
    "original_id": pl.String(),
    "pmid": pl.String(),
    "gold_disease_id": pl.String(),
    "sex": pl.String(),
    "observed_hpo": pl.List(pl.String),
    "excluded_hpo": pl.List(pl.String),
    "phenopacket_id": pl.String(),
    "case_stem": pl.String(),
}
PHEVAL_COLUMNS = frozenset(_COLUMNS)
"""Names that tell this table from others."""


def read_pheval(name: str, path: Path | str, resolver: TermResolver) -> Corpus:
    """Read the cases as they were prompted.

    Parameters
    ----------
    name : str
        Corpus.
    path : Path or str
        Parquet file with one row a case; see the columns in the message below.
    resolver : TermResolver
        The ontology.

    Returns
    -------
    Corpus
        ``record`` is ``original_id`` where that names one row each, else ``original_file``. The
        table has no age, onset or disease name. A publication that is no PMID becomes null and is
        counted.

    Raises
    ------
    InputError
        If the file is missing, is not Parquet, lacks a column or has one of another type, or
        gives no usable case.
    """
    path = check_file(name, path)
    try:
        table = pl.read_parquet(path, hive_partitioning=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"corpus '{name}' is not a whole Parquet file",
            where=str(path),
            found=str(error).splitlines()[0],
            expected="the table of prompted cases",
            todo="fetch the source again",
        ) from error
    missing = [column for column in _COLUMNS if column not in table.columns]
    wrong = [c for c, dtype in _COLUMNS.items() if c not in missing and table.schema[c] != dtype]
    if missing or wrong:
        found = [f"no column '{column}'" for column in missing]
        found += [f"column '{column}' of type {table.schema[column]}" for column in wrong]
        raise InputError(
            f"corpus '{name}' has not the columns of the prompted cases",
            where=str(path),
            found=", ".join(found),
            expected=", ".join(f"{column} ({dtype})" for column, dtype in _COLUMNS.items()),
            todo="check that the path and the reader belong together",
        )
    return build(name, path, _records(table), resolver)


def _records(table: pl.DataFrame) -> Iterator[RawCase | Skip]:
    ids = table["original_id"]
    key = "original_file" if ids.null_count() or ids.is_duplicated().any() else "original_id"
    for number, row in enumerate(table.iter_rows(named=True), start=1):
        record = row[key] or f"row {number:06d}"
        gold = row["gold_disease_id"]
        if not gold:
            yield Skip(record, "case", NO_GOLD)
            continue
        publication = pmid(row["pmid"])
        if publication is None:
            yield Skip(record, "field", NO_PUBLICATION, row["pmid"])
        withheld = {("disease_id", gold)}
        withheld |= {("pmid", text) for text in (publication, row["pmid"]) if text is not None}
        for column in ("original_file", "original_id", "phenopacket_id", "case_stem"):
            if row[column]:
                withheld.add(("path", row[column]))
        yield RawCase(
            record,
            gold,
            row["observed_hpo"] or [],
            row["excluded_hpo"] or [],
            publication_id=publication,
            sex=row["sex"],
            withheld=withheld,
        )
