"""The reference of every artifact, from the schemas that are declared in the code."""

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rarefuse.artifacts import Column, Schema
from rarefuse.codedigest import PACKAGE, ROOT, module_tree
from rarefuse.manual.markdown import cell, code, table

_KNOWLEDGE = "knowledge/{hpo}_{hpoa}"
_LLM = "{corpus}/llm/{arm}"
_SET = "retrieval/{set}"

FILES = {
    **{
        name: f"{_KNOWLEDGE}/{name}.parquet"
        for name in (
            "terms", "aliases", "annotations", "diseases", "relations", "information_content",
            "annotation_problems", "lexicon", "crosswalk",
        )
    },
    **{
        name: f"{{corpus}}/{name}.parquet"
        for name in (
            "cases", "skipped", "withheld", "view", "splits", "audit", "lopo", "deletions",
        )
    },
    **{
        name: f"{_LLM}/{name}.parquet"
        for name in ("completions", "names", "recorded_problems", "mapping")
    },
    "completion_shard": f"{_LLM}/shards/{{digest}}/{{number}}.parquet",
    "llm_ranking": f"{_LLM}/ranking.parquet",
    "rankings": "{corpus}/rankings/{ranker}/{protocol}.parquet",
    "gold_ranks": "{corpus}/**/gold_ranks.parquet, {corpus}/gold_ranks/{ranker}/{protocol}.parquet",
    "stock_answer": "{corpus}/stock/{ranker}/**/*.parquet",
    "stock_failures": "{corpus}/rankings/{ranker}/failures.parquet",
    "features": "{corpus}/features/{component}/{protocol}/{arm}.parquet",
    "full_places": "{corpus}/full_places/{ranker}/{protocol}.parquet",
    "fused_ranks": "{corpus}/fused_ranks/{component}/{protocol}/{suite}/{arm}.parquet",
    "fused": "{corpus}/fused/{method}/{arm}.parquet",
    "reranked": "{corpus}/reranked/{target}/ranking.parquet",
    **{
        name: f"{_SET}/{name}.parquet" for name in ("nodes", "edges", "queries", "parsed")
    },
    "retrieval_skipped": f"{_SET}/skipped.parquet",
    "lists": f"{_SET}/lists/{{system}}.seed{{seed}}.parquet",
    "table": f"{{corpus}}/tables/{{table}}.parquet, {_SET}/tables/{{table}}.parquet",
}  # fmt: skip
"""Schema's name → where its files lie below the results folder."""


@dataclass(frozen=True)
class Declared:
    """A schema and where it is declared.

    Parameters
    ----------
    module, variable : str
        Such as ``rarefuse.corpus.cases`` and ``CASES``.
    schema : Schema
        What it declares.
    """

    module: str
    variable: str
    schema: Schema


def declared() -> list[Declared]:
    """Every schema that a module of this package declares at its top level, in their order.

    Modules are found by their source and imported one by one; those without a schema never are.
    """
    return [
        Declared(module, variable, getattr(importlib.import_module(module), variable))
        for path in sorted(ROOT.rglob("*.py"))
        for module in [_module(path.relative_to(ROOT).with_suffix("").parts)]
        for variable in _variables(module)
    ]


def _module(parts: tuple[str, ...]) -> str:
    return ".".join((PACKAGE, *(part for part in parts if part != "__init__")))


def _variables(module: str) -> Iterator[str]:
    for node in module_tree(module).body if module != PACKAGE else ():
        match node:
            case ast.Assign(
                targets=[ast.Name(id=variable)], value=ast.Call(func=ast.Name(id="Schema"))
            ):
                yield variable


def artifacts_page() -> str:
    """Markdown of the whole page."""
    parts = [
        "# Every artifact\n",
        "Made from the schemas in the code, which are checked when a file is written and when it "
        "is read. Paths are below the results folder; `{hpo}_{hpoa}` are the ids of the two "
        "releases. A file says which schema it has: "
        "[reading results](../how-to/read-results.md#what-a-file-says-of-itself) shows how. "
        "A column that may be null is marked.\n",
    ]
    for entry in declared():
        schema = entry.schema
        where = FILES.get(schema.name)
        parts.append(f"## {schema.name}\n")
        parts.append(
            (", ".join(map(code, where.split(", "))) + ". " if where else "")
            + f"Declared as {code(f'{entry.module}.{entry.variable}')}. "
            + (f"One row for each {', '.join(map(code, schema.key))}." if schema.key else "")
            + "\n"
        )
        head = ("column", "type", "unit", "meaning")
        parts.append(table(head, map(_row, schema.columns)))
    return "\n".join(parts)


def _row(column: Column) -> list[str]:
    null = " (may be null)" if column.nullable else ""
    return [code(column.name), _type(column.dtype) + null, cell(column.unit), cell(column.meaning)]


def _type(dtype: Any) -> str:
    """Name of a Polars type, such as ``List(String)``."""
    return cell(str(dtype))
