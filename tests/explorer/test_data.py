"""What the pages are told, checked by hand on the tiny corpus."""

import pytest

from rarefuse.explorer.data import collect
from rarefuse.explorer.stage import explorer_stage
from rarefuse.explorer.systems import comparisons_of, systems_of

from .conftest import OPTIONS


@pytest.fixture(scope="module")
def made(corpus):
    return collect(corpus.knowledge, corpus.corpus, "tiny", OPTIONS)


@pytest.fixture(scope="module")
def opened(made):
    """Row of PMID_11_A and its lists: system's label → candidates."""
    records = [row["record"] for row in made.index["cases"]]
    i = records.index("PMID_11_A.json")
    labels = [system["label"] for system in made.index["systems"]]
    lists = made.shards[i // made.index["shard"]][i]
    return made.index["cases"][i], dict(zip(labels, lists, strict=True))


def test_every_case_has_a_row_in_the_order_of_records(made):
    records = [row["record"] for row in made.index["cases"]]
    assert len(records) == 15
    assert records == sorted(records)


def test_systems_and_what_is_compared():
    systems = systems_of(OPTIONS)
    assert [system.label for system in systems] == [
        "Resnik similarity, Before LOPO",
        "Resnik similarity, After LOPO",
        "alpha",
        "Gate, with alpha",
        "Evidence reranker, ontology only",
    ]
    assert [(left, right) for _, left, right in comparisons_of(systems, "resnik")] == [
        (0, 1),  # before and after LOPO
        (1, 3),  # the ontology's list and the gate's
        (2, 3),  # the language model's list and the gate's
        (1, 4),  # the ontology's list and the reranked one
    ]


def test_a_row_says_what_lopo_takes_and_where_the_diagnosis_stands(made, opened):
    row, _ = opened
    assert row["publication"] == "PMID:11"
    # Of OMIM:100001's three annotations two are PMID:11's alone.
    assert (row["annotations"], row["removed"]) == (3, 2)
    assert [made.index["terms"][t][1] for t in row["observed"]] == ["Ataxia", "Nystagmus"]
    assert made.index["diseases"][row["gold"]] == ["OMIM:100001", "Amber ataxia syndrome 1"]
    # Before LOPO only OMIM:100001 has both findings. The model does not name it.
    assert row["ranks"][0] == 1
    assert row["ranks"][1] > 1
    assert row["ranks"][2:] == [0, 1, 1]


def test_evidence_is_that_of_the_systems_protocol(made, opened):
    row, lists = opened
    first = lists["Resnik similarity, Before LOPO"][0]
    assert made.index["diseases"][first[0]][0] == "OMIM:100001"
    assert first[3:] == [[0, 1], []]  # both findings, nothing against
    # After LOPO the diagnosis keeps one annotation, which is neither finding.
    fused = lists["Gate, with alpha"][0]
    assert fused[:2] == [row["gold"], 0.75]
    assert fused[3] == []
    # Hematite ataxia has ataxia, position 0, before and after.
    assert lists["alpha"][0][3] == [0]


def test_a_candidate_that_the_annotations_lack_has_no_evidence_and_its_written_name(made, opened):
    _, lists = opened
    unknown = lists["alpha"][1]
    assert made.index["diseases"][unknown[0]][0] == "OMIM:555555"
    assert "syndrome" in made.index["diseases"][unknown[0]][1]
    assert len(unknown) == 3  # no evidence at all, not empty evidence


def test_contributions_are_the_rerankers(made, opened):
    _, lists = opened
    ((_, score, parts, *_),) = lists["Evidence reranker, ontology only"]
    assert score == 0.75
    assert parts[:3] == [1.25, -0.5, 0.0]
    assert len(parts) == len(made.index["groups"])


def test_lists_are_cut(made):
    for shard in made.shards:
        for lists in shard.values():
            assert all(len(candidates) <= 5 for candidates in lists)


def test_pages_are_the_same_bytes_again_and_replace_older_ones(corpus, pages, tmp_path):
    again = tmp_path / "explorer"
    (again / "data").mkdir(parents=True)
    (again / "data/old.js").write_text("left over")
    explorer_stage(
        knowledge=corpus.knowledge,
        corpus=corpus.corpus,
        name="tiny <b>corpus</b>",
        options=OPTIONS,
        output=again,
    )
    files = {path.relative_to(pages): path.read_bytes() for path in pages.rglob("*.*")}
    assert files == {path.relative_to(again): path.read_bytes() for path in again.rglob("*.*")}
    assert not list(tmp_path.glob(".*"))


def test_data_are_whole_and_found_by_number(pages, handed):
    index = handed(pages / "data/index.js")
    shard = handed(pages / "data/0.js")
    assert shard["number"] == 0
    assert set(map(int, shard["cases"])) <= set(range(len(index["cases"])))
