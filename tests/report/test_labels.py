import pytest

from rarefuse.report.labels import (
    Cell,
    arm_label,
    count,
    interval,
    metrics,
    number,
    percent,
    points,
    subsets,
    system_label,
)


@pytest.mark.parametrize(
    "text, expected",
    [
        (number(0.12345), "0.1235"),
        (number(-0.00001), "0.0000"),
        (number(None), "–"),
        (number(float("nan")), "–"),
        (count(10345.0), "10,345"),
        (percent(0.3264), "32.6\u00a0%"),
        (points(-0.3264), "−32.64"),
        (points(0.012), "+1.20"),
        (points(-0.00001), "0.00"),
        (interval(Cell(0.4, 0.38, 0.42, 5, None)), "[0.3800, 0.4200]"),
        (interval(Cell(-0.1, -0.2, 0.05, 5, None), change=True), "[−20.00, +5.00]"),
        (interval(Cell(0.4, None, None, 5, None)), "–"),
        (interval(None), "–"),
    ],
)
def test_numbers_have_fixed_digits_and_one_minus_sign(text, expected):
    assert text == expected


def test_metrics_and_subsets_stand_in_reading_order(build):
    rows = [
        build.row("recall", "bma", "lopo", "native", subset, metric, 0.5)
        for subset in ("test", "odd ones", "all")
        for metric in ("mrr", "recall@100", "recall@5", "recall@10")
    ]
    table = build.frame(rows)
    assert metrics(table) == ["recall@5", "recall@10", "recall@100", "mrr"]
    assert subsets(table) == ["all", "test", "odd ones"]


@pytest.mark.parametrize(
    "system, label",
    [
        ("phenomizer", "Phenomizer (sampled null)"),
        ("phenomizer.top10", "Phenomizer (sampled null), first 10"),
        ("phenomizer.full", "Phenomizer (sampled null), whole order"),
        ("mine.top50", "mine, first 50"),
        ("mine", "mine"),
    ],
)
def test_a_ranker_has_its_name_and_how_much_of_its_list(system, label):
    assert system_label(system) == label


def test_the_mean_over_language_models_is_named():
    assert [arm_label(v) for v in ("macro", "gpt-4o")] == ["Mean over models", "gpt-4o"]
