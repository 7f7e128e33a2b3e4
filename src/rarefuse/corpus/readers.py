"""The readers of case corpora, by the name that the config gives them."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rarefuse import artifacts
from rarefuse.corpus.build import Corpus
from rarefuse.corpus.cases import CASES, SKIPPED, WITHHELD
from rarefuse.corpus.hpoa_cases import read_hpoa_cases
from rarefuse.corpus.phenopackets import read_phenopackets
from rarefuse.corpus.pheval import read_pheval
from rarefuse.corpus.rarebench import read_rarebench
from rarefuse.corpus.tabular import read_table
from rarefuse.corpus.terms import TermResolver
from rarefuse.errors import InputError
from rarefuse.ontology import read_ontology

__all__ = ["READERS", "Corpus", "read_corpus", "reader_options"]

READERS: dict[str, Callable[..., Corpus]] = {
    "hpoa": read_hpoa_cases,
    "phenopackets": read_phenopackets,
    "pheval": read_pheval,
    "rarebench": read_rarebench,
    "table": read_table,
}
"""A reader is called ``(name, path, resolver, **options)`` and returns a `Corpus`."""


def reader_options(reader: str) -> list[str]:
    """Names of the options that a reader of `READERS` has."""
    return list(inspect.signature(READERS[reader]).parameters)[3:]


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
    allowed = reader_options(reader)
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


def corpus_stage(
    *,
    name: str,
    reader: str,
    source: Path,
    options: Mapping[str, Any],
    terms: Path,
    aliases: Path,
    cases: Path,
    skipped: Path,
    withheld: Path,
) -> None:
    """Read a corpus and write `CASES`, `SKIPPED` and `WITHHELD`."""
    corpus = read_corpus(reader, name, source, read_ontology(terms, aliases), options)
    artifacts.write(corpus.skipped, SKIPPED, skipped)
    artifacts.write(corpus.withheld, WITHHELD, withheld)
    artifacts.write(corpus.cases, CASES, cases)
