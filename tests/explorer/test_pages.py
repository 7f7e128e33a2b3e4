"""The pages in a real browser: headless Chromium, opened from their folder as a reader does."""

import shutil

import pytest

from screens import unreadable

from .conftest import HOSTILE


@pytest.fixture
def page(browser, pages):
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.wrong = []
    opened.on("pageerror", lambda error: opened.wrong.append(str(error)))
    opened.on("console", lambda message: opened.wrong.append(message.text))
    opened.goto((pages / "index.html").as_uri())
    yield opened
    assert opened.wrong == []
    opened.close()


def names(page):
    return page.locator("#rows a").all_inner_texts()


def outcomes(page):
    return page.locator("#rows tr td:last-child").all_inner_texts()


def test_outcomes_are_counted_and_filtered(page):
    assert "15 of 15 cases" in page.locator("#count").inner_text()
    counted = page.locator("#outcomes").inner_text()
    lost = outcomes(page).count("lost")
    assert lost > 0
    assert f"lost ({lost})" in " ".join(counted.split())
    page.get_by_label("lost").check()
    assert set(outcomes(page)) == {"lost"}
    assert len(names(page)) == lost


def test_search_takes_findings_publications_and_diagnoses(page):
    for text, found in (("nystagmus amber", 1), ("pmid:12", 1), ("OMIM:100001", 2), ("zzz", 0)):
        page.locator("#search").fill(text)
        assert len(names(page)) == found, text


def test_a_comparison_changes_the_columns(page):
    page.locator("#comparison").select_option(label="alpha and Gate, with alpha")
    assert "alpha" in page.locator("#left").inner_text()
    page.get_by_label("gained").check()
    # The gate alone has the diagnosis first, in the one case that has these lists.
    assert names(page) == ["Amber ataxia syndrome 1"]


def test_keys_alone_lead_to_a_case_and_back(page):
    page.keyboard.press("/")
    page.keyboard.type("pmid:11")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.locator("#case h2").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "H2"
    assert "Amber ataxia syndrome 1" in page.locator("#case h2").inner_text()
    page.keyboard.press("Escape")
    page.locator("#list").wait_for()
    assert page.locator("#search").input_value() == "pmid:11"
    assert page.evaluate("document.activeElement.matches('#rows a')")


def test_a_case_shows_lists_findings_and_marks(page):
    page.locator("#search").fill("PMID_11_A")
    page.locator("#rows a").click()
    case = page.locator("#case")
    case.locator("h2").wait_for()
    assert case.locator("section:visible h3").all_inner_texts() == [
        "Resnik similarity, Before LOPO",
        "Resnik similarity, After LOPO",
    ]
    case.get_by_text("Other lists (3)").click()
    text = case.inner_text()
    assert "LOPO takes 2 of the diagnosis's 3 annotations away" in text
    assert "Ataxia HP:0001251" in text
    assert "2 of 2 findings" in text
    assert "no ontology evidence" in text
    assert case.locator(".right").count() >= 2
    case.locator("section", has_text="Evidence reranker").locator("summary").click()
    assert "observed findings +1.25" in case.inner_text()


def test_markup_in_names_is_shown_and_never_run(page, pages):
    assert "<b>corpus</b>" in page.locator("h1").inner_text()
    page.locator("#search").fill("PMID_11_A")
    page.locator("#rows a").click()
    page.locator("#case h2").wait_for()
    page.get_by_text("Other lists (3)").click()
    assert HOSTILE in page.locator("#case").inner_text()
    assert page.locator("#case img").count() == 0
    assert page.title() != "run"


def test_a_view_can_be_linked(browser, pages):
    page = browser.new_page()
    page.goto((pages / "index.html").as_uri() + "#q=pmid%3A11&outcome=lost")
    assert page.locator("#search").input_value() == "pmid:11"
    assert page.get_by_label("lost").is_checked()
    assert len(names(page)) == outcomes(page).count("lost")
    page.goto((pages / "index.html").as_uri() + "#case=999")
    assert page.locator("#list").is_visible()
    page.close()


def test_a_missing_shard_is_said(browser, pages, tmp_path):
    copy = tmp_path / "explorer"
    shutil.copytree(pages, copy)
    (copy / "data/0.js").unlink()
    page = browser.new_page()
    page.goto((copy / "index.html").as_uri() + "#case=0")
    page.locator("#case .alarm").wait_for()
    assert "data/0.js is missing" in page.locator("#case").inner_text()
    page.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_everything_can_be_read(browser, pages, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto((pages / "index.html").as_uri())
    page.locator("#rows tr").first.wait_for()
    assert unreadable(page) == []
    # Nor does it run out of its box: nobody has to scroll the list sideways to see an outcome.
    right = "document.querySelector('#list table').getBoundingClientRect().right"
    assert page.evaluate(right) <= width
    page.goto((pages / "index.html").as_uri() + "#case=0")
    page.locator("#case h2").wait_for()
    page.evaluate("document.querySelectorAll('details').forEach((node) => (node.open = true))")
    assert unreadable(page) == []
    page.close()


def test_a_case_says_what_lopo_takes_of_its_diagnosis(browser, pages, handed):
    """Also where it takes nothing, which is no zero of something."""
    cases = handed(pages / "data/index.js")["cases"]
    said = {
        "takes none": lambda c: c["annotations"] and c["publication"] and not c["removed"],
        "has no annotations": lambda c: not c["annotations"],
        f"takes {cases[0]['removed']} of": lambda c: c is cases[0],
    }
    assert cases[0]["removed"] > 0
    page = browser.new_page()
    for words, fits in said.items():
        number = next(i for i, case in enumerate(cases) if fits(case))
        page.goto((pages / "index.html").as_uri() + f"#case={number}")
        page.reload()
        page.locator("#case h2").wait_for()
        assert words in page.locator("#case").inner_text()
    page.close()
