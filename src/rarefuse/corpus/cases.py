"""The case table, which every reader writes and every later stage reads."""

import hashlib

import polars as pl

from rarefuse.artifacts import Column, Schema

CASES = Schema(
    "cases",
    (
        Column("case_id", pl.String, "hash of corpus and record; all that a system sees of either"),
        Column("record", pl.String, "the record in its source: archive path, row or group"),
        Column("publication_id", pl.String, "source publication, PMID CURIE", nullable=True),
        Column("gold_id", pl.String, "diagnosis, OMIM CURIE where the corpus gives one"),
        Column("gold_label", pl.String, "the corpus's own name of the diagnosis", nullable=True),
        Column("sex", pl.String, "FEMALE, MALE, OTHER_SEX or null", nullable=True),
        Column("age_days", pl.Float64, "age at last encounter", "day", nullable=True),
        Column("onset", pl.String, "onset: HP CURIE or ISO 8601 duration", nullable=True),
        Column(
            "observed", pl.List(pl.String), "current HP CURIEs, in the record's order, distinct"
        ),
        Column(
            "excluded", pl.List(pl.String), "current HP CURIEs, in the record's order, distinct"
        ),
    ),
    key=("case_id",),
)
"""Rows are sorted by ``record``."""

SKIPPED = Schema(
    "skipped",
    (
        Column("record", pl.String, "the record in its source"),
        Column(
            "level",
            pl.String,
            "what was left out: 'file' (in the archive, not a record), 'case' (the whole record), "
            "'term' (one term of it), 'field' (another value, now null); or 'mapped': a term was "
            "kept under its current id",
        ),
        Column("reason", pl.String, "a short fixed phrase, the same for every row of its kind"),
        Column("detail", pl.String, "what was found", nullable=True),
    ),
)
"""What a reader left out or changed, one row an occurrence.

Sorted by record, level, reason, detail.
"""

WITHHELD = Schema(
    "withheld",
    (
        Column("case_id", pl.String, "case"),
        Column("kind", pl.String, "disease_id, disease_name, gene, hgnc, variant, pmid or path"),
        Column("value", pl.String, "the text that no system may see"),
    ),
)
"""What the audit looks for in each case's rendered input; sorted by case_id, kind, value."""


def case_id(corpus: str, record: str) -> str:
    """Hashed case id: the first 16 hexadecimal digits of SHA-256 of corpus and record."""
    return hashlib.sha256(f"{corpus}\x1f{record}".encode()).hexdigest()[:16]
