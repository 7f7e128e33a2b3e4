"""Spelling of hand-made words."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from rarefuse.retrieval.spelling import Speller, one_edit, words_of

SPELLER = Speller(Counter({"kidney": 9, "cyst": 5, "cysts": 2, "arachnodactyly": 1}))


def test_words():
    assert words_of(["Cyst of the kidney, 2nd", "CYST"]) == {
        "cyst": 2, "of": 1, "the": 1, "kidney": 1, "nd": 1,
    }  # fmt: skip


def test_every_kind_of_edit():
    for text in ("kidey", "kiddney", "kidnay", "ikdney", "kidneyq"):
        assert SPELLER.correct(text) == "kidney"
    assert SPELLER.correct("Arachnodactyl") == "Arachnodactyly"


def test_what_stays_as_it_is():
    for text in ("kidney", "KIDNEY cyst", "kdny", "cyts", "2kidey", "KIDEY", "kidey-like", ""):
        assert SPELLER.correct(text) == text


def test_the_more_frequent_word_is_preferred():
    assert SPELLER.correct("cystt") == "cyst"
    assert Speller(Counter({"cyst": 1, "cysts": 2})).correct("cystt") == "cysts"


def test_words_of_a_hidden_term_do_not_count():
    hidden = Counter({"arachnodactyly": 1, "kidney": 1})
    assert SPELLER.correct("arachnodactily kidey", hidden) == "arachnodactily kidney"


@given(st.text("abcdefgh", min_size=1, max_size=4))
def test_edits_can_be_undone(word):
    assert all(word in set(one_edit(edited)) for edited in set(one_edit(word)))
