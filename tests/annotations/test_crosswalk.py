import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarefuse.annotations.crosswalk import (
    AMBIGUOUS,
    INEXACT,
    MAPPED,
    UNMAPPED,
    Crosswalk,
    disease_curie,
    read_crosswalk,
)
from rarefuse.errors import InputError

ORPHANET = """omim_id\torpha_id\trelation
OMIM:100001\tORPHA:1\tE
OMIM:100002\tORPHA:2\tE
OMIM:100003\tORPHA:2\tE
OMIM:100004\tORPHA:3\tBTNT
OMIM:100005\tORPHA:4\tE
OMIM:100005\tORPHA:5\tE
OMIM:100001\tORPHA:6\tNTBT
"""


def write(tmp_path, text):
    path = tmp_path / "map.tsv"
    path.write_text(text)
    return path


def test_only_a_unique_exact_equivalent_is_followed(tmp_path):
    known = read_crosswalk(write(tmp_path, ORPHANET))
    ids = ["ORPHA:1", "ORPHA:2", "ORPHA:3", "ORPHA:4", "ORPHA:6", "ORPHA:9", "ORPHA:1"]
    assert known.orpha_to_omim(ids) == [
        ("OMIM:100001", MAPPED),
        (None, AMBIGUOUS),
        (None, INEXACT),
        ("OMIM:100005", MAPPED),
        (None, INEXACT),
        (None, UNMAPPED),
        ("OMIM:100001", MAPPED),
    ]
    assert known.omim_to_orpha(["OMIM:100001", "OMIM:100003", "OMIM:100004", "OMIM:100005"]) == [
        ("ORPHA:1", MAPPED),  # its narrower ORPHA:6 does not make it ambiguous
        ("ORPHA:2", MAPPED),  # one way, and ambiguous on the way back
        (None, INEXACT),
        (None, AMBIGUOUS),
    ]


def test_without_a_relation_every_row_is_an_equivalent(tmp_path):
    text = "# from a colleague\n\nOrphanet:3,MIM:100004\nORPHA:1,OMIM:100001\nORPHA:1,OMIM:100001\n"
    known = read_crosswalk(write(tmp_path, text))
    assert known.orpha_to_omim(["ORPHA:3", "ORPHA:1"]) == [
        ("OMIM:100004", MAPPED),
        ("OMIM:100001", MAPPED),
    ]


def test_a_gzipped_map_is_the_same(tmp_path):
    path = tmp_path / "map.tsv.gz"
    path.write_bytes(gzip.compress(ORPHANET.encode()))
    assert read_crosswalk(path) == read_crosswalk(write(tmp_path, ORPHANET))


@pytest.mark.parametrize(
    "text, what",
    [
        ("", "has no row"),
        ("omim_id\torpha_id\n", "has no row"),
        (ORPHANET + "OMIM:100007\t\tE\n", "lacks an OMIM or an ORPHA id"),
        (ORPHANET + "OMIM:100007\tORPHA:7\n", "lacks an OMIM or an ORPHA id"),
    ],
)
def test_what_is_no_map_is_refused(tmp_path, text, what):
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=what) as caught:
        read_crosswalk(path)
    assert str(path) in caught.value.where


@pytest.mark.parametrize(
    "text, curie",
    [
        ("OMIM:154700", "OMIM:154700"),
        (" omim:154700 ", "OMIM:154700"),
        ("MIM:154700", "OMIM:154700"),
        ("Orphanet:558", "ORPHA:558"),
        ("ORPHA:558", "ORPHA:558"),
        ("OMIM:PS154700", None),
        ("MONDO:0007947", None),
        ("154700", None),
        (None, None),
    ],
)
def test_ids_in_their_plain_form(text, curie):
    assert disease_curie(text) == curie


pairs = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=12)


@given(pairs)
def test_there_and_back_ends_where_it_began_or_nowhere(rows):
    omim, orpha = {}, {}
    for a, b in rows:
        omim.setdefault(f"OMIM:{a}", set()).add(f"ORPHA:{b}")
        orpha.setdefault(f"ORPHA:{b}", set()).add(f"OMIM:{a}")
    known = Crosswalk(omim, orpha)
    for identifier in omim:
        (there,) = known.omim_to_orpha([identifier])
        if there.disease_id:
            (back,) = known.orpha_to_omim([there.disease_id])
            assert back.disease_id in (identifier, None)
