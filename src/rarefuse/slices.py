"""Pieces of the configuration as rules take them. Light: no numpy, no polars, no torch."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rarefuse.errors import InputError


def as_json(value: Any) -> str:
    """Compact JSON with sorted keys: the same slice of the config is the same text."""
    return json.dumps(value, sort_keys=True)


def entry_path(
    entry: Mapping[str, Any],
    resource: Callable[[str], str],
    where: str,
    what: str,
    expected: str,
    usable: Callable[[str], bool] = os.path.exists,
) -> str:
    """File or folder that an entry names, by 'source' or by 'path'.

    Parameters
    ----------
    entry : mapping
        With one of the two keys.
    resource : callable
        Path of a source of the registry.
    where, what, expected : str
        For the error: the entry's place in the config, what it names, and what should be there.
    usable : callable
        Whether a path of one's own is of the right kind.

    Raises
    ------
    InputError
        If a path of one's own is not usable: Snakemake would otherwise take results of an earlier
        run for files that somebody else provides.
    """
    if "source" in entry:
        return resource(entry["source"])
    if not usable(entry["path"]):
        raise InputError(
            f"{what} is not where the config says",
            where=f"config, {where}.path",
            found=f"nothing at {entry['path']}"
            if not os.path.exists(entry["path"])
            else f"no file at {entry['path']}",
            expected=expected,
            todo="correct the path",
        )
    return str(entry["path"])


def folder_fingerprint(folder: Path) -> str:
    """Digest of names, sizes and times of the files below a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            status = path.stat()
            name = path.relative_to(folder).as_posix()
            digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]
