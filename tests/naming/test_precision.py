"""The committed verdicts, and the sample that they are about."""

from pathlib import Path

import polars as pl
import pytest

from rarefuse.cli import main
from rarefuse.errors import InputError
from rarefuse.naming.precision import VERDICTS, mapped_forms, read_verdicts
from rarefuse.naming.stage import MAPPING

CHECKED = Path(__file__).parents[1] / "data" / "naming"


def test_verdicts_on_200_mapped_names(capsys):
    frame = read_verdicts(CHECKED / "hand_checked_200.tsv")
    assert frame.height == 200
    assert frame["name"].n_unique() == 200
    counts = dict(frame.group_by("verdict").len().iter_rows())
    # The counts that docs/naming.md and docs/RESULTS.md give.
    assert counts == {"same": 126, "first type": 57, "granularity": 14, "wrong": 3}
    assert main(["precision", str(CHECKED / "hand_checked_200.tsv")]) == 0
    assert "200 names" in capsys.readouterr().out


def test_a_verdict_is_needed(tmp_path):
    text = (CHECKED / "hand_checked_200.tsv").read_text()
    path = tmp_path / "checked.tsv"
    path.write_text(text.replace("\tsame\t", "\t\t", 1))
    with pytest.raises(InputError, match="verdict"):
        read_verdicts(path)
    assert set(VERDICTS) == {"same", "first type", "granularity", "wrong"}


def test_forms_are_counted_once():
    rows = [
        ("a", 1, "Wilson disease", "OMIM:1", "f", "hpoa name", "exact", None),
        ("b", 1, "WILSON DISEASE", "OMIM:1", "f", "hpoa name", "exact", None),
        ("b", 2, "Hurler", None, None, None, None, "in no source"),
        ("b", 3, None, "OMIM:2", "OMIM:2", None, "id in the answer", None),
    ]
    mapping = pl.DataFrame(rows, schema=MAPPING.dtypes, orient="row")
    forms = mapped_forms([mapping])
    assert forms.select("form", "name", "occurrences").rows() == [
        ("wilson disease", "WILSON DISEASE", 2)
    ]
