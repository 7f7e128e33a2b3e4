"""The rankers there are, by the method name that the config gives. Light: imports none of them.

Adding a ranker is one class with the interface of `rarefuse.rankers.base.Ranker` and one line
here; its dataclass fields are the options that the config may set.
"""

import importlib
from collections.abc import Mapping
from typing import Any

from rarefuse.codedigest import class_fields
from rarefuse.errors import InputError

METHODS = {
    "resnik": ("rarefuse.rankers.semantic", "Resnik"),
    "bma": ("rarefuse.rankers.semantic", "BestMatchAverage"),
    "phenomizer": ("rarefuse.rankers.phenomizer", "Phenomizer"),
    "nb-lr": ("rarefuse.rankers.likelihood", "NaiveBayes"),
    "lirical": ("rarefuse.rankers.lirical", "Lirical"),
    "lirical-stock": ("rarefuse.rankers.stock.lirical", "LiricalStock"),
    "phenomizer-java": ("rarefuse.rankers.stock.phenomizer", "PhenomizerJava"),
    "pheval": ("rarefuse.pheval.ranker", "PhevalResults"),
}
"""Method → module and class."""

STOCK_METHODS = ("lirical-stock", "phenomizer-java", "pheval")
"""Methods that run an outside program, or read what one left
(`rarefuse.rankers.stock.run.StockProgram`)."""


def resolve_options(
    ranker: str, configured: Mapping[str, Mapping[str, Any]]
) -> tuple[str, dict[str, Any]]:
    """Method and options of a ranker id.

    Parameters
    ----------
    ranker : str
        Id in the config's ``rankers``, or a variant of one: ``ID.seed3`` (another seed) or
        ``ID.uncapped`` (a null of its own for every query size).
    configured : mapping
        The config's ``rankers``: id → method and options.

    Returns
    -------
    method : str
        Key of `METHODS`.
    options : dict
        Fields of the ranker's class.

    Raises
    ------
    InputError
        If there is no such ranker, method or variant.
    """
    base, _, variant = ranker.partition(".")
    if base not in configured:
        raise InputError(
            "unknown ranker",
            where="config, rankers",
            found=base,
            expected=f"one of {', '.join(sorted(configured))}",
            todo="correct the name, or add an entry under 'rankers:'",
        )
    options = dict(configured[base])
    method = options.pop("method")
    if method not in METHODS:
        raise InputError(
            "unknown ranking method",
            where=f"config, rankers.{base}.method",
            found=str(method),
            expected=f"one of {', '.join(sorted(METHODS))}",
            todo="correct the method",
        )
    if method in STOCK_METHODS and variant:
        raise InputError(
            "a stock program has no variants",
            where="requested results",
            found=ranker,
            expected=base,
        )
    if variant == "uncapped":
        options["max_query_size"] = None
    elif variant.startswith("seed") and variant[4:].isdigit():
        options["seed"] = int(variant[4:])
    elif variant:
        raise InputError(
            "unknown variant of a ranker",
            where="requested results",
            found=ranker,
            expected=f"{base}, {base}.seedN or {base}.uncapped",
        )
    return method, options


def check_options(ranker: str, method: str, options: Mapping[str, Any]) -> None:
    """Refuse an option that a method does not have, before anything runs.

    The fields of the ranker's dataclass are read from its source, since importing it would
    compile its kernels.

    Raises
    ------
    InputError
        Naming the ranker and the option.
    """
    fields = class_fields(*METHODS[method])
    for option in options:
        if option not in fields:
            raise InputError(
                f"the ranking method '{method}' has no such option",
                where=f"config, rankers.{ranker}",
                found=option,
                expected=", ".join(fields) or "no option",
                todo="correct the config",
            )
    missing = [field for field, has_default in fields.items() if not has_default]
    if absent := [field for field in missing if field not in options]:
        raise InputError(
            f"the ranking method '{method}' needs more options",
            where=f"config, rankers.{ranker}",
            found=", ".join(options) or "no option",
            expected=f"also {', '.join(absent)}",
            todo="add them; docs/rankers.md shows an entry",
        )


def make_ranker(method: str, options: Mapping[str, Any]) -> Any:
    """Build the ranker of a method, its options checked."""
    check_options(method, method, options)
    module, name = METHODS[method]
    plain = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
    return getattr(importlib.import_module(module), name)(**plain)
