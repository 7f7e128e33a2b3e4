import pytest

from rarefuse.annotations.relations import build_relations
from rarefuse.annotations.stated import StatedTerms, stated_ontology


@pytest.fixture
def stated(annotations):
    rows = annotations(
        {"hpo_id": "HP:0000003"},
        {"hpo_id": "HP:0000118"},
        {"hpo_id": "HP:0000006", "aspect": "I"},
        {"hpo_id": "HP:0000004", "aspect": "C"},
        {"hpo_id": "HP:0000004", "reference": "PMID:2"},
        {"hpo_id": "HP:12"},
    )
    return rows, stated_ontology(rows)


def test_terms_are_what_the_file_says_of_them(stated):
    _, ontology = stated
    assert ontology.term_ids == ["HP:0000118", "HP:0000003", "HP:0000004", "HP:0000006"]
    # HP:0000004 stands under two aspects, one of them P.
    assert ontology.depth.tolist() == [0, 1, 1, -1]
    assert ontology.resolve("HP:0000020").status == "unknown"


def test_relations_need_no_more(stated):
    rows, ontology = stated
    built = build_relations(rows, ontology)
    assert built.relations["term_id"].to_list() == ["HP:0000118", "HP:0000003", "HP:0000004"]
    assert built.problems["reason"].to_list() == ["unknown term, row left out"]


def test_a_case_may_have_terms_that_the_file_has_not(stated):
    terms = StatedTerms(stated[1])
    assert terms.resolve("HP:0000777").term_id == "HP:0000777"
    assert terms.is_phenotypic("HP:0000777")
    assert terms.is_phenotypic("HP:0000003")
    assert not terms.is_phenotypic("HP:0000006")
    assert terms.resolve("HP:12").term_id is None
