"""The 39 features that describe one component's list for one case (paper, section 4.1, Table 9).

Both components are described by the same features: e is the list described, o the other one. The
first 14 (the case) and 33 to 36 (agreement) have the same values in both vectors. Evidence is that
of `rarefuse.fusion.evidence` against the protocol's profiles. Nothing here is the identity, the
architecture or the size of a model.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.artifacts import Column, Schema
from rarefuse.fusion.evidence import Protocol, pair_evidence
from rarefuse.fusion.lists import LLM_DEPTH, Lists
from rarefuse.rankers.base import Queries

ONTOLOGY, LLM = COMPONENTS = ("ontology", "llm")
LEADING = 10
"""Candidates that 'leading' means."""


@dataclass(frozen=True)
class Feature:
    """Index (from 1, as in the paper), name, group, whether shared by both vectors, meaning."""

    index: int
    name: str
    group: str
    shared: bool
    meaning: str


_DEFINED = [
    ("context", True, [
        ("n_observed", "log1p of the observed terms"),
        ("n_excluded", "log1p of the excluded terms"),
        ("ic_observed_mean", "mean information content of the observed terms, nat"),
        ("ic_observed_max", "their largest, nat"),
        ("ic_observed_sum", "log1p of their sum in nat"),
        ("depth_observed_mean", "mean depth of the observed terms below HP:0000118, edges"),
        ("depth_observed_max", "their largest, edges"),
        ("ic_excluded_mean", "mean information content of the excluded terms, nat"),
        ("ic_excluded_max", "their largest, nat"),
        ("depth_excluded_mean", "mean depth of the excluded terms, edges"),
        ("excluded_share", "excluded terms over observed and excluded ones"),
        ("has_age", "1 where an age is given"),
        ("has_onset", "1 where an onset is given"),
        ("has_sex", "1 where a sex is given"),
    ]),
    ("shape", False, [
        ("length", "candidates over the list's cap"),
        ("gap_second", "min-max normalised score of the first candidate less that of the second"),
        ("gap_rest", "the same less the mean of the second to the tenth"),
        ("entropy", "entropy of the first ten normalised scores over their sum, over ln 10"),
    ]),
    ("support", False, [
        ("similarity_top1", "Resnik similarity of the first candidate, nat"),
        ("similarity_best3", "the best of the first three, nat"),
        ("similarity_mean10", "the mean of the first ten, nat"),
        ("ratio_top1", "log likelihood ratio of the first candidate, nat"),
        ("ratio_best3", "the best of the first three, nat"),
        ("ratio_mean10", "the mean of the first ten, nat"),
        ("ratio_gap", "that of the first candidate less the best of the first ten, nat"),
        ("annotations_top1", "log1p of the first candidate's annotations"),
        ("annotations_mean10", "its mean over the first ten"),
        ("profiles10", "share of the first ten with a profile"),
        ("matched_top1", "share of the observed terms that the first candidate matches"),
        ("matched_mean10", "its mean over the first ten"),
        ("matched_ic_top1", "the first candidate's share weighted with information content"),
        ("excluded_matched_top1", "share of the excluded terms that the first candidate has"),
    ]),
    ("agreement", True, [
        (f"overlap{k}", f"candidates that both lists have in their first {k}, over {k}")
        for k in (1, 3, 5, 10)
    ]),
    ("cross", False, [
        ("cross_top1", "reciprocal rank of the own first candidate in the other list"),
        ("cross_best3", "best reciprocal rank of the own first three"),
        ("cross_mean10", "mean reciprocal rank of the own first ten"),
    ]),
]  # fmt: skip

FEATURES = tuple(
    Feature(i, name, group, shared, meaning)
    for i, (name, group, shared, meaning) in enumerate(
        (
            (name, group, shared, meaning)
            for group, shared, columns in _DEFINED
            for name, meaning in columns
        ),
        start=1,
    )
)
"""All features in the order of the vectors. The order is part of every checkpoint's schema."""

FEATURE_NAMES = tuple(feature.name for feature in FEATURES)

FEATURE_TABLE = Schema(
    "features",
    (
        Column("case_id", pl.String, "case; rows are sorted by case_id, ontology before llm"),
        Column("component", pl.String, "the list described: 'ontology' or 'llm'"),
        *(
            Column(feature.name, pl.Float64, f"{feature.index}: {feature.meaning}")
            for feature in FEATURES
        ),
    ),
    key=("case_id", "component"),
)


@dataclass(frozen=True)
class Features:
    """Vectors of N cases.

    Parameters
    ----------
    ontology, llm : ndarray of float64, shape (N, 39)
        The vectors phi_T and phi_L.
    """

    ontology: NDArray[np.float64]
    llm: NDArray[np.float64]


def columns_of(*groups: str) -> list[int]:
    """Columns of the vectors that belong to some groups."""
    return [feature.index - 1 for feature in FEATURES if feature.group in groups]


def _segments(ptr: NDArray[np.int64], values: NDArray[np.float64]) -> tuple[NDArray, NDArray]:
    """Mean and maximum of each segment of `values`; 0 of an empty one."""
    sizes = np.diff(ptr)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    mean = np.bincount(owner, values, len(sizes)) / np.maximum(sizes, 1)
    largest = np.zeros(len(sizes))
    np.maximum.at(largest, owner, values)
    return mean, largest


def case_context(knowledge: Knowledge, queries: Queries, view: pl.DataFrame) -> NDArray[np.float64]:
    """Features 1 to 14 of every query, shape (N, 14).

    Parameters
    ----------
    view : polars.DataFrame
        `VIEW`; says whether age, onset and sex are given.
    """
    depth = np.maximum(knowledge.ontology.depth, 0).astype(float)
    n_observed, n_excluded = queries.sizes, np.diff(queries.excluded_ptr)
    ic_mean, ic_max = _segments(queries.observed_ptr, knowledge.ic[queries.observed])
    depth_mean, depth_max = _segments(queries.observed_ptr, depth[queries.observed])
    ic_ex_mean, ic_ex_max = _segments(queries.excluded_ptr, knowledge.ic[queries.excluded])
    depth_ex_mean, _ = _segments(queries.excluded_ptr, depth[queries.excluded])
    given = pl.DataFrame({"case_id": queries.case_ids}, schema={"case_id": pl.String}).join(
        view.select("case_id", "age_days", "onset", "sex"),
        on="case_id",
        how="left",
        maintain_order="left",
    )
    return np.column_stack(
        [
            np.log1p(n_observed),
            np.log1p(n_excluded),
            ic_mean,
            ic_max,
            np.log1p(ic_mean * n_observed),
            depth_mean,
            depth_max,
            ic_ex_mean,
            ic_ex_max,
            depth_ex_mean,
            n_excluded / np.maximum(n_observed + n_excluded, 1),
            *(given[name].is_not_null().to_numpy() for name in ("age_days", "onset", "sex")),
        ]
    ).astype(float)


def _leading_mean(values: NDArray[np.float64], present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mean over the candidates present; 0 of none. Both of shape (N, k)."""
    return np.where(present, values, 0.0).sum(axis=1) / np.maximum(present.sum(axis=1), 1)


def _best(values: NDArray[np.float64], present: NDArray[np.bool_]) -> NDArray[np.float64]:
    best = np.where(present, values, -np.inf).max(axis=1)
    return np.where(present.any(axis=1), best, 0.0)


def list_shape(lists: Lists, cap: int) -> NDArray[np.float64]:
    """Features 15 to 18, shape (N, 4).

    Scores are min-max normalised over the stored list, so that positive affine rescaling changes
    nothing. A list shorter than two, a constant one, or a zero sum gives 0. A score of minus
    infinity (a candidate without a profile) counts as the least finite one.
    """
    present = lists.disease >= 0
    usable = present & np.isfinite(lists.score)
    low = np.where(usable, lists.score, np.inf).min(axis=1, initial=np.inf)
    high = np.where(usable, lists.score, -np.inf).max(axis=1, initial=-np.inf)
    length = lists.length
    varied = (length > 1) & (high > low)
    low, span = np.where(varied, low, 0.0), np.where(varied, high - low, 1.0)
    kept = usable & varied[:, None]
    x = np.where(kept, (np.where(kept, lists.score, 0.0) - low[:, None]) / span[:, None], 0.0)
    x, present = x[:, :LEADING], present[:, :LEADING]
    second = x[:, 1] if x.shape[1] > 1 else np.zeros(len(x))
    share = x / np.where(x.sum(axis=1) > 0, x.sum(axis=1), 1.0)[:, None]
    entropy = -np.where(share > 0, share * np.log(np.where(share > 0, share, 1.0)), 0.0).sum(axis=1)
    return np.column_stack(
        [
            length / cap,
            np.where(varied, x[:, 0] - second, 0.0),
            np.where(varied, x[:, 0] - _leading_mean(x[:, 1:], present[:, 1:]), 0.0),
            entropy / np.log(LEADING),
        ]
    )


def list_support(protocol: Protocol, lists: Lists) -> NDArray[np.float64]:
    """Features 19 to 32 of the leading candidates, shape (N, 14).

    Parameters
    ----------
    protocol : Protocol
        Of the N cases.
    lists : Lists
        Of vocabulary rows that are candidate rows; others (no candidates) have no profile.
    """
    leading = lists.disease[:, :LEADING]
    present = leading >= 0
    rows, places = np.nonzero(present)
    disease = leading[rows, places]
    disease = np.where(disease < len(protocol.knowledge.disease_ids), disease, -1).astype(np.int32)
    found = pair_evidence(protocol, rows, disease)

    def table(values: NDArray) -> NDArray[np.float64]:
        full = np.zeros(leading.shape)
        full[rows, places] = values
        return full

    similarity, ratio, matched = map(table, (found.similarity, found.log_ratio, found.matched))
    annotations = np.log1p(table(found.annotations))
    return np.column_stack(
        [
            similarity[:, 0],
            _best(similarity[:, :3], present[:, :3]),
            _leading_mean(similarity, present),
            ratio[:, 0],
            _best(ratio[:, :3], present[:, :3]),
            _leading_mean(ratio, present),
            ratio[:, 0] - _best(ratio, present),
            annotations[:, 0],
            _leading_mean(annotations, present),
            _leading_mean(table(found.has_profile), present),
            matched[:, 0],
            _leading_mean(matched, present),
            table(found.matched_ic)[:, 0],
            table(found.excluded_matched)[:, 0],
        ]
    )


def _reciprocal_ranks(own: Lists, other: Lists) -> NDArray[np.float64]:
    """Reciprocal rank in `other` of the own leading candidates, 0 where absent, shape (N, ≤10)."""
    leading = own.disease[:, :LEADING]
    same = (leading[:, :, None] == other.disease[:, None, :]) & (leading[:, :, None] >= 0)
    return np.where(same.any(axis=2), 1.0 / (same.argmax(axis=2) + 1), 0.0)


def list_agreement(one: Lists, other: Lists) -> NDArray[np.float64]:
    """Features 33 to 36, shape (N, 4)."""
    shared = []
    for k in (1, 3, 5, 10):
        a, b = one.disease[:, :k], other.disease[:, :k]
        same = (a[:, :, None] == b[:, None, :]) & (a[:, :, None] >= 0)
        shared.append(same.sum(axis=(1, 2)) / k)
    return np.column_stack(shared)


def list_cross(own: Lists, other: Lists) -> NDArray[np.float64]:
    """Features 37 to 39 of `own`, shape (N, 3)."""
    ranks = _reciprocal_ranks(own, other)
    present = own.disease[:, : ranks.shape[1]] >= 0
    return np.column_stack([ranks[:, 0], ranks[:, :3].max(axis=1), _leading_mean(ranks, present)])


def make_features(protocol: Protocol, view: pl.DataFrame, ontology: Lists, llm: Lists) -> Features:
    """Describe both lists of every case of a protocol.

    Parameters
    ----------
    view : polars.DataFrame
        See `case_context`.
    ontology, llm : Lists
        Of the protocol's N queries, in their order; the ontology's cap is the depth it is stored
        at, the language model's is 10.
    """
    context = case_context(protocol.knowledge, protocol.queries, view)
    agreement = list_agreement(ontology, llm)

    def vectors(own: Lists, other: Lists, cap: int) -> NDArray[np.float64]:
        return np.concatenate(
            [
                context,
                list_shape(own, cap),
                list_support(protocol, own),
                agreement,
                list_cross(own, other),
            ],
            axis=1,
        )

    return Features(
        vectors(ontology, llm, ontology.disease.shape[1]), vectors(llm, ontology, LLM_DEPTH)
    )


def to_frame(case_ids: list[str], features: Features) -> pl.DataFrame:
    """`FEATURE_TABLE` of some cases."""
    frames = [
        pl.DataFrame({"case_id": case_ids, "component": [component] * len(case_ids)}).hstack(
            pl.DataFrame(values, schema=list(FEATURE_NAMES), orient="row")
        )
        for component, values in zip(COMPONENTS, (features.ontology, features.llm), strict=True)
    ]
    frame = pl.concat(frames).sort("case_id", pl.col("component") == LLM)
    return frame.select(FEATURE_TABLE.names)


def from_frame(frame: pl.DataFrame, case_ids: list[str]) -> Features:
    """Vectors of some cases of a `FEATURE_TABLE`, in their order."""
    wanted = pl.DataFrame({"case_id": case_ids}, schema={"case_id": pl.String})
    parts = [
        wanted.join(
            frame.filter(pl.col("component") == component),
            on="case_id",
            how="left",
            maintain_order="left",
        )
        .select(FEATURE_NAMES)
        .to_numpy()
        for component in COMPONENTS
    ]
    return Features(*parts)
