"""What a diagnosis takes from the workflow's configuration."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from rarefuse.config import check_config, load_schema, parse_yaml
from rarefuse.errors import InputError
from rarefuse.sources.registry import load_registry
from rarefuse.workflow import Run

SCHEMA = Path("workflow/schemas/config.schema.yaml")
CHECKOUT = Path(__file__).parents[3]


def read_run(configs: Sequence[Path]) -> Run:
    """The run that some configuration files describe.

    Parameters
    ----------
    configs : sequence of Path
        The first is whole, the others are laid over it in turn, as Snakemake's ``--configfile``
        does. Paths in it count from the folder of the first.

    Raises
    ------
    InputError
        If a file is missing or wrong.
    """
    base = configs[0].resolve().parent
    merged: dict[str, Any] = {}
    for path in configs:
        merged = _laid_over(merged, _read(path))
    schema = next((p for p in (base / SCHEMA, CHECKOUT / SCHEMA) if p.is_file()), None)
    if schema is None:
        raise InputError(
            "the schema of the configuration is missing",
            where=str(base / SCHEMA),
            expected="a checkout of rarefuse around the configuration",
            todo="name the checkout's config.yaml with --config",
        )
    config = check_config(merged, load_schema(schema))
    config["results"] = str(base / config["results"])
    registry = base / config["sources"]["registry"]
    return Run(config, load_registry(registry))


def _read(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        found = parse_yaml(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(
            "the configuration cannot be read",
            where=str(path),
            found=str(error).splitlines()[0],
            expected="the config.yaml of a checkout of rarefuse",
            todo="run in the checkout's folder, or name the file with --config",
        ) from error
    if not isinstance(found, dict):
        raise InputError(
            "the configuration is no mapping",
            where=str(path),
            found=type(found).__name__,
            expected="keys as in config.yaml",
        )
    return found


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        both = isinstance(value, Mapping) and isinstance(old, Mapping)
        merged[key] = _laid_over(old, value) if both else value  # type: ignore[arg-type]
    return merged
