"""What a case's findings say about some candidates, and what the candidates' profiles say back.

Three directions: how well a profile explains the observed terms, whether it is annotated with
excluded ones, and how much of what it makes one expect was observed. A pair is scored against the
profile that its case's protocol leaves the disease, as in `rarefuse.fusion.evidence`.

F is the largest frequency of an annotation at or below a term, m the best match in nats
(`rarefuse.ontology.bestmatch`), and a term counts as annotated exactly or by a descendant.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rarefuse.compiled import njit, prange
from rarefuse.fusion.evidence import Protocol, pair_columns
from rarefuse.ontology.bestmatch import best_match_column
from rarefuse.rankers.background import Profiles, frequency_column, make_profiles

FINDINGS = (
    "similarity",
    "log_ratio",
    "log_ratio_fine",
    "direct_share",
    "matched_share",
    "near_share",
    "distant_share",
    "frequency_share",
    "most_specific",
    "excluded_log",
    "excluded_share",
    "contradicted_share",
    "coverage",
    "profile_similarity",
    "missing_log",
    "annotations",
)
"""Columns that `pair_findings` gives, in order.

Observed terms, shares weighted with information content:

``similarity``          sum of m over the observed terms, in nats
``log_ratio``           sum of ln max(F, 0.01) less that of the backgrounds, in nats (`nb-lr`)
``log_ratio_fine``      the same with a least frequency of 0.0001
``direct_share``        share of the observed terms that are annotations themselves
``matched_share``       share that is annotated, exactly or by a descendant
``near_share``          share that is not annotated but whose best match has at least half its IC
``distant_share``       share whose best match has less than a quarter of its IC
``frequency_share``     share, each term also weighted with F
``most_specific``       largest IC of an annotated observed term, in nats

Excluded terms:

``excluded_log``        sum of ln(1 - min(F, 0.99)), in nats
``excluded_share``      IC-weighted share of the excluded terms that is annotated
``contradicted_share``  IC-weighted share of the observed terms at or below an annotation of 0/n

The profile, its annotations weighted with frequency and information content:

``coverage``            share of the profile that is observed, or above an observed term
``profile_similarity``  mean over the profile of m against the observed terms, as a share of IC
``missing_log``         sum of ln(1 - min(f, 0.99)) over annotations that are neither, in nats
``annotations``         direct annotations
"""

FLOOR, FINE_FLOOR = 0.01, 0.0001
LARGEST = 0.99
NEAR, DISTANT = 0.5, 0.25


class Findings(NamedTuple):
    """Findings of P pairs.

    Parameters
    ----------
    values : ndarray of float64, shape (P, F)
        Columns `FINDINGS`.
    has_profile : ndarray of bool, shape (P,)
        Whether the protocol leaves the disease an annotation.
    """

    values: NDArray[np.float64]
    has_profile: NDArray[np.bool_]


def pair_findings(
    protocol: Protocol,
    query: NDArray[np.int64],
    disease: NDArray[np.int32],
) -> Findings:
    """Findings of some (case, disease) pairs under a protocol.

    Parameters
    ----------
    protocol : Protocol
        With its Q cases.
    query : ndarray of int64, shape (P,)
        Row of each pair's case; ascending.
    disease : ndarray of int32, shape (P,)
        Candidate row of each pair's disease.
    """
    knowledge, queries = protocol.knowledge, protocol.queries
    slot = pair_columns(protocol, query, disease)
    pairs = np.argsort(slot, kind="stable")
    columns, begins = np.unique(slot[pairs], return_index=True)
    profiles = make_profiles(knowledge, protocol.columns)
    ic = knowledge.ic.astype(np.float32)
    values = np.zeros((len(query), len(FINDINGS)))
    _case_side(
        profiles,
        ic,
        queries.observed_ptr,
        queries.observed,
        queries.excluded_ptr,
        queries.excluded,
        protocol.background,
        columns,
        np.append(begins, len(query)),
        pairs,
        query,
        values,
    )
    _profile_side(
        profiles,
        ic,
        queries.observed_ptr,
        queries.observed,
        np.searchsorted(query, np.arange(len(queries) + 1)),
        slot,
        values,
    )
    return Findings(values, values[:, FINDINGS.index("annotations")] > 0)


@njit(cache=True, nogil=True, parallel=True)
def _case_side(
    profiles: Profiles,
    ic: NDArray[np.float32],
    observed_ptr: NDArray[np.int64],
    observed: NDArray[np.int32],
    excluded_ptr: NDArray[np.int64],
    excluded: NDArray[np.int32],
    background: NDArray[np.float64],
    columns: NDArray[np.int64],
    pair_ptr: NDArray[np.int64],
    pairs: NDArray[np.int64],
    query: NDArray[np.int64],
    values: NDArray[np.float64],
) -> None:
    """Write what the terms of the cases say: a profile is spread once for all its pairs."""
    n_terms = len(ic)
    for u in prange(len(columns)):
        c = columns[u]
        begin, end = profiles.ptr[c], profiles.ptr[c + 1]
        closed = np.empty(n_terms, np.bool_)
        best = np.empty(n_terms, np.float32)
        frequency = np.empty(n_terms)
        best_match_column(
            profiles.terms[begin:end], ic, profiles.parent_ptr, profiles.parents, closed, best
        )
        frequency_column(profiles, c, frequency)
        direct = np.zeros(n_terms, np.bool_)
        absent = np.zeros(n_terms, np.bool_)
        any_absent = False
        for i in range(begin, end):
            direct[profiles.terms[i]] = True
            if profiles.numerator[i] == 0:
                absent[profiles.terms[i]] = True
                any_absent = True
        if any_absent:
            for t in range(n_terms):
                for i in range(profiles.parent_ptr[t], profiles.parent_ptr[t + 1]):
                    absent[t] |= absent[profiles.parents[i]]
        for k in range(pair_ptr[u], pair_ptr[u + 1]):
            p = pairs[k]
            q = query[p]
            total = 0.0
            out = values[p]
            out[1] = -background[q]
            out[2] = -background[q]
            for i in range(observed_ptr[q], observed_ptr[q + 1]):
                t = observed[i]
                weight = np.float64(ic[t])
                f = frequency[t]
                total += weight
                out[0] += best[t]
                out[1] += np.log(max(f, FLOOR))
                out[2] += np.log(max(f, FINE_FLOOR))
                if direct[t]:
                    out[3] += weight
                if closed[t]:
                    out[4] += weight
                    out[8] = max(out[8], weight)
                elif best[t] >= NEAR * weight:
                    out[5] += weight
                elif best[t] < DISTANT * weight:
                    out[6] += weight
                out[7] += weight * f
                if absent[t]:
                    out[11] += weight
            if total > 0.0:
                for j in (3, 4, 5, 6, 7, 11):
                    out[j] /= total
            total = 0.0
            for i in range(excluded_ptr[q], excluded_ptr[q + 1]):
                t = excluded[i]
                total += ic[t]
                out[9] += np.log(1.0 - min(frequency[t], LARGEST))
                if closed[t]:
                    out[10] += ic[t]
            if total > 0.0:
                out[10] /= total
            out[15] = end - begin


@njit(cache=True, nogil=True, parallel=True)
def _profile_side(
    profiles: Profiles,
    ic: NDArray[np.float32],
    observed_ptr: NDArray[np.int64],
    observed: NDArray[np.int32],
    pair_ptr: NDArray[np.int64],
    column_of: NDArray[np.int64],
    values: NDArray[np.float64],
) -> None:
    """Write how much of each profile was observed: a case is spread once for all its pairs."""
    for q in prange(len(pair_ptr) - 1):
        closed = np.empty(len(ic), np.bool_)
        best = np.empty(len(ic), np.float32)
        best_match_column(
            observed[observed_ptr[q] : observed_ptr[q + 1]],
            ic,
            profiles.parent_ptr,
            profiles.parents,
            closed,
            best,
        )
        for p in range(pair_ptr[q], pair_ptr[q + 1]):
            c = column_of[p]
            out = values[p]
            total = 0.0
            for i in range(profiles.ptr[c], profiles.ptr[c + 1]):
                t = profiles.terms[i]
                f = profiles.numerator[i] / profiles.denominator[i]
                weight = f * ic[t]
                total += weight
                out[13] += f * best[t]
                if closed[t]:
                    out[12] += weight
                else:
                    out[14] += np.log(1.0 - min(f, LARGEST))
            if total > 0.0:
                out[12] /= total
                out[13] /= total
