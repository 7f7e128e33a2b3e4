"""The audit on the tiny release, counted by hand.

Of tests/data/tiny: OMIM:100001 has three relations, two from PMID:11 alone; both of OMIM:100009
are from PMID:24 alone and the three of OMIM:100011 from PMID:25 alone; OMIM:100002 has one from
PMID:12 and PMID:13 and one from PMID:13 alone. PMID:77 stands in a NOT row and PMID:78 in an
ORPHA row only.
"""

import pytest

from rarefuse.annotations.crosswalk import AMBIGUOUS, INEXACT, UNMAPPED, read_crosswalk
from rarefuse.annotations.hpoa import read_hpoa
from rarefuse.annotations.relations import build_relations
from rarefuse.corpus.build import RawCase, build
from rarefuse.corpus.terms import Skip
from rarefuse.provenance import overlap_audit
from rarefuse.provenance.overlap_audit import (
    AUDITED,
    COUNTED,
    LOPO_RELATIONS,
    MEANINGS,
    NO_MAP,
    NO_PUBLICATION,
    NOT_ANNOTATED,
    OTHER_DATABASE,
    PUBLICATIONS,
    SUMMARY,
    Resampling,
    audit_overlap,
)

CASES = {
    "a": ("PMID:11", "OMIM:100001", ["HP:0001251", "HP:0002373"]),
    "b": ("PMID:24", "OMIM:100009", []),
    "c": ("PMID:30", "OMIM:100010", ["HP:0001249"]),
    "d": (None, "OMIM:100009", ["HP:0001251"]),
    "e": ("PMID:12", "OMIM:999999", ["HP:0001251"]),
    "f": ("PMID:25", "ORPHA:1", ["HP:0001166"]),
    "g": ("PMID:25", "ORPHA:2", ["HP:0001166"]),
    "h": ("PMID:77", "ORPHA:3", ["HP:0001166"]),
    "i": ("PMID:78", "ORPHA:4", ["HP:0001166"]),
    "j": ("PMID:31", "MONDO:0000001", ["HP:0001166"]),
}
MAP = """omim,orpha,relation
OMIM:100011,ORPHA:1,E
OMIM:100011,ORPHA:2,E
OMIM:100012,ORPHA:2,E
OMIM:100012,ORPHA:3,BTNT
"""


@pytest.fixture(scope="module")
def release(tiny, tmp_path_factory):
    path = tmp_path_factory.mktemp("release") / "phenotype.hpoa"
    empty = "\t".join(["HPO:x[2026-01-01]"])
    row = "{}\tD\t{}\tHP:0001250\t{}\tPCS\t\t\t\t\tP\t" + empty + "\n"
    more = row.format("OMIM:100001", "NOT", "PMID:77") + row.format("ORPHA:9", "", "PMID:78")
    path.write_text((tiny / "tiny.hpoa").read_text() + more)
    return read_hpoa(path)


@pytest.fixture(scope="module")
def corpus(tiny_ontology):
    raw = [
        RawCase(record, gold, list(terms), [], publication_id=publication, gold_label="stated")
        for record, (publication, gold, terms) in CASES.items()
    ]
    return build("c", "cases", [*raw, Skip("k", "case", "not JSON")], tiny_ontology)


@pytest.fixture(scope="module")
def crosswalk(tmp_path_factory):
    path = tmp_path_factory.mktemp("map") / "map.csv"
    path.write_text(MAP)
    return read_crosswalk(path)


@pytest.fixture(scope="module")
def audit(corpus, release, tiny_ontology, crosswalk):
    built = build_relations(release, tiny_ontology)
    return audit_overlap(corpus, release, built, crosswalk, Resampling(resamples=200))


def column(frame, key, name):
    return dict(frame.select(key, name).iter_rows())


def test_every_frame_is_what_it_declares(audit):
    for frame, schema in (
        (audit.cases, AUDITED),
        (audit.publications, PUBLICATIONS),
        (audit.lopo, LOPO_RELATIONS),
        (audit.summary, SUMMARY),
    ):
        schema.check(frame, "here")
    assert audit.cases["record"].to_list() == list(CASES)
    assert audit.summary["metric"].to_list() == list(MEANINGS)


def test_each_case_counts_or_has_its_reason(audit):
    assert column(audit.cases, "record", "status") == {
        "a": COUNTED,
        "b": COUNTED,
        "c": COUNTED,
        "d": NO_PUBLICATION,
        "e": NOT_ANNOTATED,
        "f": COUNTED,
        "g": f"ORPHA diagnosis: {AMBIGUOUS}",
        "h": f"ORPHA diagnosis: {INEXACT}",
        "i": f"ORPHA diagnosis: {UNMAPPED}",
        "j": OTHER_DATABASE,
    }
    assert column(audit.cases, "record", "gold_id")["f"] == "OMIM:100011"
    names = column(audit.cases, "record", "gold_name")
    assert (names["f"], names["g"]) == ("Jade dysplasia", "stated")


def test_without_a_map_orpha_diagnoses_are_counted_as_such(corpus, release, tiny_ontology):
    audit = audit_overlap(corpus, release, build_relations(release, tiny_ontology))
    reasons = column(audit.cases, "record", "status")
    assert {record for record, reason in reasons.items() if reason == NO_MAP} == set("fghi")


def test_the_figures_of_a_case(audit):
    rows = {row["record"]: row for row in audit.cases.iter_rows(named=True)}
    names = ("overlap", "n_relations", "n_exclusive", "n_covered", "n_removed", "gold_emptied")
    figures = {record: tuple(row[name] for name in names) for record, row in rows.items()}
    assert figures["a"] == (True, 3, 2, 1, 2, False)
    assert figures["b"] == (True, 2, 2, 0, 2, True)
    assert figures["c"] == (False, 2, 0, 0, 0, False)
    assert figures["d"] == (None, None, None, None, None, None)
    assert figures["e"] == (None, None, None, None, 0, None)  # PMID:12 is never alone
    assert figures["f"] == (True, 3, 3, 1, 3, True)
    assert figures["g"] == (None, None, None, None, 3, None)
    assert (rows["a"]["exclusive_share"], rows["a"]["covered_share"]) == (2 / 3, 1 / 2)
    assert rows["b"]["covered_share"] is None


def test_records_of_one_name_are_skipped_one_by_one(release, tiny_ontology):
    raw = [RawCase("a", "OMIM:100001", [], [], publication_id="PMID:11") for _ in range(4)]
    corpus = build("c", "cases", raw, tiny_ontology)
    audit = audit_overlap(corpus, release, build_relations(release, tiny_ontology))
    assert (audit.value("cases"), audit.value("records_skipped")) == (1, 3)


def test_citations_need_no_diagnosis(audit):
    cited = column(audit.cases, "record", "publication_in_hpoa")
    assert {record for record, yes in cited.items() if yes} == set("abefghi")
    assert cited["c"] is False
    assert cited["d"] is None


def test_the_summary(audit):
    value = audit.value
    assert value("records_skipped") == 1
    assert value("cases") == 10
    assert value("cases_with_publication") == 9
    assert value("cases_annotated") == 5  # a, b, c, d, f
    assert value("cases_counted") == 4
    assert value("overlap_cases") == 3
    assert value("overlap_share") == 3 / 4
    assert value("exclusive_share_mean") == pytest.approx((2 / 3 + 1 + 0 + 1) / 4)
    assert value("exclusive_share_median") == pytest.approx(5 / 6)
    assert value("entirely_exclusive_share") == 1 / 2
    assert value("query_terms_covered_mean") == pytest.approx((1 / 2 + 0 + 1) / 3)
    assert value("cited_cases_share") == pytest.approx(7 / 9)
    assert value("publications") == 8
    assert value("cited_publications") == 6  # 11, 24, 12, 25, 77, 78
    assert value("cited_publications_share") == 6 / 8
    assert value("lopo_publications") == 3
    assert value("lopo_relations") == 2 + 2 + 3
    assert value("lopo_diseases") == 3
    assert value("lopo_emptied") == 2
    assert value("emptied_cases") == 2
    for low, figure, high in audit.summary.drop_nulls("ci_low").select(
        "ci_low", "value", "ci_high"
    ).iter_rows():  # fmt: skip
        assert 0 <= low <= figure <= high <= 1


def test_publications_and_what_to_remove(audit, release):
    first = audit.publications.row(0, named=True)
    assert first == {
        "publication_id": "PMID:25",
        "n_cases": 2,
        "in_hpoa": True,
        "n_relations": 3,
        "n_removed": 3,
        "n_rows": 3,
        "n_diseases": 1,
        "n_emptied": 1,
        "emptied": ["OMIM:100011"],
    }
    assert audit.publications["n_removed"].to_list() == [3, 2, 2, 0, 0, 0, 0, 0]
    lines = dict(release.select("row", "reference").iter_rows())
    for publication, disease, _, name, rows in audit.lopo.iter_rows():
        assert {lines[row] for row in rows} == {publication}
        assert name == {"OMIM:100001": "Amber ataxia syndrome 1", "OMIM:100009": "Hematite ataxia",
                        "OMIM:100011": "Jade dysplasia"}[disease]  # fmt: skip


def test_cases_without_publications_have_no_overlap_to_tell(release, tiny_ontology):
    raw = [RawCase("a", "OMIM:100001", ["HP:0001251"], [])]
    corpus = build("c", "cases", raw, tiny_ontology)
    audit = audit_overlap(corpus, release, build_relations(release, tiny_ontology))
    assert audit.value("overlap_share") is None
    assert audit.value("cited_cases_share") is None
    assert audit.value("cases_annotated") == 1
    assert audit.publications.is_empty()
    assert audit.lopo.is_empty()
    AUDITED.check(audit.cases, "here")
    PUBLICATIONS.check(audit.publications, "here")


def test_the_seed_decides_the_intervals_and_nothing_else(corpus, release, tiny_ontology, crosswalk):
    built = build_relations(release, tiny_ontology)
    one, same, other = (
        audit_overlap(corpus, release, built, crosswalk, Resampling(50, 0.95, seed))
        for seed in (1, 1, 2)
    )
    assert one.summary.equals(same.summary)
    assert not one.summary.equals(other.summary)
    assert one.summary["value"].equals(other.summary["value"])
    assert overlap_audit.Resampling() == Resampling(2000, 0.95, 20260902)
