import math

import numpy as np
import pytest

from rarefuse.annotations.knowledge import build_knowledge, information_content, profiles_of
from rarefuse.annotations.relations import build_relations


def rows_of(ontology, *profiles):
    return [np.array(sorted(ontology.index[f"HP:{t:07d}"] for t in p), np.int32) for p in profiles]


def test_information_content_by_hand(ontology):
    # 118 over 2, 2 over 3 and 4, 5 below both; 1 over all, 9 outside.
    # Closed profiles: {3} → 3,2,118,1; {5} → 5,3,4,2,118,1; {2, 5} → the same; {} → nothing.
    n, ic = information_content(ontology, rows_of(ontology, [3], [5], [2, 5], []))
    counts = dict(zip(ontology.term_ids, n.tolist(), strict=True))
    assert counts == {
        "HP:0000001": 3,
        "HP:0000118": 3,
        "HP:0000002": 3,
        "HP:0000003": 3,
        "HP:0000004": 2,
        "HP:0000005": 2,
        "HP:0000009": 0,
    }
    # The disease without annotations counts among the four.
    values = dict(zip(ontology.term_ids, ic.tolist(), strict=True))
    assert values["HP:0000003"] == pytest.approx(math.log(4 / 3))
    assert values["HP:0000005"] == pytest.approx(math.log(4 / 2))
    assert values["HP:0000009"] == 0.0


def test_a_term_of_every_disease_has_a_positive_zero(ontology):
    _, ic = information_content(ontology, rows_of(ontology, [3], [2]))
    root = ic[ontology.index["HP:0000118"]]
    assert root == 0
    assert not np.signbit(root)


def test_without_annotations_every_term_has_zero(ontology):
    n, ic = information_content(ontology, rows_of(ontology, [], []))
    assert n.sum() == 0
    assert ic.tolist() == [0.0] * len(n)


def test_knowledge_holds_profiles_in_candidate_order(annotations, ontology):
    built = build_relations(
        annotations(
            {"database_id": "OMIM:300000", "hpo_id": "HP:0000005"},
            {"database_id": "OMIM:200000", "hpo_id": "HP:0000040"},  # left out: no term
            {"database_id": "OMIM:300000", "hpo_id": "HP:0000002", "frequency": "3/7"},
            {"database_id": "OMIM:100000", "hpo_id": "HP:0000004", "frequency": "0/2"},
        ),
        ontology,
    )
    ic = np.arange(7.0)
    known = build_knowledge(ontology, built.diseases, built.relations, ic)
    assert known.disease_ids == ["OMIM:100000", "OMIM:200000", "OMIM:300000"]
    assert known.first_rows == [5, 3, 2]
    expected = rows_of(ontology, [4], [], [2, 5])
    assert [known.profile(d).tolist() for d in range(3)] == [p.tolist() for p in expected]
    assert known.disease_index["OMIM:300000"] == 2
    assert known.numerator.tolist() == [0, 3, 1]
    assert known.denominator.tolist() == [2, 7, 1]
    shuffled = profiles_of(built.diseases, built.relations.reverse(), ontology)
    assert [p.tolist() for p in shuffled] == [p.tolist() for p in expected]
