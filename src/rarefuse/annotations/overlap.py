"""Publication-source overlap between cases and annotations (paper, section 3 and Table 10)."""

import polars as pl

from rarefuse.artifacts import Column, Schema

OVERLAP = Schema(
    "overlap_cases",
    (
        Column(
            "case_id",
            pl.String,
            "case with publication and candidate gold; sorted",
        ),
        Column("overlap", pl.Boolean, "some gold relation cites the case's publication"),
        Column("n_relations", pl.Int32, "relations of the gold disease"),
        Column("n_exclusive", pl.Int32, "those that the case's publication alone supports"),
        Column("exclusive_share", pl.Float64, "n_exclusive / n_relations; 0 without relations"),
        Column("n_observed", pl.Int32, "observed terms"),
        Column("n_covered", pl.Int32, "observed terms that are source-exclusive gold relations"),
        Column("covered_share", pl.Float64, "n_covered / n_observed", nullable=True),
    ),
    key=("case_id",),
)


def emptied() -> pl.Expr:
    """Whether LOPO takes every annotation of the gold disease, which had some; of `OVERLAP`."""
    return (pl.col("n_relations") > 0) & (pl.col("n_exclusive") == pl.col("n_relations"))


def overlap_by_case(
    cases: pl.DataFrame, diseases: pl.DataFrame, relations: pl.DataFrame
) -> pl.DataFrame:
    """Overlap of each case with the annotations of its gold disease.

    Parameters
    ----------
    cases : polars.DataFrame
        `CASES`.
    diseases, relations : polars.DataFrame
        `DISEASES`, `RELATIONS`.

    Returns
    -------
    polars.DataFrame
        `OVERLAP`, for the cases with a publication whose gold disease is a candidate. Whether a
        case without a publication overlaps cannot be told, so it is left out and not called 0.
    """
    by_disease: dict[str, list[tuple[str, list[str]]]] = {
        disease: [] for disease in diseases["disease_id"]
    }
    for disease, term, pmids in relations.select("disease_id", "term_id", "pmids").iter_rows():
        by_disease[disease].append((term, pmids))
    rows = []
    columns = ("case_id", "publication_id", "gold_id", "observed")
    for case, publication, gold, observed in cases.select(columns).iter_rows():
        if gold not in by_disease or publication is None:
            continue
        own = by_disease[gold]
        exclusive = {term for term, pmids in own if pmids == [publication]}
        covered = len(exclusive.intersection(observed))
        rows.append(
            (
                case,
                any(publication in pmids for _, pmids in own),
                len(own),
                len(exclusive),
                len(exclusive) / len(own) if own else 0.0,
                len(observed),
                covered,
                covered / len(observed) if observed else None,
            )
        )
    return pl.DataFrame(rows, schema=OVERLAP.dtypes, orient="row").sort("case_id")
