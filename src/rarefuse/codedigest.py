"""Digest of the code a stage runs, so that Snakemake reruns what an edit touches.

Snakemake sees the shell command of a rule but not the package behind it. A rule therefore takes
the digest of its modules as a parameter: the entry modules and everything of this package that
they import, found by reading their source and never by importing it (the Snakefile is parsed by
every job). Comments, docstrings and layout do not count.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = "rarefuse"
ROOT = Path(__file__).parent


def code_digest(*modules: str) -> str:
    """Digest of modules and all that they import from this package.

    Parameters
    ----------
    *modules : str
        Dotted names, such as ``rarefuse.rankers.semantic``.

    Returns
    -------
    str
        16 hexadecimal digits.

    Raises
    ------
    ModuleNotFoundError
        If a module has no source file in this package.
    """
    together = hashlib.sha256()
    for module in sorted(closure(*modules)):
        together.update(f"{module} {_source_digest(module)}\n".encode())
    return together.hexdigest()[:16]


def closure(*modules: str) -> set[str]:
    """Names of the modules and of all they import from this package, directly or not."""
    found: set[str] = set()
    todo = list(modules)
    while todo:
        module = todo.pop()
        if module not in found:
            found.add(module)
            todo += _imports(module)
    return found


def _path(module: str) -> Path | None:
    parts = module.split(".")
    if parts[0] != PACKAGE:
        return None
    base = ROOT.joinpath(*parts[1:])
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def module_tree(module: str) -> ast.Module:
    """Syntax tree of a module of this package, read and not imported."""
    path = _path(module)
    if path is None:
        raise ModuleNotFoundError(f"no source of {module} below {ROOT}")
    return ast.parse(path.read_text(encoding="utf-8"))


def class_fields(module: str, name: str) -> dict[str, bool]:
    """Annotated fields of a class of this package, such as a dataclass's, read from its source.

    Returns
    -------
    dict
        Field → whether it has a default.
    """
    (body,) = (
        node.body
        for node in module_tree(module).body
        if isinstance(node, ast.ClassDef) and node.name == name
    )
    return {
        node.target.id: node.value is not None
        for node in body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


@cache
def _imports(module: str) -> tuple[str, ...]:
    found = []
    for node in ast.walk(module_tree(module)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            # `from a.b import c` runs a.b, and a.b.c too if that is a module.
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(name for name in found if _path(name) is not None and name != PACKAGE)


@cache
def _source_digest(module: str) -> str:
    tree = ast.parse(ast.unparse(module_tree(module)))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and isinstance(body[0].value.value, str)
        ):
            body[0].value.value = ""
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()
