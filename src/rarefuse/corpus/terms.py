"""Terms of a record → current, distinct phenotypic terms, with a row for whatever changed."""

import re
from collections.abc import Iterable
from typing import NamedTuple, Protocol

MALFORMED = "not an HPO id (HP: and seven digits)"
UNKNOWN = "id unknown to the ontology release"
OBSOLETE = "obsolete id without a replacement"
OUTSIDE = "outside Phenotypic abnormality"
DUPLICATE = "term stands twice"
BOTH = "term both observed and excluded"
FROM_ALTERNATIVE = "alternative id mapped to the current one"
FROM_OBSOLETE = "obsolete id mapped to its replacement"

_HPO_ID = re.compile(r"HP:[0-9]{7}")
_MAPPED = {"alt_id": FROM_ALTERNATIVE, "replaced_by": FROM_OBSOLETE}


class Resolved(Protocol):
    """What an ontology says of one id."""

    @property
    def term_id(self) -> str | None:
        """Current id; None where there is none."""

    @property
    def status(self) -> str:
        """``current``, ``alt_id``, ``replaced_by``, ``obsolete`` or ``unknown``."""


class TermResolver(Protocol):
    """The part of an ontology that reading a corpus needs."""

    def resolve(self, term_id: str) -> Resolved:
        """Say what became of an id in the ontology's release."""

    def is_phenotypic(self, term_id: str) -> bool:
        """Whether a current id is Phenotypic abnormality (HP:0000118) or below it."""


class Skip(NamedTuple):
    """One row of the skipped table; see `rarefuse.corpus.cases.SKIPPED`."""

    record: str
    level: str
    reason: str
    detail: str | None = None


def normalise_terms(
    record: str,
    observed: Iterable[object],
    excluded: Iterable[object],
    resolver: TermResolver,
) -> tuple[list[str], list[str], list[Skip]]:
    """Map a record's terms to current ids and leave out what cannot be scored.

    Parameters
    ----------
    record : str
        The record, for the rows.
    observed, excluded : iterable
        Ids as the record has them, in its order; what is not a text is malformed.
    resolver : TermResolver
        The ontology.

    Returns
    -------
    observed, excluded : list of str
        Current phenotypic ids, distinct, in the record's order; no id is in both.
    skipped : list of Skip
        One row an occurrence: a term left out (level ``term``: malformed, unknown, obsolete
        without replacement, outside Phenotypic abnormality, second occurrence, both observed and
        excluded) and a term kept under another id (level ``mapped``). Duplicates and
        contradictions are found after mapping.
    """
    skipped: list[Skip] = []
    kept = {
        side: _current(record, side, terms, resolver, skipped)
        for side, terms in (("observed", observed), ("excluded", excluded))
    }
    both = set(kept["observed"]) & set(kept["excluded"])
    skipped += [Skip(record, "term", BOTH, term) for term in sorted(both)]
    return (
        [term for term in kept["observed"] if term not in both],
        [term for term in kept["excluded"] if term not in both],
        skipped,
    )


def _current(
    record: str,
    side: str,
    terms: Iterable[object],
    resolver: TermResolver,
    skipped: list[Skip],
) -> list[str]:
    current: dict[str, None] = {}
    for term in terms:
        if not isinstance(term, str) or not _HPO_ID.fullmatch(term):
            skipped.append(Skip(record, "term", MALFORMED, f"{side} {str(term)[:80]!r}"))
            continue
        resolution = resolver.resolve(term)
        now = resolution.term_id
        if now is None:
            reason = OBSOLETE if resolution.status == "obsolete" else UNKNOWN
            skipped.append(Skip(record, "term", reason, f"{side} {term}"))
            continue
        if resolution.status in _MAPPED:
            reason = _MAPPED[resolution.status]
            skipped.append(Skip(record, "mapped", reason, f"{side} {term} to {now}"))
        if not resolver.is_phenotypic(now):
            skipped.append(Skip(record, "term", OUTSIDE, f"{side} {now}"))
        elif now in current:
            skipped.append(Skip(record, "term", DUPLICATE, f"{side} {now}"))
        else:
            current[now] = None
    return list(current)
