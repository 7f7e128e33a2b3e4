"""The built site: strict, whole, and complete without a network."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from screens import unreadable

pytest.importorskip("mkdocs", reason="the site needs requirements/docs.txt (make docs)")
pytest.importorskip("material", reason="the site needs requirements/docs.txt (make docs)")

ROOT = Path(__file__).resolve().parents[2]
CELL = re.compile(r"<td([^>]*)>(.*?)</td>", re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return folder


def pages(site):
    return {p.relative_to(site).as_posix(): p.read_text() for p in sorted(site.rglob("*.html"))}


def test_every_page_is_rendered_and_the_hook_is_not_published(site):
    written = {
        p.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        for p in (ROOT / "docs").rglob("*.md")
    }
    made = {f"reference/{name}.html" for name in ("config", "commands", "artifacts")}
    assert pages(site).keys() == written | made | {"404.html"}
    assert not list(site.rglob("*.py"))


def test_nothing_is_loaded_from_elsewhere(site):
    for name, page in pages(site).items():
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"([^\"]+)\"", page)
        assert loaded, name
        assert not [url for url in loaded if re.match(r"(https?:)?//", url)], name
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", style.read_text()), style


def test_sections_of_the_readme_are_put_in(site):
    page = pages(site)["quickstart.html"]
    assert "Running it again does nothing" in page
    assert "README.md" not in page


def test_what_looks_like_markup_is_shown(site):
    page = pages(site)["reference/commands.html"]
    assert 'as JSON: {"disease": "final diagnosis"}' in page
    config = pages(site)["reference/config.html"]
    assert "<code>^[^{}\\n]+$</code>" in config


def test_no_mark_of_the_tests_is_shown(site):
    for name, page in pages(site).items():
        assert "run=dry" not in page, name
        assert "```" not in re.sub(r"<code>[^<]*</code>", "", page), name


@pytest.mark.parametrize("scheme", ["default", "slate"])
@pytest.mark.parametrize("width", [1280, 390])
def test_everything_can_be_read(browser, site, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 900})
    for name in ("quickstart", "diagnose", "RESULTS", "reference/config", "how-to/add-a-ranker"):
        page.goto((site / f"{name}.html").as_uri())
        page.evaluate(f"document.body.setAttribute('data-md-color-scheme', '{scheme}')")
        page.wait_for_timeout(400)  # colours change over a quarter of a second
        assert unreadable(page) == [], name
    page.close()


def test_numbers_of_the_measured_tables_stand_on_the_right_and_intervals_on_one_line(site):
    text = pages(site)["RESULTS.html"]
    tables = re.findall(r"<tbody>(.*?)</tbody>", text, re.DOTALL)
    number = re.compile(r"[-+−]?[\d.,]+(?: %)?(?: \[[^]]*\])?")
    columns = 0
    for table in tables:
        rows = [CELL.findall(row) for row in table.split("</tr>")]
        for column in zip(*(row for row in rows if row), strict=True):
            if all(number.fullmatch(cell) for _, cell in column):
                columns += 1
                assert all("text-align: right" in style for style, _ in column), column[0]
    assert columns > 50
    assert not re.findall(r"\[[-+−]?[\d.]+, [-+−]?[\d.]+\]</td>", text)
