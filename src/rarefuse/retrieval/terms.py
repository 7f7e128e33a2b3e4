"""Terms of an ontology with their texts and is-a parents, from OBO or MeSH's ASCII descriptors.

Read line by line and not through obonet: retrieval needs whole definitions and synonyms, also
where a quoted text holds escaped quotes, ``!`` or line breaks, at which obonet cuts or stops.
"""

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rarefuse.errors import InputError
from rarefuse.ontology.arrays import topological_order

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_TAG = re.compile(r"^([A-Za-z_-]+):\s*(.*)$", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "W": " "}


@dataclass(frozen=True)
class Term:
    """One term.

    Parameters
    ----------
    term_id, name : str
    definition : str
        Empty where there is none.
    synonyms : tuple of str
        In file order, every scope.
    parents : tuple of str
        Current ids of its is-a parents, in file order, none twice.
    """

    term_id: str
    name: str
    definition: str
    synonyms: tuple[str, ...]
    parents: tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """Live terms of an ontology.

    Parameters
    ----------
    terms : dict
        Id → term, sorted by id. The parents of every term are in it; there is no cycle.
    skipped : dict
        Reason → how many stanzas or edges were left out.
    """

    terms: dict[str, Term]
    skipped: dict[str, int] = field(default_factory=dict)

    def children(self) -> dict[str, list[str]]:
        """Id → sorted ids of its children; every id is a key."""
        below: dict[str, list[str]] = {term: [] for term in self.terms}
        for term in self.terms.values():
            for parent in term.parents:
                below[parent].append(term.term_id)
        return {term: sorted(set(ids)) for term, ids in below.items()}

    def roots(self) -> list[str]:
        """Ids of the terms without a parent, sorted."""
        return [term.term_id for term in self.terms.values() if not term.parents]


def read_vocabulary(path: Path | str) -> Vocabulary:
    """Read an OBO file, or MeSH's ASCII descriptor file, gzipped or not.

    Raises
    ------
    InputError
        If the file cannot be read, holds no term, has no is-a edge or a cycle of them.
    """
    opener = gzip.open if str(path).endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8") as handle:
            text = handle.read()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(
            "the ontology cannot be read",
            where=str(path),
            found=str(error),
            expected="an OBO file or MeSH's ASCII descriptor file (d2026.bin), plain or gzipped",
            todo="name the right file",
        ) from error
    vocabulary = _mesh(text) if "*NEWRECORD" in text[:4096] else _obo(text)
    if not vocabulary.terms:
        raise InputError(
            "the ontology holds no live term",
            where=str(path),
            found=f"{len(text)} characters without a [Term] that has an id and a name",
            expected="an OBO file or MeSH's ASCII descriptor file",
            todo="name the right file",
        )
    if not any(term.parents for term in vocabulary.terms.values()):
        raise InputError(
            "the ontology has no is-a edge",
            where=str(path),
            found=f"{len(vocabulary.terms)} terms, none with a parent",
            expected="a hierarchy of is_a lines",
            todo="use the full release, not a list of terms",
        )
    try:
        topological_order({t.term_id: list(t.parents) for t in vocabulary.terms.values()})
    except InputError as error:
        raise InputError(
            error.what, where=str(path), found=error.found, expected=error.expected, todo=error.todo
        ) from None
    return vocabulary


def _lines(text: str) -> Iterator[str]:
    """Lines of a file, a quoted text that runs over several of them joined by blanks."""
    held = ""
    for line in text.splitlines():
        whole = f"{held} {line.strip()}" if held else line.strip()
        quoted = whole.startswith(("def:", "synonym:"))
        if quoted and not _QUOTED.search(whole) and not line.startswith("["):
            held = whole
            continue
        held = ""
        yield whole
    if held:
        yield held


def _obo(text: str) -> Vocabulary:
    stanzas: list[dict[str, list[str]]] = []
    current: dict[str, list[str]] | None = None
    for line in _lines(text):
        if line.startswith("["):
            current = {} if line == "[Term]" else None
            if current is not None:
                stanzas.append(current)
        elif current is not None and (found := _TAG.match(line)):
            current.setdefault(found[1], []).append(found[2])
    skipped: Counter[str] = Counter()
    live: dict[str, dict[str, list[str]]] = {}
    current_id: dict[str, str] = {}
    for stanza in stanzas:
        if stanza.get("is_obsolete", [""])[0].startswith("true"):
            skipped["obsolete term"] += 1
        elif "id" not in stanza or "name" not in stanza:
            skipped["term without id or name"] += 1
        else:
            term = _bare(stanza["id"][0])
            live[term] = stanza
            current_id.update((_bare(other), term) for other in stanza.get("alt_id", []))
    terms = {}
    for term in sorted(live):
        stanza = live[term]
        parents: dict[str, None] = {}
        for value in stanza.get("is_a", []):
            parent = _bare(value)
            parent = parent if parent in live else current_id.get(parent, "")
            if not parent:
                skipped["is_a to a term that is not live"] += 1
            elif parent != term:
                parents[parent] = None
            else:
                skipped["is_a to the term itself"] += 1
        terms[term] = Term(
            term,
            _unescape(stanza["name"][0]),
            next(_quoted(stanza.get("def", [])), ""),
            tuple(_quoted(stanza.get("synonym", []))),
            tuple(parents),
        )
    return Vocabulary(terms, dict(skipped))


def _bare(value: str) -> str:
    """Identifier without trailing modifiers and comment."""
    return re.split(r"\s", value, maxsplit=1)[0]


def _quoted(values: Iterable[str]) -> Iterator[str]:
    """Text between the first unescaped quotes; to the end where the second is missing."""
    for value in values:
        found = _QUOTED.search(value)
        text = found[1] if found else value.partition('"')[2]
        if text.strip():
            yield _unescape(text)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text, flags=re.DOTALL).strip()


def _mesh(text: str) -> Vocabulary:
    """Descriptors with their tree numbers: the parent of ``C01.069`` is the owner of ``C01``."""
    records: list[dict[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("*NEWRECORD"):
            records.append({})
        elif records and " = " in line:
            key, _, value = line.partition(" = ")
            records[-1].setdefault(key.strip(), []).append(value.strip())
    skipped: Counter[str] = Counter()
    owner: dict[str, str] = {}
    kept: dict[str, dict[str, list[str]]] = {}
    for record in records:
        if not {"UI", "MH", "MN"} <= record.keys():
            skipped["descriptor without id, heading or tree number"] += 1
            continue
        term = f"MESH:{record['UI'][0]}"
        kept[term] = record
        owner.update(dict.fromkeys(record["MN"], term))
    above: dict[str, list[str]] = {}
    for term in sorted(kept):
        parents = (owner.get(n.rpartition(".")[0]) for n in kept[term]["MN"] if "." in n)
        above[term] = [p for p in dict.fromkeys(parents) if p and p != term]
    for term, parent in _back_edges(above):
        above[term].remove(parent)
        skipped["edge that closes a cycle of descriptors"] += 1
    terms = {}
    for term in sorted(kept):
        record = kept[term]
        entries = [*record.get("PRINT ENTRY", []), *record.get("ENTRY", [])]
        terms[term] = Term(
            term,
            record["MH"][0],
            record.get("MS", [""])[0],
            tuple(dict.fromkeys(entry.partition("|")[0] for entry in entries)),
            tuple(above[term]),
        )
    return Vocabulary(terms, dict(skipped))


def _back_edges(above: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Edges (term, parent) that close a cycle, in the order a walk upwards meets them.

    MeSH's tree is of positions: a descriptor with several positions may stand above itself.
    """
    found: list[tuple[str, str]] = []
    state: dict[str, int] = {}
    for start in above:
        stack = [(start, iter(above[start]))] if start not in state else []
        state.setdefault(start, 1)
        while stack:
            term, rest = stack[-1]
            for parent in rest:
                if state.get(parent) == 1:
                    found.append((term, parent))
                elif parent not in state:
                    state[parent] = 1
                    stack.append((parent, iter(above[parent])))
                    break
            else:
                state[term] = 2
                stack.pop()
    return found
