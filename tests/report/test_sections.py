"""Sections of the provenance controls, from hand-made tables."""

import pytest

from rarefuse.report.sections import SECTIONS, optional_sections


def section(build, name, rows):
    (made,) = optional_sections({name: build.frame(rows)}, "95 %")
    return made


def grouped(build, table):
    rows = []
    for subset, before, after in (
        ("all: a", 0.5, 0.25),
        ("test: a", 0.4, 0.1),
        ("test: b", 0.3, 0),
    ):
        rows += build.both(table, "lirical", "native", subset, "recall@1", before, after, 0.05, 40)
    return rows


@pytest.mark.parametrize("table", ["single_case", "retained_profile"])
def test_groups_of_cases_stand_by_split(build, table):
    made = section(build, table, grouped(build, table))
    assert [part.title for part in made.parts] == ["All eligible cases", "Test split"]
    test = made.parts[1].table
    assert [title for title, _ in test.groups] == ["A", "B"]
    assert test.groups[0][1][0][:6] == (
        "LIRICAL", "0.4000", "[0.3500, 0.4500]", "0.1000", "[0.0500, 0.1500]", "−30.00",
    )  # fmt: skip


def test_dose_has_a_figure_with_a_mark_a_group(build):
    rows = grouped(build, "dose")
    for subset, share in (("all: a", 0.1), ("test: a", 0.2), ("test: b", 0.9)):
        rows.append(
            build.row("dose", "hpoa", "-", "-", subset, "exclusive_share_mean", share, n=40)
        )
    made = section(build, "dose", rows)
    assert made.figure.startswith("<svg")
    assert made.tables[0].groups == (("", (("a", "0.100", "40"),)),)
    assert made.parts[0].table.groups[0][1][0][0] == "LIRICAL"  # and no row of `hpoa`


def test_a_group_of_the_dose_says_that_it_is_a_share(build):
    rows = []
    for group in ("0", "(0, 0.25]", "1"):
        subset = f"all: {group}"
        rows += build.both("dose", "lirical", "native", subset, "recall@1", 0.4, 0.1, 0.05, 40)
        rows.append(build.row("dose", "hpoa", "-", "-", subset, "exclusive_share_mean", 0.1, n=40))
    groups = section(build, "dose", rows).parts[0].table.groups
    assert [title for title, _ in groups] == ["Share 0", "Share in (0, 0.25]", "Share 1"]


def test_matched_deletion_has_results_and_balance(build):
    def row(protocol, value):
        return build.row(
            "matched_deletion", "phenomizer", protocol, "native", "all", "recall@1", value, 0.01, 9
        )

    rows = [row("ordinary", 0.4238), row("lopo", 0.1943), row("matched_deletion", 0.4305)]
    rows += [row("lopo - ordinary", -0.2295), row("matched_deletion - ordinary", 0.0067)]
    for metric, value in (
        ("matched_pairs", 793),
        ("within_one_ic_share", 0.739),
        ("smd_ic", -0.009),
    ):
        rows.append(build.row("matched_deletion", "hpoa", "-", "-", "all", metric, value, n=793))
    made = section(build, "matched_deletion", rows)
    (group,) = made.tables[0].groups
    assert group[0] == "Phenomizer (sampled null), all eligible cases"
    assert [r[1] for r in group[1]] == ["0.4238", "0.1943", "0.4305", "−22.95", "+0.67"]
    shown = dict(made.tables[1].groups[0][1])
    assert shown["Pairs of annotations"] == "793"
    assert shown["Information content within one nat"] == "73.9\u00a0%"
    assert shown["Standardised mean difference, information content"] == "−0.009"
    assert shown["Depth within one level"] == "–"


def test_corpora_and_untouched_cases(build):
    rows = [
        build.row("cross_corpus", "lirical", "-", "as given", "all", "cases", 385, n=385),
        build.row(
            "cross_corpus", "lirical", "-", "as given", "all", "overlap_share", 0.519, 0.07, 385
        ),
    ]
    ((title, lines),) = section(build, "cross_corpus", rows).tables[0].groups
    assert title == "lirical, as given"
    assert lines == (
        ("Cases", "385", "–", "385"), ("Overlap", "51.9\u00a0%", "[44.9, 58.9]", "385"),
    )  # fmt: skip
    rows = [
        build.row("unchanged", "bma", "-", "native", "nothing removed", metric, value, n=739)
        for metric, value in (("cases", 739), ("identical_share", 1.0))
    ]
    assert section(build, "unchanged", rows).tables[0].groups[0][1] == (
        ("Best-match average", "739", "100.00\u00a0%"),
    )


def test_an_empty_table_has_no_section(build):
    assert optional_sections({name: build.frame([]) for name in SECTIONS}, "95 %") == []


def test_language_models_with_note_and_failures(build):
    def row(system, note, metric, value):
        return build.row("llm", system, "-", note, "all", metric, value, n=70)

    rows = [
        row("a", "path check", "ok", 56.0),
        row("a", "path check", "truncated", 8.0),
        row("a", "path check", "not asked", 468.0),
        row("a", "path check", "names", 9.16),
        row("b", "-", "failed", 2.0),
        row("b", "-", "failed: no connection", 2.0),
    ]
    answers, failures = section(build, "llm", rows).tables
    assert answers.columns == (
        "Model", "Ok", "Empty", "Truncated", "Refused", "Failed", "Not asked", "Reasoning",
        "No name", "Names", "Note",
    )  # fmt: skip
    assert answers.groups[0][1] == (
        ("a", "56", "–", "8", "–", "–", "468", "–", "–", "9.16", "Path check"),
        ("b", "–", "–", "–", "–", "2", "–", "–", "–", "–", "–"),
    )
    assert failures.groups[0][1] == (("b", "no connection", "2"),)
    assert len(section(build, "llm", rows[:4]).tables) == 1


def test_stock_programs_stand_beside_their_ports(build):
    def row(variant, metric, value, half=None):
        return build.row(
            "stock_comparison", "lirical-stock", "lopo", variant, "all", metric, value, half, 20
        )

    rows = [
        row("minus lirical", "recall@1", -0.02, 0.01),
        row("against lirical", "same_first_share", 0.9, 0.05),
        row("-", "unanswered_cases", 3),
    ]
    groups = dict(section(build, "stock_comparison", rows).tables[0].groups)
    (after,) = [lines for title, lines in groups.items() if "After" in title]
    assert after[0][1:3] == ("−2.00", "[−3.00, −1.00]")
    assert ("Same first disease", "90.0\u00a0%", "[0.8500, 0.9500]", "20") in after
    assert after[-1] == ("Cases without a usable answer, counted as misses", "3", "–", "20")
