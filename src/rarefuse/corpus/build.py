"""What every reader ends with: raw records → checked, sorted case, skipped and withheld frames."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from rarefuse.corpus.cases import CASES, SKIPPED, WITHHELD, case_id
from rarefuse.corpus.terms import Resolved, Skip, TermResolver, normalise_terms
from rarefuse.errors import InputError

REPEATED = "record stands twice"
UNKNOWN_SEX = "sex not understood"
NO_PUBLICATION = "no publication named by a PMID"

SEXES = {"FEMALE", "MALE", "OTHER_SEX"}


@dataclass(frozen=True)
class Corpus:
    """A corpus as every later stage reads it.

    Parameters
    ----------
    cases, skipped, withheld : polars.DataFrame
        With the schemas of `rarefuse.corpus.cases`, checked and sorted.
    """

    cases: pl.DataFrame
    skipped: pl.DataFrame
    withheld: pl.DataFrame


@dataclass
class RawCase:
    """One record as its source has it.

    Parameters
    ----------
    record : str
        Unique name of the record in the corpus.
    gold_id : str
        Diagnosis, CURIE.
    observed, excluded : list
        Term ids as written, in order.
    publication_id, gold_label, sex, age_days, onset : optional
        As in the case table; a sex other than FEMALE, MALE or OTHER_SEX becomes null and is
        reported unless it is UNKNOWN_SEX.
    withheld : set of (str, str)
        Pairs of kind and value that no system may see.
    """

    record: str
    gold_id: str
    observed: list[object]
    excluded: list[object]
    publication_id: str | None = None
    gold_label: str | None = None
    sex: object = None
    age_days: float | None = None
    onset: str | None = None
    withheld: set[tuple[str, str]] = field(default_factory=set)


class CachedResolver:
    """The same resolver, each id asked once: a corpus repeats few ids many times."""

    def __init__(self, resolver: TermResolver) -> None:
        self._resolver = resolver
        self._resolved: dict[str, Resolved] = {}
        self._phenotypic: dict[str, bool] = {}

    def resolve(self, term_id: str) -> Resolved:
        """As `TermResolver.resolve`."""
        if term_id not in self._resolved:
            self._resolved[term_id] = self._resolver.resolve(term_id)
        return self._resolved[term_id]

    def is_phenotypic(self, term_id: str) -> bool:
        """As `TermResolver.is_phenotypic`."""
        if term_id not in self._phenotypic:
            self._phenotypic[term_id] = self._resolver.is_phenotypic(term_id)
        return self._phenotypic[term_id]


def build(
    name: str,
    path: Path | str,
    records: Iterable[RawCase | Skip],
    resolver: TermResolver,
) -> Corpus:
    """Normalise the terms of raw records and build the frames.

    Parameters
    ----------
    name : str
        Corpus, part of the hashed case id.
    path : Path or str
        Its source, for messages.
    records : iterable of RawCase or Skip
        What the reader found, in any order; a Skip goes to the skipped table.
    resolver : TermResolver
        The ontology.

    Returns
    -------
    Corpus
        A case without an observed term stays in it; a later stage counts it as not rankable.

    Raises
    ------
    InputError
        If no case is left; the reasons are counted in the message.
    """
    resolver = CachedResolver(resolver)
    cases: dict[str, tuple[object, ...]] = {}
    skipped: list[Skip] = []
    withheld: list[tuple[str, str, str]] = []
    for raw in records:
        if isinstance(raw, Skip):
            skipped.append(raw)
            continue
        if raw.record in cases:
            skipped.append(Skip(raw.record, "case", REPEATED, f"the first is kept; {raw.gold_id}"))
            continue
        observed, excluded, left_out = normalise_terms(
            raw.record, raw.observed, raw.excluded, resolver
        )
        skipped += left_out
        sex = raw.sex if isinstance(raw.sex, str) and raw.sex in SEXES else None
        if sex is None and raw.sex not in (None, "UNKNOWN_SEX"):
            skipped.append(Skip(raw.record, "field", UNKNOWN_SEX, str(raw.sex)[:80]))
        identity = case_id(name, raw.record)
        cases[raw.record] = (
            identity,
            raw.record,
            raw.publication_id,
            raw.gold_id,
            raw.gold_label,
            sex,
            raw.age_days,
            raw.onset,
            observed,
            excluded,
        )
        withheld += [(identity, kind, value) for kind, value in raw.withheld if value.strip()]
    if not cases:
        raise InputError(
            f"corpus '{name}' has no usable case",
            where=str(path),
            found=_counted(skipped) or "no record",
            expected="at least one record with a gold disease",
            todo="check that the path and the reader belong together",
        )
    corpus = Corpus(
        pl.DataFrame(list(cases.values()), CASES.dtypes, orient="row").sort("record"),
        pl.DataFrame(skipped, SKIPPED.dtypes, orient="row").sort(
            "record", "level", "reason", "detail", nulls_last=True
        ),
        pl.DataFrame(withheld, WITHHELD.dtypes, orient="row").sort("case_id", "kind", "value"),
    )
    for frame, schema in (
        (corpus.cases, CASES),
        (corpus.skipped, SKIPPED),
        (corpus.withheld, WITHHELD),
    ):
        schema.check(frame, str(path))
    return corpus


def _counted(skipped: Iterable[Skip]) -> str:
    reasons = Counter(skip.reason for skip in skipped if skip.level in ("case", "file"))
    return ", ".join(f"{count} × {reason}" for reason, count in sorted(reasons.items()))


def check_file(name: str, path: Path | str) -> Path:
    """`path`, if it is a file; else one `InputError`."""
    path = Path(path)
    if not path.is_file():
        raise InputError(
            f"corpus '{name}' is missing",
            where=str(path),
            found="a folder" if path.is_dir() else "no such file",
            expected="a file",
            todo="fetch the source, or correct the path",
        )
    return path


def unreadable(name: str, path: Path | str, error: OSError) -> InputError:
    """The error for a corpus file that the system does not let us read."""
    return InputError(
        f"corpus '{name}' cannot be read",
        where=str(path),
        found=error.strerror or str(error),
        expected="a file that may be read",
        todo="check the path and its permissions",
    )


def numbered_lines(name: str, path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, with their numbers from 1."""
    try:
        with path.open("rb") as handle:
            for number, line in enumerate(handle, start=1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise unreadable(name, path, error) from error
