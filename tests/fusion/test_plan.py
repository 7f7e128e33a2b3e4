"""What the workflow asks about fusion: inputs, hold-outs, and slices of the configuration."""

import pytest

from builders import ROOT, project_config
from rarefuse.errors import InputError
from rarefuse.workflow import configured_run

SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
FAMILIES = {"a1": "A", "a2": "A", "b": "B", "new": "N"}


@pytest.fixture
def plan(monkeypatch, tmp_path):
    """Make the plan of a run with four arms; keyword arguments change the section ``fusion``."""
    monkeypatch.chdir(tmp_path)

    def make(arms=("a1", "a2", "b"), developers=(), **fusion):
        config = project_config()
        config["llms"] = {
            arm: {"family": family, "backend": "openai", "model": arm, "base_url": "http://x/v1"}
            for arm, family in FAMILIES.items()
        }
        for arm in developers:
            config["llms"][arm]["developer"] = "Dev"
        config["evaluation"]["llms"] = list(arms)
        config["fusion"].update(fusion)
        return configured_run(config, SCHEMA).fusion

    return make


def fits_of(plan):
    """Inputs and options of every fit of the suite `gate`."""
    return {
        h.name: (
            plan.fit_inputs("c", "phenomizer", "lopo", h.name), plan.fit_options(h.name, "gate")
        )
        for h in plan.hold_outs().values()
    }  # fmt: skip


def test_a_fit_reads_no_arm_of_the_family_that_it_holds_out(plan):
    inputs, options = fits_of(plan())["without-A"]
    assert options["arms"] == ["b"]
    assert inputs == [
        "results/c/rankings/phenomizer/lopo.parquet",
        "results/c/llm/b/ranking.parquet",
        "results/c/features/phenomizer/lopo/b.parquet",
    ]


def test_a_fresh_test_only_arm_changes_no_fit(plan):
    before = fits_of(plan())
    after = plan(arms=("a1", "a2", "b", "new"), test_only=["new"])
    known = fits_of(after)
    assert {name: known[name] for name in before} == before
    tensors, description = after.checkpoint("c", "phenomizer", "lopo", "gate", "new")
    assert tensors == "results/c/gates/phenomizer/lopo/all/gate.safetensors"
    assert description == "results/c/gates/phenomizer/lopo/all/gate.json"
    assert after.macro == ["a1", "a2", "b"]


def test_the_whole_order_is_fused_by_the_gate_of_the_stored_list(plan):
    made = plan()
    assert made.checkpoint("c", "phenomizer.full", "lopo", "gate", "b")[0].startswith(
        "results/c/gates/phenomizer/lopo/without-B/"
    )
    assert "results/c/full_places/phenomizer/lopo.parquet" in made.arm_inputs(
        "c", "phenomizer.full", "lopo", ["b"]
    )
    assert made.arm_inputs("c", "phenomizer.top10", "lopo", ["b"])[-1] == (
        "results/c/features/phenomizer.top10/lopo/b.parquet"
    )


def test_tables_name_what_they_read(plan):
    made = plan()
    assert made.table_inputs("c", "paired_seeds") == [
        f"results/c/fused_ranks/phenomizer/lopo/paired/{arm}.parquet" for arm in ("a1", "a2", "b")
    ]
    transfer = made.table_inputs("c", "transfer")
    assert "results/c/fused_ranks/nb-lr-excluded/lopo/gate/b.parquet" in transfer
    assert "results/c/fused_ranks/phenomizer/ordinary/rules/b.parquet" in transfer
    assert plan(arms=()).tables == []


def test_one_family_is_said_to_be_trained_on_itself(plan):
    assert plan(arms=("a1", "a2")).table_options("fusion")["in_family"] == ["a1", "a2"]
    assert plan().table_options("fusion")["in_family"] == []


def test_a_developers_models_are_held_out_together(plan):
    made = plan(arms=("a1", "a2", "b", "new"), developers=("a1", "b"))
    assert made.hold_outs()["b"].arms == ("a1", "a2", "new")
    strict = made.developer_hold_outs()
    # a2 names no developer and counts by its family, which alone is held out with it.
    assert {arm: held.arms for arm, held in strict.items()} == {
        "a1": ("a2", "new"),
        "a2": ("a1", "b", "new"),
        "b": ("a2", "new"),
        "new": ("a1", "a2", "b"),
    }
    # Where nobody else leaves, the fits are those of the family.
    assert strict["new"] == made.hold_outs()["new"]
    assert made.checkpoint("c", "phenomizer", "lopo", "gate-by-developer", "b")[0] == (
        "results/c/gates/phenomizer/lopo/without-all-of-Dev/gate.safetensors"
    )
    assert made.fit_options("without-all-of-Dev", "gate")["arms"] == ["a2", "new"]


def test_a_developer_of_all_models_cannot_be_held_out(plan):
    made = plan(arms=("a1", "b"), developers=("a1", "b"))
    assert made.needs("fusion")
    with pytest.raises(InputError, match="no language model is left"):
        made.needs("developers")


def test_many_seeds_are_for_the_paired_table_alone(plan):
    made = plan(paired_seeds=4)
    assert made.fit_options("without-B", "paired")["seeds"] == [1, 2, 3, 4]
    assert made.fit_options("without-B", "gate")["seeds"] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "changes", [{"test_only": ["c"]}, {"macro": ["new"]}, {"transfer": ["tfidf"]}]
)
def test_names_that_there_are_not_are_refused(plan, changes):
    with pytest.raises(InputError, match="the config names"):
        plan(**changes)
