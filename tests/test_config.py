"""The config's schema: every key described, defaults filled in, mistakes explained."""

from pathlib import Path

import pytest
import yaml

from rarefuse.config import check_config, load_schema
from rarefuse.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = load_schema(ROOT / "workflow/schemas/config.schema.yaml")


@pytest.fixture
def config():
    return yaml.safe_load((ROOT / "config.yaml").read_text())


def objects(schema, path="config"):
    """Every object schema with its path."""
    if schema.get("type") == "object":
        yield path, schema
        for name, below in schema.get("properties", {}).items():
            yield from objects(below, f"{path}.{name}")
        if isinstance(schema.get("additionalProperties"), dict):
            yield from objects(schema["additionalProperties"], f"{path}.*")


def test_every_object_is_closed_and_every_key_described():
    for path, schema in objects(SCHEMA):
        assert "additionalProperties" in schema, path
        # Two are handed on as they are, to a chat template and to a server.
        handed_on = path.endswith((".llms.*.chat_template_kwargs", ".llms.*.extra_body"))
        by_name = path.count(".") == 1 or path == "config.retrieval.sets"
        assert schema["additionalProperties"] is False or by_name or handed_on, path
        for name, below in schema.get("properties", {}).items():
            assert below.get("description"), f"{path}.{name}"


def test_every_optional_top_level_key_has_a_default():
    for name, below in SCHEMA["properties"].items():
        if name not in SCHEMA["required"]:
            assert "default" in below, name
            for key, entry in below.get("properties", {}).items():
                assert "default" in entry, f"{name}.{key}"


def test_the_embedded_config_says_what_the_schema_would(config):
    bare = {name: config[name] for name in SCHEMA["required"]}
    assert check_config(config, SCHEMA) == check_config(bare, SCHEMA)


@pytest.mark.parametrize("overlay", sorted((ROOT / "workflow/config").glob("*.yaml")), ids=str)
def test_overlays_are_valid(overlay, config):
    def merge(base, top):
        for key, value in top.items():
            if isinstance(value, dict) and isinstance(base.get(key), dict):
                merge(base[key], value)
            else:
                base[key] = value

    merge(config, yaml.safe_load(overlay.read_text()))
    assert check_config(config, SCHEMA)["corpus"] in config["corpora"]


@pytest.mark.parametrize(
    ("change", "where", "found"),
    [
        (lambda c: c.update(bootstrp=1), "top level", "bootstrp"),
        (lambda c: c["evaluation"].update(resample=1), "config, evaluation", "resample"),
        (lambda c: c["rankers"]["phenomizer"].update(sample=1), "rankers.phenomizer", "sample"),
        (lambda c: c["evaluation"].update(resamples=-5), "evaluation.resamples", "-5"),
        (lambda c: c["rankers"]["phenomizer"].update(samples=0), "phenomizer.samples", "0"),
        (lambda c: c["evaluation"].update(level="95%"), "evaluation.level", "95%"),
        (lambda c: c["evaluation"].update(recall_at=[5]), "evaluation.recall_at", "[5]"),
        (lambda c: c["rankers"].update(x={"method": "tfidf"}), "rankers.x.method", "tfidf"),
        (lambda c: c["evaluation"].update(rankers=["resnick"]), "evaluation.rankers", "resnick"),
        (lambda c: c["monte_carlo"].update(ranker="nope"), "monte_carlo.ranker", "nope"),
        (lambda c: c["matched_deletion"].update(rankers=["x"]), "matched_deletion.rankers", "x"),
        (
            lambda c: c["evaluation"].update(rankers=["bma"] * 2),
            "evaluation.rankers",
            "'bma', 'bma'",
        ),
        (
            lambda c: c["matched_deletion"].update(rankers=["bma", "resnik", "bma"]),
            "matched_deletion.rankers",
            "'bma', 'resnik', 'bma'",
        ),
        (lambda c: c["monte_carlo"].update(seeds=[1, 1]), "monte_carlo.seeds", "[1, 1]"),
        (lambda c: c["cross_corpus"].update(corpora=["x"]), "cross_corpus.corpora", "x"),
        (
            lambda c: c["cross_corpus"].update(corpora=["lirical"]),
            "cross_corpus.reference",
            "phenopacket-store",
        ),
        (
            lambda c: c["cross_corpus"].update(corpora=["lirical", "lirical"]),
            "cross_corpus.corpora",
            "'lirical', 'lirical'",
        ),
        (lambda c: c.update(corpus="mine"), "config, corpus", "mine"),
        (lambda c: c["corpora"]["ramedis"].pop("reader"), "corpora.ramedis", "reader"),
        (lambda c: c.pop("corpora"), "config, top level", "expected: corpora"),
    ],
)
def test_mistakes_are_explained(config, change, where, found):
    change(config)
    with pytest.raises(InputError) as caught:
        check_config(config, SCHEMA)
    assert where in str(caught.value)
    assert found in str(caught.value)
    assert "expected:" in str(caught.value)


def test_a_corpus_needs_exactly_one_place(config):
    config["corpora"]["hpoa-case-reports"]["path"] = "cases/"
    with pytest.raises(InputError, match="one place to be read from"):
        check_config(config, SCHEMA)


STOCK = {"method": "phenomizer-java", "jars": "/jars"}


@pytest.mark.parametrize(
    ("pairs", "where", "found"),
    [
        ([["java", "bma"]], "stock_comparison.pairs", "java, a stock program; bma, a ranker of"),
        ([["bma", "resnik"]], "stock_comparison.pairs", "resnik, a ranker of this package"),
        ([["java", "java-2"]], "stock_comparison.pairs", "java, a stock program; java-2, a stock"),
        (
            [["bma", "bma"]],
            "stock_comparison.pairs",
            "bma, a ranker of this package; bma, a ranker",
        ),
        ([["bma", "java"], ["bma", "java"]], "stock_comparison.pairs", "['bma', 'java']"),
        ([["bma", "jawa"]], "stock_comparison.pairs", "jawa"),
    ],
)
def test_a_pair_is_a_ranker_of_ours_and_a_program(config, pairs, where, found):
    config["rankers"].update({"java": STOCK, "java-2": STOCK})
    config["stock_comparison"]["pairs"] = [["bma", "java"], ["bma", "java-2"]]
    check_config(config, SCHEMA)
    config["stock_comparison"]["pairs"] = pairs
    with pytest.raises(InputError) as caught:
        check_config(config, SCHEMA)
    assert where in str(caught.value)
    assert found in str(caught.value)
