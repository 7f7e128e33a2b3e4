"""What is planted in a case stops the run; what belongs there does not."""

import polars as pl
import pytest

from rarefuse.corpus.cases import CASES, WITHHELD
from rarefuse.errors import InputError
from rarefuse.llm.guard import check_prompts
from rarefuse.llm.prompt import Prompt, render_prompt

SECRETS = [
    ("disease_id", "OMIM:154700"),
    ("disease_name", "Marfan syndrome"),
    ("gene", "FBN1"),
    ("hgnc", "HGNC:3603"),
    ("variant", "NM_000138.5:c.3217G>A"),
    ("pmid", "PMID:1852208"),
    ("path", "FBN1/PMID_1852208_patient.json"),
]


@pytest.fixture
def check(tiny_ontology):
    terms = [
        term for term in tiny_ontology.term_ids if tiny_ontology.is_phenotypic(term)
    ][1:4]  # fmt: skip
    label = dict(zip(tiny_ontology.term_ids, tiny_ontology.labels, strict=True))
    case = {
        "case_id": "0a",
        "sex": "MALE",
        "age_days": 400.0,
        "onset": "P1Y",
        "observed": terms[:2],
        "observed_labels": [label[term] for term in terms[:2]],
        "excluded": terms[2:],
        "excluded_labels": [label[term] for term in terms[2:]],
    }
    blank = dict.fromkeys(CASES.names)
    cases = pl.DataFrame(
        [{**blank, "case_id": "0a", "gold_id": "OMIM:154700"}], schema=CASES.dtypes
    )
    withheld = pl.DataFrame(
        [("0a", kind, value) for kind, value in SECRETS if kind != "disease_name"],
        schema=WITHHELD.dtypes,
        orient="row",
    )

    def run(prompt=None, **changes):
        changed = {**case, **changes}
        check_prompts(
            [prompt or render_prompt(changed)], [changed], cases, withheld,
            {"OMIM:154700": "Marfan syndrome"}, tiny_ontology,
        )  # fmt: skip

    run.case = case
    return run


def test_a_clean_case_passes(check):
    check()
    check(sex=None, age_days=None, onset=None, excluded=[], excluded_labels=[])


@pytest.mark.parametrize(("kind", "value"), SECRETS)
@pytest.mark.parametrize("place", ["observed_labels", "excluded_labels", "onset"])
def test_a_planted_answer_is_found_and_not_repeated(check, kind, value, place):
    old = check.case[place]
    planted = f"{old} {value}" if place == "onset" else [f"{old[0]} {value}", *old[1:]]
    with pytest.raises(InputError, match="none was sent") as caught:
        check(**{place: planted})
    assert f"the case's {kind}" in str(caught.value)
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("BRCA2", "neither the template's nor a canonical label"),
        ("Wilson disease", "neither the template's nor a canonical label"),
        ("c.524G>A", "a variant"),
        ("p.Arg175His", "neither the template's nor a canonical label"),
        ("p.(R175H)", "a variant"),
        ("NM_000546.6", "a variant"),
        ("chr17:7674220", "a variant"),
        ("PMID: 12345", "an identifier"),
        ("ORPHA:558", "an identifier"),
        ("phenopackets/TP53/PMID_1.json", "a path"),
    ],
)
def test_answers_that_are_not_this_cases_are_found_too(check, text, kind):
    with pytest.raises(InputError) as caught:
        check(observed_labels=[text, check.case["observed_labels"][1]])
    assert kind in str(caught.value)


def test_a_prompt_that_is_not_the_views(check):
    other = {**check.case, "observed_labels": check.case["observed_labels"][::-1]}
    with pytest.raises(InputError, match="another text than the view's"):
        check(prompt=render_prompt(other))
    with pytest.raises(InputError, match="another text than the view's"):
        check(prompt=Prompt("0a", render_prompt(check.case).user + "\nThe gene is FBN1."))


def test_a_label_of_another_term_is_not_canonical(check):
    with pytest.raises(InputError, match="canonical label"):
        check(observed_labels=check.case["observed_labels"][::-1])
