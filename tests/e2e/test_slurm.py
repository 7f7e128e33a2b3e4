"""The tiny corpus on a real Slurm, through the profiles that people are given."""

import threading
import time
from contextlib import contextmanager
from datetime import datetime

import pytest
import yaml

from slurm_cluster import Cluster, missing_programs

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
# A test's cluster is quick to answer; a real one is asked more seldom.
IMPATIENT = ("--latency-wait", "20", "--seconds-between-status-checks", "2")
SLURM = (
    "--workflow-profile", "workflow/profiles/slurm", *IMPATIENT,
    "--slurm-init-seconds-before-status-checks", "10",
    # This one keeps no accounts, so that sacct has nothing to say.
    "--slurm-status-command", "squeue",
)  # fmt: skip
GENERIC = ("--workflow-profile", "workflow/profiles/cluster-generic", *IMPATIENT)
KEY = "sk-planted-9876543210"
TINY_MEMORY = ("--set-resources", "view:mem_mb=50 * 40 ** (attempt - 1)")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    missing = missing_programs()
    if missing:
        pytest.skip(
            f"no {', '.join(missing)} on this machine; "
            "'apt-get install slurm-wlm slurm-client munge' brings them"
        )
    # More processors than there are: most of a short job is waiting.
    with Cluster(tmp_path_factory.mktemp("slurm"), cpus=24) as cluster:
        yield cluster


def with_gpu_arms(project, server):
    """Two language models that want a GPU each, at a server of the test."""
    entry = {
        "family": "f", "backend": "openai", "model": "m", "base_url": server.base_url, "gpus": 1,
        "concurrency": 1,
    }  # fmt: skip
    overlay = project.folder / "workflow/config/tiny.yaml"
    config = yaml.safe_load(overlay.read_text())
    config["llms"] = {"one": entry, "two": {**entry, "model": "n", "api_key_env": "PLANTED_KEY"}}
    config["evaluation"]["llms"] = ["one", "two"]
    config["fusion"] = {"tables": []}
    overlay.write_text(yaml.safe_dump(config))
    project.environment["PLANTED_KEY"] = KEY


@contextmanager
def first_is_killed(cluster, rule):
    """Kill the first job of a rule from now on, as soon as it runs; yields its id in a list."""
    killed: list[str] = []
    over = threading.Event()
    known = {job["JobId"] for job in cluster.jobs()}

    def watch():
        while not killed and not over.wait(0.3):
            for job in of_rule(cluster.jobs(), rule):
                if job["JobId"] not in known and job["JobState"] == "RUNNING":
                    cluster.ask("scancel", "--signal=KILL", "--full", job["JobId"])
                    killed.append(job["JobId"])
                    break

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield killed
    finally:
        over.set()
        watcher.join()


def of_rule(jobs, rule):
    return [job for job in jobs if job["rule"] == rule]


def megabytes(job):
    amount = job["MinMemoryNode"]
    return float(amount[:-1]) * {"M": 1, "G": 1024}[amount[-1]]


def hours(job):
    days, _, clock = job["TimeLimit"].rpartition("-")
    h, m, s = map(int, clock.split(":"))
    return 24 * int(days or 0) + h + m / 60 + s / 3600


def span(job):
    return tuple(datetime.fromisoformat(job[key]) for key in ("StartTime", "EndTime"))


def test_a_run_on_slurm(project, renew, cluster, server):
    """Two jobs fail, one killed, one for want of memory; the run gives what a local one gives."""
    with_gpu_arms(project, server)
    status, printed = project.snakemake()
    assert status == 0, printed
    here = project.artifacts()
    assert len(here) > 30

    asked = []

    def slowly(handler, request, nth):
        asked.append(request["model"])
        time.sleep(0.3)
        handler.complete()

    server.behave = slowly
    fresh = renew()
    with_gpu_arms(fresh, server)
    fresh.environment |= cluster.environment
    with first_is_killed(cluster, "rank_deletions") as killed:
        status, printed = fresh.snakemake(*SLURM, *TINY_MEMORY, cores=None, timeout=2400)
    assert status == 0, printed[-4000:]
    jobs = cluster.jobs()
    assert {job["rule"] for job in jobs} >= {"ontology", "rank", "table", "report", "ask"}
    assert not {job["rule"] for job in jobs} & {"fetch", "run_config", "all"}

    # Killed: asked for again with twice the memory and time.
    first, again = of_rule(jobs, "rank_deletions")
    assert [first["JobId"]] == killed
    assert first["JobState"] != "COMPLETED"
    assert again["JobState"] == "COMPLETED"
    assert megabytes(again) == 2 * megabytes(first) == 12_000
    assert hours(again) == 2 * hours(first) == 8
    # Out of memory: the same.
    first, again = of_rule(jobs, "view")
    assert (megabytes(first), megabytes(again)) == (50, 2000)
    assert (first["JobState"], again["JobState"]) == ("FAILED", "COMPLETED")
    for rule in ("view", "rank_deletions"):
        assert sum(job["JobState"] != "COMPLETED" for job in of_rule(jobs, rule)) == 1
    assert sum(job["JobState"] != "COMPLETED" for job in jobs) == 2

    # One GPU: the two models wait for each other, though both were ready.
    on_gpu = [job for job in jobs if "gpu" in "".join(v for k, v in job.items() if "Tres" in k)]
    assert [job["rule"] for job in on_gpu] == ["ask", "ask"]
    assert {job["Partition"] for job in on_gpu} == {"gpu"}
    assert {job["Partition"] for job in jobs if job not in on_gpu} == {"cpu"}
    (start, end), (later, _) = sorted(map(span, on_gpu))
    assert later >= end > start
    assert max(job["SubmitTime"] for job in on_gpu) < end.isoformat()
    assert sorted(asked) == ["m"] * 15 + ["n"] * 15
    assert asked in (sorted(asked), sorted(asked, reverse=True))

    # The key came to the node, and into no file on the way.
    assert f"Bearer {KEY}" in server.keys
    assert KEY not in printed
    files = [path for path in fresh.folder.rglob("*") if path.is_file()]
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []

    assert fresh.artifacts() == here
    assert fresh.jobs() == {}


def test_another_scheduler_by_its_commands(finished, fresh, cluster):
    """The example profile; a job that is killed is noticed, and resubmitted with more."""
    fresh.environment |= cluster.environment
    before = len(cluster.jobs())
    with first_is_killed(cluster, "splits") as killed:
        status, printed = fresh.snakemake(
            "results/tiny/audit.parquet", *GENERIC, cores=None, timeout=2400
        )
    assert status == 0, printed[-4000:]
    jobs = cluster.jobs()[before:]
    first, again = of_rule(jobs, "splits")
    assert [first["JobId"]] == killed
    assert first["JobState"] != again["JobState"] == "COMPLETED"
    assert megabytes(again) == 2 * megabytes(first) == 4000
    assert hours(again) == 2 * hours(first) == 2
    assert {job["rule"] for job in jobs} == {
        "ontology", "annotations", "cases", "view", "splits", "audit",
    }  # fmt: skip
    made = fresh.artifacts()
    assert made
    assert made == {name: finished[0].artifacts()[name] for name in made}
