import gzip
import zlib

import pytest

from rarefuse.errors import InputError
from rarefuse.ontology import Resolution, from_frames, read_obo, to_frames
from rarefuse.ontology.arrays import ALIASES, TERMS, topological_order

ROOT = "HP:0000118"


@pytest.fixture
def diamond(obo, term):
    r"""Read this graph, children below their parents, with HP:0000001 above the root.

    HP:0000001 ── HP:0000118 ── A ── B ── C ── D        (A to E are HP:0000002 to HP:0000006)
         │             └────────────── E ──────┘        E is-a 118, D is-a C and E
         └── HP:0000005 (outside)
    """
    return read_obo(
        obo(
            # Children come first in the file: the order has to be worked out.
            term("HP:0000006", "d", is_a=("HP:0000004", "HP:0000007")),
            term("HP:0000004", "c", is_a=("HP:0000003",)),
            term("HP:0000003", "b", is_a=("HP:0000002",)),
            term("HP:0000002", "a", is_a=(ROOT,)),
            term("HP:0000007", "e", is_a=(ROOT,)),
            term(ROOT, "Phenotypic abnormality", is_a=("HP:0000001",)),
            term("HP:0000005", "outside", is_a=("HP:0000001",)),
            term("HP:0000001", "All"),
            root=False,
        )
    )


def test_parents_come_before_children_and_ties_go_by_id(diamond):
    assert diamond.term_ids == [
        "HP:0000001",  # nothing above
        "HP:0000005",  # all parents above done: 5 and 118, by identifier
        ROOT,
        "HP:0000002",  # below 118: 2 and 7
        "HP:0000007",
        "HP:0000003",
        "HP:0000004",
        "HP:0000006",  # waits for its deeper parent
    ]
    assert diamond.labels[-1] == "d"
    assert [diamond.term_ids[p] for p in diamond.parents_of(7)] == ["HP:0000004", "HP:0000007"]


def test_depth_takes_the_shortest_path_from_the_root(diamond):
    # d: 118-a-b-c-d has 4 edges, 118-e-d has 2.  HP:0000001 and HP:0000005 are not below 118.
    depth = dict(zip(diamond.term_ids, diamond.depth.tolist(), strict=True))
    assert depth == {
        "HP:0000001": -1,
        "HP:0000005": -1,
        ROOT: 0,
        "HP:0000002": 1,
        "HP:0000007": 1,
        "HP:0000003": 2,
        "HP:0000004": 3,
        "HP:0000006": 2,
    }
    assert diamond.is_phenotypic("HP:0000006")
    assert diamond.is_phenotypic(ROOT)
    assert not diamond.is_phenotypic("HP:0000005")


def test_closure_holds_the_terms_and_everything_above(diamond):
    def closure(*terms):
        rows = diamond.closure([diamond.index[t] for t in terms])
        return {diamond.term_ids[r] for r in rows}

    assert closure("HP:0000007") == {"HP:0000007", ROOT, "HP:0000001"}
    assert closure("HP:0000006") == set(diamond.term_ids) - {"HP:0000005"}
    assert closure("HP:0000005", "HP:0000003") == {
        "HP:0000005",
        "HP:0000003",
        "HP:0000002",
        ROOT,
        "HP:0000001",
    }
    assert closure() == set()


def test_alt_ids_and_replacements_lead_to_the_current_term(obo, term):
    ontology = read_obo(
        obo(
            term("HP:0000002", is_a=(ROOT,), alt_id=("HP:0000020", "HP:0000021")),
            term("HP:0000030", is_obsolete="true", replaced_by="HP:0000031"),
            term("HP:0000031", is_obsolete="true", replaced_by="HP:0000032"),
            term("HP:0000032", is_obsolete="true", replaced_by="HP:0000002"),
            term("HP:0000040", is_obsolete="true"),
            term("HP:0000041", is_obsolete="true", consider="HP:0000002"),
            term("HP:0000042", is_obsolete="true", replaced_by=("HP:0000002", ROOT)),
            term("HP:0000043", is_obsolete="true", replaced_by="HP:0000040"),
            term("HP:0000044", is_obsolete="true", replaced_by="HP:0000045"),
            term("HP:0000045", is_obsolete="true", replaced_by="HP:0000044"),
            # An alt id that has an obsolete stanza of its own, without a replacement.
            term("HP:0000021", is_obsolete="true"),
        )
    )
    assert ontology.term_ids == [ROOT, "HP:0000002"]
    assert ontology.resolve("HP:0000002") == Resolution("HP:0000002", "current")
    for alt in ("HP:0000020", "HP:0000021"):
        assert ontology.resolve(alt) == Resolution("HP:0000002", "alt_id")
    for chained in ("HP:0000030", "HP:0000031", "HP:0000032"):
        assert ontology.resolve(chained) == Resolution("HP:0000002", "replaced_by")
    # None, only a suggestion, two, a dead end, a circle.
    for dead in (f"HP:00000{i}" for i in (40, 41, 42, 43, 44, 45)):
        assert ontology.resolve(dead) == Resolution(None, "obsolete")
    assert ontology.resolve("HP:9999999") == Resolution(None, "unknown")


def test_quotes_modifiers_comments_and_line_ends_do_no_harm(obo, term):
    path = obo(
        term(
            "HP:0000002",
            'So-called "mask" face',
            is_a=(f'{ROOT} {{source="x"}} ! any label',),
            synonym=(r'"A \"quoted\" name" EXACT [ORCID:1]', r'"back\\slash" RELATED []'),
            **{"def": r'"It is \"so\"." [PMID:1]', "xref": "UMLS:C1"},
        ),
        term("HP:0000003", "Größe", is_a=("HP:0000002",)),
    )
    unix = read_obo(path)
    assert unix.labels[1:] == ['So-called "mask" face', "Größe"]
    assert unix.parents_of(1).tolist() == [0]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_obo(path).labels == unix.labels
    packed = path.with_suffix(".obo.gz")
    packed.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    assert read_obo(packed).term_ids == unix.term_ids


def test_a_parent_given_twice_counts_once(obo, term):
    ontology = read_obo(obo(term("HP:0000002", is_a=(ROOT, ROOT))))
    assert ontology.parents_of(1).tolist() == [0]


def test_a_cycle_is_named_with_its_file(obo, term):
    path = obo(
        term("HP:0000002", is_a=(ROOT, "HP:0000004")),
        term("HP:0000003", is_a=("HP:0000002",)),
        term("HP:0000004", is_a=("HP:0000003",)),
        term("HP:0000005", is_a=("HP:0000004",)),  # below the cycle, not in it
    )
    with pytest.raises(InputError) as caught:
        read_obo(path)
    message = str(caught.value)
    assert "HP:0000002 is_a HP:0000004 is_a HP:0000003 is_a HP:0000002" in message
    assert "HP:0000005" not in message
    assert str(path) in message


def test_a_term_that_is_its_own_parent_is_a_cycle():
    with pytest.raises(InputError, match="HP:2 is_a HP:2"):
        topological_order({"HP:1": [], "HP:2": ["HP:1", "HP:2"]})


@pytest.mark.parametrize("dead", [False, True])
def test_a_parent_has_to_be_a_live_term(obo, term, dead):
    extra = [term("HP:0000009", is_obsolete="true")] if dead else []
    path = obo(term("HP:0000002", is_a=("HP:0000009",)), *extra)
    with pytest.raises(InputError, match="parent") as caught:
        read_obo(path)
    assert caught.value.where == f"{path}, term HP:0000002"
    assert caught.value.found == "is_a: HP:0000009"


def test_the_root_has_to_be_there(obo, term):
    path = obo(term("HP:0000002"), root=False)
    with pytest.raises(InputError, match="root") as caught:
        read_obo(path)
    assert caught.value.found == "1 live terms, HP:0000118 not among them"
    assert read_obo(path, root="HP:0000002").depth.tolist() == [0]


GOOD = b"format-version: 1.2\n\n[Term]\nid: HP:0000118\nname: root\n"
PACKED = gzip.compress(b"".join(GOOD.replace(b"118", b"%03d" % i) for i in range(400)), mtime=0)
DAMAGED = PACKED[:10] + b"\xff" * 50  # a header, then a block of a type there is none of


@pytest.mark.parametrize(
    "name, content",
    [
        ("text.obo", b"this is not an ontology\n"),
        ("page.obo", b"<html><body>404</body></html>\n"),
        ("table.obo", b"a\tb\n1\t2\n"),
        ("binary.obo", bytes(range(256)) * 3),
        ("zeros.obo", bytes(64)),
        ("utf16.obo", GOOD.decode().encode("utf-16")),
        ("empty.obo", b""),
        ("noid.obo", GOOD + b"\n[Term]\nname: a term without id\n"),
        ("relation.obo", GOOD + b"relationship: part_of\n"),
        ("packed.obo", PACKED),  # gzip without .gz
        ("plain.obo.gz", GOOD),  # .gz without gzip
        ("empty.obo.gz", b""),
        ("cut.obo.gz", PACKED[: len(PACKED) // 2]),
        ("damaged.obo.gz", DAMAGED),
    ],
)
def test_what_is_not_obo_is_one_error_that_names_the_file(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_obo(path)
    assert str(path) in str(caught.value)


def test_the_damaged_bytes_above_are_damaged_in_the_way_meant():
    assert len(gzip.decompress(PACKED)) > 1000
    with pytest.raises(EOFError):
        gzip.decompress(PACKED[: len(PACKED) // 2])
    with pytest.raises(zlib.error):  # neither OSError nor EOFError
        gzip.decompress(DAMAGED)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.obo"):
        read_obo(tmp_path / "nowhere.obo")


def test_artifacts_round_trip(diamond, obo, term):
    aliased = read_obo(
        obo(
            term("HP:0000002", is_a=(ROOT,), alt_id="HP:0000020"),
            term("HP:0000030", is_obsolete="true", replaced_by="HP:0000002"),
            term("HP:0000040", is_obsolete="true"),
        )
    )
    for ontology in (diamond, aliased):
        terms, aliases = to_frames(ontology)
        TERMS.check(terms, "terms")
        ALIASES.check(aliases, "aliases")
        again = from_frames(terms, aliases)
        assert (again.term_ids, again.labels) == (ontology.term_ids, ontology.labels)
        assert again.aliases == ontology.aliases
        for name in ("parent_ptr", "parents", "depth"):
            left, right = getattr(again, name), getattr(ontology, name)
            assert left.dtype == right.dtype
            assert left.tolist() == right.tolist()
    assert aliased.aliases.keys() == {"HP:0000020", "HP:0000030", "HP:0000040"}
