"""Language models in the workflow: what a change reruns, failures that a later run mends."""

import polars as pl
import pytest
import yaml

pytestmark = pytest.mark.e2e
BELOW = {"table": 1, "report": 1, "all": 1}


@pytest.fixture
def arms(project, server):
    """The finished project with two arms at a server of the test."""

    def write(**changes):
        entry = {
            "family": "f", "backend": "openai", "model": "m", "base_url": server.base_url,
            "retries": 0, "give_up_after": 100, "note": "planted note",
        }  # fmt: skip
        overlay = project.folder / "workflow/config/tiny.yaml"
        config = yaml.safe_load(overlay.read_text())
        config["llms"] = {"one": entry, "two": {**entry, "model": "n", **changes}}
        config["evaluation"]["llms"] = ["one", "two"]
        # The tiny corpus has no lexicon of names, so nothing to fuse.
        config["fusion"] = {"tables": []}
        overlay.write_text(yaml.safe_dump(config))

    write()
    return write


def test_arms_from_prompt_to_report(project, arms, server):
    jobs = project.jobs()
    assert jobs == {"ask": 2, "parse_answers": 2, "run_config": 1, **BELOW}
    status, printed = project.snakemake()
    assert status == 0, printed
    assert set(server.answered.values()) == {2}
    folder = project.folder / "results/tiny"
    table = pl.read_parquet(folder / "tables/llm.parquet")
    assert table.filter(pl.col("metric") == "ok")["value"].to_list() == [15.0, 15.0]
    page = (folder / "report.html").read_text()
    assert "What the language models answered" in page
    assert "Planted note" in page
    assert pl.read_parquet(folder / "llm/one/names.parquet").height == 150

    assert project.jobs() == {}
    arms(extra_body={"enable_thinking": False})
    assert project.jobs() == {"ask": 1, "parse_answers": 1, "run_config": 1, **BELOW}
    arms(note="another note")  # what is shown, not what is asked
    assert project.jobs() == {"run_config": 1, **BELOW}
    arms(family="g")
    assert "ask" not in project.jobs()


def test_a_later_run_asks_again_only_what_failed(project, arms, server):
    server.behave = lambda handler, request, nth: (
        handler.answer({}, 500)
        if request["model"] == "n" and "Sex: female" in handler.prompt
        else handler.complete()
    )
    status, printed = project.snakemake()
    assert status == 0, printed
    table = project.folder / "results/tiny/tables/llm.parquet"

    def failed():
        rows = pl.read_parquet(table).filter(pl.col("metric") == "failed")
        return dict(rows.select("system", "value").iter_rows())

    n = failed()["two"]
    assert failed() == {"one": 0.0, "two": n}
    assert 0 < n < 15
    server.asked.clear()
    assert project.jobs() == {"ask": 1, "parse_answers": 1, **BELOW}
    server.behave = lambda handler, request, nth: handler.complete()
    status, printed = project.snakemake()
    assert status == 0, printed
    assert failed() == {"one": 0.0, "two": 0.0}
    assert sum(server.asked.values()) == n
    assert project.jobs() == {}


def test_a_planted_key_is_nowhere_in_a_run(project, arms, server):
    key = "sk-planted-9876543210"
    project.environment["PLANTED_KEY"] = key
    arms(api_key_env="PLANTED_KEY")
    server.behave = lambda handler, request, nth: (
        handler.answer({"error": f"bad key {key}"}, 500)
        if "Sex: female" in handler.prompt
        else handler.complete(f"1. {key}" if "Sex: male" in handler.prompt else "1. A")
    )
    status, printed = project.snakemake()
    assert status == 0, printed
    assert f"Bearer {key}" in server.keys
    assert key not in printed
    found = [
        path
        for path in project.folder.rglob("*")
        if path.is_file() and key.encode() in path.read_bytes()
    ]
    # Arm `one` has no key, so that its answers hold this text as any other.
    assert {path.relative_to(project.folder).parts[:4] for path in found} <= {
        ("results", "tiny", "llm", "one")
    }
    assert not found or all(path.suffix == ".parquet" for path in found)


def test_a_key_in_the_config_is_refused_and_not_shown(project, arms):
    arms(api_key_env="sk-planted-9876543210")
    status, printed = project.snakemake("--dry-run")
    assert status != 0
    assert "name of an environment variable" in printed
    assert "sk-planted" not in printed
