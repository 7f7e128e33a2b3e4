"""Centroid tables and search lists on disk."""

import json
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from rarefuse.artifacts import replacing
from rarefuse.errors import InputError
from rarefuse.retrieval.centroid import CentroidTable


def write_tables(tables: Mapping[str, CentroidTable], path: Path) -> None:
    """Write named tables as one safetensors file, c and τ in its metadata."""
    meta = {
        name: {"origin": table.origin, "temperature": table.temperature}
        for name, table in tables.items()
    }
    with replacing(path) as temporary:
        save_file(
            {name: table.u for name, table in tables.items()},
            temporary,
            metadata={"tables": json.dumps(meta, sort_keys=True)},
        )


def read_tables(path: Path) -> dict[str, CentroidTable]:
    """Read what `write_tables` wrote.

    Raises
    ------
    InputError
        If the file is missing or damaged.
    """
    try:
        with safe_open(path, "numpy") as file:
            meta = json.loads(file.metadata()["tables"])
            return {
                name: CentroidTable(file.get_tensor(name), m["origin"], m["temperature"])
                for name, m in meta.items()
            }
    except (OSError, SafetensorError, KeyError, TypeError) as error:
        raise InputError(
            "hyperbolic tables cannot be read",
            where=str(path),
            found=str(error),
            todo="run the workflow so that they are made again",
        ) from error
