import gc
import re

import pytest

from rarefuse import artifacts
from rarefuse.codedigest import ROOT
from rarefuse.corpus.cases import CASES
from rarefuse.manual.artifacts import FILES, artifacts_page, declared


@pytest.fixture(scope="module")
def page():
    return artifacts_page()


def test_every_schema_that_the_code_makes_is_found():
    """Counted by the word in the source, and by the objects that importing their modules made."""
    found = declared()
    written = [
        path
        for path in ROOT.rglob("*.py")
        for _ in re.findall(r"(?<![\w.])Schema\(\n", path.read_text())
    ]
    assert len(found) == len(written)
    alive = {o.name for o in gc.get_objects() if type(o) is artifacts.Schema}
    assert {entry.schema.name for entry in found} <= alive
    names = [entry.schema.name for entry in found]
    assert len(set(names)) == len(names)


def test_every_column_is_on_the_page(page):
    for entry in declared():
        part = page.split(f"\n## {entry.schema.name}\n")[1].split("\n## ")[0]
        rows = [line for line in part.splitlines() if line.startswith("| `")]
        assert len(rows) == len(entry.schema.columns)
        for row, column in zip(rows, entry.schema.columns, strict=True):
            assert row.startswith(f"| `{column.name}` |")
            assert ("may be null" in row) == column.nullable


def test_one_schema_by_hand(page):
    assert CASES in [entry.schema for entry in declared()]
    assert "`{corpus}/cases.parquet`. Declared as `rarefuse.corpus.cases.CASES`." in page
    assert "| `age_days` | Float64 (may be null) | day | age at last encounter |" in page
    assert "| `observed` | List(String) |" in page


def test_files_are_those_of_schemas_that_there_are():
    assert FILES.keys() <= {entry.schema.name for entry in declared()}
