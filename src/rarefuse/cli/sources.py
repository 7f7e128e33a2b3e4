"""Fetching the sources of the registry, and checking a fetched file again."""

import os
from pathlib import Path

from rarefuse.cli.arguments import FROM_SOURCE, Arguments, Commands, needed


def _fetch(a: Arguments) -> None:
    from rarefuse.sources.fetch import fetch
    from rarefuse.sources.registry import find_source, load_registry

    source = find_source(load_registry(a.registry), a.source, a.registry)
    folders = [
        *a.mirror_dir,
        *filter(None, os.environ.get("RAREFUSE_MIRROR_DIRS", "").split(os.pathsep)),
    ]
    offline = a.offline or bool(os.environ.get("RAREFUSE_OFFLINE"))
    fetch(source, a.output, mirror_dirs=folders, offline=offline)


def verify_again(a: Arguments, path: Path) -> None:
    """Check a fetched file again before it is read: it may have changed since."""
    if a.source_id:
        from rarefuse.sources.fetch import verify
        from rarefuse.sources.registry import find_source, load_registry

        verify(path, find_source(load_registry(a.registry), a.source_id, a.registry))


COMMANDS: Commands = {
    "fetch": (
        _fetch,
        "fetch and verify a source of the registry",
        {
            "source": {"type": str, "help": "registry entry"},
            **needed(output="file to write"),
            "--registry": FROM_SOURCE["--registry"],
            "--mirror-dir": {
                "action": "append",
                "default": [],
                "help": "look here first, then in RAREFUSE_MIRROR_DIRS",
            },
            "--offline": {
                "action": "store_true",
                "help": "never download; also RAREFUSE_OFFLINE=1",
            },
        },
    ),
}
