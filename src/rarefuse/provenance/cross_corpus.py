"""The same overlap join for several corpora (paper, appendix A.5 and Table 11).

A corpus whose diagnoses are ORPHA ids is joined through their unique OMIM equivalents. What that
detour costs is seen on the reference corpus, which takes it back and forth; and how many
publications the annotations know at all is a bound that no disease mapping enters.
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from rarefuse import artifacts
from rarefuse.annotations.crosswalk import Crosswalk, read_crosswalk
from rarefuse.annotations.overlap import overlap_by_case
from rarefuse.annotations.relations import DISEASES, RELATIONS
from rarefuse.corpus.cases import CASES
from rarefuse.errors import InputError
from rarefuse.evaluation.base import NOT_APPLICABLE, Evaluation, Row
from rarefuse.evaluation.bootstrap import ClusterBootstrap, cluster_bootstrap
from rarefuse.evaluation.overlap import Statistic, mean_of, overlap_statistics

AS_GIVEN = "as given"
ROUND_TRIP = "OMIM to ORPHA to OMIM"


def cross_corpus_table(evaluation: Evaluation) -> Iterator[Row]:
    """Overlap of each corpus with the annotations.

    `evaluation.options`: ``corpora`` (names; results are beside each other), ``reference`` (the
    one of them that others may share publications with, and that takes the round trip) and
    ``disease_map`` (path of the OMIM-ORPHA table).

    Systems are corpora. Variants: as given; without the reference's publications; and, for the
    reference, after the round trip.
    """
    folder, options = evaluation.corpus.parent, evaluation.options
    crosswalk = read_crosswalk(Path(options["disease_map"]))
    reference = str(options["reference"])
    corpora = {name: _cases(folder / name / "cases.parquet") for name in options["corpora"]}
    known = corpora[reference]
    for name, cases in corpora.items():
        mapped = cases.with_columns(gold_id=_omim(cases["gold_id"], crosswalk))
        yield from _overlap(evaluation, name, AS_GIVEN, cases.height, mapped)
        if name == reference:
            there = [e.disease_id for e in crosswalk.omim_to_orpha(cases["gold_id"].to_list())]
            back = _omim(pl.Series("gold_id", there, pl.String), crosswalk)
            yield from _overlap(
                evaluation, name, ROUND_TRIP, cases.height, cases.with_columns(gold_id=back)
            )
            continue
        shared = mapped.join(known, on=["publication_id", "gold_id"], how="semi")
        yield _count(name, AS_GIVEN, "in_reference_share", shared.height / cases.height, cases)
        new = mapped.join(known, on="publication_id", how="anti")
        variant = f"without publications of {reference}"
        yield from _overlap(evaluation, name, variant, new.height, new)


def _cases(path: Path) -> pl.DataFrame:
    """Cases with a publication: of the others it cannot be told whether they overlap."""
    cases = artifacts.read(path, CASES).filter(pl.col("publication_id").is_not_null())
    if cases.is_empty():
        raise InputError(
            "no case of the corpus names its publication",
            where=str(path),
            expected="PMIDs, which the join needs",
            todo="take the corpus out of cross_corpus.corpora",
        )
    return cases


def _omim(ids: pl.Series, crosswalk: Crosswalk) -> pl.Series:
    """OMIM ids as they are, ORPHA ids as their unique OMIM equivalents, null for the rest."""
    texts = ids.to_list()
    equivalents = crosswalk.orpha_to_omim([text or "" for text in texts])
    return pl.Series(
        "gold_id",
        [
            equivalent.disease_id if (text or "").startswith("ORPHA:") else text
            for text, equivalent in zip(texts, equivalents, strict=True)
        ],
        pl.String,
    )


def _count(corpus: str, variant: str, metric: str, value: float, cases: pl.DataFrame) -> Row:
    return Row(
        "cross_corpus", corpus, NOT_APPLICABLE, variant, "all", metric, value, None, None,
        cases.height,
    )  # fmt: skip


def _overlap(
    evaluation: Evaluation, corpus: str, variant: str, n_cases: int, cases: pl.DataFrame
) -> Iterator[Row]:
    diseases = artifacts.read(evaluation.knowledge / "diseases.parquet", DISEASES)
    relations = artifacts.read(evaluation.knowledge / "relations.parquet", RELATIONS)
    pool = relations["pmids"].explode().unique().drop_nulls()
    overlap = overlap_by_case(cases, diseases, relations)
    known = cases["publication_id"].is_in(pool.implode())
    yield _count(corpus, variant, "cases", float(n_cases), cases)
    yield _count(corpus, variant, "publications", float(cases["publication_id"].n_unique()), cases)
    if cases.is_empty():
        return

    def bootstrap(frame: pl.DataFrame) -> ClusterBootstrap:
        return cluster_bootstrap(
            frame["publication_id"].to_list(),
            resamples=evaluation.resamples,
            level=evaluation.level,
            seed=evaluation.seed,
            name=f"{corpus} {variant}",
        )

    e = mean_of(known, bootstrap(cases))
    statistics = [
        Statistic("publication_known_share", e.value, e.low, e.high, cases.height),
        *overlap_statistics(
            overlap.join(cases.select("case_id", "publication_id"), on="case_id").sort("case_id"),
            bootstrap,
        ),
    ]
    for metric, value, low, high, n in statistics:
        yield Row(
            "cross_corpus", corpus, NOT_APPLICABLE, variant, "all", metric, value, low, high, n
        )
