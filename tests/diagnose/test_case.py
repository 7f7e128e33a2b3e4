import json

import pytest
import yaml

from rarefuse.diagnose import case
from rarefuse.diagnose.case import need_terms, patient_of_terms, read_patient
from rarefuse.errors import InputError

V2 = {
    "id": "P-1",
    "subject": {
        "id": "s",
        "sex": "FEMALE",
        "timeAtLastEncounter": {"age": {"iso8601duration": "P2Y"}},
        "karyotypicSex": "XX",
    },
    "phenotypicFeatures": [
        {"type": {"id": "HP:0001251", "label": "Ataxia"}, "severity": {"id": "HP:0012825"}},
        {"type": {"id": "HP:0000639"}, "excluded": True, "evidence": [1, 2]},
        {"type": {"id": "HP:0000519"}, "excluded": False},
    ],
    "measurements": [{}, {}, {}],
    "diseases": [{"term": {"id": "OMIM:100001"}, "onset": {"ontologyClass": {"id": "HP:0011463"}}}],
    "interpretations": [{"diagnosis": {"disease": {"id": "OMIM:100001"}}}],
    "metaData": {
        "phenopacketSchemaVersion": "2.0.0",
        "externalReferences": [{"id": "PMID:0012"}, {"id": "doi:1"}],
        "created": "2026-01-01",
    },
}
V1 = {
    "id": "P-1",
    "subject": {"id": "s", "sex": "FEMALE", "ageAtCollection": {"age": "P2Y"}},
    "phenotypicFeatures": [
        {"type": {"id": "HP:0001251"}},
        {"type": {"id": "HP:0000639"}, "negated": True},
        {"type": {"id": "HP:0000519"}, "negated": False},
    ],
    "diseases": [{"term": {"id": "OMIM:1"}, "classOfOnset": {"id": "HP:0011463"}}],
    "metaData": {"phenopacketSchemaVersion": "1.0.0"},
}


@pytest.fixture
def ontology(library):
    return library.knowledge.ontology


@pytest.fixture
def read(tmp_path, ontology):
    def make(content, name="case.json"):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif name.endswith("json"):
            path.write_text(json.dumps(content))
        else:
            path.write_text(yaml.safe_dump(content))
        return read_patient(path, ontology)

    return make


def seen(patient):
    return (
        patient.name,
        patient.observed,
        patient.excluded,
        patient.sex,
        patient.age_days,
        patient.onset,
    )


EXPECTED = ("P-1", ["HP:0001251", "HP:0000519"], ["HP:0000639"], "FEMALE", 730.5, "HP:0011463")


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.yml", "no ending"])
def test_both_schemas_are_read_as_json_and_yaml(read, name):
    for content, schema in ((V2, "2"), (V1, "1")):
        patient = read(content, name)
        assert seen(patient) == EXPECTED
        assert patient.schema == schema


def test_the_schema_is_told_by_its_fields_where_the_version_is_missing(read):
    old = {**V1, "metaData": {}}
    assert read(old).schema == "1"
    assert seen(read(old)) == EXPECTED
    assert read({**V2, "metaData": None}).schema == "2"


def test_snake_case_keys_are_the_same_fields(read):
    content = {
        "id": "P-1",
        "subject": {
            "sex": "FEMALE",
            "time_at_last_encounter": {"age": {"iso8601duration": "P2Y"}},
        },
        "phenotypic_features": V2["phenotypicFeatures"],
        "diseases": [{"onset": {"ontology_class": {"id": "HP:0011463"}}}],
        "meta_data": {"phenopacket_schema_version": "2.0"},
    }
    assert seen(read(content, "a.yaml")) == EXPECTED


def test_fields_that_are_not_used_are_counted_and_a_diagnosis_is_one_of_them(read):
    assert read(V2).unused == {
        "diseases": 1,
        "interpretations": 1,
        "measurements": 3,
        "metaData.created": 1,
        "phenotypicFeatures.evidence": 2,
        "phenotypicFeatures.severity": 1,
        "subject.karyotypicSex": 1,
    }
    assert read(V2).publications == ["PMID:12"]


def test_the_proband_of_a_family_is_read(read):
    patient = read({"id": "family", "proband": V2, "relatives": [{}, {}], "pedigree": {"p": 1}})
    assert seen(patient) == EXPECTED
    assert patient.unused["relatives"] == 2
    assert patient.unused["pedigree"] == 1


def test_terms_are_mapped_or_left_out_with_their_reasons(ontology):
    terms = ["HP:0002279", "HP:0000057", "HP:0000099", "HP:7777777", "HP:0012823", "x<b>"]
    patient = patient_of_terms(terms, ["HP:0001250"], ontology)
    # HP:0002279 is an alternative id of HP:0001250, which is excluded as well: neither counts.
    assert patient.observed == ["HP:0001166"]
    assert patient.excluded == []
    assert [skip.reason for skip in patient.left_out] == [
        "alternative id mapped to the current one",
        "obsolete id mapped to its replacement",
        "obsolete id without a replacement",
        "id unknown to the ontology release",
        "outside Phenotypic abnormality",
        "not an HPO id (HP: and seven digits)",
        "term both observed and excluded",
    ]


def test_without_an_observed_term_there_is_nothing_to_rank_by(read, ontology):
    with pytest.raises(InputError, match=r"(?s)no observed phenotypic.*no observed feature"):
        need_terms(read({"id": "x", "phenotypicFeatures": []}))
    with pytest.raises(InputError, match="1 × id unknown"):
        need_terms(patient_of_terms(["HP:7777777"], [], ontology))


@pytest.mark.parametrize(
    "content, message",
    [
        (b"{ broken", "neither JSON nor YAML"),
        (b"{}", "no phenopacket"),
        (b"[1, 2]", "no phenopacket"),
        (b"\xff\xfe\x00", "neither JSON nor YAML"),
        ({"members": [V2, V2]}, "(?s)cohort.*2 members"),
        ({"subject": "text"}, "(?s)malformed.*subject"),
        ({"phenotypicFeatures": [1]}, "(?s)malformed.*a list of objects"),
        ({"phenotypicFeatures": [{"type": {"id": "HP:0001251"}, "excluded": "no"}]}, "true or fal"),
    ],
)
def test_what_is_no_patient_is_refused(read, content, message):
    with pytest.raises(InputError, match=message):
        read(content)


@pytest.mark.parametrize(
    "content",
    [
        b"!!python/object/apply:os.system ['false']",
        b"a: &a [*a]",
        b"[" * 5000,
        b"{a: " * 5000,
    ],
)
def test_hostile_yaml_is_refused(read, content):
    with pytest.raises(InputError, match=r"neither JSON nor YAML|no phenopacket"):
        read(content, "a.yaml")


def test_a_small_file_cannot_grow_large(read):
    # Nine aliases of nine aliases …: a thousand million items, were they not shared.
    lines = ['l0: &l0 {id: "HP:0001251"}']
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 10)]
    lines += ["phenotypicFeatures:", "- type: {id: *l9}", "- type: {id: HP:0001251}"]
    patient = read("\n".join(lines).encode(), "a.yaml")
    assert patient.observed == ["HP:0001251"]
    assert [skip.reason for skip in patient.left_out] == ["not an HPO id (HP: and seven digits)"]
    assert patient.unused["l9"] == 9


def test_missing_folder_and_huge_files_are_refused(tmp_path, ontology, monkeypatch):
    with pytest.raises(InputError, match="cannot be read"):
        read_patient(tmp_path / "nothing.json", ontology)
    with pytest.raises(InputError, match="a folder is no patient"):
        read_patient(tmp_path, ontology)
    huge = tmp_path / "huge.json"
    with huge.open("wb") as handle:
        handle.truncate(case.LARGEST_BYTES + 1)
    with pytest.raises(InputError, match="larger than any phenopacket"):
        read_patient(huge, ontology)


def test_values_that_are_not_understood_are_reported(read):
    content = {
        "subject": {"sex": "X", "timeAtLastEncounter": {"gestationalAge": {"weeks": 3}}},
        "phenotypicFeatures": [{"type": {"id": "HP:0001251"}}],
        "diseases": [{"onset": {"ontologyClass": {"id": "HP:1"}}}],
    }
    patient = read(content)
    assert (patient.sex, patient.age_days, patient.onset) == (None, None, None)
    assert [skip.reason for skip in patient.left_out] == [
        "sex not understood",
        "age not understood",
        "onset not understood",
    ]


@pytest.mark.parametrize("packet, word", [(V1, "excluded"), (V2, "negated")])
def test_a_denial_in_the_other_schema_s_word_is_one(read, packet, word):
    features = [*packet["phenotypicFeatures"], {"type": {"id": "HP:0002650"}, word: True}]
    patient = read({**packet, "phenotypicFeatures": features})
    assert patient.observed == ["HP:0001251", "HP:0000519"]
    assert patient.excluded == ["HP:0000639", "HP:0002650"]


@pytest.mark.parametrize("sex", [[], {}, 3])
def test_a_sex_that_is_no_text_is_left_out(read, sex):
    patient = read({**V2, "subject": {"id": "s", "sex": sex}})
    assert patient.sex is None
    assert [skip.detail for skip in patient.left_out if skip.level == "field"] == [repr(sex)]
