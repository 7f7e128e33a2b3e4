"""Sections about fusion, from hand-made tables."""

import re

import pytest

from rarefuse.report.sections import optional_sections


def rows_of(build, table, systems, metrics=("recall@1", "recall@10", "mrr"), variants=("macro",)):
    return [
        build.row(table, system, "lopo", variant, "all", metric, value, 0.05, 40)
        for variant in variants
        for metric in metrics
        for system, value in systems.items()
    ]


def section(build, name, rows):
    (made,) = optional_sections({name: build.frame(rows)}, "95 %")
    return made


def test_fusion_has_systems_differences_and_curves(build):
    systems = {"ontology": 0.12, "llm": 0.1, "combmnz": 0.15, "gate": 0.2, "gate - combmnz": 0.05}
    rows = rows_of(build, "fusion", systems, ("recall@1", "recall@10", "mrr"), ("macro", "one"))
    rows.append(build.row("fusion", "gate", "lopo", "one", "all", "family_held_out", 0.0, n=40))
    made = section(build, "fusion", rows)
    assert "For one the model's own family" in made.text
    assert made.figure.startswith("<svg")
    assert {"Recall@k, share of cases", "k, places looked at (log scale)"} <= set(
        re.findall(r">([^<>]+)</text>", made.figure)
    )
    results, differences = made.tables
    assert [title for title, _ in results.groups] == ["Mean over models", "one"]
    assert results.groups[0][1][-1][:3] == ("Gate", "0.2000", "[0.1500, 0.2500]")
    assert differences.groups[0][1] == (("Gate − CombMNZ", "+5.00", "[0.00, +10.00]", "–", "40"),)


def test_rank_fusion_stands_under_three_tie_policies(build):
    rows = [
        build.row("rank_fusion", "rrf", "lopo", f"macro, {policy}", "all", "recall@1", v, 0.01, 40)
        for policy, v in (("native", 0.3), ("averaged", 0.2), ("worst", 0.1))
    ]
    (part,) = section(build, "rank_fusion", rows).parts
    assert part.table.groups[0][1][0][1::2] == ("0.3000", "0.2000", "0.1000")


def test_coverage_has_shares_gains_and_weights(build):
    rows = [
        build.row("coverage", "gate", "lopo", variant, "all", metric, value, 0.02, 40)
        for variant in ("one", "macro")
        for metric, value in (("gold_in_union", 0.55), ("oracle_gain", 0.1), ("gate_gain", 0.06))
    ]
    rows += [
        build.row("coverage", "gate", "lopo", "one", "both right", f"weight_q{q}", q / 100, n=9)
        for q in (10, 25, 50, 75, 90)
    ]
    made = section(build, "coverage", rows)
    assert made.figure.startswith("<svg")
    drawn = re.findall(r">([^<>]+)</text>", made.figure)
    assert {"one", "Mean over models", "Both right", "Gain in Recall@1, share of cases"} <= set(
        drawn
    )
    assert not {"macro", "both right"} & set(drawn)
    shown = {line[0]: line[1] for line in made.tables[0].groups[0][1]}
    assert shown["Diagnosis among the candidates of either list"] == "55.0\u00a0%"
    assert shown["Gate above the stronger component"] == "+6.00"


@pytest.mark.parametrize("table", ["controls", "ablation", "developers", "depth"])
def test_learned_systems_stand_beside_the_gate(build, table):
    systems = {"gate": 0.2, "mlp-router": 0.19, "gate - mlp-router": 0.01}
    made = section(build, table, rows_of(build, table, systems))
    assert [line[0] for line in made.tables[0].groups[0][1]] == ["Gate", "MLP router"]
    assert made.tables[1].groups[0][1][0][1] == "+1.00"


def test_paired_seeds_count_the_seeds_above(build):
    rows = [
        build.row("paired_seeds", system, "lopo", "macro", "all", "recall@1", value, 0.001, 30)
        for system, value in (("gate", 0.2), ("mlp-router", 0.19), ("gate - mlp-router", 0.01))
    ]
    rows.append(
        build.row(
            "paired_seeds", "gate - mlp-router", "lopo", "macro", "all", "seeds_above", 29, n=30
        )
    )
    lines = section(build, "paired_seeds", rows).tables[0].groups[0][1]
    assert lines[-1][-1] == "29 of 30"


def test_transfer_is_parted_by_protocol_and_names_components(build):
    rows = rows_of(
        build, "transfer", {"nb-lr-excluded: gate": 0.21, "nb-lr-excluded: gate - ontology": 0.075}
    )
    results, differences = section(build, "transfer", rows).parts
    assert results.table.groups[0][1][0][0] == "Naive Bayes, excluded terms too: Gate"
    assert differences.table.groups[0][1][0][1] == "+7.50"
