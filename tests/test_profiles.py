"""What a cluster needs to be told of every rule, and what the profiles have in common."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
CLUSTER = ("slurm", "cluster-generic")


def profile(name):
    return yaml.safe_load((ROOT / "workflow/profiles" / name / "config.yaml").read_text("utf-8"))


def test_every_rule_asks_for_memory_and_time_that_grow_or_stays_at_home():
    rules = {}
    for path in sorted((ROOT / "rules").glob("*.smk")):
        for text in re.split(r"(?m)^rule ", path.read_text("utf-8"))[1:]:
            rules[text.split(":")[0]] = text
    assert len(rules) > 25
    at_home = {name for name, text in rules.items() if "localrule: True" in text}
    assert at_home == {"fetch", "run_config"}
    for name in rules.keys() - at_home:
        for resource in ("mem_mb", "runtime"):
            assert re.search(rf"\n        {resource}=grows\(", rules[name]), (name, resource)
    assert "gpu=" in rules["ask"]


@pytest.mark.parametrize("name", CLUSTER)
def test_cluster_profiles_keep_what_the_default_one_sets(name):
    """The default profile is not read beside another one."""
    assert profile("default").items() <= profile(name).items()


@pytest.mark.parametrize("name", CLUSTER)
def test_cluster_profiles_submit_what_failed_again(name):
    assert profile(name)["retries"] >= 1
    assert {"mem_mb", "runtime"} <= profile(name)["default-resources"].keys()


def test_partitions_hold_the_largest_requests_of_a_third_try():
    partitions = yaml.safe_load((ROOT / "workflow/profiles/slurm/partitions.yaml").read_text())
    text = "".join(path.read_text("utf-8") for path in (ROOT / "rules").glob("*.smk"))
    tries = 2 ** profile("slurm")["retries"]
    for resource, limit in (("mem_mb", "max_mem_mb"), ("runtime", "max_runtime")):
        largest = max(map(int, re.findall(rf"{resource}=grows\((\d+)\)", text))) * tries
        assert all(largest <= p[limit] for p in partitions["partitions"].values())
