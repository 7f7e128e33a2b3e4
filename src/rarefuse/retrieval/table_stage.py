"""Compute one table of the retrieval part."""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from rarefuse import artifacts
from rarefuse.errors import InputError
from rarefuse.evaluation.tables import TABLE
from rarefuse.retrieval.catalogue import TABLES


def retrieval_table_stage(
    *,
    name: str,
    folder: Path,
    inputs: Sequence[Path],
    options: Mapping[str, Any],
    output: Path,
) -> None:
    """Compute the table `name` of the catalogue and write it as `TABLE`.

    Parameters
    ----------
    name : str
    folder : Path
        A set's folder.
    inputs : sequence of Path
        Search lists, or trained tables, whichever the table reads.
    options : mapping
        Of the table's function.
    """
    if name not in TABLES:
        raise InputError(
            "unknown table of the retrieval part",
            found=name,
            expected=f"one of {', '.join(TABLES)}",
        )
    module, function, reads = TABLES[name]
    positional: list[Any] = [] if reads == "nothing" else [folder]
    extra: dict[str, Any] = {}
    if reads == "lists":
        positional.append(list(inputs))
    if reads == "tables":
        (extra["tables"],) = inputs
    rows = getattr(importlib.import_module(module), function)(*positional, **options, **extra)
    frame = pl.DataFrame(list(rows), schema=TABLE.dtypes, orient="row")
    artifacts.write(frame, TABLE, output)
