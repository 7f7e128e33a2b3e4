"""The closed view and its audit, which must find what is planted."""

import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.annotations.relations import DISEASES
from rarefuse.corpus.audit import (
    AUDIT,
    audit,
    audit_stage,
    contains,
    content_words,
    planted,
    refuse_failures,
)
from rarefuse.corpus.cases import CASES, WITHHELD
from rarefuse.corpus.splits import SPLITS
from rarefuse.corpus.view import VIEW, close_view, render
from rarefuse.errors import InputError
from rarefuse.ontology import to_frames
from rarefuse.ontology.arrays import ALIASES, TERMS

NAMES = {"OMIM:100003": "Basalt cataract 3", "OMIM:100004": "Cobalt dystrophy"}
SECRETS = [
    ("disease_id", "OMIM:100003"),
    ("disease_name", "Basalt cataract"),
    ("gene", "SHH"),
    ("hgnc", "HGNC:10848"),
    ("variant", "NM_000193.4:c.72A>G"),
    ("pmid", "PMID:14"),
    ("path", "0.1.27/SHH/PMID_14_A.json"),
]


@pytest.fixture
def cases():
    return pl.DataFrame(
        [
            ("b" * 16, "r1", "PMID:14", "OMIM:100003", "Basalt cataract", "MALE", 730.5,
             "HP:0003577", ["HP:0000519", "HP:0000639"], ["HP:0001250"]),
            ("a" * 16, "r2", "PMID:15", "OMIM:100004", "Cobalt dystrophy", None, None,
             "P3M", ["HP:0000510"], []),
        ],
        schema=CASES.dtypes,
        orient="row",
    )  # fmt: skip


@pytest.fixture
def withheld():
    rows = [("b" * 16, kind, value) for kind, value in SECRETS]
    return pl.DataFrame(rows, schema=WITHHELD.dtypes, orient="row")


@pytest.fixture
def splits():
    return pl.DataFrame({"case_id": ["a" * 16, "b" * 16], "split": ["train", "test"]})


def passed(result):
    return dict(result.select("check", "passed").rows())


def test_view_keeps_only_what_a_system_may_see(cases, tiny_ontology):
    view = close_view(cases, tiny_ontology)
    VIEW.check(view, "view")
    assert view["case_id"].to_list() == ["a" * 16, "b" * 16]  # by hash, not by record
    assert view.row(1, named=True) == {
        "case_id": "b" * 16,
        "sex": "MALE",
        "age_days": 730.5,
        "onset": "Congenital onset",
        "observed": ["HP:0000519", "HP:0000639"],
        "observed_labels": ["Congenital cataract", "Nystagmus"],
        "excluded": ["HP:0001250"],
        "excluded_labels": ["Seizure"],
    }
    assert render(view.row(0, named=True)).splitlines() == [
        f"case: {'a' * 16}",
        "onset: P3M",
        "observed: HP:0000510 Rod-cone dystrophy",
    ]


def test_audit_passes_on_the_real_view(cases, withheld, splits, tiny_ontology):
    result = audit(close_view(cases, tiny_ontology), cases, withheld, splits, NAMES, tiny_ontology)
    AUDIT.check(result, "audit")
    assert all(passed(result).values())
    value = dict(result.select("check", "value").rows())
    # Case b: the disease id in three spellings (OMIM:…, the bare number, MIM …), its two names (one
    # planted copy a kind and spelling, so one), gene, HGNC id, variant, PMID, and the path with and
    # without its suffix: 3 + 1 + 1 + 1 + 1 + 1 + 2. Case a: the name that HPOA gives.
    assert value["planted answers found"] == 11.0
    # 'cataract' (8 letters) stands in 'Congenital cataract' and in 'Basalt cataract',
    # 'dystrophy' in 'Rod-cone dystrophy' and 'Cobalt dystrophy': 2 of 2 cases.
    assert value["lexical overlap"] == 1.0


@pytest.mark.parametrize(("kind", "value"), SECRETS)
def test_audit_fails_on_a_planted_answer(kind, value, cases, withheld, splits, tiny_ontology):
    view = close_view(cases, tiny_ontology)
    rows = [planted(row, value) if row["case_id"][0] == "b" else row for row in view.to_dicts()]
    result = audit(
        pl.DataFrame(rows, schema=VIEW.dtypes), cases, withheld, splits, NAMES, tiny_ontology
    )
    assert not passed(result)["no answer in the real view"]
    assert f"{'b' * 16}: {kind}" in "".join(result["detail"])
    with pytest.raises(InputError, match="no answer in the real view"):
        refuse_failures(result, "view.parquet")


def test_audit_finds_an_answer_in_the_onset_too(cases, withheld, splits, tiny_ontology):
    view = close_view(cases, tiny_ontology).with_columns(
        onset=pl.when(pl.col("case_id") == "b" * 16).then(pl.lit("OMIM:100003"))
    )
    assert not passed(audit(view, cases, withheld, splits, NAMES, tiny_ontology))[
        "no answer in the real view"
    ]


def test_audit_knows_hpoas_name_of_the_disease_too(cases, withheld, splits, tiny_ontology):
    view = close_view(cases, tiny_ontology)
    rows = [
        planted(r, "Cobalt  Dystrophy") if r["case_id"][0] == "a" else r for r in view.to_dicts()
    ]
    leaking = pl.DataFrame(rows, schema=VIEW.dtypes)
    result = audit(leaking, cases, withheld, splits, NAMES, tiny_ontology)
    assert not passed(result)["no answer in the real view"]


def test_audit_fails_on_an_onset_that_is_none(cases, withheld, splits, tiny_ontology):
    view = close_view(cases, tiny_ontology).with_columns(onset=pl.lit("Seizure"))
    assert not passed(audit(view, cases, withheld, splits, NAMES, tiny_ontology))[
        "labels are canonical"
    ]


def test_audit_fails_on_a_label_that_is_not_canonical(cases, withheld, splits, tiny_ontology):
    view = close_view(cases, tiny_ontology).with_columns(
        observed_labels=pl.col("observed_labels").list.eval(pl.element() + " ")
    )
    assert not passed(audit(view, cases, withheld, splits, NAMES, tiny_ontology))[
        "labels are canonical"
    ]


def test_audit_fails_when_a_publication_crosses_splits(cases, withheld, splits, tiny_ontology):
    same = cases.with_columns(publication_id=pl.lit("PMID:14"))
    result = audit(close_view(same, tiny_ontology), same, withheld, splits, NAMES, tiny_ontology)
    assert not passed(result)["publications stay in one split"]


def test_audit_fails_when_nothing_was_planted(cases, splits, tiny_ontology):
    nothing = pl.DataFrame(schema=WITHHELD.dtypes)
    result = audit(close_view(cases, tiny_ontology), cases, nothing, splits, {}, tiny_ontology)
    assert not passed(result)["planted answers found"]


def test_a_canonical_label_that_names_the_answer_is_counted_not_failed(
    cases, splits, tiny_ontology
):
    named = pl.DataFrame(
        [("b" * 16, "disease_name", "nystagmus"), ("b" * 16, "pmid", "PMID:14")],
        schema=WITHHELD.dtypes,
        orient="row",
    )
    result = audit(close_view(cases, tiny_ontology), cases, named, splits, NAMES, tiny_ontology)
    assert all(passed(result).values())
    row = result.filter(pl.col("check") == "label names the answer").row(0, named=True)
    assert row["value"] == 1.0
    assert "disease_name 1" in row["detail"]


@pytest.mark.parametrize(
    ("text", "value", "kind", "found"),
    [
        ("observed: x SHH", "SHH", "gene", True),
        ("observed: x shh", "SHH", "gene", False),  # a gene symbol as written
        ("the rest of it", "REST", "gene", False),
        ("SHHX", "SHH", "gene", False),  # part of another word
        ("pmid:14", "PMID:14", "pmid", True),
        ("PMID:141", "PMID:14", "pmid", False),  # another publication
        ("PMID:141 PMID:14", "PMID:14", "pmid", True),  # the second hit counts
        ("PMID_14", "PMID:14", "pmid", True),
        ("age: 14 days", "PMID:14", "pmid", False),  # a short number alone is anything
        ("see 20037588", "PMID:20037588", "pmid", True),
        ("MIM 100003", "OMIM:100003", "disease_id", True),
        ("#100003", "OMIM:100003", "disease_id", True),
        ("HP:0100003", "OMIM:100003", "disease_id", False),
        ("basalt CATARACT", "Basalt cataract", "disease_name", True),
        ("basalt-cataract", "Basalt cataract", "disease_name", True),
        ("basalt cataracts", "Basalt cataract", "disease_name", False),
        ("age: 4018 days", "4018.json", "path", False),  # a file that is called a number
        ("case SHH_patient_2", "SHH_patient_2.json", "path", True),
    ],
)
def test_contains(text, value, kind, found):
    assert contains(text, value, kind) is found


def test_content_words():
    assert content_words("Rod-cone dystrophy of 4 eyes") == {"dystrophy"}


def test_a_failed_audit_writes_nothing(
    tmp_path, cases, withheld, splits, tiny_ontology, tiny_relations
):
    view = close_view(cases, tiny_ontology)
    leaking = [planted(row, "SHH") for row in view.to_dicts()]
    terms, aliases = to_frames(tiny_ontology)
    for name, frame, schema in (
        ("view", pl.DataFrame(leaking, schema=VIEW.dtypes), VIEW),
        ("cases", cases, CASES),
        ("withheld", withheld, WITHHELD),
        ("splits", splits, SPLITS),
        ("terms", terms, TERMS),
        ("aliases", aliases, ALIASES),
        ("diseases", tiny_relations.diseases, DISEASES),
    ):
        artifacts.write(frame, schema, tmp_path / f"{name}.parquet")
    paths = {
        name: tmp_path / f"{name}.parquet"
        for name in ("view", "cases", "withheld", "splits", "terms", "aliases", "diseases")
    }
    with pytest.raises(InputError, match="audit failed"):
        audit_stage(**paths, output=tmp_path / "audit.parquet")
    assert not (tmp_path / "audit.parquet").exists()
