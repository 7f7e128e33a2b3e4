"""What the ontology says about any (case, disease) pair, under either protocol.

The rankers score every candidate; fusion needs the same numbers for a few candidates a case, also
for those that only a language model named. A pair is scored against the profile that its case's
protocol leaves the disease: under LOPO the one rebuilt without what the case's own publication
alone supports, with the information content of the whole release (paper, sections 3 and 4.1).

A profile is made once for all its pairs: O(columns used · T + pairs · terms of a case), and no
score matrix.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.compiled import njit, prange
from rarefuse.ontology.bestmatch import best_match_column
from rarefuse.rankers.background import (
    Profiles,
    frequency_column,
    make_groups,
    make_profiles,
    on_grid,
)
from rarefuse.rankers.base import Columns, Queries, base_columns, lopo_columns
from rarefuse.rankers.likelihood import background_logs
from rarefuse.rankers.semantic import mean_best_match

FLOOR = 0.01
"""Least frequency of an observed term in a disease: that of the ranker `nb-lr`."""


class Evidence(NamedTuple):
    """Evidence of P pairs; every field has shape (P,).

    Parameters
    ----------
    similarity : ndarray of float64
        Resnik similarity S in nats, as the ranker `resnik` scores it; 0 without a profile.
    log_ratio : ndarray of float64
        Log likelihood ratio of the observed terms in nats, as the ranker `nb-lr` scores it. Where
        there is no profile the ranker says minus infinity; here it is the same sum with every
        frequency at the floor, which is finite.
    annotations : ndarray of int32
        Direct annotations (relations) that the protocol leaves.
    has_profile : ndarray of bool
        Whether there are any.
    matched : ndarray of float64
        Share of the observed terms that the disease is annotated with, exactly or by a
        descendant; an annotation with a count of 0/n is one like any other.
    matched_ic : ndarray of float64
        The same share weighted with information content; 0 where the observed terms have none.
    excluded_matched : ndarray of float64
        Share of the excluded terms that the disease is annotated with, exactly or by a
        descendant; 0 without excluded terms.
    """

    similarity: NDArray[np.float64]
    log_ratio: NDArray[np.float64]
    annotations: NDArray[np.int32]
    has_profile: NDArray[np.bool_]
    matched: NDArray[np.float64]
    matched_ic: NDArray[np.float64]
    excluded_matched: NDArray[np.float64]


@dataclass(frozen=True)
class Protocol:
    """Profiles and backgrounds of some cases under a protocol, made once for all pairs.

    Parameters
    ----------
    knowledge : Knowledge
        D candidates.
    queries : Queries
        Q cases.
    columns : Columns
        D whole profiles, an empty one, then what LOPO leaves of the touched ones.
    keys : ndarray of int64, ascending
        ``group * D + disease`` of each rebuilt profile.
    group : ndarray of int64, shape (Q,)
        Group of each case, see `rarefuse.rankers.background.Groups`.
    background : ndarray of float64, shape (Q,)
        Log probability of each case's observed terms under its backgrounds, in nats.
    """

    knowledge: Knowledge
    queries: Queries
    columns: Columns
    keys: NDArray[np.int64]
    group: NDArray[np.int64]
    background: NDArray[np.float64]


def make_protocol(
    knowledge: Knowledge,
    queries: Queries,
    removed: pl.DataFrame | None,
    background: NDArray[np.float64] | None = None,
) -> Protocol:
    """Prepare a protocol.

    Parameters
    ----------
    queries : Queries
        Cases; backgrounds are those of their publications, whatever is asked of them.
    removed : polars.DataFrame or None
        `REMOVED` for LOPO; None for the ordinary protocol.
    background : ndarray of float64, shape (Q,), optional
        As in `Protocol`, where the caller has them already.
    """
    base = base_columns(knowledge, queries)
    touched = None if removed is None else lopo_columns(knowledge, queries, removed)
    groups = make_groups(len(queries), touched)
    parts = [base, _no_profile(base)]
    keys: NDArray[np.int64] = np.empty(0, np.int64)
    if touched is not None and len(touched):
        parts.append(touched)
        group = np.repeat(np.arange(len(groups.column_ptr) - 1), np.diff(groups.column_ptr))
        keys = (group * len(knowledge.disease_ids) + touched.disease).astype(np.int64)
    return Protocol(
        knowledge,
        queries,
        _stack(parts),
        keys,
        groups.of_query,
        background_logs(knowledge, queries.without_excluded(), touched, groups)
        if background is None
        else background,
    )


def pair_columns(
    protocol: Protocol, query: NDArray[np.int64], disease: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Find the profile that the protocol leaves each pair's disease: rows of its columns.

    Parameters
    ----------
    query, disease : ndarray, shape (P,)
        As in `pair_evidence`.
    """
    n_candidates = len(protocol.knowledge.disease_ids)
    slot = np.where(disease < 0, n_candidates, disease).astype(np.int64)
    if len(protocol.keys):
        wanted = protocol.group[query] * n_candidates + disease
        place = np.minimum(np.searchsorted(protocol.keys, wanted), len(protocol.keys) - 1)
        rebuilt = (disease >= 0) & (protocol.keys[place] == wanted)
        slot[rebuilt] = n_candidates + 1 + place[rebuilt]
    return slot


def pair_evidence(
    protocol: Protocol,
    query: NDArray[np.int64],
    disease: NDArray[np.int32],
    floor: float = FLOOR,
) -> Evidence:
    """Evidence of some (case, disease) pairs under a protocol.

    Parameters
    ----------
    query : ndarray of int64, shape (P,)
        Row of each pair's case in the protocol's queries.
    disease : ndarray of int32, shape (P,)
        Candidate row of each pair's disease; -1 for one that is no candidate, which counts as one
        without a profile. Pairs may come in any order and more than once.
    floor : float
        Least frequency of an observed term.
    """
    knowledge, queries = protocol.knowledge, protocol.queries
    slot = pair_columns(protocol, query, disease)
    order = np.argsort(slot, kind="stable")
    columns, begins = np.unique(slot[order], return_index=True)

    n = len(query)
    result = Evidence(
        np.empty(n),
        np.empty(n),
        np.empty(n, np.int32),
        np.empty(n, np.bool_),
        np.empty(n),
        np.empty(n),
        np.empty(n),
    )
    _fill(
        make_profiles(knowledge, protocol.columns),
        floor,
        knowledge.ic.astype(np.float32),
        knowledge.ic,
        queries.observed_ptr,
        queries.observed,
        queries.excluded_ptr,
        queries.excluded,
        protocol.background,
        columns,
        np.append(begins, n),
        order,
        query,
        *result,
    )
    return result


def _no_profile(like: Columns) -> Columns:
    """One column without annotations."""
    return Columns(
        np.full(1, -1, np.int32),
        np.zeros(2, np.int64),
        like.terms[:0],
        like.numerator[:0],
        like.denominator[:0],
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )


def _stack(parts: list[Columns]) -> Columns:
    """All columns of some sets, in order."""
    offsets = np.cumsum([0, *(len(p.terms) for p in parts)])
    ptr = [p.ptr[:-1] + offset for p, offset in zip(parts, offsets, strict=False)]
    return Columns(
        np.concatenate([p.disease for p in parts]),
        np.append(np.concatenate(ptr), offsets[-1]),
        np.concatenate([p.terms for p in parts]),
        np.concatenate([p.numerator for p in parts]),
        np.concatenate([p.denominator for p in parts]),
        np.concatenate([p.start for p in parts]),
        np.concatenate([p.stop for p in parts]),
    )


@njit(cache=True, nogil=True)
def _share(terms: NDArray[np.int32], closed: NDArray[np.bool_]) -> float:
    """Share of the terms in an ancestor-closed profile; 0 of none."""
    held = 0
    for term in terms:
        held += closed[term]
    return held / len(terms) if len(terms) else 0.0


@njit(cache=True, nogil=True, parallel=True)
def _fill(
    profiles: Profiles,
    floor: float,
    ic: NDArray[np.float32],
    ic_exact: NDArray[np.float64],
    observed_ptr: NDArray[np.int64],
    observed: NDArray[np.int32],
    excluded_ptr: NDArray[np.int64],
    excluded: NDArray[np.int32],
    background: NDArray[np.float64],
    columns: NDArray[np.int64],
    pair_ptr: NDArray[np.int64],
    pairs: NDArray[np.int64],
    query: NDArray[np.int64],
    similarity: NDArray[np.float64],
    log_ratio: NDArray[np.float64],
    annotations: NDArray[np.int32],
    has_profile: NDArray[np.bool_],
    matched: NDArray[np.float64],
    matched_ic: NDArray[np.float64],
    excluded_matched: NDArray[np.float64],
) -> None:
    """Write the evidence of the pairs ``pairs[pair_ptr[u]:pair_ptr[u + 1]]`` of each column."""
    least = on_grid(np.log(floor))
    for u in prange(len(columns)):
        c = columns[u]
        own = profiles.terms[profiles.ptr[c] : profiles.ptr[c + 1]]
        closed = np.empty(len(ic), np.bool_)
        best = np.empty(len(ic), np.float32)
        best_match_column(own, ic, profiles.parent_ptr, profiles.parents, closed, best)
        frequency = np.empty(len(ic))
        frequency_column(profiles, c, frequency)
        for i in range(pair_ptr[u], pair_ptr[u + 1]):
            p = pairs[i]
            q = query[p]
            terms = observed[observed_ptr[q] : observed_ptr[q + 1]]
            total = 0.0
            weight = 0.0
            held = 0.0
            for term in terms:
                f = frequency[term]
                total += on_grid(np.log(f)) if f > floor else least
                weight += ic_exact[term]
                held += ic_exact[term] if closed[term] else 0.0
            similarity[p] = mean_best_match(best, terms)
            log_ratio[p] = total - background[q]
            annotations[p] = len(own)
            has_profile[p] = len(own) > 0
            matched[p] = _share(terms, closed)
            matched_ic[p] = held / weight if weight > 0.0 else 0.0
            excluded_matched[p] = _share(excluded[excluded_ptr[q] : excluded_ptr[q + 1]], closed)
