"""Arms as the config describes them: what is refused before anything runs."""

import pytest
import yaml

from builders import ROOT, project_config
from rarefuse.errors import InputError
from rarefuse.llm.backends.base import make_backend
from rarefuse.llm.catalogue import backend_options, check_arm, check_recorded
from rarefuse.workflow import configured_run

SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
ENDPOINT = {"family": "f", "backend": "openai", "model": "m", "base_url": "https://host/v1"}
OPEN = {"family": "f", "backend": "vllm", "model": "m"}


@pytest.fixture
def config(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return project_config()


def test_arms_that_can_be_asked():
    check_arm("a", ENDPOINT)
    check_arm("a", OPEN)
    check_arm("a", {"family": "f", "backend": "vllm", "source": "s"})
    made = make_backend("openai", backend_options({**ENDPOINT, "max_cases": 3, "note": "n"}))
    assert made.base_url == "https://host/v1"


@pytest.mark.parametrize(
    ("entry", "message", "found"),
    [
        ({**ENDPOINT, "dtype": "auto"}, "has no such option", "dtype"),
        ({**OPEN, "concurrency": 3}, "has no such option", "concurrency"),
        ({"family": "f", "backend": "vllm"}, "needs one model", "none"),
        ({**OPEN, "source": "s"}, "needs one model", "model, source"),
        ({**ENDPOINT, "source": "s"}, "needs one model", "model, source"),
        ({k: v for k, v in ENDPOINT.items() if k != "base_url"}, "address", "no such key"),
        ({**ENDPOINT, "extra_body": {"top_p": 1, "messages": []}}, "not the arm's", "messages"),
        ({**ENDPOINT, "extra_body": {"temperature": 1, "n": 2}}, "not the arm's", "n, temperature"),
        ({**ENDPOINT, "base_url": "host/v1"}, "address", "another text"),
        ({**ENDPOINT, "base_url": "https://u:sk-planted@host/v1"}, "address", "not shown"),
        ({**ENDPOINT, "base_url": "https://host/v1?key=sk-planted"}, "address", "not shown"),
    ],
)
def test_arms_that_cannot(entry, message, found):
    with pytest.raises(InputError, match=message) as caught:
        check_arm("an-arm", entry)
    assert "llms.an-arm" in str(caught.value)
    assert found in str(caught.value)
    assert "sk-planted" not in str(caught.value)


@pytest.mark.parametrize(("pattern", "found"), [("(", "unterminated"), ("case", "no group")])
def test_a_pattern_without_a_key(pattern, found):
    entry = {"family": "f", "backend": "recorded", "path": "p", "columns": {"case": "c"}}
    check_recorded("a", {**entry, "case_pattern": "(case)"})
    with pytest.raises(InputError, match="pattern") as caught:
        check_recorded("a", {**entry, "case_pattern": pattern})
    assert found in str(caught.value)


@pytest.mark.parametrize("reviews", [["one.tsv"], ["one.tsv", "one.tsv"]])
def test_one_review_is_none(config, reviews):
    config["mapping_audit"] = {"reviews": reviews}
    with pytest.raises(InputError, match="two reviewers"):
        configured_run(config, SCHEMA)


def test_the_embedded_arm(config):
    run = configured_run(config, SCHEMA)
    assert run.llms.arms == run.llms.asked == ["smollm2-135m"]
    assert run.llms.model("smollm2-135m") == ["results/models/smollm2-135m-instruct"]
    assert run.llms.gpus("smollm2-135m") == 0
    assert '"sha256"' in run.llms.options("smollm2-135m")
    assert "path check" not in run.llms.options("smollm2-135m")
    assert "llm" in run.evaluation.tables
    assert run.evaluation.table_inputs("x", "llm") == [
        "results/x/llm/smollm2-135m/completions.parquet",
        "results/x/llm/smollm2-135m/names.parquet",
    ]
    config["evaluation"]["llms"] = []
    assert "llm" not in configured_run(config, SCHEMA).evaluation.tables


def test_the_papers_models(config):
    overlay = yaml.safe_load((ROOT / "workflow/config/llms.yaml").read_text())
    config["llms"] |= overlay["llms"]
    config["evaluation"]["llms"] = overlay["evaluation"]["llms"]
    run = configured_run(config, SCHEMA)
    assert len(run.llms.arms) == 9
    families = {arm: config["llms"][arm]["family"] for arm in run.llms.arms}
    # Section 5 of the paper: backbone families.
    assert {arm for arm, f in families.items() if f == "Llama-3"} == {
        "openbiollm-8b", "openbiollm-70b", "med42-8b",
    }  # fmt: skip
    assert {arm for arm, f in families.items() if f == "Gemma-3"} == {"medgemma-4b", "medgemma-27b"}
    assert {arm for arm, f in families.items() if f == "Qwen"} == {"qwen2.5-7b", "huatuogpt-3-8b"}
    assert families["baichuan-m2-32b"] == "Baichuan"
    assert run.llms.gpus("openbiollm-70b") == 4
    assert run.llms.gpus("deepseek-v4-flash") == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"backend": "oracle"}, "value that cannot be used"),
        ({"family": ""}, "value that cannot be used"),
        ({"temperature": 0.7}, "unknown key"),
        ({"max_cases": 0}, "value that cannot be used"),
        ({"source": "no-such"}, "no such entry"),
    ],
)
def test_mistakes(config, change, message):
    config["llms"]["smollm2-135m"] |= change
    with pytest.raises(InputError, match=message):
        configured_run(config, SCHEMA)


def test_a_source_counts_where_its_arm_is_asked(config):
    config["llms"]["smollm2-135m"]["source"] = "no-such"
    config["evaluation"]["llms"] = []
    configured_run(config, SCHEMA)


def test_an_arm_that_is_not_there(config):
    config["evaluation"]["llms"] = ["gpt-9"]
    with pytest.raises(InputError, match="not under 'llms:'"):
        configured_run(config, SCHEMA)


def test_a_key_in_place_of_its_variables_name_is_not_shown(config):
    config["llms"]["a"] = {**ENDPOINT, "api_key_env": "sk-planted-1"}
    with pytest.raises(InputError, match="environment variable") as caught:
        configured_run(config, SCHEMA)
    assert "sk-planted" not in str(caught.value)
