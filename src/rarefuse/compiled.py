"""Numba with a cache that cannot go stale. Kernels import `njit` and `prange` from here.

Numba's own cache watches the file of the outer function only: a kernel that was compiled with an
older version of a function it calls from another file would be used again. The cache is therefore
kept in a folder that the source of all kernels names; an edit of any of them starts an empty one.

What numba reads from its cache it runs, so that a folder that others can write to is never used.
"""

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

import numba
from numba import get_num_threads, njit, prange

__all__ = ["cache_folder", "get_num_threads", "njit", "prange", "use_threads"]


def use_threads(threads: int) -> None:
    """Let kernels use as many threads, or as many as there are."""
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


def kernel_digest(package: Path) -> str:
    """Digest of every source file of the package that compiles something."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if b"njit" in source:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + source)
    return digest.hexdigest()[:16]


def is_own(folder: Path) -> bool:
    """Whether a folder is the user's, and no other user may write into it."""
    status = folder.lstat()
    own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return own and not status.st_mode & stat.S_IWOTH


def cache_folder() -> Path:
    """Folder for compiled kernels: below RAREFUSE_CACHE, the user's cache, or a temporary one.

    The temporary one has a name that anybody can guess: one that is not the user's alone is left,
    and a new one made.
    """
    home = os.environ.get("RAREFUSE_CACHE") or os.environ.get("XDG_CACHE_HOME")
    name = Path("rarefuse") / "kernels" / kernel_digest(Path(__file__).parent)
    candidates = [Path(home) if home else Path.home() / ".cache"]
    shared = Path(tempfile.gettempdir()) / f"cache-{os.getuid()}"
    with suppress(OSError):
        shared.mkdir(mode=0o700, exist_ok=True)
        if is_own(shared):
            candidates.append(shared)
    for candidate in candidates:
        folder = candidate / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            usable = is_own(folder) and os.access(folder, os.W_OK)
        except OSError:
            continue
        if usable:
            return folder
    return Path(tempfile.mkdtemp(prefix="rarefuse-kernels-"))


numba.config.CACHE_DIR = str(cache_folder())
