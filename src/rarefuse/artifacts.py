"""Declared schemas for everything that crosses a rule, checked when it is written.

An artifact is a Parquet file with named, typed and documented columns in a fixed row order and
without timestamps: the same content gives the same bytes. It is written under a temporary name
and moved into place, so that a reader sees a whole file or none.
"""

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from rarefuse.errors import InputError


@dataclass(frozen=True)
class Column:
    """One column of an artifact: name, type, meaning, unit, nullability."""

    name: str
    dtype: pl.DataType | type[pl.DataType]
    meaning: str
    unit: str = ""
    nullable: bool = False


@dataclass(frozen=True)
class Schema:
    """Columns of an artifact.

    Parameters
    ----------
    name : str
        The artifact's name, as it stands in the documentation.
    columns : tuple of Column
        In order.
    key : tuple of str
        Columns that together identify a row; checked to be unique. Empty: no key.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = field(default=())

    @property
    def names(self) -> list[str]:
        """Column names in order."""
        return [column.name for column in self.columns]

    @property
    def dtypes(self) -> dict[str, pl.DataType | type[pl.DataType]]:
        """Polars schema, for building frames."""
        return {column.name: column.dtype for column in self.columns}

    def check(self, frame: pl.DataFrame, where: str) -> None:
        """Raise `InputError` unless `frame` has exactly this schema.

        Parameters
        ----------
        frame : polars.DataFrame
            Rows to check.
        where : str
            File name for the message.
        """
        if frame.columns != self.names:
            raise InputError(
                f"artifact '{self.name}' has the wrong columns",
                where=where,
                found=", ".join(frame.columns),
                expected=", ".join(self.names),
                todo="delete the file and run again; it is from another version or not an artifact",
            )
        for column in self.columns:
            found = frame.schema[column.name]
            if found != column.dtype:
                raise InputError(
                    f"artifact '{self.name}' has a column of the wrong type",
                    where=f"{where}, column '{column.name}'",
                    found=str(found),
                    expected=str(column.dtype),
                )
            if not column.nullable and frame[column.name].null_count():
                raise InputError(
                    f"artifact '{self.name}' has an empty value where none is allowed",
                    where=f"{where}, column '{column.name}'",
                    found=f"{frame[column.name].null_count()} nulls",
                    expected=f"{column.meaning}, always given",
                )
        if self.key and frame.select(self.key).is_duplicated().any():
            twice = frame.filter(frame.select(self.key).is_duplicated()).select(self.key).row(0)
            raise InputError(
                f"artifact '{self.name}' has a row twice",
                where=where,
                found=", ".join(f"{k}={v}" for k, v in zip(self.key, twice, strict=True)),
                expected=f"one row for each ({', '.join(self.key)})",
            )


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Temporary path beside `path` that replaces it when the block ends well.

    When the block raises (a full disk, say) the temporary file is removed and `path` stays as it
    was. What an earlier, killed writer left behind is removed first.
    """
    path = Path(path)
    temporary = path.parent / f".{path.name}.{os.getpid()}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for stale in path.parent.glob(f".{glob.escape(path.name)}.[0-9]*.tmp"):
            stale.unlink(missing_ok=True)
        yield temporary
        with temporary.open("rb") as handle:
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except (OSError, pa.ArrowException) as error:
        raise InputError(
            "cannot write an artifact",
            where=str(path),
            found=getattr(error, "strerror", None) or str(error),
            expected="a writable folder with free space",
            todo="free space or choose another results folder, then run again; nothing is left "
            "half-written",
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write(frame: pl.DataFrame, schema: Schema, path: Path | str) -> None:
    """Write `frame` as the artifact `schema` at `path`, checked and atomically.

    The file describes itself: every column carries its meaning and unit as Arrow field metadata
    and is marked nullable or not.
    """
    schema.check(frame, str(path))
    table = frame.rechunk().to_arrow()
    fields = [
        pa.field(
            column.name,
            table.schema.field(column.name).type,
            nullable=column.nullable,
            metadata={"meaning": column.meaning, **({"unit": column.unit} if column.unit else {})},
        )
        for column in schema.columns
    ]
    described = table.cast(pa.schema(fields, metadata={"artifact": schema.name}))
    with replacing(path) as temporary:
        # Fixed row groups and nothing of the machine or the hour: bytes depend on rows alone.
        pq.write_table(
            described,
            temporary,
            compression="zstd",
            row_group_size=131_072,
            write_page_checksum=True,
        )


def write_text(text: str, path: Path | str) -> None:
    """Write a text file (UTF-8, ``\\n``) atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode())


def read(path: Path | str, schema: Schema) -> pl.DataFrame:
    """Read the artifact at `path` and check it against `schema`.

    Raises
    ------
    InputError
        If the file is missing, is not Parquet (cut off, say), or has another schema.
    """
    try:
        table = pq.ParquetFile(path, page_checksum_verification=True).read()
        frame = pl.from_arrow(table)
    except FileNotFoundError as error:
        raise InputError(
            f"artifact '{schema.name}' is missing",
            where=str(path),
            todo="run the workflow so that it is made",
        ) from error
    except (OSError, pa.ArrowException) as error:
        raise InputError(
            f"artifact '{schema.name}' cannot be read",
            where=str(path),
            found=str(error).splitlines()[0],
            expected="a whole Parquet file",
            todo="delete the file and run again",
        ) from error
    assert isinstance(frame, pl.DataFrame)
    schema.check(frame, str(path))
    return frame
