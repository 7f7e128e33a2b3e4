import re
import xml.etree.ElementTree as ElementTree

import matplotlib
import pytest

from rarefuse.report import figures


def draw_all(tables):
    return {
        "curves": figures.recall_curves(tables["recall"]),
        "before-after": figures.before_after(tables["recall"]),
        "ties": figures.tie_policies(tables["ties"]),
        "seeds": figures.monte_carlo(tables["monte_carlo"]),
        "cap": figures.query_cap(tables["query_cap"]),
    }


def texts(svg):
    return re.findall(r">([^<>]+)</text>", svg)


def test_figures_are_one_element_with_ids_of_their_own(tables):
    seen = set()
    for name, svg in draw_all(tables).items():
        root = ElementTree.fromstring(svg.replace("xlink:href", "href"))
        assert root.tag == "svg"
        ids = {e.get("id") for e in root.iter() if e.get("id")}
        assert all(i.startswith(f"{name}-") for i in ids)
        assert not ids & seen
        seen |= ids
        used = re.findall(r'(?:href="#|url\(#)([^")]+)', svg)
        assert set(used) <= ids
        assert "http" not in svg
        assert "date" not in svg


def test_values_and_labels_are_text(tables):
    drawn = draw_all(tables)
    assert {"0.4481", "0.1217", "LIRICAL", "Recall@1, share of cases"} <= set(
        texts(drawn["before-after"])
    )
    assert {"Native order", "Averaged over ties", "Worst case"} <= set(texts(drawn["ties"]))
    assert "Phenomizer (sampled null): mean 0.4481, SD 0.0010" in texts(drawn["seeds"])
    assert "10 observed terms or fewer" in texts(drawn["cap"])
    assert {"1", "5", "20", "100"} <= set(texts(drawn["curves"]))


def test_after_lopo_is_dashed_and_before_is_not(tables):
    svg = figures.recall_curves(tables["recall"])
    lines = re.findall(r'style="fill: none;([^"]*stroke: var\(--(before|after)[^"]*)"', svg)
    assert {name for style, name in lines if "stroke-dasharray" in style} == {"after"}
    assert {name for style, name in lines if "stroke-dasharray" not in style} >= {"before"}


def test_the_users_settings_change_nothing(tables):
    first = draw_all(tables)
    with matplotlib.rc_context({"font.size": 30, "axes.grid": False, "svg.fonttype": "path"}):
        assert draw_all(tables) == first


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_any_number_of_rankers(build, n):
    rankers = {f"ranker-{i} with a long name & <b>": ((0.4, 0.9), (0.0, 0.0)) for i in range(n)}
    table = build.frame(build.recall_rows(rankers))
    for svg in (figures.recall_curves(table), figures.before_after(table)):
        ElementTree.fromstring(svg.replace("xlink:href", "href"))
        assert "<b>" not in svg


def test_no_hits_and_no_intervals_can_be_drawn(build):
    rows = build.both("recall", "bma", "native", "all", "recall@1", 0.0, 0.0, None, 9)
    table = build.frame(rows)
    assert "0.0000" in texts(figures.before_after(table))
    assert "Best-match average" in texts(figures.recall_curves(table))


def test_seeds_that_agree_can_be_drawn(build):
    rows = [
        build.row("monte_carlo", "phenomizer", "lopo", variant, "all", "recall@1", 0.3, sd=0.0)
        for variant in ("seed 1", "seed 2", "mean of seeds")
    ]
    assert "Phenomizer (sampled null): mean 0.3000, SD 0.0000" in texts(
        figures.monte_carlo(build.frame(rows))
    )
