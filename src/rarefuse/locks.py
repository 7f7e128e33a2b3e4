"""Locks that keep two runs, or a run and a killed one's jobs, out of the same results folder."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rarefuse.errors import InputError


def jobs_lock(results: str) -> str:
    """File that every job holds a shared lock on while it runs."""
    return f"{results}/.jobs.lock"


def hold_lock(results: str) -> IO[str]:
    """Let one run at a time write into the results folder.

    Snakemake's own lock is a file that outlives a killed run; this one is the system's and
    goes with the process. Jobs that outlive a killed run are noticed by a lock of their own.

    Returns
    -------
    file
        To be kept open as long as the lock is to be held.

    Raises
    ------
    InputError
        If another run holds it, or jobs of a killed one still run.
    """
    try:
        Path(results).mkdir(parents=True, exist_ok=True)
        run, jobs = (
            open(path, "a", encoding="utf-8")  # noqa: SIM115
            for path in (f"{results}/.lock", jobs_lock(results))
        )
    except OSError as error:
        raise InputError(
            "the results folder cannot be written",
            where=results,
            found=error.strerror or str(error),
            expected="a folder that may be written",
            todo="choose another one with 'results:'",
        ) from error
    for lock, holder in (
        (run, f"another run is writing into '{results}'"),
        (jobs, f"jobs of a killed run are still writing into '{results}'"),
    ):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            run.close()
            jobs.close()
            raise InputError(
                holder, todo="wait until it ends, or set 'results:' to another folder"
            ) from None
    jobs.close()  # free again, for the jobs of this run
    return run


@contextmanager
def running(lock: str | None) -> Iterator[None]:
    """Hold a shared lock while a job of a workflow runs, so that its orphans can be noticed."""
    if not lock:
        yield
        return
    with open(lock, "a", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield
