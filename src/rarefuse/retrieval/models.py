"""Centroid tables and search lists on disk."""

import json
from collections.abc import Mapping
from pathlib import Path

from rarefuse.retrieval.centroid import CentroidTable
from rarefuse.retrieval.tensors import reading, write_tensors


def write_tables(tables: Mapping[str, CentroidTable], path: Path) -> None:
    """Write named tables as one safetensors file, c and τ in its metadata."""
    meta = {
        name: {"origin": table.origin, "temperature": table.temperature}
        for name, table in tables.items()
    }
    write_tensors(
        {name: table.u for name, table in tables.items()},
        path,
        {"tables": json.dumps(meta, sort_keys=True)},
    )


def read_tables(path: Path) -> dict[str, CentroidTable]:
    """Read what `write_tables` wrote.

    Raises
    ------
    InputError
        If the file is missing or damaged.
    """
    with reading(path, "hyperbolic tables") as file:
        return {
            name: CentroidTable(file.get_tensor(name), m["origin"], m["temperature"])
            for name, m in json.loads(file.metadata()["tables"]).items()
        }
