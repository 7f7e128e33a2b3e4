"""The stage that reads disease names from an arm's answers."""

from pathlib import Path

import polars as pl

from rarefuse import artifacts
from rarefuse.llm.answers import COMPLETIONS, NAMES
from rarefuse.llm.parser import parse


def names_of(completions: pl.DataFrame) -> pl.DataFrame:
    """`NAMES` in `COMPLETIONS`: the names of every answer, truncated ones too, in its order."""
    rows = [
        (case_id, name.rank, name.name, name.disease_id)
        for case_id, text in completions.select("case_id", "text").iter_rows()
        for name in parse(text)
    ]
    return pl.DataFrame(rows, schema=NAMES.dtypes, orient="row").sort("case_id", "rank")


def names_stage(*, completions: Path, output: Path) -> None:
    """Read `COMPLETIONS` and write `NAMES`."""
    artifacts.write(names_of(artifacts.read(completions, COMPLETIONS)), NAMES, output)
