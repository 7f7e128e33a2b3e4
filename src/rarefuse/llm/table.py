"""Table `llm`: what became of every case that an arm was, or was not, asked about (ours)."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from rarefuse import artifacts
from rarefuse.evaluation.base import NOT_APPLICABLE, Evaluation, Row
from rarefuse.llm.answers import COMPLETIONS, FAILED, NAMES, NOT_ASKED, STATUSES


def llm_table(evaluation: Evaluation) -> Iterator[Row]:
    """Counts of an arm's answers; `variant` is the arm's note.

    `evaluation.options` gives ``llms``: arm → note, and the artifacts are found under ``llm/`` of
    the corpus. ``n`` is the cases of the corpus for counts of statuses, the answered cases
    otherwise.
    """
    for arm, note in evaluation.options["llms"].items():
        folder = evaluation.corpus / "llm" / arm
        yield from arm_rows(arm, note or NOT_APPLICABLE, folder)


def arm_rows(arm: str, note: str, folder: Path) -> Iterator[Row]:
    """Rows of one arm: statuses, reasons of failures, reasoning, names an answer, tokens."""
    completions = artifacts.read(folder / "completions.parquet", COMPLETIONS)
    names = artifacts.read(folder / "names.parquet", NAMES)
    answered = completions.filter(~pl.col("status").is_in([FAILED, NOT_ASKED]))

    def row(metric: str, value: float | None, n: int) -> Row:
        return Row(
            "llm", arm, NOT_APPLICABLE, note, "all", metric, value, None, None, n
        )  # fmt: skip

    for status in STATUSES:
        count = completions.filter(pl.col("status") == status).height
        yield row(status, float(count), completions.height)
    reasons = completions["reason"].drop_nulls().value_counts().sort("reason")
    for reason, count in reasons.iter_rows():
        yield row(f"{FAILED}: {reason}", float(count), completions.height)
    n = answered.height
    named = names.group_by("case_id").len()
    yield row("reasoning", float(answered["reasoning"].sum()), n)
    yield row("without a name", float(n - named.height), n)
    yield row("names", names.height / n if n else None, n)
    for column in ("prompt_tokens", "completion_tokens"):
        counted = answered[column].drop_nulls()
        mean = float(counted.to_numpy().mean()) if counted.len() else None
        yield row(column, mean, counted.len())
