"""What is said of a finding. In the sentences here findings stand in brackets."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarefuse.retrieval.context import (
    ENDS,
    EXCLUDED,
    LEFT_OUT,
    NORMAL,
    OBSERVED,
    RELATIVE,
    STATUSES,
    UNCERTAIN,
    is_cue,
    is_measured,
    status_of,
)


def read(sentence):
    """Words of a sentence, and first and last place of each bracket."""
    words, spans, start = [], [], None
    for sign in re.findall(r"[\w']+|[^\w\s]", sentence.lower()):
        if sign == "[":
            start = len(words)
        elif sign == "]":
            spans.append((start, len(words) - 1))
        else:
            words.append(sign)
    return words, spans


def statuses(sentence, *, named=True):
    words, spans = read(sentence)
    inside = {place for first, last in spans for place in range(first, last + 1)}
    return [status_of(words, *span, inside, named=named) for span in spans]


def signs(sentence):
    """``+`` observed, ``-`` excluded, ``0`` left out, one a finding."""
    return "".join({OBSERVED: "+", EXCLUDED: "-", LEFT_OUT: "0"}[s] for s, _ in statuses(sentence))


@pytest.mark.parametrize(
    "sentence, expected",
    [
        ("She has [ataxia] and [nystagmus]", "++"),
        ("No [ataxia] , [nystagmus] or [seizures]", "---"),
        ("No [seizures] but [ataxia]", "-+"),
        ("No [seizures] , has [ataxia]", "-+"),
        ("There were no [seizures] , with [ataxia]", "-+"),
        ("[Ataxia] without [seizures]", "+-"),
        ("He has never had [seizures]", "-"),
        ("He did not develop [scoliosis] or [cataract]", "--"),
        ("She denies [seizures]", "-"),
        ("Neither [seizures] nor [ataxia]", "--"),
        ("Not only [seizures] , also [ataxia]", "++"),
        ("[Seizures] , [ataxia] and [scoliosis] were absent", "---"),
        ("[Seizures] were not observed , [ataxia] was present", "-+"),
        ("No known [seizures] or [ataxia]", "--"),
        ("[Seizures] were noted", "+"),
        ("[Scoliosis] was ruled out", "-"),
        ("Absence of [seizures]", "-"),
        ("[No social interaction] and [ataxia]", "++"),
        ("[Ataxia] , no [seizures]", "+-"),
        ("He hasn't had [seizures]", "-"),
        ("[Seizures] : no", "-"),
        ("[Seizures] : no [ataxia]", "+-"),
        ("[Seizures] - none", "-"),
        ("[Hearing loss] ( absent )", "-"),
        ("Failed to show [hepatomegaly]", "-"),
        ("[Cataract] (-)", "-"),
        ("[Ataxia] was not noted before age 5 , [nystagmus] was present", "-+"),
        ("[Spasticity] rather than [hypotonia]", "+-"),
        ("[Cardiomyopathy] is unlikely", "-"),
        ("Denied [chest pain] , and complained of [headache]", "-+"),
        ("Without [cardiomyopathy] , and with [scoliosis]", "-+"),
    ],
)
def test_denied_findings(sentence, expected):
    assert signs(sentence) == expected


@pytest.mark.parametrize(
    "sentence, reason",
    [
        ("Normal [gait]", NORMAL),
        ("[Hearing] was normal", NORMAL),
        ("[Hearing] and [vision] are unremarkable", NORMAL),
        ("Her mother has [migraine]", RELATIVE),
        ("Family history was positive for [seizures]", RELATIVE),
        ("Possible [seizures]", UNCERTAIN),
        ("Concern for [deafness]", UNCERTAIN),
        ("? [scoliosis]", UNCERTAIN),
        ("If [seizures] occur , give diazepam", UNCERTAIN),
        ("At risk for [cataract]", UNCERTAIN),
        ("[Epilepsy] has been considered", UNCERTAIN),
        ("[Immunodeficiency] cannot be excluded", UNCERTAIN),
        ("Her twin has [cleft lip]", RELATIVE),
        ("Dad has [ataxia]", RELATIVE),
        ("[Optic atrophy] was suspected but not confirmed", UNCERTAIN),
        ("treated for suspected [seizures]", UNCERTAIN),
    ],
)
def test_findings_that_are_left_out(sentence, reason):
    assert statuses(sentence)[0] == (LEFT_OUT, reason)


@pytest.mark.parametrize(
    "sentence",
    [
        "His parents noticed [seizures]",
        "The mother reported [seizures]",
        "Her mother has migraine , but she has [ataxia]",
        "possible delay , [ataxia]",
        "The patient , whose brother had died of leukemia , presented with [short stature]",
        "Born to consanguineous parents with [microcephaly]",
        "The parents are consanguineous ; she has [ataxia]",
    ],
)
def test_findings_of_the_patient(sentence):
    assert statuses(sentence)[0] == (OBSERVED, None)


def test_an_absence_belongs_to_words_that_are_no_name():
    words, spans = read("[absence of a kidney]")
    assert status_of(words, *spans[0], set(range(4)), named=False) == (OBSERVED, None)
    assert statuses("absence of [seizures]", named=True) == [(EXCLUDED, None)]


@pytest.mark.parametrize(
    "sentence, expected",
    [("[birth weight] was 2100 g", True), ("[height] 98 cm", True), ("[ataxia] at 9", False)],
)
def test_a_value(sentence, expected):
    words, ((_, last),) = read(sentence)
    assert is_measured(words, last) is expected


def test_words_that_only_say_something():
    words = ["no", "not", "able", "mother", "seizures"]
    assert [is_cue(words, i) for i in range(len(words))] == [True, False, False, True, False]


WORDS = st.sampled_from(
    [
        "no",
        "not",
        "without",
        "but",
        ",",
        "and",
        "has",
        "was",
        "absent",
        "mother",
        "possible",
        "normal",
        "ataxia",
    ]
)


@given(st.lists(WORDS, max_size=12), st.lists(WORDS, max_size=12))
def test_nothing_before_an_end_counts_and_any_text_has_a_status(before, after):
    """A finding right behind "but" is not reached by what stands before it."""
    words = [*before, "but", "ataxia", *after]
    place = len(before) + 1
    with_before = status_of(words, place, place, {place})
    assert with_before == status_of(["but", "ataxia", *after], 1, 1, {1})
    assert with_before[0] in STATUSES
    assert "but" in ENDS
