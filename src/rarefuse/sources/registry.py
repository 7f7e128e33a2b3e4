"""The registry of sources: one entry names a file, its digest, and every place to get it from."""

import re
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from rarefuse.errors import InputError

_SHA256 = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PINNED_WHEEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9._!+-]*")
_TEXT_KEYS = ("title", "release", "licence", "file", "sha256")
_REQUIRED = (*_TEXT_KEYS, "bytes", "mirrors")
_OPTIONAL = ("url", "note")
_MIRROR_KEYS = {
    "path": ("gzip", "drop_last_column"),
    "url": ("gzip", "drop_last_column"),
    "wheel": ("member", "wheel_sha256", "gzip", "drop_last_column"),
}


@dataclass(frozen=True)
class Mirror:
    """One place to get a source from, and what to do with what lies there.

    Parameters
    ----------
    kind : str
        ``"path"``, ``"url"`` or ``"wheel"``.
    location : str
        Path relative to a mirror directory (posix), url, or ``name==version`` of a wheel.
    gzip : bool
        Whether what lies there is compressed with gzip.
    member : str, optional
        Path of the file inside the wheel; always given for a wheel.
    wheel_sha256 : str, optional
        Digest of the wheel itself, checked before it is opened.
    drop_last_column : str, optional
        Name of a last tab-separated column that the mirror has and the source has not.
    """

    kind: str
    location: str
    gzip: bool = False
    member: str | None = None
    wheel_sha256: str | None = None
    drop_last_column: str | None = None

    def __str__(self) -> str:
        """Mirror as the messages name it."""
        member = f", member {self.member}" if self.member else ""
        return f"{self.kind} {self.location}{member}"


@dataclass(frozen=True)
class Source:
    """One pinned file.

    Parameters
    ----------
    id : str
        Key in the registry.
    title, release, licence : str
        For the reader and the report.
    file : str
        Local file name under ``resources/``.
    sha256 : str
        Digest of the final file: uncompressed and transformed as the mirror says.
    bytes : int
        Its length in bytes.
    mirrors : tuple of Mirror
        In the order in which mirrors of one kind are tried.
    url : str, optional
        The official address of the file.
    note : str, optional
        What a reader should know about the pinned bytes.
    """

    id: str
    title: str
    release: str
    licence: str
    file: str
    sha256: str
    bytes: int
    mirrors: tuple[Mirror, ...]
    url: str | None = None
    note: str | None = None


class _Loader(yaml.SafeLoader):
    """YAML loader that refuses a key given twice (plain YAML silently keeps the last)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable):
                if key in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"key '{key}' stands twice", key_node.start_mark
                    )
                seen.add(key)
        return super().construct_mapping(node, deep)


def load_registry(path: Path | str) -> dict[str, Source]:
    """Read and check the registry of sources.

    Parameters
    ----------
    path : Path or str
        YAML file: one mapping, source id to entry.

    Returns
    -------
    dict of str to Source
        In the file's order.

    Raises
    ------
    InputError
        If the file is missing or not YAML, or an entry has an unknown or missing key or a value
        of the wrong form; the entry and the key are named.
    """
    try:
        content = yaml.load(Path(path).read_bytes(), _Loader)
    except OSError as error:
        raise InputError(
            "cannot read the registry of sources",
            where=str(path),
            found=error.strerror or str(error),
            expected="a YAML file, one entry a source",
            todo="give the path of sources.yaml",
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(
            "the registry of sources is not YAML",
            where=str(path),
            found=" ".join(str(error).split()),
            expected="one mapping, source id to entry",
            todo="correct the file at that line",
        ) from error
    if not isinstance(content, dict) or not content:
        raise InputError(
            "the registry of sources holds no entry",
            where=str(path),
            found=_kind(content),
            expected="one mapping, source id to entry",
            todo="restore resources/sources.yaml",
        )
    sources: dict[str, Source] = {}
    owners: dict[str, str] = {}
    for key, entry in content.items():
        source = _source(key, entry, path)
        if source.file in owners:
            raise _bad(
                path, source.id, "file", f"{source.file}, also of '{owners[source.file]}'", "a name"
                " that no other entry has",
            )  # fmt: skip
        owners[source.file] = source.id
        sources[source.id] = source
    return sources


def _bad(path: Path | str, entry: str, key: str, found: str, expected: str) -> InputError:
    return InputError(
        f"source '{entry}' is not described correctly",
        where=f"{path}, entry '{entry}', key '{key}'",
        found=found,
        expected=expected,
        todo="correct the entry",
    )


def _kind(value: object) -> str:
    names = {dict: "a mapping", list: "a list", str: "a text", type(None): "nothing"}
    return names.get(type(value), f"{value!r}")


def _source(key: object, entry: object, path: Path | str) -> Source:
    name = str(key)
    if not isinstance(key, str) or not _ID.fullmatch(key):
        raise _bad(path, name, name, repr(key), "an id of letters, digits, dot, dash, underscore")
    if not isinstance(entry, dict):
        raise _bad(path, name, name, _kind(entry), f"a mapping with {', '.join(_REQUIRED)}")
    for unknown in entry.keys() - {*_REQUIRED, *_OPTIONAL}:
        raise _bad(path, name, str(unknown), "an unknown key", ", ".join((*_REQUIRED, *_OPTIONAL)))
    for required in _REQUIRED:
        if required not in entry:
            raise _bad(path, name, required, "no such key", "a value")
    text = {k: _text(entry[k], path, name, k) for k in _TEXT_KEYS}
    file = PurePosixPath(text["file"])
    if file.is_absolute() or ".." in file.parts or str(file) != text["file"]:
        raise _bad(path, name, "file", text["file"], "a file name under resources/")
    if not _SHA256.fullmatch(text["sha256"]):
        raise _bad(path, name, "sha256", text["sha256"], "64 hexadecimal digits in lower case")
    size = entry["bytes"]
    if type(size) is not int or size <= 0:
        raise _bad(path, name, "bytes", repr(size), "the length of the file, a positive integer")
    url = None if entry.get("url") is None else _url(entry["url"], path, name, "url")
    note = None if entry.get("note") is None else _text(entry["note"], path, name, "note")
    if not isinstance(entry["mirrors"], list):
        raise _bad(path, name, "mirrors", _kind(entry["mirrors"]), "a list, empty if there is none")
    mirrors = tuple(
        _mirror(mirror, path, name, f"mirrors[{i}]") for i, mirror in enumerate(entry["mirrors"])
    )
    if url is None and not mirrors:
        raise _bad(path, name, "mirrors", "neither url nor mirror", "a place to get the file from")
    return Source(
        id=name,
        title=text["title"],
        release=text["release"],
        licence=text["licence"],
        file=text["file"],
        sha256=text["sha256"],
        bytes=size,
        mirrors=mirrors,
        url=url,
        note=note,
    )


def _mirror(mirror: object, path: Path | str, name: str, key: str) -> Mirror:
    if not isinstance(mirror, dict):
        raise _bad(path, name, key, _kind(mirror), "a mapping with path, url or wheel")
    kinds = [kind for kind in _MIRROR_KEYS if kind in mirror]
    if len(kinds) != 1:
        raise _bad(path, name, key, ", ".join(map(str, mirror)), "one of path, url, wheel")
    kind = kinds[0]
    allowed = (kind, *_MIRROR_KEYS[kind])
    for unknown in mirror.keys() - set(allowed):
        raise _bad(path, name, f"{key}.{unknown}", "an unknown key", ", ".join(allowed))
    where = f"{key}.{kind}"
    location = _text(mirror[kind], path, name, where)
    if kind == "url":
        _url(location, path, name, where)
    if kind == "path":
        relative = PurePosixPath(location)
        if relative.is_absolute() or ".." in relative.parts:
            raise _bad(path, name, where, location, "a path relative to a mirror directory")
    if kind == "wheel" and not _PINNED_WHEEL.fullmatch(location):
        raise _bad(path, name, where, location, "name==version")
    member = wheel_sha256 = None
    if kind == "wheel":
        if "member" not in mirror:
            raise _bad(path, name, f"{key}.member", "no such key", "the path inside the wheel")
        member = _text(mirror["member"], path, name, f"{key}.member")
        if "wheel_sha256" in mirror:
            wheel_sha256 = _text(mirror["wheel_sha256"], path, name, f"{key}.wheel_sha256")
            if not _SHA256.fullmatch(wheel_sha256):
                raise _bad(
                    path, name, f"{key}.wheel_sha256", wheel_sha256, "64 hexadecimal digits in"
                    " lower case",
                )  # fmt: skip
    compressed = mirror.get("gzip", False)
    if not isinstance(compressed, bool):
        raise _bad(path, name, f"{key}.gzip", repr(compressed), "true or false")
    column = None
    if "drop_last_column" in mirror:
        column = _text(mirror["drop_last_column"], path, name, f"{key}.drop_last_column")
    return Mirror(kind, location, compressed, member, wheel_sha256, column)


def _text(value: object, path: Path | str, name: str, key: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _bad(path, name, key, repr(value), "a text, quoted where YAML would read a number")
    return value


def _url(value: object, path: Path | str, name: str, key: str) -> str:
    url = _text(value, path, name, key)
    if not url.startswith(("https://", "http://")):
        raise _bad(path, name, key, url, "an address that starts with https:// or http://")
    return url


def find_source(registry: dict[str, Source], name: str, path: Path | str) -> Source:
    """Entry of a registry by id.

    Raises
    ------
    InputError
        If there is no such entry; the message lists those there are.
    """
    if name not in registry:
        raise InputError(
            "the source registry has no such entry",
            where=str(path),
            found=name,
            expected=f"one of {', '.join(sorted(registry))}",
            todo="correct the name in the config, or add the source to the registry",
        )
    return registry[name]
