"""The readers of case corpora, by the name that the config gives them."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rarefuse.corpus.build import Corpus
from rarefuse.corpus.phenopackets import read_phenopackets
from rarefuse.corpus.pheval import read_pheval
from rarefuse.corpus.rarebench import read_rarebench
from rarefuse.corpus.terms import TermResolver
from rarefuse.errors import InputError

__all__ = ["READERS", "Corpus", "read_corpus"]

READERS: dict[str, Callable[..., Corpus]] = {
    "phenopackets": read_phenopackets,
    "pheval": read_pheval,
    "rarebench": read_rarebench,
}
"""A reader is called ``(name, path, resolver, **options)`` and returns a `Corpus`."""


def read_corpus(
    reader: str,
    name: str,
    path: Path | str,
    resolver: TermResolver,
    options: Mapping[str, Any] | None = None,
) -> Corpus:
    """Read a corpus with the reader that the config names.

    Parameters
    ----------
    reader : str
        Key of `READERS`.
    name : str
        Corpus; part of the hashed case ids.
    path : Path or str
        Its source.
    resolver : TermResolver
        The ontology.
    options : mapping, optional
        The reader's own options.

    Raises
    ------
    InputError
        If there is no such reader or it has no such option, or as the reader raises.
    """
    if reader not in READERS:
        raise InputError(
            f"corpus '{name}' names a reader that does not exist",
            where=f"corpora.{name}.reader in the config",
            found=reader,
            expected=", ".join(sorted(READERS)),
            todo="correct the config",
        )
    allowed = list(inspect.signature(READERS[reader]).parameters)[3:]
    for option in options or {}:
        if option not in allowed:
            raise InputError(
                f"the reader '{reader}' has no such option",
                where=f"corpora.{name} in the config",
                found=option,
                expected=", ".join(allowed) or "no option",
                todo="correct the config",
            )
    return READERS[reader](name, path, resolver, **(options or {}))
