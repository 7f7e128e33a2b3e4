"""Candidates of each patient in their final order, with weights, lists and evidence."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from rarefuse.diagnose.answers import view_of
from rarefuse.diagnose.case import Patient
from rarefuse.diagnose.evidence import Explainer, Match, Term
from rarefuse.diagnose.library import Library
from rarefuse.diagnose.models import Models
from rarefuse.diagnose.ordering import (
    EQUAL,
    GATED,
    ONTOLOGY_ONLY,
    Order,
    Setting,
    order_candidates,
)
from rarefuse.diagnose.ranking import Publications, Ranked
from rarefuse.errors import InputError
from rarefuse.fusion.evidence import pair_columns, pair_evidence
from rarefuse.fusion.lists import (
    LLM_DEPTH,
)
from rarefuse.report.labels import system_label
from rarefuse.rerank.columns import GROUPS
from rarefuse.retrieval.notes import Finding

NO_PROFILE = "no phenotype annotation in the release"
EMPTIED = "every annotation comes from the excluded publication"
NOTHING_SHARED = "no finding shares an informative ancestor with an annotation"
LANGUAGE_MODEL = "language model"


@dataclass(frozen=True)
class Candidate:
    """A disease in its place, and all that stands behind it."""

    rank: int
    disease_id: str
    name: str
    score: float
    weight_ontology: float
    weight_language_model: float
    lists: dict[str, int | None]
    tie_first: int | None
    tie_last: int | None
    named_as: str | None
    p_value: float | None
    log10_likelihood_ratio: float | None
    similarity: float
    annotations: int
    no_ontology_evidence: str | None
    matches: list[Match]
    contradictions: list[Match]
    contributions: dict[str, float] | None


@dataclass(frozen=True)
class Removal:
    """What leaving publications out took away."""

    publications: list[str]
    relations: int
    diseases: int
    emptied: int


@dataclass(frozen=True)
class Unmatched:
    """A name of an answer that leads to no candidate, and why."""

    place: int
    name: str | None
    reason: str


@dataclass(frozen=True)
class Diagnosis:
    """One patient's result.

    Parameters
    ----------
    order : str
        What ordered the candidates, see `rarefuse.diagnose.ordering`.
    notes : list of str
        What a reader has to know of the order, in plain words.
    left_out : dict
        Reason → what was left out or mapped while reading, as texts.
    mappings : list of Finding
        Phrases of a free text, and what each was mapped to.
    """

    name: str
    source: str
    schema: str | None
    sex: str | None
    age_days: float | None
    onset: str | None
    observed: list[Term]
    excluded: list[Term]
    left_out: dict[str, list[str]]
    unused: dict[str, int]
    mappings: list[Finding]
    removal: Removal
    order: str
    ranker: str
    notes: list[str]
    answered_by: str | None
    unmatched: list[Unmatched]
    candidates: list[Candidate] = field(default_factory=list)


def diagnose_patients(
    library: Library,
    ranked: Ranked,
    models: Models,
    patients: Sequence[Patient],
    publications: Sequence[Publications],
    mapping: pl.DataFrame | None,
    named: pl.DataFrame | None,
    setting: Setting,
) -> list[Diagnosis]:
    """Fuse or rerank the lists of some patients and gather the evidence.

    Parameters
    ----------
    ranked : Ranked
        Lists of the rankers that the order needs.
    mapping, named : polars.DataFrame or None
        `MAPPING` and `RANKING` of the answers, case ids being the patients' positions.

    Returns
    -------
    list of Diagnosis
        In the order of the patients.
    """
    if models.reranker is not None and models.reranker.llm and named is None:
        raise InputError(
            "the reranker was trained with a language model's names, and there are none",
            where=models.reranker_path,
            found="no --llm and no --answers",
            expected="an answer about the patient",
            todo="give one, or use the reranker 'ontology'",
        )
    order = order_candidates(library, ranked, models, patients, publications, named, setting)
    shown = [disease[: setting.top] for disease in order.disease]
    query = np.repeat(np.arange(len(shown)), [len(some) for some in shown])
    disease = np.concatenate([*shown, np.empty(0, np.int32)]).astype(np.int32)
    evidence = pair_evidence(ranked.protocol, query, disease)
    columns = pair_columns(ranked.protocol, query, disease)
    explainer = Explainer(library)
    places = _places(ranked, named)
    notes = _notes(order.kind, models, setting)
    unmatched = _unmatched(mapping)
    begins = np.cumsum([0, *(len(some) for some in shown)])
    results: list[Diagnosis | None] = [None] * len(patients)
    for q, position in enumerate(ranked.order):
        span = slice(int(begins[q]), int(begins[q + 1]))
        own = publications[position]
        view = view_of(patients[position], library)
        removal = _removal(ranked, q, own)
        p_values = ranked.p_value(library, q, shown[q])
        candidates = [
            _candidate(
                library, explainer, ranked, q, i, place, order, places, own,
                {
                    "columns": int(columns[i]),
                    "p_value": None if p_values is None else p_values[place],
                    **{name: getattr(evidence, name)[i] for name in
                       ("similarity", "log_ratio", "annotations", "has_profile")},
                },
            )
            for place, i in enumerate(range(span.start, span.stop))
        ]  # fmt: skip
        patient = patients[position]
        results[position] = Diagnosis(
            patient.name,
            patient.source,
            patient.schema,
            patient.sex,
            patient.age_days,
            view["onset"],
            [Term(*pair) for pair in zip(view["observed"], view["observed_labels"], strict=True)],
            [Term(*pair) for pair in zip(view["excluded"], view["excluded_labels"], strict=True)],
            _left_out(patient),
            patient.unused,
            patient.mappings,
            removal,
            order.kind,
            setting.ranker,
            [*notes, *_own_notes(own, models)],
            setting.answered_by,
            unmatched.get(f"{position:06d}", []),
            candidates,
        )
    return [result for result in results if result is not None]


def _candidate(
    library: Library,
    explainer: Explainer,
    ranked: Ranked,
    q: int,
    i: int,
    place: int,
    order: Order,
    places: Mapping[str, Mapping[tuple[str, str], tuple[Any, ...]]],
    own: Publications,
    found: Mapping[str, Any],
) -> Candidate:
    knowledge, queries = library.knowledge, ranked.queries
    row = int(order.disease[q][place])
    identifier = knowledge.disease_ids[row]
    c = found["columns"]
    profiles = ranked.protocol.columns
    begin, end = profiles.ptr[c], profiles.ptr[c + 1]
    profile = (
        profiles.terms[begin:end],
        profiles.numerator[begin:end],
        profiles.denominator[begin:end],
    )
    matches, contradictions = explainer.explain(
        row,
        queries.observed[queries.observed_ptr[q] : queries.observed_ptr[q + 1]],
        queries.excluded[queries.excluded_ptr[q] : queries.excluded_ptr[q + 1]],
        profile,
        frozenset(own),
    )
    has_profile = bool(found["has_profile"])
    whole = knowledge.profile_ptr[row + 1] > knowledge.profile_ptr[row]
    mark = None
    if not has_profile:
        mark = EMPTIED if whole else NO_PROFILE
    elif all(match.annotation is None for match in matches):
        mark = NOTHING_SHARED
    key = (queries.case_ids[q], identifier)
    main = next(iter(places))
    ties = places[main].get(key)
    llm = places.get(LANGUAGE_MODEL, {}).get(key)
    p_value = found["p_value"]
    return Candidate(
        place + 1,
        identifier,
        library.names[row],
        float(order.score[q][place]),
        float(order.weight[q]),
        1.0 - float(order.weight[q]),
        {name: (known[key][0] if key in known else None) for name, known in places.items()},
        ties[1] if ties else None,
        ties[2] if ties else None,
        llm[1] if llm else None,
        p_value,
        float(found["log_ratio"]) / math.log(10.0) if has_profile else None,
        float(found["similarity"]),
        int(found["annotations"]),
        mark,
        matches,
        contradictions,
        None
        if order.parts is None
        else dict(zip(GROUPS, map(float, order.parts[q][place]), strict=True)),
    )


def _places(
    ranked: Ranked, named: pl.DataFrame | None
) -> dict[str, dict[tuple[str, str], tuple[Any, ...]]]:
    """List → (case, disease) → place and, of a ranker, its tie block; of an answer, the name."""
    places: dict[str, dict[tuple[str, str], tuple[Any, ...]]] = {
        name: {
            (case, disease): tuple(rest)
            for case, disease, *rest in frame.select(
                "case_id", "disease_id", "rank", "tie_first", "tie_last"
            ).iter_rows()
        }
        for name, frame in ranked.lists.items()
    }
    if named is not None:
        places[LANGUAGE_MODEL] = {
            (case, disease): (rank, name)
            for case, disease, rank, name in named.filter(pl.col("rank") <= LLM_DEPTH)
            .select("case_id", "disease_id", "rank", "name")
            .iter_rows()
        }
    return places


def _unmatched(mapping: pl.DataFrame | None) -> dict[str, list[Unmatched]]:
    result: dict[str, list[Unmatched]] = {}
    if mapping is not None:
        rows = mapping.filter(pl.col("disease_id").is_null())
        for case, place, name, reason in rows.select(
            "case_id", "rank", "name", "reason"
        ).iter_rows():
            result.setdefault(case, []).append(Unmatched(place, name, reason))
    return result


def _removal(ranked: Ranked, query: int, publications: Publications) -> Removal:
    columns, whole = ranked.columns, ranked.protocol.knowledge.profile_ptr
    own = np.flatnonzero((columns.start <= query) & (query < columns.stop))
    left = np.diff(columns.ptr)[own]
    before = np.diff(whole)[columns.disease[own]]
    return Removal(list(publications), int((before - left).sum()), len(own), int((left == 0).sum()))


def _left_out(patient: Patient) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for skip in patient.left_out:
        result.setdefault(skip.reason, []).append(skip.detail or "")
    return result


def _notes(kind: str, models: Models, setting: Setting) -> list[str]:
    ranker = system_label(setting.ranker)
    if kind == ONTOLOGY_ONLY:
        notes = [f"Without a model and without answers: the order is that of {ranker}."]
        if models.gate is not None:
            notes = [
                "A gate was given but no answers, so that there is nothing to weigh: the order is "
                f"that of {ranker}."
            ]
    elif kind == EQUAL:
        notes = [
            f"Without a model: the list of {ranker} and the language model's names count "
            "equally, each candidate by its reciprocal rank."
        ]
    elif kind == GATED:
        notes = [
            "The weights are the mean of all fits of the gate. Its training cases are not known to "
            "the checkpoint: for a published patient that it may have trained on, they are not out "
            "of sample."
        ]
    else:
        notes = ["The order is the evidence reranker's; contributions add up to the score."]
        if models.reranker is not None and not models.reranker.llm and setting.answered_by:
            notes.append("This reranker reads no names: the answers are shown, not ranked by.")
        if models.gate is not None or setting.answered_by:
            notes.append("The weights of the two lists are shown; they do not make this order.")
    return notes


def _own_notes(own: Publications, models: Models) -> list[str]:
    notes = []
    if models.reranker is not None:
        folds = Counter(models.reranker.fold_of[p] for p in own if p in models.reranker.fold_of)
        if len(folds) == 1:
            notes.append(
                "The excluded publication is in the reranker's training corpus: only the models "
                "that have not seen it were used."
            )
        elif folds:
            notes.append(
                "The excluded publications lie in several folds of the reranker's training: no "
                "model is without all of them, and all were used."
            )
    return notes
