"""The explorer's data: an index of all cases, and shards with their lists and evidence.

Everything is plain lists and numbers, ready for JSON. Diseases and terms stand once, by index.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rarefuse import artifacts
from rarefuse.annotations.knowledge import Knowledge
from rarefuse.annotations.lopo import REMOVED
from rarefuse.annotations.relations import DISEASES
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.view import VIEW
from rarefuse.explorer.systems import (
    System,
    comparisons_of,
    gold_ranks,
    read_lists,
    systems_of,
)
from rarefuse.fusion.evidence import make_protocol
from rarefuse.rankers.base import LOPO, ORDINARY, corpus_queries
from rarefuse.rankers.run import read_knowledge
from rarefuse.rerank.columns import GROUPS
from rarefuse.rerank.contributions import annotated_terms

SHARD = 50
"""Cases of a shard."""


@dataclass(frozen=True)
class Explorer:
    """All that the pages show.

    Parameters
    ----------
    index : dict
        Read at once: systems, comparisons, names, and a row a case.
    shards : list of dict
        Read when one of their cases is opened: case number → lists and evidence.
    """

    index: dict[str, Any]
    shards: list[dict[int, Any]]


class _Names:
    """Ids and names, numbered as they are first met."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._at: dict[str, int] = {}
        self.rows: list[list[str]] = []

    def __call__(self, identifier: str, written: str | None = None) -> int:
        """Number of an id; its name is looked up, else `written`, else empty."""
        if identifier not in self._at:
            self._at[identifier] = len(self.rows)
            self.rows.append([identifier, self._names.get(identifier, written or "")])
        return self._at[identifier]


def collect(knowledge: Path, corpus: Path, name: str, options: Mapping[str, Any]) -> Explorer:
    """Gather the data of a corpus.

    Parameters
    ----------
    name : str
        Of the corpus.
    options : mapping
        ``component`` (the ontology ranker that is fused), ``places`` of each list, and those of
        `rarefuse.explorer.systems.systems_of`.
    """
    known = read_knowledge(knowledge)
    view = artifacts.read(corpus / "view.parquet", VIEW)
    cases = artifacts.read(corpus / "cases.parquet", CASES).sort("record", "case_id")
    removed = artifacts.read(corpus / "lopo.parquet", REMOVED)
    diseases = artifacts.read(knowledge / "diseases.parquet", DISEASES)
    systems = systems_of(options)
    read = [read_lists(corpus, system, options["places"]) for system in systems]
    lists = [frame for frame, _ in read]
    number = {case_id: i for i, case_id in enumerate(cases["case_id"].to_list())}
    disease = _Names(dict(diseases.select("disease_id", "name").iter_rows()))
    term = _Names(_labels(view))
    for gold_id, label in cases.select("gold_id", "gold_label").iter_rows():
        disease(gold_id, label)
    shown = dict(zip(view["case_id"].to_list(), view.iter_rows(named=True), strict=True))
    ranks = [gold_ranks(corpus, system, cases.select("case_id", "gold_id")) for system in systems]
    size = dict(diseases.select("disease_id", "n_relations").iter_rows())
    gone = {
        (publication, gold): n
        for publication, gold, n in removed.group_by("publication_id", "disease_id")
        .len()
        .iter_rows()
    }
    rows = []
    for case_id, record, publication, gold_id in cases.select(
        "case_id", "record", "publication_id", "gold_id"
    ).iter_rows():
        seen = shown.get(case_id)
        rows.append(
            {
                "record": record,
                "publication": publication,
                "gold": disease(gold_id),
                "observed": [term(t) for t in seen["observed"]] if seen else [],
                "excluded": [term(t) for t in seen["excluded"]] if seen else [],
                "sex": seen["sex"] if seen else None,
                "days": seen["age_days"] if seen else None,
                "ranks": [by_case.get(case_id, 0) for by_case in ranks],
                "annotations": size.get(gold_id, 0),
                "removed": gone.get((publication, gold_id), 0),
            }
        )
    evidence = _evidence(known, view, cases, removed, systems, lists)
    shards: list[dict[int, Any]] = [{} for _ in range(-(-len(number) // SHARD))]
    for case_id, listed in _by_case(lists):
        i = number[case_id]
        shards[i // SHARD][i] = [
            [
                [
                    disease(d, written),
                    value,
                    parts,
                    *evidence[system.protocol].get((case_id, d), []),
                ]
                for d, value, written, parts in own
            ]
            for system, own in zip(systems, listed, strict=True)
        ]
    index = {
        "corpus": name,
        "systems": [
            {"kind": s.kind, "label": s.label, "value": meaning}
            for s, (_, meaning) in zip(systems, read, strict=True)
        ],
        "comparisons": [list(c) for c in comparisons_of(systems, options["component"])],
        "groups": list(GROUPS),
        "shard": SHARD,
        "places": options["places"],
        "diseases": disease.rows,
        "terms": term.rows,
        "cases": rows,
    }
    return Explorer(index, shards)


def _labels(view: pl.DataFrame) -> dict[str, str]:
    found: dict[str, str] = {}
    for ids, labels in (("observed", "observed_labels"), ("excluded", "excluded_labels")):
        pairs = view.select(ids, labels).explode(ids, labels).drop_nulls().unique()
        found.update(pairs.iter_rows())
    return found


def _by_case(lists: list[pl.DataFrame]) -> Iterator[tuple[str, list[list[tuple[Any, ...]]]]]:
    """Cases with the rows of each system's list, by case id."""
    grouped: list[dict[str, list[tuple[Any, ...]]]] = []
    for frame in lists:
        own: dict[str, list[tuple[Any, ...]]] = {}
        ordered = frame.sort("case_id", "rank").select(
            "case_id", "disease_id", "value", "name", "parts"
        )
        for case_id, *row in ordered.iter_rows():
            value, parts = row[1], row[3]
            value = None if value is None or not np.isfinite(value) else float(f"{value:.4g}")
            parts = None if parts is None else [round(p, 2) for p in parts]
            own.setdefault(case_id, []).append((row[0], value, row[2], parts))
        grouped.append(own)
    for case_id in sorted(set().union(*grouped)):
        yield case_id, [own.get(case_id, []) for own in grouped]


def _evidence(
    known: Knowledge,
    view: pl.DataFrame,
    cases: pl.DataFrame,
    removed: pl.DataFrame,
    systems: list[System],
    lists: list[pl.DataFrame],
) -> dict[str, dict[tuple[str, str], list[list[int]]]]:
    """Protocol → (case, candidate) → positions of its observed and excluded terms that the
    candidate is annotated with. Candidates without annotations to look in are absent."""
    queries = corpus_queries(known, view, cases)
    row_of = {case_id: row for row, case_id in enumerate(queries.case_ids)}
    terms = known.ontology.term_ids
    result: dict[str, dict[tuple[str, str], list[list[int]]]] = {}
    for protocol in (ORDINARY, LOPO):
        pairs = sorted(
            {
                (row_of[case_id], known.disease_index[d])
                for system, frame in zip(systems, lists, strict=True)
                if system.protocol == protocol
                for case_id, d in frame.select("case_id", "disease_id").iter_rows()
                if case_id in row_of and d in known.disease_index
            }
        )
        query = np.array([q for q, _ in pairs], np.int64)
        candidate = np.array([d for _, d in pairs], np.int32)
        made = make_protocol(known, queries, removed if protocol == LOPO else None)
        matched, excluded = annotated_terms(made, query, candidate)
        place = {
            q: (
                _positions(terms, queries.observed, queries.observed_ptr, q),
                _positions(terms, queries.excluded, queries.excluded_ptr, q),
            )
            for q in np.unique(query).tolist()
        }
        result[protocol] = {
            (queries.case_ids[q], known.disease_ids[d]): [
                [place[q][0][t] for t in found],
                [place[q][1][t] for t in wrong],
            ]
            for (q, d), found, wrong in zip(pairs, matched, excluded, strict=True)
        }
    return result


def _positions(terms: Any, flat: Any, ptr: Any, query: int) -> dict[str, int]:
    own = flat[ptr[query] : ptr[query + 1]]
    return {terms[t]: i for i, t in enumerate(own.tolist())}
