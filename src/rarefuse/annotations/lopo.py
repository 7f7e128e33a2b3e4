"""Leave one publication out: take away what only that publication supports.

For a case with source publication p, every relation of every disease with ``refs == {p}`` goes
(paper, section 3). Relations with another publication stay, and so do relations without any PMID.
Profiles are rebuilt with ancestors by whoever scores them; information content is not recomputed.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from rarefuse import artifacts
from rarefuse.annotations.hpoa import ANNOTATIONS, read_text
from rarefuse.annotations.pmid import pmids_of
from rarefuse.annotations.relations import RELATIONS
from rarefuse.artifacts import Column, Schema
from rarefuse.errors import InputError

REMOVED = Schema(
    "lopo",
    (
        Column("publication_id", pl.String, "the publication left out, PMID CURIE"),
        Column("disease_id", pl.String, "disease that loses a relation"),
        Column("term_id", pl.String, "the relation's term"),
    ),
    key=("publication_id", "disease_id", "term_id"),
)
"""Relations removed for each publication, sorted by publication, disease, term. With the base
relations it is that publication's annotation file."""


def source_exclusive(relations: pl.DataFrame) -> pl.DataFrame:
    """Relations with exactly one publication, and which.

    Returns
    -------
    polars.DataFrame
        `REMOVED` for every publication there is.
    """
    return (
        relations.filter(pl.col("pmids").list.len() == 1)
        .select(pl.col("pmids").list.first().alias("publication_id"), "disease_id", "term_id")
        .sort("publication_id", "disease_id", "term_id")
    )


def removed_relations(relations: pl.DataFrame, publications: Iterable[str]) -> pl.DataFrame:
    """What LOPO removes for each of a set of publications (`REMOVED`)."""
    wanted = sorted({p for p in publications if p is not None})
    return source_exclusive(relations).filter(pl.col("publication_id").is_in(wanted))


def lopo_annotations(
    annotations: pl.DataFrame, relations: pl.DataFrame, publication: str
) -> pl.DataFrame:
    """``phenotype.hpoa`` without what only one publication supports.

    Parameters
    ----------
    annotations : polars.DataFrame
        `ANNOTATIONS` of the release.
    relations : polars.DataFrame
        `RELATIONS` built from it.
    publication : str
        PMID CURIE.

    Returns
    -------
    polars.DataFrame
        `ANNOTATIONS` less the rows of the relations that are exclusive to `publication`. Rows
        of other aspects, databases and qualifiers stay, as in the paper (appendix A.3).
    """
    return annotations.filter(~pl.col("row").is_in(removed_rows(relations, publication)))


def removed_rows(relations: pl.DataFrame, publication: str) -> list[int]:
    """Lines of ``phenotype.hpoa`` behind the relations that only `publication` supports."""
    gone = relations.filter(pl.col("pmids") == [publication])["rows"]
    return sorted(gone.explode().drop_nulls().to_list())


def without_rows(lines: Sequence[str], rows: Iterable[int]) -> str:
    """Text of a file without some of its lines, byte for byte otherwise.

    Parameters
    ----------
    lines : sequence of str
        The file's text divided at line feeds alone, as `read_hpoa` numbers it.
    rows : iterable of int
        Lines to leave out, the first being 1.
    """
    gone = set(rows)
    return "\n".join(line for number, line in enumerate(lines, start=1) if number not in gone)


def exclusive_rows(relations: pl.DataFrame, publications: Iterable[str]) -> dict[str, list[int]]:
    """Rows of ``phenotype.hpoa`` that LOPO takes away, for each of a set of publications.

    Returns
    -------
    dict
        Publication → line numbers, ascending; empty where it supports nothing alone.
    """
    rows: dict[str, list[int]] = {publication: [] for publication in publications}
    alone = relations.filter(pl.col("pmids").list.len() == 1)
    for publication, numbers in alone.select(pl.col("pmids").list.first(), "rows").iter_rows():
        if publication in rows:
            rows[publication] += numbers
    return {publication: sorted(numbers) for publication, numbers in rows.items()}


def lopo_stage(*, cases: Path, relations: Path, output: Path) -> None:
    """Write `REMOVED` for the publications of a corpus."""
    publications = pl.read_parquet(cases, columns=["publication_id"]).to_series()
    removed = removed_relations(
        artifacts.read(relations, RELATIONS), publications.drop_nulls().to_list()
    )
    artifacts.write(removed, REMOVED, output)


def lopo_hpoa_stage(
    *,
    hpoa: Path,
    annotations: Path,
    relations: Path,
    cases: Path,
    publication: str,
    output: Path,
) -> None:
    """Write one publication's ``phenotype.hpoa``, for outside programs.

    The file is the release's own text without the removed lines, byte for byte otherwise; the
    whole text for a case's publication that no annotation cites.
    """
    rows = artifacts.read(annotations, ANNOTATIONS)
    gone = removed_rows(artifacts.read(relations, RELATIONS), publication)
    known = pl.read_parquet(cases, columns=["publication_id"]).to_series()
    if publication not in known and not any(
        publication in pmids_of(reference) for reference in rows["reference"].unique()
    ):
        raise InputError(
            "the publication is neither a case's nor cited by any annotation",
            where=f"{cases}, {hpoa}",
            found=publication,
            expected="a PMID of the corpus or of the annotations",
            todo="check the number",
        )
    artifacts.write_text(without_rows(read_text(hpoa).split("\n"), gone), output)
