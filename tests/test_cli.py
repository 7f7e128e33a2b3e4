"""The command line: bad input is one message and status 2, never a traceback."""

import subprocess
import sys

import polars as pl
import pytest

from rarefuse import __version__, cli
from rarefuse.cli import main


def test_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert __version__ in capsys.readouterr().out


def test_no_two_commands_have_one_name():
    """A later one would hide the other."""
    assert sum(map(len, cli._GROUPS)) == len(cli._COMMANDS) > 40


def test_stages_by_hand(tmp_path, tiny):
    terms, aliases = tmp_path / "terms.parquet", tmp_path / "aliases.parquet"
    common = ["--terms", str(terms), "--aliases", str(aliases)]
    assert main(["ontology", "--obo", str(tiny / "tiny.obo"), *common]) == 0
    outputs = {
        f"--{name}": str(tmp_path / f"{name}.parquet")
        for name in ("annotations", "diseases", "relations", "information-content", "problems")
    }
    flags = [part for pair in outputs.items() for part in pair]
    assert main(["annotations", "--hpoa", str(tiny / "tiny.hpoa"), *common, *flags,
                 "--options", '{"keep_zero_frequency": true}']) == 0  # fmt: skip
    cases = tmp_path / "cases.parquet"
    pl.DataFrame({"publication_id": ["PMID:24"]}).write_parquet(cases)
    assert main(["lopo-hpoa", "PMID:24", "--cases", str(cases), "--hpoa", str(tiny / "tiny.hpoa"),
                 "--annotations", outputs["--annotations"], "--relations", outputs["--relations"],
                 "--output", str(tmp_path / "lopo.hpoa")]) == 0  # fmt: skip
    before = (tiny / "tiny.hpoa").read_text().splitlines()
    after = (tmp_path / "lopo.hpoa").read_text().splitlines()
    gone = [line for line in before if line not in after]
    assert len(gone) == 2
    assert all("OMIM:100009" in line and "PMID:24" in line for line in gone)
    assert after == [line for line in before if line not in gone]


def test_an_input_error_is_one_message(tmp_path, tiny):
    wrong = tmp_path / "wrong.obo"
    wrong.write_bytes(b"\x00\x01 nothing like an ontology")
    done = subprocess.run(
        [sys.executable, "-m", "rarefuse", "ontology", "--obo", str(wrong),
         "--terms", str(tmp_path / "t"), "--aliases", str(tmp_path / "a")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert str(wrong) in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "t").exists()


def test_a_changed_source_is_refused(tmp_path, tiny, capsys):
    changed = tmp_path / "tiny.obo"
    changed.write_text((tiny / "tiny.obo").read_text() + "\n")
    status = main(["ontology", "--obo", str(changed), "--terms", str(tmp_path / "t"),
                   "--aliases", str(tmp_path / "a"), "--registry", str(tiny / "sources.yaml"),
                   "--source-id", "tiny-hpo"])  # fmt: skip
    assert status == 2
    assert "sha256" in capsys.readouterr().err
    assert not (tmp_path / "t").exists()
