"""Start an outside program, watch its time, and say precisely how it failed."""

import hashlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from rarefuse.errors import InputError

TIME_LIMIT = "time limit"
EXIT_STATUS = "exit status"
NO_OUTPUT = "no output"
GARBAGE = "unreadable output"
INCOMPLETE = "incomplete output"
UNORDERED = "output out of order"

POLL_SECONDS = 0.05
TAIL = 400


@dataclass(frozen=True)
class Failure:
    """Why a program gave no usable answer.

    Parameters
    ----------
    reason : str
        One of the fixed phrases of this module, to count by.
    detail : str
        What was found.
    """

    reason: str
    detail: str


def file_digest(path: Path | str, algorithm: str = "sha256") -> str:
    """Hexadecimal digest of a file's bytes."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, algorithm).hexdigest()


def folder_digest(folder: Path, skip: Sequence[str] = ()) -> str:
    """Digest of names and bytes of the files below a folder.

    Parameters
    ----------
    skip : sequence of str
        File names at the top of the folder that do not count.
    """
    together = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in skip:
            together.update(f"{name}\0{file_digest(path)}\n".encode())
    return together.hexdigest()


def run_process(
    command: Sequence[str | Path],
    *,
    time_limit: float,
    log: Path,
    cwd: Path | None = None,
    progress: Callable[[], object] | None = None,
) -> Failure | None:
    """Run a program to its end.

    Parameters
    ----------
    command : sequence
        Program and arguments, passed as they are: no shell, so blanks and any letters are safe.
    time_limit : float
        Seconds until the program and all that it started are killed; with `progress`, seconds
        without a change of it.
    log : Path
        File for what the program prints, standard output and error together.
    cwd : Path, optional
        Folder to run in.
    progress : callable, optional
        Something that changes while the program gets on, such as how many files it has written.

    Returns
    -------
    Failure or None
        Time limit or exit status with the end of what was printed; None if all went well.

    Raises
    ------
    InputError
        If the program cannot be started at all.
    """
    # A JVM reads its arguments in the locale's encoding: under LC_ALL=C it would lose letters.
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                [os.fspath(part) for part in command],
                cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT,
            )  # fmt: skip
        except OSError as error:
            raise InputError(
                "an outside program cannot be started",
                where=str(command[0]),
                found=error.strerror or str(error),
                expected="a program that may be executed",
                todo="correct its path in the config",
            ) from error
        try:
            expired = _wait(process, time_limit, progress)
        finally:
            if process.poll() is None:
                _kill(process)
            process.wait()
    if expired:
        return Failure(TIME_LIMIT, f"killed after {time_limit:g} s{_tail(log)}")
    if process.returncode:
        return Failure(EXIT_STATUS, f"status {process.returncode}{_tail(log)}")
    return None


def _wait(
    process: "subprocess.Popen[bytes]", time_limit: float, progress: Callable[[], object] | None
) -> bool:
    """Wait for the end; True if the time limit came first."""
    state = progress() if progress else None
    deadline = time.monotonic() + time_limit
    while True:
        try:
            process.wait(timeout=POLL_SECONDS)
            return False
        except subprocess.TimeoutExpired:
            if progress is not None and (now := progress()) != state:
                state, deadline = now, time.monotonic() + time_limit
            if time.monotonic() >= deadline:
                return True


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a program and all that it started: behind a wrapper script stands a Java machine.

    They stay in this process's group, which a terminal or a batch system ends as a whole; in a
    group of their own they would outlive it.
    """
    try:
        root = psutil.Process(process.pid)
        root.suspend()  # so that it starts nothing while its descendants are listed
        family = [*root.children(recursive=True), root]
    except psutil.NoSuchProcess:
        return
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.kill()


def _tail(log: Path) -> str:
    """End of a log on one line, ready to be appended to a message."""
    text = log.read_bytes()[-100 * TAIL :].decode("utf-8", errors="replace")
    # A Java stack trace begins with what is wrong and goes on with where.
    text = re.sub(r"^\s+at .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\s+", " ", text).strip()[-TAIL:]
    return f"; it printed: {text}" if text else "; it printed nothing"
