"""The report in a real browser, on a screen and on a phone, by day and by night."""

import pytest

from rarefuse.report import figures
from rarefuse.report.environment import environment
from rarefuse.report.fusion_figures import gains_and_weights
from rarefuse.report.html import render_report
from screens import unreadable


@pytest.fixture(scope="module")
def path(all_tables, skipped, problems, audit, provenance, tmp_path_factory):
    page = tmp_path_factory.mktemp("page") / "report.html"
    page.write_text(
        render_report("tiny", all_tables, skipped, problems, audit, provenance), encoding="utf-8"
    )
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_everything_can_be_read(browser, path, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(path.as_uri())
    assert page.locator("figure svg").count() >= 3
    assert unreadable(page) == []
    page.close()


def test_no_column_of_the_sources_is_cut_off_on_a_screen(browser, path):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    box = page.locator(".scroll", has_text="Files that the run read")
    assert box.evaluate("node => node.scrollWidth - node.clientWidth") == 0
    page.close()


@pytest.mark.parametrize("n", [40, 4000])
def test_every_figure_keeps_its_text_inside(browser, all_tables, build, n):
    shares = [i / (n - 1) for i in range(n)]
    weights = [
        build.row("coverage", "gate", "lopo", variant, "all", metric, 0.06, 0.02, 40)
        for variant in ("a-language-model-70b", "macro")
        for metric in ("oracle_gain", "gate_gain")
    ]
    weights += [
        build.row("coverage", "gate", "lopo", "a-language-model-70b", kind, f"weight_q{q}", q / 100)
        for kind in ("only ontology right", "only llm right")
        for q in (10, 25, 50, 75, 90)
    ]
    drawn = [
        figures.exclusive_shares(shares, [share > 0 for share in shares]),
        figures.monte_carlo(all_tables["monte_carlo"]),
        figures.query_cap(all_tables["query_cap"]),
        gains_and_weights(build.frame(weights)),
    ]
    page = browser.new_page(viewport={"width": 390, "height": 900})
    style = environment().get_template("page.css").render()
    page.set_content(f"<style>{style}</style><main>{''.join(drawn)}</main>")
    assert page.locator("svg").count() == len(drawn)
    assert unreadable(page) == []
    page.close()
