"""Hand-made tables: the paper's figures where it gives one, round invented ones elsewhere."""

from types import SimpleNamespace

import polars as pl
import pytest

from rarefuse.annotations.relations import PROBLEMS
from rarefuse.corpus.cases import SKIPPED
from rarefuse.evaluation.tables import TABLE

KS = (1, 3, 5, 10, 20, 50, 100)
# Recall@1 and Recall@100 before and after LOPO; the values between follow a straight line in log k.
RANKERS = {
    "phenomizer": ((0.4481, 0.8100), (0.1217, 0.4660)),
    "resnik": ((0.6484, 0.9000), (0.2591, 0.5500)),
    "lirical": ((0.4868, 0.8400), (0.1724, 0.5100)),
}
SUBSETS = {"all": 10345, "train": 7006, "validation": 1112, "test": 2227}
WIDTHS = {"all": 0.02, "train": 0.025, "validation": 0.06, "test": 0.04}


def row(table, system, protocol, variant, subset, metric, value, half=None, n=1, sd=None):
    low, high = (None, None) if half is None else (value - half, value + half)
    return (table, system, protocol, variant, subset, metric, value, low, high, n, sd)


def frame(rows):
    result = pl.DataFrame(rows, schema=TABLE.dtypes, orient="row")
    TABLE.check(result, "hand-made")
    return result


def both(table, system, variant, subset, metric, before, after, half, n):
    """Rows before and after LOPO, and the change."""
    return [
        row(table, system, "ordinary", variant, subset, metric, before, half, n),
        row(table, system, "lopo", variant, subset, metric, after, half, n),
        row(table, system, "lopo - ordinary", variant, subset, metric, after - before, half, n),
    ]


def between(ends, k):
    share = KS.index(k) / (len(KS) - 1)
    return round(ends[0] + share * (ends[1] - ends[0]), 4)


def recall_rows(rankers=RANKERS, subsets=SUBSETS):
    rows = []
    for system, (before, after) in rankers.items():
        for subset, n in subsets.items():
            for k in KS:
                values = between(before, k), between(after, k)
                rows += both(
                    "recall", system, "native", subset, f"recall@{k}", *values, WIDTHS[subset], n
                )
            rows += both(
                "recall",
                system,
                "native",
                subset,
                "mrr",
                before[0] + 0.05,
                after[0] + 0.05,
                0.02,
                n,
            )
    return rows


def tie_rows(rankers=RANKERS):
    rows = []
    for i, (system, (before, after)) in enumerate(rankers.items()):
        for metric, k in (("recall@1", 1), ("recall@10", 10), ("mrr", 3)):
            for variant, less in (("native", 0), ("averaged", 0.01), ("worst", 0.05 + 0.02 * i)):
                values = between(before, k) - less, max(0.03, between(after, k) - less)
                rows += both("ties", system, variant, "all", metric, *values, 0.02, 10345)
        for protocol in ("ordinary", "lopo"):
            for metric, value in (
                ("rank1_tied_share", 0.141),
                ("rank1_tie_mean", 1.41),
                ("rank1_tie_max", 22.0),
            ):
                rows.append(
                    row("ties", system, protocol, "native", "all", metric, value, None, 10345)
                )
    return rows


def monte_carlo_rows():
    rows = []
    for metric, before, after in (
        ("recall@1", 0.4481, 0.1217),
        ("recall@10", 0.7, 0.3),
        ("mrr", 0.5, 0.17),
    ):
        for seed, shift in ((1, 0.0012), (2, -0.0009), (3, 0.0004), (4, -0.0007)):
            rows += both(
                "monte_carlo",
                "phenomizer",
                f"seed {seed}",
                "all",
                metric,
                before + shift,
                after - shift / 2,
                0.02,
                10345,
            )
        mean = both(
            "monte_carlo", "phenomizer", "mean of seeds", "all", metric, before, after, 0.02, 10345
        )
        rows += [(*values[:-1], 0.0010) for values in mean]
    return rows


def query_cap_rows():
    rows = []
    for subset, n in (("all", 10345), ("observed <= 10", 7400), ("observed > 10", 2945)):
        for metric in ("recall@1", "recall@10", "mrr"):
            for protocol, value in (("ordinary", 0.4481), ("lopo", 0.1217)):
                rows += [
                    row("query_cap", "phenomizer", protocol, variant, subset, metric, v, 0.02, n)
                    for variant, v in (
                        ("capped", value),
                        ("uncapped", value + 0.013),
                        ("uncapped - capped", 0.013),
                    )
                ]
    return rows


def cohort_rows():
    counts = {
        "all": (10377, 1733, 780, 10348, 10374, 10345, 2028),
        "train": (7029, 1187, 640, 7008, 7027, 7006, 1400),
        "validation": (1102, 181, 220, 1113, 1102, 1112, 118),
        "test": (2246, 365, 310, 2227, 2245, 2227, 510),
    }
    metrics = (
        "cases",
        "publications",
        "gold_diseases",
        "gold_in_hpoa",
        "rankable",
        "eligible",
        "emptied_by_lopo",
    )
    rows = [
        row("cohort", "hpoa", "-", "-", subset, metric, float(value), None, int(values[0]))
        for subset, values in counts.items()
        for metric, value in zip(metrics, values, strict=True)
    ]
    return [
        *rows,
        row("cohort", "hpoa", "-", "-", "all", "candidates", 8553.0),
        row("cohort", "hpoa", "-", "-", "all", "hpoa_pmids", 8958.0),
    ]


def overlap_rows(share=0.746):
    values = {
        "overlap_share": share,
        "exclusive_share_mean": 0.336,
        "exclusive_share_median": 0.123,
        "entirely_exclusive_share": 0.196,
        "query_terms_covered_mean": 0.377,
    }
    return [
        row("overlap", "hpoa", "-", "-", "all", metric, value, 0.031, 10348)
        for metric, value in values.items()
    ]


@pytest.fixture(scope="session")
def build():
    """The builders above, for tests that need a table of their own."""
    return SimpleNamespace(
        frame=frame,
        row=row,
        both=both,
        recall_rows=recall_rows,
        overlap_rows=overlap_rows,
    )


@pytest.fixture(scope="session")
def all_tables():
    return {
        "cohort": frame(cohort_rows()),
        "overlap": frame(overlap_rows()),
        "recall": frame(recall_rows()),
        "ties": frame(tie_rows()),
        "monte_carlo": frame(monte_carlo_rows()),
        "query_cap": frame(query_cap_rows()),
    }


@pytest.fixture
def tables(all_tables):
    """The tables in a mapping that a test may change."""
    return dict(all_tables)


@pytest.fixture(scope="session")
def skipped():
    rows = [
        ("a.json", "case", "no observed term in the record", None),
        ("b.json", "term", "obsolete id without a replacement", "observed HP:0000001"),
        ("b.json", "term", "obsolete id without a replacement", "observed HP:0000002"),
        ("c.json", "term", "obsolete id without a replacement", "excluded HP:0000003"),
        ("c.json", "mapped", "alternative id mapped to the current one", None),
    ]
    return pl.DataFrame(rows, schema=SKIPPED.dtypes, orient="row")


@pytest.fixture(scope="session")
def problems():
    rows = [
        (12, "term mapped (alt_id)", "HP:0000004 → HP:0000005"),
        (15, "term mapped (alt_id)", "HP:0000006 → HP:0000005"),
        (19, "unknown term, row left out", "HP:9999999"),
    ]
    return pl.DataFrame(rows, schema=PROBLEMS.dtypes, orient="row")


@pytest.fixture(scope="session")
def audit():
    return pl.DataFrame(
        [
            ("planted answers found", True, 7.0, "7 of 7 kinds of answer found when planted"),
            ("no answer in the real view", True, 0.0, "10,377 inputs searched"),
            ("labels are canonical", True, None, ""),
            ("publications stay in one split", True, 0.0, "1,733 publications"),
            ("lexical overlap", True, 0.347, "3,600 of 10,377 cases"),
            ("label names the answer", True, 31.0, "intrinsic to the ontology"),
        ],
        schema={"check": pl.String, "passed": pl.Boolean, "value": pl.Float64, "detail": pl.String},
        orient="row",
    )


@pytest.fixture(scope="session")
def provenance():
    return {
        "version": "0.1.0",
        "seed": 20260902,
        "resamples": 2000,
        "level": 0.95,
        "sources": [
            {
                "id": "phenopacket-store-0.1.27",
                "title": "Phenopacket Store",
                "release": "0.1.27",
                "licence": "BSD-3-Clause",
                "sha256": "2a" * 32,
            },
            {
                "id": "hpoa-2026-06-23",
                "title": "HPO annotations of rare diseases",
                "release": "2026-06-23",
                "sha256": "89" * 32,
            },
        ],
        "settings": {"samples of the null": 100000},
    }
