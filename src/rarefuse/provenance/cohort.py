"""Who is in the cohort, and how much its publications overlap with the annotations."""

from collections.abc import Iterator

import polars as pl

from rarefuse import artifacts
from rarefuse.annotations.overlap import emptied, overlap_by_case
from rarefuse.annotations.relations import DISEASES, RELATIONS
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import PARTS, SPLITS
from rarefuse.evaluation.base import NOT_APPLICABLE, Evaluation, Row
from rarefuse.evaluation.overlap import overlap_statistics


def cohort_table(evaluation: Evaluation) -> Iterator[Row]:
    """Count cases, publications, diseases and who can be ranked (paper, Table 6)."""
    cases = artifacts.read(evaluation.corpus / "cases.parquet", CASES).join(
        artifacts.read(evaluation.corpus / "splits.parquet", SPLITS), on="case_id"
    )
    diseases = artifacts.read(evaluation.knowledge / "diseases.parquet", DISEASES)
    relations = artifacts.read(evaluation.knowledge / "relations.parquet", RELATIONS)
    overlap = overlap_by_case(cases, diseases, relations)
    without_profile = overlap.filter(emptied())["case_id"]
    marked = cases.with_columns(
        in_hpoa=pl.col("gold_id").is_in(diseases["disease_id"].implode()),
        rankable=pl.col("observed").list.len() > 0,
        emptied=pl.col("case_id").is_in(without_profile.implode()),
    )
    for subset, part in {
        "all": marked,
        **{p: marked.filter(pl.col("split") == p) for p in PARTS},
    }.items():
        counts = {
            "cases": part.height,
            "publications": part["publication_id"].drop_nulls().n_unique(),
            "gold_diseases": part["gold_id"].n_unique(),
            "gold_in_hpoa": int(part["in_hpoa"].sum()),
            "rankable": int(part["rankable"].sum()),
            "eligible": part.filter(pl.col("in_hpoa"), pl.col("rankable")).height,
            "emptied_by_lopo": part.filter(
                pl.col("in_hpoa"), pl.col("rankable"), pl.col("emptied")
            ).height,
        }
        if subset == "all":
            counts["candidates"] = diseases.height
            counts["hpoa_pmids"] = relations["pmids"].explode().drop_nulls().n_unique()
        for metric, count in counts.items():
            yield Row(
                "cohort", "hpoa", NOT_APPLICABLE, NOT_APPLICABLE, subset, metric, float(count),
                None, None, part.height, None,
            )  # fmt: skip


def overlap_table(evaluation: Evaluation) -> Iterator[Row]:
    """Publication-source overlap of cases whose gold disease is a candidate (Table 10)."""
    cases = artifacts.read(evaluation.corpus / "cases.parquet", CASES)
    overlap = overlap_by_case(
        cases,
        artifacts.read(evaluation.knowledge / "diseases.parquet", DISEASES),
        artifacts.read(evaluation.knowledge / "relations.parquet", RELATIONS),
    ).join(
        cases.select("case_id", pl.coalesce("publication_id", "gold_id").alias("cluster")),
        on="case_id",
    )
    for statistic in overlap_statistics(overlap, lambda frame: evaluation.bootstrap(frame, "all")):
        metric, value, low, high, n = statistic
        yield Row(
            "overlap", "hpoa", NOT_APPLICABLE, NOT_APPLICABLE, "all", metric, value, low, high, n
        )
