"""The prompt, against the paper's text and by hand."""

import polars as pl
import pytest

from rarefuse.corpus.view import VIEW
from rarefuse.llm.prompt import (
    DECODING,
    SYSTEM,
    Prompt,
    age_in_words,
    onset_in_words,
    render_prompt,
    template_digest,
)

CASE = {
    "case_id": "0a",
    "sex": "FEMALE",
    "age_days": 4500.0,
    "onset": "Childhood onset",
    "observed": ["HP:0001250", "HP:0001252"],
    "observed_labels": ["Seizure", "Hypotonia"],
    "excluded": ["HP:0000252"],
    "excluded_labels": ["Microcephaly"],
}


def test_the_whole_prompt():
    assert render_prompt(CASE).messages == [
        {
            "role": "system",
            "content": "You are a clinical geneticist performing phenotype-only differential "
            "diagnosis of rare Mendelian disease. You are given a patient’s Human Phenotype "
            "Ontology findings. Reply with exactly 10 candidate diagnoses, most likely first, one "
            "per line, formatted as “<rank>. <disease name>”. Use standard OMIM/Mondo disease "
            "names. No explanations, no other text.",
        },
        {
            "role": "user",
            "content": "Sex: female\n"
            "Age: 12 years\n"
            "Onset: Childhood onset\n"
            "Observed findings:\n"
            "- Seizure\n"
            "- Hypotonia\n"
            "Explicitly excluded findings:\n"
            "- Microcephaly\n"
            "\n"
            "List the 10 most likely rare genetic diagnoses, ranked.",
        },
    ]


def test_what_the_view_lacks_is_not_mentioned():
    bare = {**CASE, "sex": None, "age_days": None, "onset": None, "excluded_labels": []}
    assert render_prompt(bare).user == (
        "Observed findings:\n- Seizure\n- Hypotonia\n\n"
        "List the 10 most likely rare genetic diagnoses, ranked."
    )


def test_the_hash_and_the_term_ids_stay_here():
    text = str(render_prompt(CASE).messages)
    assert "0a" not in text
    assert "HP:" not in text


def test_only_columns_of_the_view_are_used():
    row = pl.DataFrame([CASE], schema=VIEW.dtypes).row(0, named=True)
    assert set(row) == set(CASE)
    assert render_prompt(row) == render_prompt(CASE)


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (0.0, "0 days"),
        (1.9, "1 day"),
        (60.0, "60 days"),
        (61.0, "2 months"),
        (730.0, "23 months"),
        (730.5, "2 years"),
        (4500.0, "12 years"),
    ],
)
def test_age(days, text):
    assert age_in_words(days) == text


@pytest.mark.parametrize(
    ("onset", "text"),
    [
        ("Infantile onset", "Infantile onset"),
        ("P3Y", "3 years"),
        ("P1Y2M10D", "1 year 2 months 10 days"),
        ("P2W", "2 weeks"),
        ("PT12H", "12 hours"),
        ("P0.5Y", "0.5 years"),
    ],
)
def test_onset(onset, text):
    assert onset_in_words(onset) == text


def test_digests_tell_prompts_apart():
    prompt = render_prompt(CASE)
    other = render_prompt({**CASE, "observed_labels": ["Hypotonia", "Seizure"]})
    assert prompt.digest == Prompt("another id", prompt.user).digest != other.digest
    assert len(template_digest()) == 16


def test_decoding_is_the_papers():
    assert DECODING == {"temperature": 0.0, "n": 1, "max_tokens": 384, "context": 4096}
    assert "exactly 10 candidate diagnoses" in SYSTEM
