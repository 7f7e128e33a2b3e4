"""Leave one publication out: take away what only that publication supports.

For a case with source publication p, every relation of every disease with ``refs == {p}`` goes
(paper, section 3). Relations with another publication stay, and so do relations without any PMID.
Profiles are rebuilt with ancestors by whoever scores them; information content is not recomputed.
"""

from collections.abc import Iterable

import polars as pl

from rarefuse.artifacts import Column, Schema

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
    gone = (
        relations.filter(pl.col("pmids") == [publication]).select(pl.col("rows").explode()).to_series()
    )
    return annotations.filter(~pl.col("row").is_in(gone.implode()))

