"""What an arm answered: one row a case as the model wrote it, and one row a name read from it."""

import polars as pl

from rarefuse.artifacts import Column, Schema

OK = "ok"
EMPTY = "empty"
TRUNCATED = "truncated"
REFUSED = "refused"
FAILED = "failed"
NOT_ASKED = "not asked"

STATUSES = (OK, EMPTY, TRUNCATED, REFUSED, FAILED, NOT_ASKED)
"""What can become of a case. `failed`: no answer came, a later run asks again. `not asked`: beyond
the arm's `max_cases`. All others are answers and are never asked for again."""

COMPLETIONS = Schema(
    "completions",
    (
        Column("case_id", pl.String, "hashed case id; rows are sorted by it"),
        Column("status", pl.String, f"one of: {', '.join(STATUSES)}"),
        Column("reason", pl.String, "why a case failed", nullable=True),
        Column(
            "finish_reason",
            pl.String,
            "why generation ended, as the back end says: 'stop', 'length', …",
            nullable=True,
        ),
        Column("reasoning", pl.Boolean, "whether the answer holds markers of reasoning"),
        Column("text", pl.String, "the answer exactly as it came", nullable=True),
        Column("prompt_tokens", pl.Int64, "length of the prompt", "token", nullable=True),
        Column("completion_tokens", pl.Int64, "length of the answer", "token", nullable=True),
    ),
    key=("case_id",),
)

NAMES = Schema(
    "names",
    (
        Column("case_id", pl.String, "hashed case id; rows are sorted by it, then by rank"),
        Column("rank", pl.Int64, "place of the name in the answer, from 1"),
        Column("name", pl.String, "disease name as written; null if only an id", nullable=True),
        Column("disease_id", pl.String, "CURIE, if the answer itself gave one", nullable=True),
    ),
    key=("case_id", "rank"),
)
