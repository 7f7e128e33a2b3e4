"""The reference of every key of the configuration, from its schema."""

import ast
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rarefuse.codedigest import module_tree
from rarefuse.corpus.readers import READERS
from rarefuse.llm.catalogue import BACKENDS
from rarefuse.manual.markdown import cell, code, table
from rarefuse.rankers.catalogue import METHODS

_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "section",
    "null": "null",
}
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}
_COUNTS = {"minItems": "at least", "maxItems": "at most"}


@dataclass(frozen=True)
class Key:
    """One key of the configuration.

    Parameters
    ----------
    path : str
        Dotted, a name that the user gives in capitals: ``rankers.NAME.seed``.
    schema : mapping
        Its part of the schema.
    needed : bool
        Whether the section it stands in needs it.
    """

    path: str
    schema: Mapping[str, Any]
    needed: bool


def keys(schema: Mapping[str, Any], path: str = "") -> Iterator[Key]:
    """Every key below a section, sections before what they hold."""
    needed = schema.get("required", [])
    for name, below in schema.get("properties", {}).items():
        key = Key(f"{path}{name}", below, name in needed)
        yield key
        yield from keys(below, f"{key.path}.")
    entry = schema.get("additionalProperties")
    if isinstance(entry, Mapping):
        yield Key(f"{path}NAME", entry, False)
        yield from keys(entry, f"{path}NAME.")


def allowed(schema: Mapping[str, Any]) -> str:
    """Type and allowed values in words, as Markdown."""
    if "const" in schema:
        return code(str(schema["const"]))
    if "enum" in schema:
        return "one of " + ", ".join(code(str(value)) for value in schema["enum"])
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "object" in kinds and schema.get("additionalProperties") is True:
        return "section, any keys"
    parts = [" or ".join(_TYPES[kind] for kind in kinds) or "any value"]
    if "items" in schema:
        parts[0] += f" of {allowed(schema['items'])}"
    if schema.get("uniqueItems"):
        parts.append("each once")
    parts += [f"{words} {schema[k]}" for k, words in _BOUNDS.items() if k in schema]
    if schema.get("minLength") == 1:
        parts.append("not empty")
    if "minItems" in schema and schema["minItems"] == schema.get("maxItems"):
        parts.append(f"exactly {schema['minItems']} entries")
    else:
        parts += [f"{words} {_entries(schema[k])}" for k, words in _COUNTS.items() if k in schema]
    if "pattern" in schema:
        parts.append(f"matching {code(schema['pattern'])}")
    parts += [f"{allowed(part['contains'])} among them" for part in _parts(schema)]
    return ", ".join(parts)


def _parts(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [part for part in (schema, *schema.get("allOf", [])) if "contains" in part]


def _entries(number: int) -> str:
    return f"{number} {'entry' if number == 1 else 'entries'}"


def class_defaults(module: str, name: str) -> dict[str, str | None]:
    """Fields of a dataclass with their defaults as JSON, read from its source.

    The module is not imported, since that would compile its kernels.

    Returns
    -------
    dict
        Field → default; None for a field that must be given.
    """
    tree = module_tree(module)
    (body,) = (n.body for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    return {
        node.target.id: None if node.value is None else _value(node.value, module)
        for node in body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def _value(node: ast.expr, module: str) -> str:
    """JSON of a default: a literal, a constant, a shifted number, or an empty container.

    Raises
    ------
    ValueError
        If it is anything else, which nobody could read off a page either.
    """
    match node:
        case ast.Name(id=name):
            return _constant(name, module)
        case ast.Call(keywords=[ast.keyword(arg="default_factory", value=ast.Name(id=factory))]):
            return {"dict": "{}", "list": "[]", "tuple": "[]"}[factory]
        case ast.BinOp(left=ast.Constant(value=int(left)), op=ast.LShift(), right=ast.Constant(r)):
            return json.dumps(left << int(str(r)))
    return json.dumps(ast.literal_eval(node))


def _constant(name: str, module: str) -> str:
    """JSON of a constant that a module of this package assigns, or imports from another."""
    for node in module_tree(module).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                return _value(value, module)
            case ast.ImportFrom(module=str(other), names=names):
                if any(alias.name == name for alias in names):
                    return _constant(name, other)
    raise ValueError(f"{module} has no constant {name}")


def _reader_defaults(reader: str) -> dict[str, str | None]:
    parameters = list(inspect.signature(READERS[reader]).parameters.values())[3:]
    return {
        p.name: None if p.default is p.empty else json.dumps(p.default, default=list)
        for p in parameters
    }


def entry_defaults() -> dict[str, dict[str, dict[str, str | None]]]:
    """Defaults that no schema has, since they depend on an entry's kind.

    Returns
    -------
    dict
        Section → kind of entry (method, back end, reader) → option → default as JSON, None for an
        option that the kind needs.
    """
    return {
        "rankers": {kind: class_defaults(*place) for kind, place in METHODS.items()},
        "llms": {kind: class_defaults(*place) for kind, place in BACKENDS.items()},
        "corpora": {kind: _reader_defaults(kind) for kind in READERS},
    }


def _default(key: Key, kinds: Mapping[str, Mapping[str, Mapping[str, str | None]]]) -> str:
    if "default" in key.schema:
        return "" if key.schema["default"] == {} else code(json.dumps(key.schema["default"]))
    if key.needed:
        return "needed"
    if key.path.endswith("NAME"):
        return ""
    section, _, option = key.path.partition(".NAME.")
    having = {
        kind: fields[option] for kind, fields in kinds.get(section, {}).items() if option in fields
    }
    if not having:
        return "none"
    shown = {k: "needed" if v is None else code(v) for k, v in having.items()}
    if len(set(shown.values())) == 1:
        return next(iter(shown.values()))
    return ", ".join(f"{value} ({kind})" for kind, value in shown.items())


def config_page(schema: Mapping[str, Any]) -> str:
    """Markdown of the whole page.

    Parameters
    ----------
    schema : mapping
        As ``workflow/schemas/config.schema.yaml`` has it.
    """
    kinds = entry_defaults()
    head = ("key", "type and allowed values", "default", "meaning")
    parts = [
        "# Every key of the configuration\n",
        "Made from `workflow/schemas/config.schema.yaml`, which every run is checked against: an "
        "unknown key, a wrong type or a name that leads nowhere stops it with a message. `NAME` "
        "stands for a name of your own. *Needed*: there is no default. *None*: the key may be "
        "left out. Where a description begins with names and a colon, the key belongs to entries "
        "of these methods, back ends or readers only; a back end or method refuses options that it "
        "does not have.\n",
    ]
    single = []
    sections = []
    for name, below in schema["properties"].items():
        own = Key(name, below, name in schema.get("required", []))
        inside = list(keys(below, f"{name}."))
        if not inside:
            single.append(own)
            continue
        described = below["description"]
        sections.append(f"## {name}\n\n{described[0].upper()}{described[1:]}.\n")
        sections.append(table(head, (_row(key, kinds) for key in inside)))
    parts += ["## At the top level\n", table(head, (_row(key, kinds) for key in single))]
    return "\n".join([*parts, *sections])


def _row(key: Key, kinds: Mapping[str, Mapping[str, Mapping[str, str | None]]]) -> list[str]:
    return [
        code(key.path),
        allowed(key.schema),
        _default(key, kinds),
        cell(key.schema["description"]),
    ]
