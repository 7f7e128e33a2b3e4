"""Compute one result table."""

import importlib
from pathlib import Path

import polars as pl

from rarefuse import artifacts
from rarefuse.evaluation.base import Evaluation, Row
from rarefuse.evaluation.catalogue import TABLES
from rarefuse.evaluation.tables import TABLE


def table_rows(name: str, evaluation: Evaluation) -> list[Row]:
    """Rows of the table `name` of the catalogue."""
    module, function = TABLES[name]
    return list(getattr(importlib.import_module(module), function)(evaluation))


def table_stage(*, name: str, evaluation: Evaluation, output: Path) -> None:
    """Compute the table `name` of the catalogue and write it as `TABLE`."""
    frame = pl.DataFrame(table_rows(name, evaluation), schema=TABLE.dtypes, orient="row")
    artifacts.write(frame, TABLE, output)
