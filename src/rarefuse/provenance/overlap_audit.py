"""Overlap and LOPO audit of any cases against any annotation release (paper, section 3, Table 10).

What can be told of a case depends on two things that it must have: a publication, and a diagnosis
that the release annotates. Every case that lacks one is counted by the reason. One figure depends
on no diagnosis at all: how many of the cases' publications the release cites anywhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from rarefuse.annotations.crosswalk import MAPPED, Crosswalk, disease_curie
from rarefuse.annotations.lopo import REMOVED, removed_relations
from rarefuse.annotations.overlap import emptied, overlap_by_case
from rarefuse.annotations.pmid import pmids_of
from rarefuse.annotations.relations import Relations
from rarefuse.artifacts import Column, Schema
from rarefuse.corpus.build import Corpus
from rarefuse.evaluation.bootstrap import ClusterBootstrap, cluster_bootstrap
from rarefuse.evaluation.overlap import mean_of, overlap_statistics

COUNTED = "counted"
NO_PUBLICATION = "case names no publication"
NOT_ANNOTATED = "diagnosis has no annotation in this release"
NO_MAP = "diagnosis is an ORPHA id and no disease map was given"
OTHER_DATABASE = "diagnosis is neither an OMIM nor an ORPHA id"

AUDITED = Schema(
    "overlap_audit_cases",
    (
        Column("record", pl.String, "the record in its source; sorted"),
        Column("case_id", pl.String, "hash of corpus and record"),
        Column("publication_id", pl.String, "source publication, PMID CURIE", nullable=True),
        Column("gold_stated", pl.String, "diagnosis as the cases have it"),
        Column("gold_id", pl.String, "diagnosis as an OMIM CURIE", nullable=True),
        Column("gold_name", pl.String, "its name in the release, else in the cases", nullable=True),
        Column("status", pl.String, "'counted', or why overlap cannot be told"),
        Column(
            "publication_in_hpoa",
            pl.Boolean,
            "any row of the release cites the publication, whatever its disease, aspect, qualifier",
            nullable=True,
        ),
        Column("overlap", pl.Boolean, "a relation of the diagnosis cites it", nullable=True),
        Column("n_relations", pl.Int32, "relations of the diagnosis", nullable=True),
        Column("n_exclusive", pl.Int32, "those it alone supports", nullable=True),
        Column("exclusive_share", pl.Float64, "n_exclusive / n_relations", nullable=True),
        Column("n_observed", pl.Int32, "observed terms"),
        Column("n_covered", pl.Int32, "those that are exclusive relations of it", nullable=True),
        Column("covered_share", pl.Float64, "n_covered / n_observed", nullable=True),
        Column("n_removed", pl.Int32, "relations of any disease that LOPO removes", nullable=True),
        Column("gold_emptied", pl.Boolean, "LOPO leaves the diagnosis none", nullable=True),
    ),
    key=("case_id",),
)

PUBLICATIONS = Schema(
    "overlap_audit_publications",
    (
        Column("publication_id", pl.String, "PMID CURIE; most removed relations first"),
        Column("n_cases", pl.Int32, "cases from it"),
        Column("in_hpoa", pl.Boolean, "any row of the release cites it"),
        Column("n_relations", pl.Int32, "relations that cite it"),
        Column("n_removed", pl.Int32, "relations that LOPO removes: it alone supports them"),
        Column("n_rows", pl.Int32, "lines of phenotype.hpoa behind these"),
        Column("n_diseases", pl.Int32, "diseases that lose a relation"),
        Column("n_emptied", pl.Int32, "diseases that are left without any"),
        Column("emptied", pl.List(pl.String), "which"),
    ),
    key=("publication_id",),
)

LOPO_RELATIONS = Schema(
    "overlap_audit_lopo",
    (
        *REMOVED.columns,
        Column("disease_name", pl.String, "its name in the release"),
        Column("rows", pl.List(pl.Int32), "lines of phenotype.hpoa to take out, the first being 1"),
    ),
    key=REMOVED.key,
)

SUMMARY = Schema(
    "overlap_audit_summary",
    (
        Column("metric", pl.String, "name of the figure"),
        Column("value", pl.Float64, "count, or share in 0..1"),
        Column("ci_low", pl.Float64, "lower end of the percentile interval", nullable=True),
        Column("ci_high", pl.Float64, "upper end of the percentile interval", nullable=True),
        Column("n", pl.Int64, "cases (or publications) behind it"),
        Column("meaning", pl.String, "what it is"),
    ),
    key=("metric",),
)

MEANINGS = {
    "records_skipped": "Records that could not be read as a case",
    "cases": "Cases read",
    "cases_with_publication": "Cases that name a publication",
    "cases_annotated": "Cases whose diagnosis has annotations in the release",
    "cases_counted": "Cases with both, of which overlap can be told",
    "overlap_cases": "Cases with overlap",
    "overlap_share": "Cases with overlap, share",
    "exclusive_share_mean": "Source-exclusive share of the diagnosis's annotations, mean",
    "exclusive_share_median": "Source-exclusive share of the diagnosis's annotations, median",
    "entirely_exclusive_share": "Cases whose diagnosis is annotated from their publication alone, "
    "share",
    "query_terms_covered_mean": "Observed terms that are source-exclusive annotations of the "
    "diagnosis, mean share",
    "cited_cases_share": "Cases whose publication is cited, share",
    "publications": "Publications of the cases",
    "cited_publications": "Publications that are cited",
    "cited_publications_share": "Publications that are cited, share",
    "lopo_publications": "Publications for which LOPO removes an annotation",
    "lopo_relations": "Annotations that LOPO removes, over all publications",
    "lopo_diseases": "Diseases that lose an annotation",
    "lopo_emptied": "Diseases that lose all annotations to one publication",
    "emptied_cases": "Cases whose diagnosis LOPO leaves without annotations",
}
"""What each figure of the summary is, in its order."""

Row = tuple[str, float, float | None, float | None, int]


@dataclass(frozen=True)
class Resampling:
    """How intervals are made: see `rarefuse.evaluation.bootstrap`."""

    resamples: int = 2000
    level: float = 0.95
    seed: int = 20260902


@dataclass(frozen=True)
class OverlapAudit:
    """Everything the audit found.

    Parameters
    ----------
    cases, publications, lopo, summary : polars.DataFrame
        `AUDITED`, `PUBLICATIONS`, `LOPO_RELATIONS`, `SUMMARY`.
    """

    cases: pl.DataFrame
    publications: pl.DataFrame
    lopo: pl.DataFrame
    summary: pl.DataFrame

    def value(self, metric: str) -> float | None:
        """A figure of the summary; None where it has none."""
        found = self.summary.filter(pl.col("metric") == metric)["value"]
        return float(found[0]) if len(found) else None


def audit_overlap(
    corpus: Corpus,
    annotations: pl.DataFrame,
    built: Relations,
    crosswalk: Crosswalk | None = None,
    resampling: Resampling | None = None,
) -> OverlapAudit:
    """Audit cases against an annotation release.

    Parameters
    ----------
    corpus : Corpus
        Cases as a reader gives them.
    annotations : polars.DataFrame
        `rarefuse.annotations.hpoa.ANNOTATIONS` of the release.
    built : Relations
        Its candidate diseases and relations.
    crosswalk : Crosswalk, optional
        Takes ORPHA diagnoses to their one OMIM equivalent.
    resampling : Resampling, optional
        Of the intervals.

    Returns
    -------
    OverlapAudit
        Figures of cases are over those with a publication and an annotated diagnosis, as in the
        paper; `cited_cases_share` is over those with a publication, whatever their diagnosis.
    """
    cases = _with_gold(corpus.cases, built.diseases, crosswalk)
    anywhere = {
        curie for text in annotations["reference"].unique().to_list() for curie in pmids_of(text)
    }
    overlap = overlap_by_case(
        cases.with_columns(gold_id=pl.col("gold_id").fill_null("")),
        built.diseases,
        built.relations,
    )
    named = cases["publication_id"].drop_nulls().to_list()
    lopo = _lopo(built, named)
    publications = _publications(cases, built, lopo, anywhere)
    audited = (
        cases.join(overlap.drop("n_observed"), on="case_id", how="left", maintain_order="left")
        .join(
            publications.select("publication_id", "n_removed", publication_in_hpoa="in_hpoa"),
            on="publication_id",
            how="left",
            maintain_order="left",
        )
        .with_columns(
            n_observed=pl.col("observed").list.len().cast(pl.Int32),
            gold_emptied=emptied(),
        )
        .select(AUDITED.names)
    )
    skipped = corpus.skipped.filter(pl.col("level") == "case").height
    annotated = int(audited["gold_id"].is_in(built.diseases["disease_id"].implode()).sum())
    rows = sorted(
        _summary(audited, publications, lopo, skipped, annotated, resampling or Resampling()),
        key=lambda row: list(MEANINGS).index(row[0]),
    )
    summary = pl.DataFrame(
        [(*row, MEANINGS[row[0]]) for row in rows], schema=SUMMARY.dtypes, orient="row"
    )
    return OverlapAudit(audited, publications, lopo, summary)


def _with_gold(
    cases: pl.DataFrame, diseases: pl.DataFrame, crosswalk: Crosswalk | None
) -> pl.DataFrame:
    """Cases with their OMIM diagnosis, its name in the release, and whether they count."""
    names = dict(diseases.select("disease_id", "name").iter_rows())
    found: dict[str, tuple[str | None, str]] = {}
    for stated in cases["gold_id"].unique().to_list():
        curie = disease_curie(stated)
        reason = MAPPED
        if curie is None:
            reason = OTHER_DATABASE
        elif curie.startswith("ORPHA:"):
            if crosswalk is None:
                curie, reason = None, NO_MAP
            else:
                ((curie, reason),) = crosswalk.orpha_to_omim([curie])
                reason = reason if curie else f"ORPHA diagnosis: {reason}"
        if curie is not None and curie not in names:
            reason = NOT_ANNOTATED
        found[stated] = (curie, reason)
    rows = [
        (
            found[stated][0],
            names.get(found[stated][0] or "", label),
            NO_PUBLICATION
            if publication is None
            else COUNTED
            if found[stated][1] == MAPPED
            else found[stated][1],
        )
        for stated, label, publication in cases.select(
            "gold_id", "gold_label", "publication_id"
        ).iter_rows()
    ]
    return cases.rename({"gold_id": "gold_stated"}).with_columns(
        pl.DataFrame(
            rows, schema=dict.fromkeys(("gold_id", "gold_name", "status"), pl.String), orient="row"
        )
    )


def _lopo(built: Relations, publications: list[str]) -> pl.DataFrame:
    """`LOPO_RELATIONS` of the cases' publications."""
    return (
        removed_relations(built.relations, publications)
        .join(
            built.relations.select("disease_id", "term_id", "rows"),
            on=["disease_id", "term_id"],
            how="left",
            maintain_order="left",
        )
        .join(
            built.diseases.select("disease_id", disease_name="name"),
            on="disease_id",
            how="left",
            maintain_order="left",
        )
        .select(LOPO_RELATIONS.names)
    )


def _publications(
    cases: pl.DataFrame, built: Relations, lopo: pl.DataFrame, anywhere: set[str]
) -> pl.DataFrame:
    """`PUBLICATIONS` of the cases."""
    cited = (
        built.relations.select(pl.col("pmids").explode().alias("publication_id"))
        .drop_nulls()
        .group_by("publication_id")
        .agg(n_relations=pl.len())
    )
    by_disease = (
        lopo.group_by("publication_id", "disease_id")
        .agg(lost=pl.len(), n_rows=pl.col("rows").list.len().sum())
        .join(built.diseases.select("disease_id", "n_relations"), on="disease_id")
        .sort("publication_id", "disease_id")
    )
    removed = by_disease.group_by("publication_id", maintain_order=True).agg(
        n_removed=pl.col("lost").sum(),
        n_rows=pl.col("n_rows").sum(),
        n_diseases=pl.len(),
        emptied=pl.col("disease_id").filter(pl.col("lost") == pl.col("n_relations")),
    )
    counts = ("n_cases", "n_relations", "n_removed", "n_rows", "n_diseases", "n_emptied")
    return (
        cases.drop_nulls("publication_id")
        .group_by("publication_id")
        .agg(n_cases=pl.len())
        .join(cited, on="publication_id", how="left")
        .join(removed, on="publication_id", how="left")
        .with_columns(
            in_hpoa=pl.col("publication_id").is_in(sorted(anywhere)),
            emptied=pl.col("emptied").fill_null([]),
        )
        .with_columns(n_emptied=pl.col("emptied").list.len())
        .with_columns(pl.col(counts).fill_null(0).cast(pl.Int32))
        .select(PUBLICATIONS.names)
        .sort("n_removed", "publication_id", descending=[True, False])
    )


def _summary(
    cases: pl.DataFrame,
    publications: pl.DataFrame,
    lopo: pl.DataFrame,
    skipped: int,
    annotated: int,
    resampling: Resampling,
) -> Iterator[Row]:
    def bootstrap(frame: pl.DataFrame) -> ClusterBootstrap:
        # Named as the pipeline's table names it, so that both draw the same resamples.
        return cluster_bootstrap(
            frame["publication_id"].to_list(),
            resamples=resampling.resamples,
            level=resampling.level,
            seed=resampling.seed,
            name="all",
        )

    named = cases.drop_nulls("publication_id")
    counted = cases.filter(pl.col("status") == COUNTED)
    yield "records_skipped", skipped, None, None, cases.height + skipped
    yield "cases", cases.height, None, None, cases.height
    yield "cases_with_publication", named.height, None, None, cases.height
    yield "cases_annotated", annotated, None, None, cases.height
    yield "cases_counted", counted.height, None, None, cases.height
    if counted.height:
        yield "overlap_cases", int(counted["overlap"].sum()), None, None, counted.height
    yield from overlap_statistics(counted, bootstrap)
    if named.is_empty():
        return
    e = mean_of(named["publication_in_hpoa"], bootstrap(named))
    yield "cited_cases_share", e.value, e.low, e.high, named.height
    n = publications.height
    yield "publications", n, None, None, n
    yield "cited_publications", int(publications["in_hpoa"].sum()), None, None, n
    e = mean_of(publications["in_hpoa"], bootstrap(publications))
    yield "cited_publications_share", e.value, e.low, e.high, n
    yield "lopo_publications", int((publications["n_removed"] > 0).sum()), None, None, n
    yield "lopo_relations", lopo.height, None, None, n
    yield "lopo_diseases", lopo["disease_id"].n_unique(), None, None, n
    emptied = publications["emptied"].explode().drop_nulls()
    yield "lopo_emptied", emptied.n_unique(), None, None, n
    if counted.height:
        yield "emptied_cases", int(counted["gold_emptied"].sum()), None, None, counted.height
