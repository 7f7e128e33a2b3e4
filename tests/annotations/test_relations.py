import polars as pl
import pytest

from rarefuse.annotations.pmid import pmids_of
from rarefuse.annotations.relations import (
    DISEASES,
    PROBLEMS,
    RELATIONS,
    build_relations,
    candidate_order,
)
from rarefuse.errors import InputError


def test_rows_of_a_pair_are_pooled_whatever_else_they_say(annotations, ontology):
    built = build_relations(
        annotations(
            {"frequency": "3/7", "reference": "PMID:2", "sex": "MALE"},
            {"frequency": "0/5", "reference": "OMIM:100001", "onset": "HP:0003577"},
            {"hpo_id": "HP:0000003", "frequency": ""},
            {"frequency": "25%", "reference": "PMID:1;PMID:2", "sex": "FEMALE"},
            {"frequency": "3/7", "reference": "PMID:2", "sex": "MALE"},  # row 2 once more
        ),
        ontology,
    )
    RELATIONS.check(built.relations, "relations")
    # 3/7 + 0/5 + 13/50 + 3/7: numerators 3 + 0 + 13 + 3, denominators 7 + 5 + 50 + 7.
    assert built.relations.rows() == [
        ("OMIM:100001", "HP:0000002", ["PMID:1", "PMID:2"], [2, 3, 5, 6], 19, 69),
        ("OMIM:100001", "HP:0000003", ["PMID:1"], [4], 1, 1),
    ]
    assert built.problems.is_empty()


@pytest.mark.parametrize(
    "reference, pmids",
    [
        ("PMID:1;OMIM:2;PMID:3", ["PMID:1", "PMID:3"]),
        ("PMID:1; PMID:3 ", ["PMID:1", "PMID:3"]),
        ("OMIM:100001", []),
        ("ORPHA:1;ISBN-10:3;http://x.org/PMID:4;PMID:;PMID:5a", []),
        ("", []),
    ],
)
def test_only_pmids_are_publications(reference, pmids):
    assert pmids_of(reference) == pmids


def test_publications_of_all_rows_are_united(annotations, ontology):
    built = build_relations(
        annotations(
            {"reference": "PMID:1;OMIM:2;PMID:3"},
            {"reference": "PMID:3;PMID:20"},
            {"reference": "OMIM:100001"},
            {"hpo_id": "HP:0000004", "reference": "OMIM:100001"},
        ),
        ontology,
    )
    assert built.relations["pmids"].to_list() == [["PMID:1", "PMID:20", "PMID:3"], []]


def test_other_databases_aspects_and_negations_are_not_used(annotations, ontology):
    built = build_relations(
        annotations(
            {"database_id": "ORPHA:100001"},
            {"database_id": "DECIPHER:1"},
            {"aspect": "I", "database_id": "OMIM:100002"},
            {"aspect": "C"},
            {"qualifier": "NOT"},
            {"qualifier": "NOT", "hpo_id": "HP:0000003", "database_id": "OMIM:100003"},
            {"hpo_id": "HP:0000004"},
        ),
        ontology,
    )
    assert built.diseases["disease_id"].to_list() == ["OMIM:100001"]
    assert built.relations["term_id"].to_list() == ["HP:0000004"]
    assert built.relations["rows"].to_list() == [[8]]
    assert built.problems.is_empty()


def test_old_identifiers_merge_with_the_current_one_and_are_listed(annotations, ontology):
    built = build_relations(
        annotations(
            {"hpo_id": "HP:0000020", "reference": "PMID:5", "frequency": "1/2"},
            {"hpo_id": "HP:0000002", "reference": "PMID:6", "frequency": "2/3"},
            {"hpo_id": "HP:0000030", "frequency": "4/5"},
        ),
        ontology,
    )
    assert built.relations.rows() == [
        ("OMIM:100001", "HP:0000002", ["PMID:5", "PMID:6"], [2, 3], 3, 5),
        ("OMIM:100001", "HP:0000003", ["PMID:1"], [4], 4, 5),
    ]
    PROBLEMS.check(built.problems, "problems")
    assert built.problems.rows() == [
        (2, "term mapped (alt_id)", "HP:0000020 → HP:0000002"),
        (4, "term mapped (replaced_by)", "HP:0000030 → HP:0000003"),
    ]


def test_a_row_without_a_usable_term_is_left_out_but_its_disease_stays(annotations, ontology):
    built = build_relations(
        annotations(
            {"hpo_id": "HP:0000040", "database_id": "OMIM:100002", "disease_name": "emptied"},
            {"hpo_id": "HP:9999999"},
            {"hpo_id": "HP:0000009"},  # live, but not below HP:0000118
            {"hpo_id": "HP:0000002"},
        ),
        ontology,
    )
    DISEASES.check(built.diseases, "diseases")
    assert built.diseases.rows() == [
        ("OMIM:100001", "first disease", 1, 3),
        ("OMIM:100002", "emptied", 0, 2),
    ]
    assert built.relations["rows"].to_list() == [[5]]
    assert built.problems.rows() == [
        (2, "obsolete term, row left out", "HP:0000040"),
        (3, "unknown term, row left out", "HP:9999999"),
        (4, "term outside Phenotypic abnormality, row left out", "HP:0000009"),
    ]


def test_a_mapped_term_that_lies_outside_is_left_out(annotations, ontology):
    built = build_relations(annotations({"hpo_id": "HP:0000090"}, {}), ontology)
    assert built.relations["rows"].to_list() == [[3]]
    assert built.problems["row"].to_list() == [2, 2]


def test_mended_frequencies_are_listed_with_their_rows(annotations, ontology):
    built = build_relations(annotations({"frequency": "9/7"}, {"frequency": "often"}), ontology)
    assert built.relations.select("numerator", "denominator").rows() == [(8, 8)]  # 7/7 + 1/1
    assert built.problems.rows() == [
        (2, "frequency above 1", "9/7"),
        (3, "frequency not understood", "often"),
    ]


def test_zero_frequency_rows_stay_or_go_by_the_switch(annotations, ontology):
    rows = annotations(
        {"frequency": "0/5", "reference": "PMID:7"},
        {"frequency": "2/4", "reference": "PMID:8"},
        {"frequency": "HP:0040285", "hpo_id": "HP:0000003"},
        {"frequency": "0/9", "database_id": "OMIM:100002"},
    )
    kept = build_relations(rows, ontology)
    assert kept.relations.rows() == [
        ("OMIM:100001", "HP:0000002", ["PMID:7", "PMID:8"], [2, 3], 2, 9),
        ("OMIM:100001", "HP:0000003", ["PMID:1"], [4], 0, 50),
        ("OMIM:100002", "HP:0000002", ["PMID:1"], [5], 0, 9),
    ]
    dropped = build_relations(rows, ontology, keep_zero_frequency=False)
    assert dropped.relations.rows() == [
        ("OMIM:100001", "HP:0000002", ["PMID:8"], [3], 2, 4),
    ]
    assert dropped.diseases["n_relations"].to_list() == [1, 0]
    assert dropped.problems["row"].to_list() == [2, 4, 5]


def test_candidates_stand_by_number_and_relations_by_ontology_row(annotations, ontology):
    built = build_relations(
        annotations(
            {"database_id": "OMIM:1000000", "hpo_id": "HP:0000003"},
            {"database_id": "OMIM:200000", "hpo_id": "HP:0000005"},
            {"database_id": "OMIM:200000", "hpo_id": "HP:0000002"},
            {"database_id": "OMIM:1000000", "disease_name": "later name"},
        ),
        ontology,
    )
    assert built.diseases.rows() == [
        ("OMIM:200000", "first disease", 2, 3),
        ("OMIM:1000000", "first disease", 2, 2),
    ]
    assert built.relations.select("disease_id", "term_id").rows() == [
        ("OMIM:200000", "HP:0000002"),
        ("OMIM:200000", "HP:0000005"),
        ("OMIM:1000000", "HP:0000002"),
        ("OMIM:1000000", "HP:0000003"),
    ]
    assert candidate_order(["OMIM:20", "OMIM:3", "MONDO:4"]) == ["MONDO:4", "OMIM:3", "OMIM:20"]


def test_the_order_of_the_file_changes_only_line_numbers(annotations, ontology):
    frame = annotations(
        {"reference": "PMID:2", "frequency": "1/3"},
        {"hpo_id": "HP:0000004"},
        {"reference": "PMID:1", "frequency": "2/3"},
        {"database_id": "OMIM:100002"},
    )
    kept = ["disease_id", "term_id", "pmids", "numerator", "denominator"]
    one = build_relations(frame, ontology).relations.select(kept)
    other = build_relations(frame.reverse(), ontology).relations.select(kept)
    assert one.equals(other)


def test_a_file_without_a_usable_row_is_an_error(annotations, ontology):
    with pytest.raises(InputError, match="no row to rank by"):
        build_relations(annotations({"database_id": "ORPHA:1"}), ontology)
    with pytest.raises(InputError, match="no row to rank by"):
        build_relations(annotations({}).filter(pl.lit(False)), ontology)
