import gzip

import pytest

from rarefuse.errors import InputError
from rarefuse.retrieval.subsets import (
    DEEP,
    REFERENCE,
    deep_sample,
    make_subset,
    read_subset,
    reference_sample,
    write_subset,
)
from rarefuse.retrieval.terms import read_vocabulary

OBO = r"""format-version: 1.2

[Term]
id: X:1
name: thing

[Term]
id: X:2
name: first kind ! of thing
alt_id: X:20
def: "One who \"has to\" go! Then
stops." [src:1]
synonym: "kind one" EXACT []
synonym: "a \"quoted\" one" RELATED [x:y]
is_a: X:1 ! thing

[Term]
id: X:3
name: second kind
is_a: X:1 {source="a"} ! thing
is_a: X:20 ! first kind
is_a: X:20 ! again
is_a: X:9 ! gone

[Term]
id: X:9
name: gone
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""


@pytest.fixture
def obo(tmp_path):
    def write(text):
        path = tmp_path / "x.obo"
        path.write_text(text)
        return path

    return write


def test_obo(obo):
    vocabulary = read_vocabulary(obo(OBO))
    assert list(vocabulary.terms) == ["X:1", "X:2", "X:3"]
    first = vocabulary.terms["X:2"]
    assert first.definition == 'One who "has to" go! Then stops.'
    assert first.synonyms == ("kind one", 'a "quoted" one')
    assert first.name == "first kind ! of thing"
    # An alt id is followed, a parent named twice counts once, an obsolete one is counted and left.
    assert vocabulary.terms["X:3"].parents == ("X:1", "X:2")
    assert vocabulary.skipped == {"obsolete term": 1, "is_a to a term that is not live": 1}
    assert vocabulary.roots() == ["X:1"]
    assert vocabulary.children() == {"X:1": ["X:2", "X:3"], "X:2": ["X:3"], "X:3": []}


def test_gzipped(obo, tmp_path):
    path = tmp_path / "x.obo.gz"
    path.write_bytes(gzip.compress(OBO.encode()))
    assert read_vocabulary(path) == read_vocabulary(obo(OBO))


def stanza(term, *parents):
    return f"[Term]\nid: {term}\nname: {term}\n" + "".join(f"is_a: {p}\n" for p in parents) + "\n"


def test_a_cycle_is_named(obo):
    path = obo(stanza("X:1") + stanza("X:2", "X:3", "X:1") + stanza("X:3", "X:2"))
    with pytest.raises(InputError, match="cycle") as caught:
        read_vocabulary(path)
    assert "X:2 is_a X:3 is_a X:2" in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "text, message",
    [
        (stanza("X:1") + stanza("X:2"), "no is-a edge"),
        ("hello", "no live term"),
        ("[Term]\nid: X:1\nname: a\nis_obsolete: true\n", "no live term"),
    ],
)
def test_files_that_cannot_be_used(obo, text, message):
    with pytest.raises(InputError, match=message):
        read_vocabulary(obo(text))


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_vocabulary(tmp_path / "nothing.obo")


MESH = """*NEWRECORD
RECTYPE = D
MH = Diseases
MN = C01
UI = D1

*NEWRECORD
RECTYPE = D
MH = Infections
ENTRY = Sepsis|T047|NON
PRINT ENTRY = Infection|T046
MN = C01.100
MN = C02.1.7
MS = What microbes do.
UI = D2

*NEWRECORD
RECTYPE = D
MH = Odd
MN = C02.1
MN = C01.100.5
UI = D3

*NEWRECORD
RECTYPE = D
MH = No place
UI = D4
"""


def test_mesh(obo):
    """Odd stands above and below Infections: the second of the two edges is left out, counted."""
    vocabulary = read_vocabulary(obo(MESH))
    infection = vocabulary.terms["MESH:D2"]
    assert infection.name == "Infections"
    assert infection.synonyms == ("Infection", "Sepsis")
    assert infection.definition == "What microbes do."
    assert infection.parents == ("MESH:D1", "MESH:D3")
    assert vocabulary.terms["MESH:D3"].parents == ()
    assert vocabulary.skipped == {
        "descriptor without id, heading or tree number": 1,
        "edge that closes a cycle of descriptors": 1,
    }


@pytest.fixture
def tree(obo):
    """A root with three children, each with three, one of which has a chain of two below."""
    text = stanza("X:0")
    for i in range(1, 4):
        text += stanza(f"X:{i}", "X:0")
        for j in range(1, 4):
            text += stanza(f"X:{i}{j}", f"X:{i}")
    text += stanza("X:111", "X:11") + stanza("X:1111", "X:111")
    return read_vocabulary(obo(text))


def test_reference_sample_takes_the_shallow_top(tree):
    for seed in range(5):
        found = reference_sample(tree, 6, seed)
        assert {"X:0", "X:1", "X:2", "X:3"} < set(found)
        assert len(found) == 6
        assert found == sorted(found)
    assert len({tuple(reference_sample(tree, 6, seed)) for seed in range(20)}) > 3


def test_deep_sample_holds_whole_paths(tree):
    found = deep_sample(tree, 8, 1)
    assert len(found) <= 8
    for term in found:
        assert set(tree.terms[term].parents) <= set(found)
    depths = [make_subset(tree, DEEP, 8, seed).nodes["depth"].max() for seed in range(20)]
    assert max(depths) == 4


def test_subset_round_trip(tree, tmp_path):
    subset = make_subset(tree, REFERENCE, None, 0)
    assert subset.nodes.height == 15
    assert len(subset.edges) == 14
    write_subset(subset, tmp_path)
    again = read_subset(tmp_path)
    assert again.nodes.equals(subset.nodes)
    assert (again.edges == subset.edges).all()
    row = {term: i for i, term in enumerate(again.nodes["term_id"])}
    assert again.ancestors[row["X:1111"]] == {row[t] for t in ("X:111", "X:11", "X:1", "X:0")}
    assert again.siblings(row["X:11"]) == {row["X:12"], row["X:13"]}
    assert again.nodes["depth"][row["X:1111"]] == 4


def test_subsets_that_cannot_be_made(tree):
    with pytest.raises(InputError, match="unknown sampler"):
        make_subset(tree, "random", 5, 0)
    with pytest.raises(InputError, match="two terms"):
        make_subset(tree, REFERENCE, 1, 0)
