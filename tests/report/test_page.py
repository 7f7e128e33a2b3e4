"""The report in a real browser, on a screen and on a phone, by day and by night."""

import pytest

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
