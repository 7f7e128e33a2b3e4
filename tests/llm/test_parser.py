"""The parser: shapes that models write, one by one, and anything at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarefuse.llm.parser import MAX_NAMES, Name, parse, without_reasoning

TEN = "\n".join(f"{i}. Disease {i}" for i in range(1, 11))


def names(text):
    return [name.name for name in parse(text)]


def test_the_form_that_was_asked_for():
    assert parse("1. Marfan syndrome\n2) Rett syndrome") == [
        Name(1, "Marfan syndrome", None),
        Name(2, "Rett syndrome", None),
    ]
    assert len(parse(TEN)) == 10


@pytest.mark.parametrize(
    "text", [None, "", " \n", "I cannot help.", "Marfan syndrome", "1.", "1. "]
)
def test_nothing(text):
    assert parse(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Here you are:\n\n1. A\nbecause of B\n2. C\nGood luck!", ["A", "C"]),
        ("```\n1. A\n2. B\n```", ["A", "B"]),
        ("  1. A\n\t2. B", ["A", "B"]),
        ("1. A\r\n2. B\r\n", ["A", "B"]),
        ("- A\n* B\n• C", []),
        ("1.A\n1: B\n1 - C\n1 D", []),
        ("1. A 2. B", ["A 2. B"]),
        ("1. A - because it fits", ["A - because it fits"]),
        ("10. A\n3. B\n3. C", ["A", "B", "C"]),
        ("1. A\n1. A", ["A", "A"]),
        ("01. A\n002) B", ["A", "B"]),
        ("1234. A", []),
        ("1. 42\n2. ---\n3. A", ["A"]),
        ("**1. A**\n2. **B**\n**3.** C\n4. *D* (rare)\n5. `E`", ["A", "B", "C", "D (rare)", "E"]),
        ("1. Charcot–Marie–Tooth disease, type 1A", ["Charcot–Marie–Tooth disease, type 1A"]),
        ("1. 22q11.2 deletion syndrome", ["22q11.2 deletion syndrome"]),
        ("1. 47,XXY", ["47,XXY"]),
        ("1. Мукополисахаридоз", ["Мукополисахаридоз"]),
        ("１. A", []),
        (f"{TEN}\n11. L\n12. M", [f"Disease {i}" for i in range(1, 11)]),
        ("1. A\n\n1. B", ["A", "B"]),
        ("1. Rett syn", ["Rett syn"]),
    ],
)
def test_odd_shapes(text, expected):
    assert names(text) == expected
    assert [name.rank for name in parse(text)] == list(range(1, len(expected) + 1))


@pytest.mark.parametrize(
    ("text", "name", "disease_id"),
    [
        ("1. Marfan syndrome (OMIM:154700)", "Marfan syndrome", "OMIM:154700"),
        ("1. Marfan syndrome [MIM 154700]", "Marfan syndrome", "OMIM:154700"),
        ("1. Marfan syndrome (OMIM #154700)", "Marfan syndrome", "OMIM:154700"),
        ("1. Marfan syndrome (ORPHA:558)", "Marfan syndrome", "ORPHA:558"),
        ("1. Marfan syndrome (MONDO:7947)", "Marfan syndrome", "MONDO:0007947"),
        ("1. OMIM:154700", None, "OMIM:154700"),
        ("1. orphanet:558", None, "ORPHA:558"),
        ("1. Deficiency (type 2)", "Deficiency (type 2)", None),
        ("1. Marfan syndrome (HP:0001250)", "Marfan syndrome (HP:0001250)", None),
    ],
)
def test_ids_in_the_answer(text, name, disease_id):
    assert parse(text) == [Name(1, name, disease_id)]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>\n1. No\n</think>\n1. Yes", "\n1. Yes"),
        ("1. No\n</think>\n1. Yes", "\n1. Yes"),
        ("1. Yes\n<think>\n1. No, cut o", "1. Yes\n"),
        ("<THINK>a</THINK>b<think>c</think>d", "bd"),
        ("<unused94>thought\n1. No<unused95>1. Yes", "1. Yes"),
        ("<|channel|>analysis 1. No <|channel|>final\n1. Yes", "\n1. Yes"),
        ("<|channel|>analysis<|message|>1. No<|channel|>final<|message|>1. Yes", "1. Yes"),
        ("## Thinking\n1. No\n## Final Response\n1. Yes", "\n1. Yes"),
        ("[THINK]1. No[/THINK]\n1. Yes", "\n1. Yes"),
    ],
)
def test_reasoning_is_removed_and_flagged(text, rest):
    assert without_reasoning(text) == (rest, True)
    assert "No" not in str(names(text))


@pytest.mark.parametrize("text", ["1. Thinking disorder", "I think:\n1. A", "a < b > c"])
def test_words_about_thinking_are_no_marker(text):
    assert without_reasoning(text) == (text, False)


pieces = st.sampled_from(
    ["1. ", "2) ", "\n", "**", "<think>", "</think>", "(OMIM:1", ")", "A", "é", "## Thinking\n",
     "<|channel|>final", "`", "_", "\t", "\r", "\x00", "9" * 5, "[/THINK]", "MONDO: 5"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(pieces, max_size=60).map("".join)))
def test_never_an_error_and_never_more_than_ten(text):
    found = parse(text)
    assert len(found) <= MAX_NAMES
    assert [name.rank for name in found] == list(range(1, len(found) + 1))
    assert all((name.name or "").strip() or name.disease_id for name in found)
    assert parse(text) == found


@given(st.lists(st.from_regex(r"[A-Za-z][a-z]{2,12} [a-z]{3,9}", fullmatch=True), max_size=15))
def test_every_plain_list_comes_back(diseases):
    text = "\n".join(f"{i}. {name}" for i, name in enumerate(diseases, start=1))
    assert names(text) == diseases[:MAX_NAMES]
