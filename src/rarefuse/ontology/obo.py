"""Read an OBO release through obonet."""

import gzip
import zlib
from pathlib import Path

from rarefuse import artifacts
from rarefuse.errors import InputError
from rarefuse.ontology.arrays import (
    ALIASES,
    PHENOTYPIC_ABNORMALITY,
    TERMS,
    Ontology,
    Resolution,
    depths,
    flatten,
    to_frames,
    topological_order,
)


def read_obo(path: Path | str, root: str = PHENOTYPIC_ABNORMALITY) -> Ontology:
    """Read the live terms and is-a edges of an OBO file.

    Parameters
    ----------
    path : path
        OBO file, gzipped or not.
    root : str
        The term whose descendants are scored; depth counts from it.

    Returns
    -------
    Ontology
        Live terms only. Obsolete terms and alt ids become aliases: ``replaced_by`` is followed
        to the end, an obsolete term without one (or with several) has no current term.

    Raises
    ------
    InputError
        If the file is not OBO, has a cycle or a parent that it does not define, or lacks `root`.
    """
    import obonet  # slow to import, and all but one stage read the artifacts

    opener = gzip.open if str(path).endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8") as handle:
            graph = obonet.read_obo(handle, ignore_obsolete=False)
    except (OSError, EOFError, ValueError, zlib.error, KeyError) as error:
        raise InputError(
            "the ontology cannot be read",
            where=str(path),
            # obonet looks a stanza's tags up without asking whether they are there.
            found=f"a stanza without {error}" if isinstance(error, KeyError) else str(error),
            expected="an OBO 1.2 or 1.4 file",
            todo="fetch the release again or name the right file in the source registry",
        ) from error

    nodes = dict(graph.nodes(data=True))
    live = {t for t, data in nodes.items() if data.get("is_obsolete") != "true" and "name" in data}
    parents: dict[str, list[str]] = {}
    for term in live:
        parents[term] = list(dict.fromkeys(nodes[term].get("is_a", [])))
        for parent in parents[term]:
            if parent not in live:
                raise InputError(
                    "a term's parent is not a live term of the ontology",
                    where=f"{path}, term {term}",
                    found=f"is_a: {parent}",
                    expected="a defined term that is not obsolete",
                    todo="use an official release",
                )
    if root not in live:
        raise InputError(
            "the ontology lacks the root term",
            where=str(path),
            found=f"{len(live)} live terms, {root} not among them",
            expected=f"an ontology with {root}",
            todo="check that the file is hp.obo (plain, not hp-base or a subset)",
        )
    try:
        order = topological_order(parents)
    except InputError as error:
        error.args = (f"{error}\n  {'where:':<10}{path}",)
        raise
    row = {term: position for position, term in enumerate(order)}
    ptr, flat = flatten([[row[p] for p in parents[term]] for term in order])
    parent_ptr = ptr.astype("int32")
    return Ontology(
        term_ids=order,
        labels=[nodes[term]["name"] for term in order],
        parent_ptr=parent_ptr,
        parents=flat,
        depth=depths(parent_ptr, flat, row[root]),
        aliases=_aliases(nodes, live),
    )


def _aliases(nodes: dict[str, dict], live: set[str]) -> dict[str, Resolution]:
    """Alt ids of live terms, and obsolete terms with the live term that replaces them."""
    aliases: dict[str, Resolution] = {}
    for term in sorted(nodes.keys() - live):
        current, seen = term, {term}
        while current not in live:
            replacements = nodes.get(current, {}).get("replaced_by", [])
            if len(replacements) != 1 or replacements[0] in seen:
                break
            current = replacements[0]
            seen.add(current)
        if current in live:
            aliases[term] = Resolution(current, "replaced_by")
        elif nodes[term].get("is_obsolete") == "true":
            aliases[term] = Resolution(None, "obsolete")
    for term in sorted(live):
        for alias in nodes[term].get("alt_id", []):
            known = aliases.get(alias)
            if alias not in live and (known is None or known.term_id is None):
                aliases[alias] = Resolution(term, "alt_id")
    return aliases


def ontology_stage(*, obo: Path, terms: Path, aliases: Path) -> None:
    """Read an OBO release and write `TERMS` and `ALIASES`."""
    term_frame, alias_frame = to_frames(read_obo(obo))
    artifacts.write(term_frame, TERMS, terms)
    artifacts.write(alias_frame, ALIASES, aliases)
