"""Numba with a cache that cannot go stale. Kernels import `njit` and `prange` from here.

Numba's own cache watches the file of the outer function only: a kernel that was compiled with an
older version of a function it calls from another file would be used again. The cache is therefore
kept in a folder that the source of all kernels names; an edit of any of them starts an empty one.
"""

import hashlib
import os
import tempfile
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


def cache_folder() -> Path:
    """Folder for compiled kernels: below RAREFUSE_CACHE, the user's cache, or a temporary one."""
    home = os.environ.get("RAREFUSE_CACHE") or os.environ.get("XDG_CACHE_HOME")
    name = Path("rarefuse") / "kernels" / kernel_digest(Path(__file__).parent)
    candidates = [Path(home) if home else Path.home() / ".cache"]
    candidates.append(Path(tempfile.gettempdir()) / f"cache-{os.getuid()}")
    for candidate in candidates:
        folder = candidate / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return candidates[-1] / name


numba.config.CACHE_DIR = str(cache_folder())
