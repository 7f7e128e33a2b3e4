import io

import pytest

from rarefuse import artifacts
from rarefuse.annotations.relations import PROBLEMS
from rarefuse.corpus.cases import SKIPPED
from rarefuse.errors import InputError
from rarefuse.evaluation.tables import TABLE
from rarefuse.report.stage import write_report, write_summary
from rarefuse.report.summary import terminal_summary

AUDIT = pytest.importorskip("rarefuse.corpus.audit").AUDIT


@pytest.fixture
def paths(tmp_path, tables, skipped, problems, audit):
    for name, table in tables.items():
        artifacts.write(table, TABLE, tmp_path / f"{name}.parquet")
    artifacts.write(skipped, SKIPPED, tmp_path / "skipped.parquet")
    artifacts.write(problems, PROBLEMS, tmp_path / "problems.parquet")
    artifacts.write(audit, AUDIT, tmp_path / "audit.parquet")
    return {
        "tables": {name: tmp_path / f"{name}.parquet" for name in tables},
        "skipped": tmp_path / "skipped.parquet",
        "problems": tmp_path / "problems.parquet",
        "audit": tmp_path / "audit.parquet",
    }


def test_the_page_is_written_twice_with_the_same_bytes(tmp_path, paths, provenance):
    for name in ("a.html", "b.html"):
        write_report("corpus", **paths, provenance=provenance, output=tmp_path / name)
    first = (tmp_path / "a.html").read_bytes()
    assert first == (tmp_path / "b.html").read_bytes()
    assert first.startswith(b"<!DOCTYPE html>")
    assert str(tmp_path).encode() not in first


def test_the_summary_is_printed(capsys, paths, tables):
    write_summary("corpus", paths["tables"], "report.html")
    assert capsys.readouterr().out == terminal_summary(tables, "corpus", "report.html") + "\n"
    stream = io.StringIO()
    write_summary("corpus", paths["tables"], "report.html", stream)
    assert stream.getvalue().startswith("Corpus corpus")


def test_a_missing_artifact_is_named(tmp_path, paths, provenance):
    paths["skipped"].unlink()
    with pytest.raises(InputError, match="artifact 'skipped' is missing"):
        write_report("corpus", **paths, provenance=provenance, output=tmp_path / "a.html")
    assert not (tmp_path / "a.html").exists()
