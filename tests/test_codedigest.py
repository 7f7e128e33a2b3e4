"""The digest of a stage's code: what it imports counts, comments do not."""

import pytest

from rarefuse import codedigest
from rarefuse.codedigest import closure, code_digest


@pytest.fixture
def package(tmp_path, monkeypatch):
    def write(**modules):
        for name, text in modules.items():
            path = tmp_path.joinpath(*name.split("__")).with_suffix(".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        for cached in (codedigest.module_tree, codedigest._imports, codedigest._source_digest):
            cached.cache_clear()

    monkeypatch.setattr(codedigest, "ROOT", tmp_path)
    write(__init__="", a="from rarefuse.b import f\n", b="import numpy\ndef f():\n    return 1\n",
          c="x = 1\n")  # fmt: skip
    yield write
    for cached in (codedigest.module_tree, codedigest._imports, codedigest._source_digest):
        cached.cache_clear()


def test_an_edit_below_changes_the_digest(package):
    before = code_digest("rarefuse.a")
    package(b="import numpy\ndef f():\n    return 2\n")
    assert code_digest("rarefuse.a") != before


def test_an_edit_elsewhere_does_not(package):
    before = code_digest("rarefuse.a")
    package(c="x = 2\n")
    assert code_digest("rarefuse.a") == before


def test_comments_docstrings_and_layout_do_not_count(package):
    before = code_digest("rarefuse.a")
    package(
        b='"""About b."""\nimport numpy\n\n\ndef f():\n    """Say one."""\n    return 1  # one\n'
    )
    package(b='"""About b, again."""\nimport numpy\n\ndef f():\n    """1"""\n\n    return 1\n')
    after = code_digest("rarefuse.a")
    package(b='"""B."""\nimport numpy\ndef f():\n    """One."""\n    return 1\n')
    assert code_digest("rarefuse.a") == after
    assert before != after  # a docstring where there was none is a statement more


def test_unknown_module():
    with pytest.raises(ModuleNotFoundError, match=r"rarefuse\.nowhere"):
        code_digest("rarefuse.nowhere")


def test_real_stages_depend_on_what_they_run():
    rank = closure("rarefuse.rankers.run")
    assert {"rarefuse.rankers.order", "rarefuse.annotations.knowledge"} <= rank
    assert "rarefuse.rankers.phenomizer" not in rank  # each ranker's rule adds its own
    assert "rarefuse.rankers.sampled" in closure("rarefuse.rankers.phenomizer")
    assert "rarefuse.corpus.audit" not in closure("rarefuse.corpus.readers")
