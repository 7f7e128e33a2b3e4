"""Files that a run made before the clock was moved back."""

import os
from pathlib import Path

from rarefuse.clock import redate


def test_files_from_the_future_are_dated_now(monkeypatch, tmp_path):
    """Other people's files, and what the clocks of two machines may differ by, are left alone."""
    monkeypatch.chdir(tmp_path)
    now = 1_000_000.0
    times = {
        "results/a/old.parquet": now - 10, "results/a/skewed.parquet": now + 10,
        "results/ahead.parquet": now + 3600, "resources/ahead.obo": now + 86_400,
        "elsewhere/ahead.json": now + 3600,
    }  # fmt: skip
    for name, at in times.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
        os.utime(name, (at, at))
    folders = ["results", "resources"]
    assert redate(folders, now) == 2
    redated = {"results/ahead.parquet", "resources/ahead.obo"}
    assert {name: Path(name).stat().st_mtime for name in times} == {
        name: now if name in redated else at for name, at in times.items()
    }
    assert redate(folders, now) == 0
