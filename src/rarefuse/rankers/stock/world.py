"""What a stock program is run on: the cases as systems may see them, and the annotation release."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.rankers.base import Queries


@dataclass(frozen=True)
class World:
    """Cases and annotations.

    Parameters
    ----------
    knowledge : Knowledge
        Ontology, candidates, profiles, information content.
    queries : Queries
        Rankable cases, by publication.
    relations : polars.DataFrame
        `RELATIONS` of the release.
    removed : polars.DataFrame
        What LOPO removes for each publication (`REMOVED`).
    hpoa_text : str
        The release's ``phenotype.hpoa``, unpacked.
    records : mapping of str to str
        Case → its record in the source, by which another tool's results are named.
    equivalents : mapping of str to str
        Mondo and Orphanet ids → the candidate that they exactly match.
    """

    knowledge: Knowledge
    queries: Queries
    relations: pl.DataFrame
    removed: pl.DataFrame
    hpoa_text: str
    records: Mapping[str, str] = field(default_factory=dict)
    equivalents: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def hpoa_lines(self) -> list[str]:
        """The text's lines, divided at line feeds alone, as `read_hpoa` numbers them."""
        return self.hpoa_text.split("\n")

    @cached_property
    def hpoa_digest(self) -> str:
        """SHA-256 of the release's text."""
        return hashlib.sha256(self.hpoa_text.encode()).hexdigest()
