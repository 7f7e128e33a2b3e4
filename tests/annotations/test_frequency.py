import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarefuse.annotations.frequency import Count, parse_frequency


@pytest.mark.parametrize(
    "text, count",
    [
        ("", (1, 1)),
        ("  ", (1, 1)),
        # Midpoints of the ranges times 50, halves up.
        ("HP:0040280", (50, 50)),  # 1
        ("HP:0040281", (45, 50)),  # 0.895 · 50 = 44.75
        ("HP:0040282", (27, 50)),  # 0.545 · 50 = 27.25
        ("HP:0040283", (9, 50)),  # 0.17 · 50 = 8.5
        ("HP:0040284", (1, 50)),  # 0.025 · 50 = 1.25
        ("HP:0040285", (0, 50)),  # 0
        ("3/7", (3, 7)),
        (" 3 / 7 ", (3, 7)),
        ("0/5", (0, 5)),
        ("7/7", (7, 7)),
        ("25%", (13, 50)),  # 12.5
        ("12.5%", (6, 50)),  # 6.25
        ("17 %", (9, 50)),  # 8.5
        ("29%", (15, 50)),  # 14.5; 0.29 · 50 is 14.499… in floating point
        ("57%", (29, 50)),  # 28.5, likewise
        ("0%", (0, 50)),
        ("100%", (50, 50)),
    ],
)
def test_what_is_understood(text, count):
    assert parse_frequency(text) == Count(*count)


@pytest.mark.parametrize(
    "text, count, problem",
    [
        ("9/7", (7, 7), "frequency above 1"),
        ("0/0", (0, 50), "frequency with a denominator of 0"),
        ("3/0", (3, 50), "frequency with a denominator of 0"),
        ("70/0", (50, 50), "frequency with a denominator of 0"),
        ("often", (1, 1), "frequency not understood"),
        ("101%", (1, 1), "frequency not understood"),
        ("-5%", (1, 1), "frequency not understood"),
        ("3/7/9", (1, 1), "frequency not understood"),
        ("0.5", (1, 1), "frequency not understood"),
        ("HP:0040279", (1, 1), "frequency not understood"),
    ],
)
def test_what_is_mended_says_so(text, count, problem):
    assert parse_frequency(text) == Count(*count, problem)


@given(st.integers(0, 1000))
def test_a_percentage_with_one_decimal_is_rounded_half_up(tenths):
    # tenths / 1000 of 50 is tenths / 20; half up in whole numbers: (tenths + 10) // 20.
    assert parse_frequency(f"{tenths // 10}.{tenths % 10}%") == Count((tenths + 10) // 20, 50)


@given(st.text(alphabet="0123456789/%. HP:xé", max_size=12))
def test_a_count_is_a_share_whatever_stands_there(text):
    count = parse_frequency(text)
    assert 0 <= count.numerator <= count.denominator
    assert count.denominator >= 1
