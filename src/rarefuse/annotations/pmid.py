"""Publications as PMID CURIEs, in one form."""

import re

_PMID = re.compile(r"\s*PMID:\s*0*([1-9][0-9]*)\s*", re.IGNORECASE)


def pmid(text: object) -> str | None:
    """PMID CURIE in its plain form, blanks and leading zeros taken away; None if it is none."""
    match = _PMID.fullmatch(text) if isinstance(text, str) else None
    return f"PMID:{match[1]}" if match else None


def pmids_of(reference: str) -> list[str]:
    """PMIDs of one reference field of HPOA, divided at semicolons.

    OMIM, ORPHA, ISBN and web references do not count, and neither does what is written like a
    PMID but is none; see `not_quite_pmids`.
    """
    return [curie for part in reference.split(";") if (curie := pmid(part))]


def not_quite_pmids(reference: str) -> list[str]:
    """Parts of a reference field that begin like a PMID and are none."""
    return [
        part
        for part in map(str.strip, reference.split(";"))
        if part.upper().startswith("PMID") and pmid(part) is None
    ]
