import re
from html.parser import HTMLParser

import polars as pl
import pytest

from rarefuse.errors import InputError
from rarefuse.report.html import render_report

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Tables by caption, and whether every element is closed where it should be."""

    def __init__(self):
        super().__init__()
        self.open, self.tables, self.cell, self.caption = [], {}, None, ""

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.rows = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th", "caption"):
            self.cell = ""

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("td", "th"):
            self.rows[-1].append(self.cell.replace("\u00a0", " "))
            self.cell = None
        elif tag == "caption":
            self.caption, self.cell = self.cell, None
        elif tag == "table":
            self.tables[self.caption] = self.rows


def parse(html):
    page = Page()
    page.feed(html)
    assert page.open == []
    return page


def rows_of(page, start):
    (found,) = [rows for caption, rows in page.tables.items() if caption.startswith(start)]
    return found


@pytest.fixture
def render(tables, skipped, problems, audit, provenance):
    def call(corpus="phenopacket-store", **change):
        given = {
            "tables": tables,
            "skipped": skipped,
            "problems": problems,
            "audit": audit,
            "provenance": provenance,
        } | change
        return render_report(corpus, **given)

    return call


@pytest.fixture(scope="module")
def html(all_tables, skipped, problems, audit, provenance):
    return render_report("phenopacket-store", all_tables, skipped, problems, audit, provenance)


def test_numbers_stand_in_the_right_cells(html):
    page = parse(html)
    main = rows_of(page, "Recall@1 of all")
    assert main[0] == [
        "Ranker",
        "Before LOPO",
        "95 % interval",
        "After LOPO",
        "95 % interval",
        "Change, points",
        "95 % interval",
        "Cases",
    ]
    assert main[1] == [
        "Phenomizer (sampled null)",
        "0.4481",
        "[0.4281, 0.4681]",
        "0.1217",
        "[0.1017, 0.1417]",
        "−32.64",
        "[−34.64, −30.64]",
        "10,345",
    ]
    test = rows_of(page, "Test split: recall")
    assert test[1] == ["Phenomizer (sampled null)"]
    assert [row[0] for row in test[2:10]] == [
        *(f"Recall@{k}" for k in (1, 3, 5, 10, 20, 50, 100)),
        "MRR",
    ]
    assert test[8] == [
        "Recall@100",
        "0.8100",
        "[0.7700, 0.8500]",
        "0.4660",
        "[0.4260, 0.5060]",
        "−34.40",
        "[−38.40, −30.40]",
        "2,227",
    ]
    for subset in ("All eligible cases", "Training split", "Validation split"):
        assert len(rows_of(page, f"{subset}: recall")) == 1 + 3 * 9


def test_cohort_and_what_was_left_out(html):
    page = parse(html)
    cohort = rows_of(page, "Counts")
    assert cohort[0] == ["", "All", "Training", "Validation", "Test"]
    assert cohort[1] == ["Cases read", "10,377", "7,029", "1,102", "2,246"]
    assert cohort[7][1:] == ["2,028", "1,400", "118", "510"]
    assert "8,553 candidate diseases" in html
    left = rows_of(page, "What the reader left out")
    assert left[1:] == [
        ["Whole record left out"],
        ["no observed term in the record", "1", "1"],
        ["Term left out"],
        ["obsolete id without a replacement", "3", "2"],
        ["Term kept under its current id"],
        ["alternative id mapped to the current one", "1", "1"],
    ]
    mended = rows_of(page, "Rows of the annotation file")
    assert mended[1] == ["term mapped (alt_id)", "2", "HP:0000004 → HP:0000005"]


def test_overlap_ties_seeds_cap_and_audit(html):
    page = parse(html)
    assert rows_of(page, "Publication-source overlap")[1] == [
        "Cases with overlap",
        "74.6 %",
        "[71.5, 77.7]",
        "10,348",
    ]
    ties = rows_of(page, "All eligible cases: the same rankings")
    assert ties[2][:3] == ["Recall@1", "Before LOPO", "0.4481"]
    assert ties[2][4] == "0.4381"
    assert ties[2][6] == "0.3981"
    blocks = rows_of(page, "How often the first place")
    assert blocks[1][2:] == ["14.1 %", "1.41", "22", "10,345"]
    seeds = rows_of(page, "Each seed's result")
    assert seeds[0][2:7] == ["Seed 1", "Seed 2", "Seed 3", "Seed 4", "Mean"]
    assert seeds[2] == [
        *("Recall@1", "Before LOPO", "0.4493", "0.4472", "0.4485", "0.4474"),
        *("0.4481", "[0.4281, 0.4681]", "0.0010"),
    ]
    cap = rows_of(page, "Phenomizer with its null")
    assert cap[2][2] == "0.4481"
    assert cap[2][4] == "0.4611"
    assert cap[2][6] == "+1.30"
    assert rows_of(page, "Checks of")[5] == [
        "Lexical overlap of findings and diagnosis",
        "Passed",
        "34.7 %",
        "3,600 of 10,377 cases",
    ]


def test_optional_parts_are_left_out_when_not_given(render, tables, skipped, problems):
    html = render(
        tables={name: tables[name] for name in ("cohort", "overlap", "recall", "ties")},
        skipped=skipped.clear(),
        problems=problems.clear(),
    )
    parse(html)
    assert "Monte Carlo" not in html
    assert "Query cap" not in html
    assert "Nothing was left out or changed." in html
    assert "No row of the annotation file" in html


def test_without_a_test_split(render, tables):
    only = {name: t.filter(pl.col("subset") == "all") for name, t in tables.items()}
    html = render(tables=only)
    parse(html)
    assert "Test split" not in html
    assert "test split" not in html


def test_text_from_outside_is_escaped(render, skipped, problems, audit, provenance, tables, build):
    bad = "<b>x</b>&"
    recall = pl.concat(
        [tables["recall"], build.frame(build.recall_rows({bad: ((0.5, 0.6), (0.1, 0.2))}))]
    )
    html = render(
        corpus=bad,
        tables=tables | {"recall": recall},
        skipped=skipped.with_columns(reason=pl.lit(bad)),
        problems=problems.with_columns(reason=pl.lit(bad), detail=pl.lit(bad)),
        audit=audit.with_columns(detail=pl.lit(bad)),
        provenance=provenance
        | {"settings": {bad: bad}, "sources": [dict.fromkeys(provenance["sources"][0], bad)]},
    )
    assert "<b>" not in html
    page = parse(html)
    assert rows_of(page, "Checks of")[1][3] == bad
    assert rows_of(page, "Recall@1 of all")[-1][0] == bad


def test_nothing_is_fetched_and_nothing_runs(html):
    assert "http" not in html
    assert "<script" not in html
    assert "@import" not in html
    assert re.findall(r'(?:src|href)="(?!#)', html) == []
    assert re.findall(r"url\((?!#)", html) == []
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'<a href="#([^"]+)"', html)) <= set(ids)


def test_the_same_inputs_give_the_same_text(render, html):
    assert render() == html


def test_a_failed_check_is_announced_at_the_top(render, html, audit):
    assert "The input audit failed" not in html
    failed = audit.with_columns(passed=pl.col("check") != "labels are canonical")
    html = render(audit=failed)
    assert "The input audit failed: Labels are the ontology&#39;s own." in html
    assert html.index("The input audit failed") < html.index('class="lead"')
    assert rows_of(parse(html), "Checks of")[3][1] == "FAILED"


def test_research_use_only_and_definitions(html):
    assert "Research use only." in html
    for term in ("Leave one publication out", "Recall@k", "random order", "2,000 resamples"):
        assert term in html


def test_missing_tables_and_provenance_are_named(render, tables, provenance):
    with pytest.raises(InputError, match="also overlap, ties"):
        render(tables={name: tables[name] for name in ("cohort", "recall")})
    with pytest.raises(InputError, match="also seed"):
        render(provenance={k: v for k, v in provenance.items() if k != "seed"})
    with pytest.raises(InputError, match="also sha256 of source 1"):
        render(provenance=provenance | {"sources": [{"id": "a", "title": "A", "release": "1"}]})


def test_settings_name_rankers_as_readers_know_them(render, provenance):
    settings = {"ranker bma": '{"method": "bma"}', "ranker mine": "{}", "places kept": 100}
    html = render(provenance=provenance | {"settings": settings})
    assert "<dt>Ranker bma: Best-match average</dt>" in html
    assert "<dd><code>{&#34;method&#34;: &#34;bma&#34;}</code></dd>" in html
    assert "<dt>Ranker mine</dt>" in html
    assert "<dt>Places kept</dt>\n<dd>100</dd>" in html


def test_details_of_the_audit_are_words(render, audit):
    named = pl.lit("by kind: disease_name 13")
    assert "by kind: disease name 13" in render(audit=audit.with_columns(detail=named))


def test_the_level_of_the_intervals_is_the_given_one(render, html, provenance):
    other = render(provenance=provenance | {"level": 0.9})
    assert "95\u00a0%" not in other
    assert other.replace("90\u00a0% ", "95\u00a0% ") == html


def test_an_empty_overlap_table_is_said_in_words(render, all_tables):
    page = render(tables={**all_tables, "overlap": all_tables["overlap"].clear()})
    assert "No case names its publication, so overlap cannot be told." in page
    assert "Publication-source overlap of the cases" not in page
