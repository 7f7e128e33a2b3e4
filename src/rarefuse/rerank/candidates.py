"""Candidates of every case, the union of several lists, and the evidence on each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.compiled import njit, prange
from rarefuse.fusion.evidence import Protocol
from rarefuse.rerank.columns import EvidenceColumn, evidence_columns
from rarefuse.rerank.findings import FINDINGS, pair_findings

LLM_PLACES = 10
"""Names of a language model that are read."""


@dataclass(frozen=True)
class Lists:
    """Where the candidates stand in the lists that they come from.

    N candidates of Q cases, by case and then by candidate row; L lists, the rankers' in order and
    then the language model's if there is one. It stays the same whatever the order of the rows
    that it is made of.

    Parameters
    ----------
    names : tuple of str
        Rankers.
    ptr : ndarray of int64, shape (Q + 1,)
        Where each case's candidates begin.
    query : ndarray of int64, shape (N,)
        Row of each candidate's case.
    disease : ndarray of int32, shape (N,)
        Candidate row of the disease.
    rank : ndarray of int16, shape (N, L)
        One-based place, 0 where the list does not hold the disease.
    score, p_value : dict of str to ndarray of float64, shape (N,)
        A ranker's own numbers, NaN where its list does not hold the disease.
    llm : bool
        Whether the last list is a language model's.
    """

    names: tuple[str, ...]
    ptr: NDArray[np.int64]
    query: NDArray[np.int64]
    disease: NDArray[np.int32]
    rank: NDArray[np.int16]
    score: dict[str, NDArray[np.float64]]
    p_value: dict[str, NDArray[np.float64]]
    llm: bool


@dataclass(frozen=True)
class Evidence:
    """Candidates with their evidence.

    Parameters
    ----------
    columns : tuple of EvidenceColumn
        F columns.
    lists : Lists
        N candidates of Q cases.
    values : ndarray of float64, shape (N, F)
        Finite.
    """

    columns: tuple[EvidenceColumn, ...]
    lists: Lists
    values: NDArray[np.float64]


def join_lists(
    knowledge: Knowledge,
    case_ids: Sequence[str],
    rankings: Mapping[str, pl.DataFrame],
    named: pl.DataFrame | None,
    depth: int,
) -> Lists:
    """Join the lists of all cases.

    Parameters
    ----------
    case_ids : sequence of str
        Q cases; rows of others are passed over.
    rankings : mapping of str to polars.DataFrame
        Ranker → rows with case_id, rank, disease_id, score, p_value, as `RANKINGS` has them.
    named : polars.DataFrame or None
        A language model's list: case_id, rank, disease_id. None for none at all, which is not
        the same as a model that named nothing.
    depth : int
        Places of each ranker's list that are read.
    """
    n_candidates = len(knowledge.disease_ids)
    case_row = pl.DataFrame({"case_id": case_ids, "query": np.arange(len(case_ids))})
    disease_row = pl.DataFrame(
        {"disease_id": knowledge.disease_ids, "disease": np.arange(n_candidates)}
    )
    sources = {name: (frame, depth) for name, frame in rankings.items()}
    frames = [*sources.values(), *([(named, LLM_PLACES)] if named is not None else [])]
    parts = [
        frame.filter(pl.col("rank") <= places)
        .join(case_row, on="case_id")
        .join(disease_row, on="disease_id")
        for frame, places in frames
    ]
    keys = [part["query"].to_numpy() * n_candidates + part["disease"].to_numpy() for part in parts]
    union = np.unique(np.concatenate(keys))
    rank = np.zeros((len(union), len(parts)), np.int16)
    score: dict[str, NDArray[np.float64]] = {}
    p_value: dict[str, NDArray[np.float64]] = {}
    for j, (part, own) in enumerate(zip(parts, keys, strict=True)):
        at = np.searchsorted(union, own)
        rank[at, j] = part["rank"].to_numpy()
        if j < len(sources):
            name = list(sources)[j]
            score[name] = np.full(len(union), np.nan)
            score[name][at] = part["score"].to_numpy()
            if len(part) and not part["p_value"].null_count():
                p_value[name] = np.full(len(union), np.nan)
                p_value[name][at] = part["p_value"].to_numpy()
    query = union // n_candidates
    return Lists(
        tuple(sources),
        np.searchsorted(query, np.arange(len(case_ids) + 1)),
        query,
        (union % n_candidates).astype(np.int32),
        rank,
        score,
        p_value,
        named is not None,
    )


def gather_evidence(protocol: Protocol, lists: Lists) -> Evidence:
    """Evidence on all candidates. No diagnosis goes in.

    A disease that LOPO leaves without annotations would give itself away: hardly any disease but
    the diagnosis is ever emptied. It therefore gets the evidence of the least of its case's other
    candidates, column by column, and the median profile size, so that nothing tells it from a
    disease that fits badly.

    Parameters
    ----------
    protocol : Protocol
        With the Q cases of `lists`, in its order.
    """
    found = pair_findings(protocol, lists.query, lists.disease)
    own = {name: found.values[:, j].copy() for j, name in enumerate(FINDINGS)}
    own["log_ratio_mean"] = own["log_ratio"] / protocol.queries.sizes[lists.query]
    columns = evidence_columns(lists.names, tuple(lists.p_value), llm=lists.llm)
    direction = {column.name: column.direction for column in columns}
    for name, values in own.items():
        if name == "annotations":
            fill_median(lists.ptr, found.has_profile, values)
        else:
            fill_least(lists.ptr, found.has_profile, float(direction.get(name, 1)), values)
    by_name = {**own, **_list_evidence(lists)}
    for column in columns:
        base = column.name.removesuffix("_margin")
        if base != column.name:
            by_name[column.name] = margins(lists.ptr, by_name[base])
    return Evidence(columns, lists, np.stack([by_name[c.name] for c in columns], axis=1))


def _list_evidence(lists: Lists) -> dict[str, NDArray[np.float64]]:
    """Columns about the lists themselves. Places are logarithms; absence is 1.5 times the depth."""
    result: dict[str, NDArray[np.float64]] = {}
    n_rankers = len(lists.names)
    ranks = lists.rank[:, :n_rankers].astype(np.float64)
    beyond = 1.5 * max(1.0, ranks.max(initial=1.0))
    logs = np.log(np.where(ranks > 0, ranks, beyond))
    for j, name in enumerate(lists.names):
        result[f"rank.{name}"] = logs[:, j]
        score = lists.score[name].copy()
        fill_least(lists.ptr, ~np.isnan(score), 1.0, score)
        result[f"score_margin.{name}"] = margins(lists.ptr, score)
        if name in lists.p_value:
            p_value = lists.p_value[name].copy()
            fill_least(lists.ptr, ~np.isnan(p_value), -1.0, p_value)
            result[f"p_value.{name}"] = p_value
    held = lists.rank > 0
    result["lists_first"] = (lists.rank == 1).sum(axis=1).astype(np.float64)
    result["lists_first_ten"] = (held & (lists.rank <= 10)).sum(axis=1).astype(np.float64)
    result["lists_holding"] = held.sum(axis=1).astype(np.float64)
    result["best_rank"] = logs.min(axis=1)
    result["mean_rank"] = logs.mean(axis=1)
    result["worst_rank"] = logs.max(axis=1)
    if lists.llm:
        last = lists.rank[:, -1]
        result["llm_rank"] = np.where(last > 0, last, LLM_PLACES + 1).astype(np.float64)
        for name, k in (("llm_first", 1), ("llm_first_three", 3), ("llm_named", LLM_PLACES)):
            result[name] = ((last > 0) & (last <= k)).astype(np.float64)
    return result


@njit(cache=True, nogil=True, parallel=True)
def margins(ptr: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance of each value to the best other of its case; 0 where there is no other.

    Adding a constant to all values of a case changes nothing. Minus infinity is read as the least
    finite value of the case.
    """
    result = np.zeros(len(values))
    for q in prange(len(ptr) - 1):
        begin, end = ptr[q], ptr[q + 1]
        least = np.inf
        for i in range(begin, end):
            if values[i] > -np.inf:
                least = min(least, values[i])
        best = -np.inf
        second = -np.inf
        first = begin
        for i in range(begin, end):
            v = max(values[i], least)
            if v > best:
                best, second, first = v, best, i
            elif v > second:
                second = v
        for i in range(begin, end):
            if end - begin > 1 and least < np.inf:
                result[i] = max(values[i], least) - (second if i == first else best)
    return result


@njit(cache=True, nogil=True, parallel=True)
def fill_least(
    ptr: NDArray[np.int64], known: NDArray[np.bool_], sign: float, values: NDArray[np.float64]
) -> None:
    """Give what is not known the least of the case's known values, the largest if `sign` is -1.

    0 where nothing is known.
    """
    for q in prange(len(ptr) - 1):
        least = np.inf
        for i in range(ptr[q], ptr[q + 1]):
            if known[i] and np.isfinite(values[i]):
                least = min(least, sign * values[i])
        if least == np.inf:
            least = 0.0
        for i in range(ptr[q], ptr[q + 1]):
            if not known[i] or not np.isfinite(values[i]):
                values[i] = sign * least


@njit(cache=True, nogil=True, parallel=True)
def fill_median(
    ptr: NDArray[np.int64], known: NDArray[np.bool_], values: NDArray[np.float64]
) -> None:
    """Give what is not known the (lower) median of the case's known values, 0 for none."""
    for q in prange(len(ptr) - 1):
        own = np.sort(values[ptr[q] : ptr[q + 1]][known[ptr[q] : ptr[q + 1]]])
        middle = own[(len(own) - 1) // 2] if len(own) else 0.0
        for i in range(ptr[q], ptr[q + 1]):
            if not known[i]:
                values[i] = middle
