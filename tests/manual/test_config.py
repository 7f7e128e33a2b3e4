"""The page of the configuration: every key, with the defaults that a run would use."""

import json
import re
from pathlib import Path

import pytest

from rarefuse.config import load_schema
from rarefuse.manual.config import allowed, class_defaults, config_page, entry_defaults, keys
from rarefuse.rankers.catalogue import make_ranker

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = load_schema(ROOT / "workflow/schemas/config.schema.yaml")
PAGE = config_page(SCHEMA)
ROWS = {
    row[0].strip("` "): [cell.strip() for cell in row[1:]]
    for line in PAGE.splitlines()
    if line.startswith("| `")
    for row in [re.split(r"(?<!\\)\|", line)[1:-1]]
}


def described(schema, path=()):
    """Paths of all keys of a schema, walked in another way than the page's."""
    for word, below in schema.items():
        if not isinstance(below, dict):
            continue
        if word == "properties":
            for name, entry in below.items():
                yield (*path, name)
                yield from described(entry, (*path, name))
        elif word == "additionalProperties":
            yield (*path, "NAME")
            yield from described(below, (*path, "NAME"))


def test_the_page_has_every_key_of_the_schema_and_no_other():
    wanted = {".".join(path) for path in described(SCHEMA)}
    sections = {name for name in SCHEMA["properties"] if f"\n## {name}\n" in PAGE}
    assert ROWS.keys() | sections == wanted
    assert len(ROWS) + len(sections) == len(wanted) > 150


def test_every_row_says_type_default_and_meaning():
    for key, (kind, default, meaning) in ROWS.items():
        assert kind, key
        assert meaning, key
        assert default or key.endswith("NAME") or kind == "section", key


@pytest.mark.parametrize(
    ("key", "kind", "default"),
    [
        ("corpus", "text", '`"hpoa-case-reports"`'),
        ("corpora.NAME.reader", "one of `hpoa`, `phenopackets`, `pheval`", "needed"),
        ("corpora.NAME.min_observed", "whole number, at least 1", "`3`"),
        ("corpora.NAME.columns.case_id", "text", "none"),
        ("splits.publications", "list or null of whole number, at least 1, exactly 3", "`null`"),
        ("rankers.NAME.floor", "number, above 0, at most 1", "`0.01`"),
        ("rankers.NAME.excluded", "true or false", "`false` (nb-lr), `true` (lirical)"),
        ("rankers.NAME.jar", "text", "needed"),
        ("llms.NAME.max_body_bytes", "whole number", "`1048576`"),
        ("llms.NAME.extra_body", "section, any keys", "`{}`"),
        ("evaluation.tables", "list of one of `cohort`", '`["cohort",'),
        ("fusion.optimiser.patience", "whole number, at least 1", "`12`"),
    ],
)
def test_some_rows_by_hand(key, kind, default):
    assert ROWS[key][0].startswith(kind)
    assert ROWS[key][1].startswith(default)


def test_what_must_be_in_a_list_is_said():
    assert allowed(SCHEMA["properties"]["evaluation"]["properties"]["recall_at"]) == (
        "list of whole number, at least 1, each once, `1` among them"
    )
    assert ROWS["evaluation.tables"][0].endswith(
        "`cohort` among them, `overlap` among them, `recall` among them, `ties` among them"
    )


@pytest.mark.parametrize("method", ["resnik", "bma", "phenomizer", "nb-lr", "lirical"])
def test_defaults_read_from_the_source_are_those_of_the_class(method):
    ranker = make_ranker(method, {})
    shown = entry_defaults()["rankers"][method]
    assert {k: json.loads(v) for k, v in shown.items()} == vars(ranker)


def test_a_constant_of_another_module_is_followed():
    shown = class_defaults("rarefuse.rankers.stock.phenomizer", "PhenomizerJava")
    from rarefuse.rankers.stock.phenomizer import PhenomizerJava

    assert json.loads(shown["artifacts"]) == list(PhenomizerJava("/jars").artifacts)
    assert shown["jars"] is None


def test_keys_stand_after_the_section_that_holds_them():
    paths = [key.path for key in keys(SCHEMA)]
    assert len(set(paths)) == len(paths)
    for path in paths:
        above = path.rpartition(".")[0]
        assert not above or paths.index(above) < paths.index(path)
