"""The histogram of the audit: what falls into which bar."""

import re

from rarefuse.report.figures import exclusive_shares


def counts(svg):
    """Numbers of cases over the bars, from left to right."""
    drawn = svg.partition('id="exclusive-patch_3"')[2]  # the bars, behind both axes
    found = re.findall(r'font-size: 9.5px[^>]* x="([\d.]+)"[^>]*>([\d,]+)<', drawn)
    return [n for _, n in sorted((float(x), n) for x, n in found)]


def test_nothing_and_everything_have_bars_of_their_own():
    # 0; (0, 0.1] twice; (0.2, 0.3] three times, one by rounding; (0.9, 1); 1 four times.
    shares = [0.0, 0.05, 0.1, 0.3, 0.1 + 0.2, 0.25, 0.999, 1.0, 1.0, 1.0, 1.0]
    svg = exclusive_shares(shares, [False] + [True] * 10)
    assert counts(svg) == ["1", "2", "3", "1", "4"]
    assert "Overlap" in svg
    assert svg == exclusive_shares(shares, [False] + [True] * 10)


def test_one_bar_alone_is_drawn():
    assert counts(exclusive_shares([0.0, 0.0], [False, True])) == ["2"]


def test_numbers_wider_than_a_bar_stand_upright():
    few = exclusive_shares([0.0] * 999, [False] * 999)
    many = exclusive_shares([0.0] * 1000, [False] * 1000)
    number = re.compile(r"<text[^>]*rotate\(-90[^>]*>([\d,]+)</text>")
    assert number.findall(few) == []
    assert number.findall(many) == ["1,000"]
