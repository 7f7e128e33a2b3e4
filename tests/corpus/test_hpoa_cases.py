"""The embedded corpus: single patients that HPOA records."""

from pathlib import Path

import pytest

from rarefuse.annotations.hpoa import HPOA_COLUMNS
from rarefuse.corpus.hpoa_cases import FEW_OBSERVED, NOT_ONE_PATIENT
from rarefuse.corpus.readers import read_corpus
from rarefuse.errors import InputError

ROWS = [
    # disease, term, reference, frequency, aspect, qualifier
    ("OMIM:1", "HP:0001250", "PMID:10", "1/1", "P", ""),
    ("OMIM:1", "HP:0001251", "PMID:10;PMID:11", "1/1", "P", ""),
    ("OMIM:1", "HP:0000518", "PMID:10", "0/1", "P", ""),
    ("OMIM:1", "HP:0003577", "PMID:10", "5/9", "C", ""),  # another aspect does not count
    ("OMIM:1", "HP:0000510", "PMID:10", "3/4", "P", "NOT"),  # nor does a negated row
    ("OMIM:2", "HP:0001250", "PMID:12", "1/1", "P", ""),
    ("OMIM:2", "HP:0001251", "PMID:12", "2/2", "P", ""),  # more than one patient
    ("OMIM:3", "HP:0001250", "PMID:13", "1/1", "P", ""),
    ("OMIM:3", "HP:0001251", "PMID:13", "", "P", ""),  # nobody says how many
    ("OMIM:4", "HP:0001250", "OMIM:4", "1/1", "P", ""),  # no publication
]


def write_hpoa(path: Path) -> Path:
    lines = ["\t".join(HPOA_COLUMNS)]
    for disease, term, reference, frequency, aspect, qualifier in ROWS:
        fields = dict.fromkeys(HPOA_COLUMNS, "")
        fields |= {
            "database_id": disease,
            "disease_name": f"name of {disease}",
            "qualifier": qualifier,
            "hpo_id": term,
            "reference": reference,
            "frequency": frequency,
            "aspect": aspect,
        }
        lines.append("\t".join(fields.values()))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def hpoa(tmp_path):
    return write_hpoa(tmp_path / "phenotype.hpoa")


def test_single_patient_groups_become_cases(hpoa, tiny_ontology):
    corpus = read_corpus("hpoa", "embedded", hpoa, tiny_ontology, {"min_observed": 1})
    rows = corpus.cases.select("record", "gold_id", "publication_id", "observed", "excluded").rows()
    assert rows == [
        ("OMIM:1 PMID:10", "OMIM:1", "PMID:10", ["HP:0001250", "HP:0001251"], ["HP:0000518"]),
        ("OMIM:1 PMID:11", "OMIM:1", "PMID:11", ["HP:0001251"], []),
    ]


def test_other_groups_are_counted_by_reason(hpoa, tiny_ontology):
    corpus = read_corpus("hpoa", "embedded", hpoa, tiny_ontology, {"min_observed": 2})
    assert corpus.cases.height == 1
    assert corpus.skipped.select("record", "reason").rows() == [
        ("OMIM:1 PMID:11", FEW_OBSERVED),
        ("OMIM:2 PMID:12", NOT_ONE_PATIENT),
        ("OMIM:3 PMID:13", NOT_ONE_PATIENT),
    ]


def test_nothing_left_is_one_clear_error(hpoa, tiny_ontology):
    with pytest.raises(InputError, match="no usable case"):
        read_corpus("hpoa", "embedded", hpoa, tiny_ontology, {"min_observed": 9})


def test_what_no_system_may_see_is_withheld(hpoa, tiny_ontology):
    corpus = read_corpus("hpoa", "embedded", hpoa, tiny_ontology, {"min_observed": 2})
    assert set(corpus.withheld.select("kind", "value").rows()) == {
        ("disease_id", "OMIM:1"),
        ("disease_name", "name of OMIM:1"),
        ("pmid", "PMID:10"),
        ("path", "OMIM:1 PMID:10"),
    }
