"""Check a merged configuration against its schema and fill in defaults."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import jsonschema
import yaml

try:
    from yaml import CSafeLoader
except ImportError:  # PyYAML was built without the C library
    from yaml import SafeLoader as CSafeLoader

from rarefuse.errors import InputError
from rarefuse.rankers.catalogue import STOCK_METHODS


def parse_yaml(text: str | IO[str]) -> Any:
    """Plain values of a YAML text, read by the parser in C where there is one: ten times as fast.

    Raises
    ------
    yaml.YAMLError
        If it is none, or asks for more than plain values.
    """
    return yaml.load(text, Loader=CSafeLoader)


def load_schema(path: Path | str) -> dict[str, Any]:
    """Read the JSON schema (as YAML) of the configuration."""
    with open(path, encoding="utf-8") as handle:
        schema: dict[str, Any] = parse_yaml(handle)
    return schema


def check_config(config: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Validate a configuration and fill in the defaults that the schema gives.

    Parameters
    ----------
    config : mapping
        As Snakemake merged it from ``config.yaml``, ``--configfile`` and ``--config``.
    schema : mapping
        JSON schema; every object has ``additionalProperties: false``.

    Returns
    -------
    dict
        A copy with every key.

    Raises
    ------
    InputError
        On the first unknown key, wrong type or value, or name that refers to nothing.
    """
    filled: dict[str, Any] = _with_defaults(dict(config), schema)
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(filled))
    if errors:
        raise _explain(min(errors, key=lambda error: (len(error.path), str(error.path))))
    _refer("corpus", filled["corpus"], filled["corpora"], "corpora")
    for key in ("monte_carlo", "query_cap"):
        _refer(f"{key}.ranker", filled[key]["ranker"], filled["rankers"], "rankers")
    for place, names in (
        ("evaluation.rankers", filled["evaluation"]["rankers"]),
        ("null_models.rankers", filled["null_models"]["rankers"]),
        ("matched_deletion.rankers", filled["matched_deletion"]["rankers"]),
        *(("stock_comparison.pairs", pair) for pair in filled["stock_comparison"]["pairs"]),
        ("reranker.rankers", filled["reranker"]["rankers"]),
    ):
        for name in names:
            _refer(place, name, filled["rankers"], "rankers")
    for pair in filled["stock_comparison"]["pairs"]:
        _check_pair(pair, filled["rankers"])
    _check_cross_corpus(filled["cross_corpus"], filled["corpora"])
    for name in filled["evaluation"]["llms"]:
        _refer("evaluation.llms", name, filled["llms"], "llms")
    _check_reviews(filled["mapping_audit"]["reviews"])
    for name in filled["reranker"]["test_only"]:
        _refer("reranker.test_only", name, filled["llms"], "llms")
    for name, corpus in filled["corpora"].items():
        if ("source" in corpus) == ("path" in corpus):
            raise InputError(
                "a corpus needs one place to be read from",
                where=f"config, corpora.{name}",
                found=", ".join(sorted(corpus)),
                expected="either 'source' (an entry of the source registry) or 'path'",
                todo="add one of them, or take one away",
            )
    return filled


def _check_pair(pair: Sequence[str], rankers: Mapping[str, Any]) -> None:
    """Raise `InputError` unless a pair is a ranker of this package and a stock program."""
    stock = [rankers[name]["method"] in STOCK_METHODS for name in pair]
    if stock != [False, True]:
        kinds = ("a ranker of this package", "a stock program")
        raise InputError(
            "stock programs are compared with rankers of this package",
            where="config, stock_comparison.pairs",
            found="; ".join(f"{name}, {kinds[s]}" for name, s in zip(pair, stock, strict=True)),
            expected="first a ranker of this package, then a program, its method one of "
            f"{', '.join(STOCK_METHODS)}",
            todo="exchange the two, or name others",
        )


def _check_reviews(reviews: Sequence[str]) -> None:
    """Raise `InputError` unless there are two reviews, or none yet."""
    if len(set(reviews)) not in (0, 2):
        raise InputError(
            "the audit of names needs the files of two reviewers",
            where="config, mapping_audit.reviews",
            found=", ".join(reviews),
            expected="two different files, or none",
            todo="add the other reviewer's file, or take this one away",
        )


def _check_cross_corpus(settings: Mapping[str, Any], corpora: Mapping[str, Any]) -> None:
    """Raise `InputError` unless the corpora are there and the reference is one of them."""
    for name in settings["corpora"]:
        _refer("cross_corpus.corpora", name, corpora, "corpora")
    if settings["reference"] not in settings["corpora"]:
        raise InputError(
            "the reference corpus is not among the corpora",
            where="config, cross_corpus.reference",
            found=settings["reference"],
            expected=f"one of {', '.join(settings['corpora'])}",
            todo="add it to cross_corpus.corpora",
        )


def _refer(place: str, name: str, known: Iterable[str], section: str) -> None:
    if name not in known:
        raise InputError(
            f"the config names something that is not under '{section}:'",
            where=f"config, {place}",
            found=name,
            expected=f"one of {', '.join(sorted(known))}",
            todo=f"correct the name, or add an entry under '{section}:'",
        )


def _with_defaults(value: Any, schema: Mapping[str, Any]) -> Any:
    """Copy of `value` with the schema's defaults for absent keys, at every depth."""
    if not isinstance(value, Mapping):
        return value
    filled = dict(value)
    for key, below in schema.get("properties", {}).items():
        if key not in filled and "default" in below:
            filled[key] = below["default"]
        if key in filled:
            filled[key] = _with_defaults(filled[key], below)
    others = schema.get("additionalProperties")
    if isinstance(others, Mapping):
        for key in filled.keys() - schema.get("properties", {}).keys():
            filled[key] = _with_defaults(filled[key], others)
    return filled


def _explain(error: jsonschema.ValidationError) -> InputError:
    """Turn a validator's finding into an error that says where, what and what instead."""
    place = ".".join(map(str, error.absolute_path))
    where = f"config, {place}" if place else "config, top level"
    if error.validator == "additionalProperties":
        known = sorted(error.schema.get("properties", {}))
        unknown = sorted(set(error.instance) - set(known))
        return InputError(
            "the config has an unknown key",
            where=where,
            found=", ".join(unknown),
            expected=f"one of {', '.join(known)}",
            todo="correct the spelling or remove the key; workflow/schemas/config.schema.yaml "
            "describes every key",
        )
    if error.validator == "required":
        absent = [key for key in error.validator_value if key not in error.instance]
        return InputError(
            "the config lacks a key",
            where=where,
            found=", ".join(sorted(error.instance)) or "nothing",
            expected=", ".join(absent),
            todo="add it; an overlay alone is not enough where Snakemake runs in a folder without "
            "config.yaml (name that file first: --configfile config.yaml OVERLAY)",
        )
    if place.endswith(".api_key_env"):
        # Whoever writes a key there by mistake does not want to read it again in a log.
        return InputError(
            "the config has something else where the name of an environment variable belongs",
            where=where,
            found="not shown, it may be a key",
            expected="letters, digits and '_', the name of the variable that holds the key",
            todo="put the key into the environment, and the variable's name here",
        )
    if error.validator in ("pattern", "not") and "propertyNames" in error.absolute_schema_path:
        return InputError(
            "the config has a name that cannot be used",
            where=where,
            found=repr(error.instance),
            expected="letters, digits, '-' and '_', not 'knowledge' (it becomes a folder's name)",
            todo="choose another name",
        )
    meaning = error.schema.get("description", "")
    return InputError(
        "the config has a value that cannot be used",
        where=where,
        found=repr(error.instance),
        expected=f"{meaning} ({error.message})" if meaning else error.message,
        todo="correct the value",
    )
