import pytest

from rarefuse.naming.normalise import (
    LADDER,
    acronym_number,
    designators,
    fold,
    inheritance,
    is_extended,
    is_subtype,
    mixed_numerals,
    names_a_type,
)


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("Möbius  Syndrome.", "mobius syndrome"),
        ("Wilson’s disease", "wilsons disease"),
        ("22q11.2 deletion", "22q11 2 deletion"),
        ("Cri-du-chat_syndrome", "cri du chat syndrome"),
        ("ﬁbrosis", "fibrosis"),
        ("β-thalassemia", "β thalassemia"),
        ("  ", ""),
    ],
)
def test_fold(name, folded):
    assert fold(name) == folded
    assert fold(folded) == folded


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("Noonan syndrome 3", ("3",)),
        ("glycogen storage disease type IIIa", ("3a",)),
        ("Charcot-Marie-Tooth disease, type 2 A", ("2a",)),
        ("Haemophilia A", ("a",)),
        ("a disease of the eye", ()),
        ("brachydactyly type A syndrome", ("a",)),
        ("X-linked ichthyosis", ("x",)),
        ("muscular dystrophy 1, X-linked", ("1", "x")),
        ("spinocerebellar ataxia (SCA3)", ("sca3",)),
        ("civic livid mild", ()),
    ],
)
def test_designators(name, stated):
    assert designators(fold(name).split()) == stated


def test_what_counts_subtypes():
    assert all(map(is_subtype, ("2", "2a", "2a2a", "14", "c")))
    assert not any(map(is_subtype, ("x", "stxbp1", "22q11")))


def test_acronyms():
    words = ["spinocerebellar", "ataxia"]
    assert acronym_number("sca3", words) == "3"
    assert acronym_number("stxbp1", words) == "stxbp1"  # no "a", whatever its other letters
    assert acronym_number("3", words) == "3"


@pytest.mark.parametrize(
    ("acronym", "numbers", "extended"),
    [
        ("cmt2a", {"2a1"}, True),
        ("cmt6", {"6a"}, True),
        ("cmt6", {"6", "6a"}, False),
        ("cmt1", {"11", "12a"}, False),
        ("edmd1", {"1x"}, False),
        ("lgmd1b", {"2"}, False),
        ("ataxia", {"1a"}, False),
    ],
)
def test_numbers_that_extend_an_acronym(acronym, numbers, extended):
    assert is_extended(acronym, numbers) == extended


def test_modes_of_inheritance():
    assert inheritance(["autosomal", "recessive", "or", "dominant"]) == {"recessive", "dominant"}
    assert inheritance(["x", "linked", "recessive"]) == {"linked"}
    assert not inheritance(["hereditary", "disease"])


def test_types_stated_by_case_or_word():
    assert mixed_numerals("CDG type Ii") == {"Ii"}
    assert not mixed_numerals("CDG type II, TYPE IV, type Ia")
    assert names_a_type(["vascular", "type"])
    assert not names_a_type(["a", "type", "of", "ectodermal", "dysplasia"])
    assert not names_a_type(["juvenile", "onset"])


@pytest.mark.parametrize(
    ("rule", "one", "other"),
    [
        ("plural", "ataxias", "ataxia"),
        ("plural", "myopathies", "myopathy"),
        ("plural", "lipofuscinoses", "lipofuscinosis"),
        ("numerals", "type iii", "3"),
        ("numerals", "type3", "3"),
        ("numerals", "2 a", "2a"),
        ("noun", "noonan disorder", "noonan syndrome"),
        ("order", "aciduria glutaric", "glutaric aciduria"),
        ("order", "epilepsy caused by mutation in abc", "abc related epilepsy"),
    ],
)
def test_rules_equate(rule, one, other):
    assert LADDER[rule](one.split()) == LADDER[rule](other.split())


@pytest.mark.parametrize(
    ("rule", "one", "other"),
    [
        ("plural", "status virus basis", "statu viru basi"),
        ("numerals", "x linked i cell", "10 linked 1 cell"),
        ("order", "des gene mutation", "des"),
        ("order", "disease with ataxia", "disease ataxia"),
    ],
)
def test_rules_keep_apart(rule, one, other):
    assert LADDER[rule](one.split()) != LADDER[rule](other.split())
