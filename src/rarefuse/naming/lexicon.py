"""The lexicon: every name of every disease, with its source, and the crosswalk of other ids."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from rarefuse import artifacts
from rarefuse.annotations.relations import DISEASES
from rarefuse.artifacts import Column, Schema
from rarefuse.naming.normalise import comparable_head, designators, fold
from rarefuse.naming.sources import (
    DiseaseClass,
    merge_mondo,
    read_candidates,
    read_mappings,
    read_mondo,
    read_orphanet,
)

SOURCES = (
    "hpoa name",
    "mondo name",
    "omim title",
    "series name",
    "mondo synonym",
    "series synonym",
    "orphanet name",
    "orphanet synonym",
)
"""Where a form comes from, the one to trust most first. A form of two diseases belongs to the one
whose source stands first; equal sources leave it ambiguous. A series' own name stands above Mondo's
synonyms, which give "Bardet-Biedl syndrome" to its second type."""

LEXICON = Schema(
    "lexicon",
    (
        Column("form", pl.String, "name as its source writes it"),
        Column("source", pl.String, f"one of: {', '.join(SOURCES)}"),
        Column(
            "disease_id",
            pl.String,
            "OMIM CURIE; null for a group of diseases without an OMIM id of its own",
            nullable=True,
        ),
        Column("class_id", pl.String, "Mondo or Orphanet class that has the name", nullable=True),
        Column("candidate", pl.Boolean, "whether the disease is one of HPOA's candidates"),
    ),
    key=("form", "source", "disease_id", "class_id"),
)
"""Sorted by its key."""

CROSSWALK = Schema(
    "crosswalk",
    (
        Column("class_id", pl.String, "Mondo or Orphanet CURIE; sorted"),
        Column("disease_id", pl.String, "the one candidate that it exactly matches"),
    ),
    key=("class_id",),
)


def build_lexicon(
    candidates: dict[str, str],
    mondo: Iterable[DiseaseClass],
    orphanet: Iterable[DiseaseClass],
) -> pl.DataFrame:
    """Names of candidates, of Mondo classes and of Orphanet disorders.

    A phenotypic series stands for the OMIM entry whose number it carries, which is the one that was
    described first, if that bears the series' name: "Noonan syndrome" is Noonan syndrome 1, but
    "leukodystrophy" is not Pelizaeus-Merzbacher disease.

    Parameters
    ----------
    candidates : dict
        Candidate → HPOA's name.
    mondo, orphanet : iterable of DiseaseClass
        Of Orphanet only disorders with an identical OMIM entry are taken.

    Returns
    -------
    polars.DataFrame
        `LEXICON`.
    """
    rows: set[tuple[str, str, str | None, str | None, bool]] = set()

    def add(form: str, source: str, disease: str | None, class_id: str | None) -> None:
        if fold(form):
            rows.add((form, source, disease, class_id, disease in candidates))

    mondo = list(mondo)
    labels = {disease: [name] for disease, name in candidates.items()}
    for disease, name in candidates.items():
        add(name, "hpoa name", disease, None)
    for found in mondo:
        for disease in found.omim & labels.keys():
            labels[disease].append(found.name)
    for found in mondo:
        of_series = {
            number
            for number in found.series & labels.keys()
            if _share_name([found.name, *found.synonyms], labels[number])
        }
        series = not found.omim and bool(of_series)
        entries: list[str | None] = [*sorted(of_series if series else found.omim)]
        kind = "series" if series else "mondo"
        for entry in entries or [None]:
            add(found.name, f"{kind} name", entry, found.id)
            for title in [] if series else found.titles:
                add(title, "omim title", entry, found.id)
            for synonym in found.synonyms:
                add(synonym, f"{kind} synonym", entry, found.id)
    for found in orphanet:
        for disease in sorted(found.omim):
            add(found.name, "orphanet name", disease, found.id)
            for synonym in found.synonyms:
                add(synonym, "orphanet synonym", disease, found.id)
    return pl.DataFrame(list(rows), schema=LEXICON.dtypes, orient="row").sort(
        *LEXICON.key, nulls_last=True
    )


_INHERITANCE = "familial hereditary inherited primary autosomal dominant recessive linked"
_INHERITED = frozenset(_INHERITANCE.split())


def _head(name: str) -> frozenset[str]:
    return comparable_head(fold(name).split()) - _INHERITED


def _share_name(names: Iterable[str], labels: Iterable[str]) -> bool:
    """Whether a name and a label differ in numbers, letters and words of inheritance alone.

    What follows a numbered part, as in "GLUT1 deficiency syndrome 1, infantile onset", describes
    it; what follows a part without a number names another type.
    """
    heads = {_head(name) for name in names} - {frozenset()}
    for label in labels:
        before = (label.split(",")[0], label.split("(")[0])
        numbered = [part for part in before if designators(fold(part).split())]
        if any(_head(part) in heads for part in (label, *numbered)):
            return True
    return False


def build_crosswalk(
    candidates: dict[str, str],
    mondo: Iterable[DiseaseClass],
    orphanet: Iterable[DiseaseClass],
) -> pl.DataFrame:
    """Candidates that Mondo and Orphanet ids exactly match; one with several matches is left out.

    Returns
    -------
    polars.DataFrame
        `CROSSWALK`.
    """
    matches: defaultdict[str, set[str]] = defaultdict(set)
    stated: set[str] = set()
    for found in orphanet:
        if found.omim:
            stated.add(found.id)
            matches[found.id] |= found.omim
    for found in mondo:
        matches[found.id] |= found.omim
        for other in found.exact - stated:
            matches[other] |= found.omim
    rows = [
        (curie, next(iter(within)))
        for curie, omim in matches.items()
        if len(within := omim & candidates.keys()) == 1
    ]
    return pl.DataFrame(rows, schema=CROSSWALK.dtypes, orient="row").sort("class_id")


def lexicon_stage(
    *, diseases: Path, mondo: Path, mappings: Path, orphanet: Path, lexicon: Path, crosswalk: Path
) -> None:
    """Read the sources of names and write `LEXICON` and `CROSSWALK`."""
    candidates = read_candidates(artifacts.read(diseases, DISEASES))
    classes = merge_mondo(read_mondo(mondo), read_mappings(mappings))
    disorders = list(read_orphanet(orphanet))
    artifacts.write(build_lexicon(candidates, classes, disorders), LEXICON, lexicon)
    artifacts.write(build_crosswalk(candidates, classes, disorders), CROSSWALK, crosswalk)
