import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naming.conftest import CANDIDATES, MONDO, ORPHANET

from rarefuse.naming.lexicon import LEXICON, build_lexicon
from rarefuse.naming.mapper import (
    AMBIGUOUS,
    EMPTY,
    EXACT,
    EXTENDED,
    GROUP,
    INHERITANCE,
    OUTSIDE,
    RULES,
    SUBTYPE,
    TOO_LONG,
    UNKNOWN,
    Mapper,
)
from rarefuse.naming.normalise import fold

LEXICON_FRAME = build_lexicon(CANDIDATES, MONDO, ORPHANET)
MAPPER = Mapper(LEXICON_FRAME, EXTENDED)
BY_PROTOCOL = Mapper(LEXICON_FRAME, EXACT)
FORMS = LEXICON_FRAME.filter(pl.col("candidate"))


@pytest.mark.parametrize(
    ("name", "disease", "rule"),
    [
        ("Wilson's disease", "OMIM:277900", "plural"),
        ("WILSON DISEASE", "OMIM:277900", "exact"),
        ("Noonan syndrome 3", "OMIM:609942", "exact"),
        ("Noonan syndrome type 3", "OMIM:609942", "numerals"),
        ("Noonan Syndrome, Type III", "OMIM:609942", "numerals"),
        ("Noonan syndrome", "OMIM:163950", "exact"),
        ("Bardet-Biedl syndrome", "OMIM:209900", "exact"),
        ("Aicardi–Goutières syndrome", "OMIM:225750", "exact"),
        ("Aicardi-Goutieres syndromes", "OMIM:225750", "plural"),
        ("Aciduria, glutaric, type II", "OMIM:231680", "order"),
        ("Hurler disease", "OMIM:607014", "noun"),
        ("Tuberous sclerosis complex (TSC)", "OMIM:191100", "outside parentheses"),
        ("Spinocerebellar ataxia type 3 (SCA3)", "OMIM:109150", "outside parentheses"),
        ("Severe congenital neutropenia (autosomal dominant)", "OMIM:202700",
         "outside parentheses"),
        ("Emery-Dreifuss muscular dystrophy (X-linked recessive)", "OMIM:310300",
         "outside parentheses"),
        ("CMT2A2A", "OMIM:609260", "exact"),
        # An X behind the number says only that the type is X-linked.
        ("EDMD1", "OMIM:310300", "exact"),
        # The number of another series is no contradiction.
        ("LGMD1B", "OMIM:181350", "exact"),
        ("Mucopolysaccharidosis type I (Hurler syndrome)", "OMIM:607014", "inside parentheses"),
        ("SHANK disorder (Phelan-McDermid syndrome)", "OMIM:606232", "inside parentheses"),
        ("Severe congenital neutropenia (Kostmann syndrome)", "OMIM:610738", "inside parentheses"),
        ("Ehlers-Danlos syndrome (Vascular Type)", "OMIM:130050", "exact"),
        ("Ehlers-Danlos syndrome, vascular type (formerly Ehlers-Danlos syndrome type IV)",
         "OMIM:130050", "outside parentheses"),
    ],
)  # fmt: skip
def test_names_that_have_a_match(name, disease, rule):
    match = MAPPER.match(name)
    assert (match.disease_id, match.rule) == (disease, rule)
    assert match.reason is None
    # The explanation names a form of that disease, and where it comes from.
    known = FORMS.filter(pl.col("form") == match.form, pl.col("source") == match.source)
    assert disease in known["disease_id"].to_list()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        # The lexicon has 2A as a synonym of 2A2A; there is a 2A1 too.
        ("Charcot-Marie-Tooth disease type 2A", SUBTYPE),
        ("Charcot-Marie-Tooth disease type 2C", UNKNOWN),
        ("Noonan syndrome 2", UNKNOWN),
        ("Noonan syndrome (type 3 or type 4)", SUBTYPE),
        ("Noonan syndrome (SHOC2)", SUBTYPE),
        ("Spinocerebellar ataxia (SCA3)", SUBTYPE),
        ("Ehlers-Danlos syndrome (hypermobile type)", SUBTYPE),
        ("Noonan syndrome (autosomal recessive)", INHERITANCE),
        ("Emery-Dreifuss muscular dystrophy (autosomal recessive)", INHERITANCE),
        # An acronym whose number the label extends, 6A; 2A is a synonym of 2A1.
        ("CMT6", SUBTYPE),
        ("CMT 2A", SUBTYPE),
        # Only the case of its letters tells type I, i from type II.
        ("Congenital disorder of glycosylation, type II", SUBTYPE),
        ("mucopolysaccharidosis type 1", GROUP),
        ("mucopolysaccharidosis", GROUP),
        ("Lennox-Gastaut syndrome", OUTSIDE),
        ("twofold disease", AMBIGUOUS),
        ("Wilson disease (Hurler syndrome)", AMBIGUOUS),
        # Acronyms of other diseases look the same.
        ("Autism spectrum disorder (ASD)", UNKNOWN),
        ("C", UNKNOWN),
        ("Metabolic disorder (e.g., Wilson disease)", UNKNOWN),
        ("", EMPTY),
        (" \t- ", EMPTY),
        (None, EMPTY),
        ("x" * 10_000, TOO_LONG),
        ("(" * 999, EMPTY),
    ],
)
def test_names_without_a_match(name, reason):
    match = MAPPER.match(name)
    assert (match.disease_id, match.rule, match.reason) == (None, None, reason)


def test_case_tells_type_i_i():
    match = BY_PROTOCOL.match("Congenital disorder of glycosylation, type Ii")
    assert match.disease_id == "OMIM:607906"


def test_the_protocol_knows_neither_rules_nor_series_nor_orphanet():
    assert BY_PROTOCOL.match("Noonan syndrome 1").disease_id == "OMIM:163950"
    assert BY_PROTOCOL.match("Noonan syndrome").reason == UNKNOWN
    assert BY_PROTOCOL.match("AGS").reason == UNKNOWN
    assert BY_PROTOCOL.match("Noonan syndrome type 1").reason == UNKNOWN
    # Mondo's synonym stands alone where the series' own name does not count.
    assert BY_PROTOCOL.match("Bardet-Biedl syndrome").disease_id == "OMIM:615981"


def test_rules_can_be_chosen():
    without = Mapper(LEXICON_FRAME, EXTENDED, [rule for rule in RULES if rule != "plural"])
    assert without.match("Aicardi-Goutières syndromes").reason == UNKNOWN
    assert without.match("Noonan Syndrome, Type III").disease_id == "OMIM:609942"


def test_the_series_of_a_disease_with_another_name_stays_a_group(lexicon):
    rows = lexicon.filter(pl.col("form") == "mucopolysaccharidosis")
    assert rows["disease_id"].to_list() == [None]
    LEXICON.check(lexicon, "here")


@pytest.mark.parametrize("level", [EXACT, EXTENDED])
def test_every_candidate_finds_itself_by_its_own_name(level):
    mapper = Mapper(LEXICON_FRAME, level)
    for disease, name in CANDIDATES.items():
        assert mapper.match(name).disease_id == disease, name


def respelt(draw, form):
    """The same form in another case, with other blanks and hyphens."""
    change = draw(st.sampled_from([str.upper, str.lower, str.title, str.swapcase]))
    gap = draw(st.sampled_from([" ", "  ", "-", " - ", "–", "\t"]))
    return draw(st.sampled_from(["", " "])) + gap.join(fold(change(form)).split()) + "."


@given(st.data())
def test_case_blanks_and_hyphens_change_nothing(data):
    form = data.draw(st.sampled_from([f for f in FORMS["form"].to_list() if "Ii" not in f]))
    written = respelt(data.draw, form)
    for mapper in (MAPPER, BY_PROTOCOL):
        one, other = mapper.match(form), mapper.match(written)
        assert (one.disease_id, one.reason) == (other.disease_id, other.reason)


@given(st.text(max_size=200))
def test_any_text_is_explained(text):
    match = MAPPER.match(text)
    assert (match.disease_id is None) == (match.reason is not None)
    assert (match.disease_id is None) == (match.rule is None)


@given(st.sampled_from(sorted(CANDIDATES.values())), st.integers(5, 99))
def test_no_number_is_ever_changed(name, number):
    """A name with a number that no candidate has leads nowhere."""
    bare = " ".join(word for word in fold(name).split() if word.isalpha() and len(word) > 3)
    assert MAPPER.match(f"{bare} type {number}").disease_id is None
    assert MAPPER.match(f"{bare} ({bare} {number})").disease_id is None
