import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse import artifacts
from rarefuse.annotations.hpoa import ANNOTATIONS, read_hpoa
from rarefuse.annotations.lopo import (
    REMOVED,
    lopo_annotations,
    lopo_hpoa_stage,
    removed_relations,
    source_exclusive,
)
from rarefuse.annotations.relations import RELATIONS, build_relations
from rarefuse.errors import InputError

P, Q, R = "PMID:1", "PMID:2", "PMID:3"


def make_relations(*rows):
    """Relations from (disease, term, publications), each stated in one row of the file."""
    return pl.DataFrame(
        [(d, t, sorted(refs), [line], 1, 1) for line, (d, t, refs) in enumerate(rows, start=2)],
        schema=RELATIONS.dtypes,
        orient="row",
    )


HAND = make_relations(
    ("OMIM:1", "HP:1", {P}),  # goes
    ("OMIM:1", "HP:2", {P, Q}),  # another publication supports it
    ("OMIM:1", "HP:3", set()),  # no publication at all
    ("OMIM:2", "HP:1", {P}),  # goes, though no case of P has this disease
    ("OMIM:2", "HP:2", {Q}),
)


def test_by_hand():
    gone = removed_relations(HAND, [P])
    REMOVED.check(gone, "removed")
    assert gone.rows() == [(P, "OMIM:1", "HP:1"), (P, "OMIM:2", "HP:1")]
    assert removed_relations(HAND, [Q]).rows() == [(Q, "OMIM:2", "HP:2")]
    assert removed_relations(HAND, [Q, P, Q]).rows() == [
        (P, "OMIM:1", "HP:1"),
        (P, "OMIM:2", "HP:1"),
        (Q, "OMIM:2", "HP:2"),
    ]
    assert source_exclusive(HAND).equals(removed_relations(HAND, [P, Q]))


def test_a_publication_without_exclusive_relations_removes_nothing():
    for nothing in ([R], [None], []):
        gone = removed_relations(HAND, nothing)
        REMOVED.check(gone, "removed")
        assert gone.is_empty()


def test_the_annotation_file_loses_exactly_those_rows(annotations, ontology):
    frame = annotations(
        {"reference": P},  # 2, exclusive to P, together with 3 and 9
        {"reference": f"{P};OMIM:100001"},  # 3
        {"reference": P, "hpo_id": "HP:0000003"},  # 4, its pair is in 5 as well
        {"reference": Q, "hpo_id": "HP:0000003"},  # 5
        {"reference": P, "qualifier": "NOT"},  # 6, none of the rows that are ranked by
        {"reference": P, "database_id": "ORPHA:1"},  # 7
        {"reference": P, "aspect": "I"},  # 8
        {"reference": P, "hpo_id": "HP:0000020"},  # 9, alt id of HP:0000002
        {"reference": "OMIM:100001", "hpo_id": "HP:0000004"},  # 10
        {"reference": P, "database_id": "OMIM:100002"},  # 11, another disease
    )
    relations = build_relations(frame, ontology).relations
    kept = lopo_annotations(frame, relations, P)
    assert kept["row"].to_list() == [4, 5, 6, 7, 8, 10]
    assert kept.equals(frame.filter(pl.col("row").is_in([4, 5, 6, 7, 8, 10])))
    assert lopo_annotations(frame, relations, R).equals(frame)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_written_file_is_the_release_without_those_lines(tmp_path, hpoa_text, ontology, end):
    text = hpoa_text({"reference": P}, {"reference": Q, "disease_name": "é"}, {"reference": P})
    text = text.replace("\n", end)
    paths = {n: tmp_path / n for n in ("hpoa", "annotations", "relations", "output")}
    paths["hpoa"].write_bytes(text.encode())
    rows = read_hpoa(paths["hpoa"])
    artifacts.write(rows, ANNOTATIONS, paths["annotations"])
    built = build_relations(rows.filter(pl.col("reference") == P), ontology)  # refs == {P}
    artifacts.write(built.relations, RELATIONS, paths["relations"])
    paths["cases"] = tmp_path / "cases"
    pl.DataFrame({"publication_id": [P, R, None]}).write_parquet(paths["cases"])
    lopo_hpoa_stage(**paths, publication=P)
    lines = text.split(end)  # comments are lines 0 and 1, the header 2, rows 3 to 5
    assert paths["output"].read_bytes() == end.join([*lines[:3], lines[4], ""]).encode()
    lopo_hpoa_stage(**paths, publication=R)  # a case's, which no annotation cites
    assert paths["output"].read_bytes() == paths["hpoa"].read_bytes()
    with pytest.raises(InputError, match="neither a case's nor cited"):
        lopo_hpoa_stage(**paths, publication="PMID:12")  # not to be taken for PMID:1


@st.composite
def relation_tables(draw):
    pairs = draw(
        st.lists(
            st.tuples(st.integers(1, 3), st.integers(1, 4)), unique=True, min_size=1, max_size=10
        )
    )
    refs = st.sets(st.sampled_from([P, Q, R]), max_size=3)
    return make_relations(*((f"OMIM:{d}", f"HP:{t}", draw(refs)) for d, t in pairs))


@given(relation_tables(), st.sets(st.sampled_from([P, Q, R]), min_size=1))
@settings(deadline=None)
def test_what_goes_is_what_one_publication_alone_supports(relations, publications):
    gone = set(removed_relations(relations, publications).rows())
    for publication in publications:
        rest = [
            (refs, (publication, disease, term) in gone)
            for disease, term, refs in relations.select("disease_id", "term_id", "pmids").rows()
        ]
        assert all(refs != [publication] for refs, removed in rest if not removed)
        assert all(refs == [publication] for refs, removed in rest if removed)
    assert {publication for publication, _, _ in gone} <= publications


@given(relation_tables(), st.sampled_from([P, Q, R]))
@settings(deadline=None)
def test_the_file_and_the_relations_lose_the_same(relations, publication):
    file = pl.DataFrame({"row": range(2, relations.height + 2)}, schema={"row": pl.Int32})
    kept = set(lopo_annotations(file, relations, publication)["row"])
    gone = {(d, t) for _, d, t in removed_relations(relations, [publication]).rows()}
    assert kept == {
        line
        for disease, term, [line] in relations.select("disease_id", "term_id", "rows").rows()
        if (disease, term) not in gone
    }
