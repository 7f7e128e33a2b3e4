"""Find published jars by their Maven coordinates and check them before anything is executed."""

from collections.abc import Sequence
from pathlib import Path

import requests

from rarefuse.artifacts import replacing
from rarefuse.errors import InputError
from rarefuse.rankers.stock.presence import coordinate_paths, find_jar, missing_jars
from rarefuse.rankers.stock.process import file_digest


def get_jars(
    coordinates: Sequence[str], folder: Path, repository: str | None, where: str
) -> list[Path]:
    """Paths of the jars, downloaded into `folder` where they are not there yet.

    Raises
    ------
    InputError
        If one is missing and cannot be downloaded.
    """
    found = {name: find_jar(name, folder) for name in coordinates}
    missing = [name for name, path in found.items() if path is None]
    reasons = []
    for name in missing if repository else []:
        file, below = coordinate_paths(name)
        try:
            response = requests.get(f"{str(repository).rstrip('/')}/{below}", timeout=60)
            response.raise_for_status()
        except requests.RequestException as error:
            reasons.append(f"{name}: {type(error).__name__}")
            continue
        with replacing(folder / file) as temporary:
            temporary.write_bytes(response.content)
        found[name] = folder / file
    if absent := [name for name, path in found.items() if path is None]:
        failed = f"; not downloaded: {', '.join(reasons)}" if reasons else ""
        raise missing_jars(where, absent, folder, failed)
    return [path for path in found.values() if path is not None]


def verify_jars(jars: Sequence[Path], sha1: Sequence[str]) -> None:
    """Check that the jars are exactly those with the given SHA-1 digests.

    The paper prints the digests without saying which belongs to which artifact, so they are
    compared as a set.

    Raises
    ------
    InputError
        Naming each jar's digest, if one is not in the list or one of the list is not met.
    """
    found = {jar: file_digest(jar, "sha1") for jar in jars}
    expected = {digest.lower() for digest in sha1}
    if set(found.values()) != expected:
        raise InputError(
            "jars of the Java Phenomizer are not the pinned ones; nothing was executed",
            where=", ".join(map(str, jars)),
            found=", ".join(f"{jar.name} sha1 {digest}" for jar, digest in found.items()),
            expected=f"the digests {', '.join(sorted(expected))}, each once",
            todo="delete them and take the published artifacts, or correct 'sha1:' in the config",
        )
