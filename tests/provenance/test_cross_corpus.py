"""Overlap of corpora beside each other, counted by hand on the tiny annotations."""

import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.corpus.cases import CASES
from rarefuse.errors import InputError
from rarefuse.evaluation.base import Evaluation

# The reference: OMIM:100001 and 100002 share an ORPHA id, so neither comes back from the trip.
REFERENCE = [
    ("r1", "PMID:11", "OMIM:100001"),
    ("r2", "PMID:14", "OMIM:100003"),
    ("r3", "PMID:30", "OMIM:100010"),
    ("r4", None, "OMIM:100010"),
]
# ORPHA:3 is OMIM:100003 alone; ORPHA:1 is ambiguous; ORPHA:99 has no exact equivalent.
OTHER = [
    ("o1", "PMID:14", "ORPHA:3"),
    ("o2", "PMID:17", "ORPHA:5"),
    ("o3", "PMID:18", "ORPHA:1"),
    ("o4", "PMID:99", "ORPHA:99"),
]


@pytest.fixture
def corpora(evaluation, tiny):
    folder = evaluation.corpus.parent
    for name, rows in (("reference", REFERENCE), ("other", OTHER), ("none", [("n", None, "x")])):
        frame = pl.DataFrame(
            [(c, c, p, g, None, None, None, None, ["HP:0001250"], []) for c, p, g in rows],
            schema=CASES.dtypes,
            orient="row",
        )
        artifacts.write(frame, CASES, folder / name / "cases.parquet")
    options = {
        "corpora": ["reference", "other"],
        "reference": "reference",
        "disease_map": str(tiny / "disease_map.tsv"),
    }
    return Evaluation(**{**evaluation.__dict__, "options": options})


def test_reference_and_its_round_trip(corpora, table):
    found = table(corpora, "cross_corpus", "reference")

    def value(variant, metric):
        return found["-", variant, "all", metric]

    assert value("as given", "cases") == (3.0, 3)  # r4 names no publication
    assert value("as given", "overlap_share") == (pytest.approx(2 / 3), 3)
    assert value("as given", "publication_known_share") == (pytest.approx(2 / 3), 3)
    # 2 of 3 annotations of OMIM:100001 are PMID:11's, all of OMIM:100003 PMID:14's.
    assert value("as given", "exclusive_share_mean")[0] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert value("as given", "entirely_exclusive_share")[0] == pytest.approx(1 / 3)
    # r1 is lost on the way, r2 and r3 come back.
    assert value("OMIM to ORPHA to OMIM", "overlap_share") == (1 / 2, 2)
    assert value("OMIM to ORPHA to OMIM", "publication_known_share")[1] == 3


def test_another_corpus_through_orpha_ids(corpora, table):
    found = table(corpora, "cross_corpus", "other")
    # o1 and o2 have an OMIM equivalent, and both overlap; the annotations know three of the four
    # publications, mapped or not.
    assert found["-", "as given", "all", "overlap_share"] == (1.0, 2)
    assert found["-", "as given", "all", "publication_known_share"] == (3 / 4, 4)
    assert found["-", "as given", "all", "in_reference_share"] == (1 / 4, 4)
    without = "without publications of reference"
    assert found["-", without, "all", "cases"] == (3.0, 3)
    assert found["-", without, "all", "overlap_share"] == (1.0, 1)


def test_a_corpus_without_publications(corpora, table):
    options = {**corpora.options, "corpora": ["reference", "none"]}
    broken = Evaluation(**{**corpora.__dict__, "options": options})
    with pytest.raises(InputError, match="no case"):
        table(broken, "cross_corpus")
