"""The whole workflow on the tiny corpus: results, partial reruns, faults, mistakes."""

import fcntl
import os
import shutil
import signal
import subprocess
import time

import polars as pl
import pytest
import yaml

pytestmark = pytest.mark.e2e

# Rules below the rankings that everything ranked ends in.
ALL_TABLES = {"table": 13, "report": 1, "all": 1}


def test_a_run_makes_tables_report_and_summary(finished):
    project, printed = finished
    results = project.folder / "results" / "tiny"
    recall = pl.read_parquet(results / "tables/recall.parquet")
    before, after = (
        recall.filter(
            pl.col("system") == "resnik", pl.col("protocol") == protocol,
            pl.col("subset") == "all", pl.col("metric") == "recall@1",
        ).row(0, named=True)
        for protocol in ("ordinary", "lopo")
    )  # fmt: skip
    # 15 cases; one diagnosis is no candidate, one case has nothing observed.
    assert before["n"] == after["n"] == 13
    assert before["value"] == 1.0
    assert 0.0 < after["value"] < 0.5
    page = (results / "report.html").read_text()
    assert f"{after['value']:.4f}" in page
    assert f"{after['value']:.4f}" in printed
    assert "results/tiny/report.html" in printed
    assert "Phenomizer (exact null)" in page
    assert "&#34;samples&#34;: 2000" in page  # the settings that made it
    skipped = pl.read_parquet(results / "skipped.parquet")
    assert skipped.filter(pl.col("level") == "case").height == 1  # the file that is not JSON
    config = yaml.safe_load((results / "config.yaml").read_text())
    assert config["rankers"]["phenomizer"]["samples"] == 2000


def test_lopo_leaves_untouched_cases_as_they_are(finished):
    """PMID:30 and PMID:31 support nothing: both protocols give the same rows."""
    folder = finished[0].folder / "results" / "tiny"
    cases = pl.read_parquet(folder / "cases.parquet")
    untouched = cases.filter(pl.col("publication_id").is_in(["PMID:30", "PMID:31", "PMID:12"]))
    for ranker in ("resnik", "bma", "phenomizer", "phenomizer-exact", "phenomizer-reference"):
        before, after = (
            pl.read_parquet(folder / "rankings" / ranker / f"{protocol}.parquet")
            for protocol in ("ordinary", "lopo")
        )
        assert not before.equals(after)
        one, other = (f.join(untouched, on="case_id", how="semi") for f in (before, after))
        assert one.height == 3 * 14
        assert one.equals(other)


def test_a_second_run_does_nothing(project):
    started = time.monotonic()
    status, printed = project.snakemake()
    assert status == 0
    assert "Nothing to be done" in printed
    assert time.monotonic() - started < 60  # a hang, not a speed, is what this would catch


def test_touching_the_config_reruns_nothing(project):
    for name in ("config.yaml", "workflow/config/tiny.yaml"):
        os.utime(project.folder / name)
    assert project.jobs() == {}


def test_changing_the_resamples_reruns_tables_only(project):
    project.edit("workflow/config/tiny.yaml", "resamples: 200", "resamples: 100")
    assert project.jobs() == {**ALL_TABLES, "run_config": 1}


def test_changing_the_samples_reruns_that_ranker_and_below(project):
    project.edit("workflow/config/tiny.yaml", "samples: 2000", "samples: 3000")
    # phenomizer, its two seeds and its uncapped variant, and it with deletions; every table but the
    # cohort, the overlap and that of other corpora.
    expected = {"rank": 4, "rank_deletions": 1, "table": 10, "report": 1}
    assert project.jobs() == {**expected, "run_config": 1, "all": 1}


def test_editing_a_rankers_module_reruns_its_rankings(project):
    project.edit("src/rarefuse/rankers/phenomizer.py", "cap = min(", "cap = 0 + min(")
    # Three null models, two seeds, uncapped, deletions; tables that read rankings.
    expected = {"rank": 6, "rank_deletions": 1, "table": 10, "report": 1, "all": 1}
    assert project.jobs() == expected


def test_an_edited_kernel_is_compiled_anew(project):
    """The kernels call this function across files, where numba's own cache would not see it."""
    target = "results/tiny/rankings/resnik/ordinary.parquet"
    before = pl.read_parquet(project.folder / target)["score"]
    kernel = "src/rarefuse/ontology/bestmatch.py"
    whole = "            column[term] = ic[term]\n"
    half = "            column[term] = ic[term] * np.float32(0.5)\n"
    for old, new, factor in ((whole, half, 0.5), (half, whole, 1.0)):
        project.edit(kernel, old, new)
        status, printed = project.snakemake(target)
        assert status == 0, printed
        after = pl.read_parquet(project.folder / target)["score"]
        assert after.max() == pytest.approx(factor * before.max())


def test_editing_the_reports_template_makes_the_report_again(project):
    project.edit("src/rarefuse/report/templates/report.html.j2", "Main result", "Result")
    assert project.jobs() == {"report": 1, "all": 1}


def test_deleted_artifacts_are_made_again(project):
    shutil.rmtree(project.folder / "results/tiny/rankings/bma")
    (project.folder / "results/tiny/tables/cohort.parquet").unlink()
    jobs = project.jobs()
    assert jobs["rank"] == 1
    assert jobs["table"] >= 1


def test_editing_a_comment_reruns_nothing(project):
    path = project.folder / "src/rarefuse/rankers/phenomizer.py"
    path.write_text(path.read_text() + "\n# A remark.\n")
    assert project.jobs() == {}


def test_editing_the_bootstrap_reruns_no_ranker(project):
    project.edit("src/rarefuse/evaluation/bootstrap.py", "1.0 - self.level", "1 - self.level")
    assert project.jobs() == ALL_TABLES


def test_adding_a_ranker_reruns_no_other(project):
    overlay = project.folder / "workflow/config/tiny.yaml"
    config = yaml.safe_load(overlay.read_text())
    config["rankers"]["phenomizer-5"] = {"method": "phenomizer", "samples": 500, "seed": 5}
    config["evaluation"]["rankers"] = ["resnik", "bma", "phenomizer", "phenomizer-5"]
    overlay.write_text(yaml.safe_dump(config))
    jobs = project.jobs()
    assert jobs["rank"] == 1
    assert "cases" not in jobs


def test_editing_a_case_of_ones_own_folder_reads_the_corpus_again(project):
    project.edit("tests/data/tiny/phenopackets/PMID_30_A.json", "HP:0000639", "HP:0001166")
    jobs = project.jobs()
    assert jobs["cases"] == 1
    assert "ontology" not in jobs


def test_twice_from_scratch_is_the_same_bytes(finished, fresh):
    fresh.environment |= {"PYTHONHASHSEED": "7", "TZ": "Asia/Kolkata", "LC_ALL": "C"}
    status, printed = fresh.snakemake(cores=1)
    assert status == 0, printed
    once, again = finished[0].artifacts(), fresh.artifacts()
    assert len(once) > 30
    assert once.keys() == again.keys()
    assert [name for name in once if once[name] != again[name]] == []


def test_a_killed_run_heals(finished, fresh):
    """Kill everything as soon as the first ranking is being made; the next run finishes.

    Until then a second run is refused.
    """
    run = subprocess.Popen(
        fresh.command(), cwd=fresh.folder, env=fresh.environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    log = fresh.folder / "logs/tiny/rank"
    deadline = time.monotonic() + 300
    while not (log.exists() and any(log.iterdir())):
        assert run.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    status, printed = fresh.snakemake()
    assert status != 0
    assert "another run is writing into 'results'" in printed
    assert run.poll() is None, "the run ended before it could be killed"
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    # A writer that died in the middle leaves a temporary file; it must neither count nor stay.
    unmade = min(finished[0].artifacts().keys() - fresh.artifacts().keys())
    half = fresh.folder / "results" / unmade
    half.parent.mkdir(parents=True, exist_ok=True)
    half.with_name(f".{half.name}.4242.tmp").write_bytes(b"PAR1 half of a table")
    status, printed = fresh.snakemake()
    assert status == 0, printed
    assert fresh.artifacts() == finished[0].artifacts()
    assert list((fresh.folder / "results").rglob("*.tmp")) == []


def test_a_damaged_artifact_is_named_and_heals(project):
    path = project.folder / "results/tiny/gold_ranks/resnik/lopo.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    status, printed = project.snakemake()
    assert status != 0
    assert "artifact 'gold_ranks' cannot be read" in printed
    assert str(path.relative_to(project.folder)) in printed
    assert "Traceback" not in printed
    path.unlink()
    status, printed = project.snakemake()
    assert status == 0, printed
    assert path.read_bytes() == whole


def test_two_runs_at_once_are_refused(project):
    project.edit("workflow/config/tiny.yaml", "resamples: 200", "resamples: 100")
    before = project.artifacts()
    with open(project.folder / "results/.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        status, printed = project.snakemake()
    assert status != 0
    assert "another run is writing into 'results'" in printed
    assert project.artifacts() == before


def test_negative_counts_are_refused(project):
    project.edit("workflow/config/tiny.yaml", "resamples: 200", "resamples: -200")
    status, printed = project.snakemake("--dry-run")
    assert status != 0
    assert "config, evaluation.resamples" in printed
    assert "-200" in printed


def test_jobs_that_outlive_a_killed_run_are_noticed(project):
    project.edit("workflow/config/tiny.yaml", "resamples: 200", "resamples: 100")
    with open(project.folder / "results/.jobs.lock", "a") as orphan:
        fcntl.flock(orphan, fcntl.LOCK_SH)
        status, printed = project.snakemake()
    assert status != 0
    assert "jobs of a killed run are still writing into 'results'" in printed
    status, printed = project.snakemake()
    assert status == 0, printed


def test_a_changed_source_is_refused(project):
    source = project.folder / "resources/tiny/tiny.hpoa"
    source.write_text(source.read_text().replace("3/4", "4/4"))
    status, printed = project.snakemake()
    assert status != 0
    assert "sha256" in printed
    assert "tiny.hpoa" in printed
    assert "Traceback" not in printed


def test_one_publications_annotation_file(project):
    status, printed = project.snakemake("results/tiny/lopo/PMID_24.hpoa")
    assert status == 0, printed
    text = (project.folder / "results/tiny/lopo/PMID_24.hpoa").read_text()
    original = (project.folder / "resources/tiny/tiny.hpoa").read_text()
    assert [line for line in original.splitlines() if line not in text.splitlines()] == [
        line for line in original.splitlines() if "PMID:24" in line
    ]


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("evaluation={'resample': 5}", "unknown key"),
        ("evaluation={'tables': []}", "evaluation.tables"),
        ("corpora={'a b': {'reader': 'pheval', 'path': 'x'}}", "a name that cannot be used"),
        ("corpora={'tiny': {'reader': 'phenopackets', 'path': 'nowhere'}}", "nothing at nowhere"),
        ("evaluation={'rankers': ['resnick']}", "resnick"),
        ("corpus=nowhere", "nowhere"),
        ("knowledge={'hpoa': 'hpoa-1999'}", "hpoa-1999"),
    ],
)
def test_a_mistaken_config_is_one_message(project, setting, says):
    status, printed = project.snakemake("--dry-run", config=(*TINY_AND, setting))
    assert status != 0
    assert says in printed
    assert "expected:" in printed
    assert "Traceback" not in printed


TINY_AND = ("--configfile", "workflow/config/tiny.yaml", "--config")


def test_an_unusable_corpus_stops_the_run_and_ranks_nothing(fresh):
    folder = fresh.folder / "tests/data/tiny/phenopackets"
    for path in folder.iterdir():
        path.write_text("{")
    status, printed = fresh.snakemake()
    assert status != 0
    assert "corpus 'tiny' has no usable case" in printed
    assert "16 × " in printed
    assert "Traceback" not in printed
    assert not (fresh.folder / "results/tiny/rankings").exists()
