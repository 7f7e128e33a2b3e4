"""Dates of files, after the clock of the machine was moved back."""

import os
from collections.abc import Sequence
from pathlib import Path

_SKEW = 60
"""Seconds by which the clocks of a disk and of this machine may differ."""


def redate(folders: Sequence[str], now: float) -> int:
    """Date what a run made in the future, before the clock was moved back, to `now`.

    Snakemake takes an output that is older than its input for a damaged one.

    Parameters
    ----------
    folders : sequence of str
        What a run writes into.
    now : float
        Seconds since 1970.

    Returns
    -------
    int
        Files below them that were dated anew.
    """
    ahead = [
        path
        for folder in folders
        for path in Path(folder).rglob("*")
        if not path.is_symlink() and path.is_file() and path.stat().st_mtime > now + _SKEW
    ]
    for path in ahead:
        os.utime(path, (now, now))
    return len(ahead)
