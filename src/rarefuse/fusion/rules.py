"""Rank fusion without a gate: published rules, and one weight for all cases.

Every rule scores the candidates of the same unions. RRF, Borda-fuse, CombMNZ and ProbFuse follow
ranx 0.3.21 (Bassani 2022), which the tests compare them with; written for unions of two lists they
need no names of documents and take milliseconds. A candidate at rank r enters with the score 1/r,
as the rules know ranks only. Bayes-fuse sums log likelihood ratios of a rank among right and wrong
candidates; a candidate that a list lacks gets neutral evidence from it, 0 (paper, A.4).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rarefuse.fusion.lists import Union, fused_score, places_by_score

RRF_K = 60
"""Of Cormack et al. (2009), ranx's default."""
RANK_BINS = (*range(1, 11), 21, 51)
"""First rank of each bin of Bayes-fuse: single ranks to 10, then 11-20, 21-50, 51 and more."""
WEIGHTS = np.linspace(0.0, 1.0, 101)
"""Fixed weights to choose from."""


def ranks_of(reciprocal: NDArray[np.float64]) -> NDArray[np.int64]:
    """One-based ranks of reciprocal ranks 1/r, 0 where absent."""
    with np.errstate(divide="ignore"):
        ranks = np.where(reciprocal > 0, np.rint(1.0 / reciprocal), 0.0)
    return ranks.astype(np.int64)


def rrf_scores(union: Union) -> NDArray[np.float64]:
    """Reciprocal-rank fusion: the sum of 1/(60 + rank), shape (N, U)."""
    total = np.zeros(union.disease.shape)
    for reciprocal in (union.ontology, union.llm):
        ranks = ranks_of(reciprocal)
        total += np.where(ranks > 0, 1.0 / (RRF_K + ranks), 0.0)
    return total


def borda_scores(union: Union) -> NDArray[np.float64]:
    """Borda-fuse: the sum of points, n for the first of n candidates, one less a place.

    Candidates that a list lacks share the points that it has not given away.
    """
    present = union.disease >= 0
    n = present.sum(axis=1)[:, None]
    total = np.zeros(union.disease.shape)
    for reciprocal in (union.ontology, union.llm):
        ranks = ranks_of(reciprocal)
        length = (ranks > 0).sum(axis=1)[:, None]
        total += np.where(ranks > 0, n - ranks + 1.0, (n - length + 1.0) / 2.0)
    return np.where(present, total, 0.0)


def combmnz_scores(union: Union) -> NDArray[np.float64]:
    """CombMNZ of min-max normalised scores: their sum times the number of lists.

    As in ranx the last of a list scores 0, and so does the only one of a list of one.
    """
    total, lists = np.zeros(union.disease.shape), np.zeros(union.disease.shape)
    for reciprocal in (union.ontology, union.llm):
        present = reciprocal > 0
        low = np.where(present, reciprocal, np.inf).min(axis=1, keepdims=True)
        high = reciprocal.max(axis=1, keepdims=True)
        low = np.where(np.isfinite(low), low, 0.0)
        total += np.where(present, (reciprocal - low) / np.maximum(high - low, 1e-9), 0.0)
        lists += present
    return total * lists


def probfuse_scores(
    union: Union, probabilities: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """ProbFuse with one segment a place: the sum of P(right at the place) over the place.

    Parameters
    ----------
    probabilities : sequence of ndarray
        `hit_shares` of both lists.
    """
    total = np.zeros(union.disease.shape)
    for reciprocal, share in zip((union.ontology, union.llm), probabilities, strict=True):
        ranks = ranks_of(reciprocal)
        total += np.where(ranks > 0, share[np.maximum(ranks, 1) - 1] / np.maximum(ranks, 1), 0.0)
    return total


def hit_shares(ranks: NDArray[np.int64], depth: int) -> NDArray[np.float64]:
    """ProbFuse's probabilities with one segment a place: share of lists that are right there.

    Parameters
    ----------
    ranks : ndarray of int64, shape (R,)
        Rank of the diagnosis in each training row's list, 0 where absent.
    depth : int
        Places.
    """
    return np.bincount(ranks, minlength=depth + 1)[1 : depth + 1] / max(1, len(ranks))


def rank_ratios(ranks: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Bayes-fuse's log likelihood ratios of each rank bin, right against wrong candidates.

    Counts get half an observation each, so that an empty bin has a finite ratio.

    Parameters
    ----------
    ranks : ndarray of int64, shape (R,)
        Rank of the diagnosis in each training row's list, 0 where absent.
    lengths : ndarray of int64, shape (R,)
        Candidates of each list.

    Returns
    -------
    ndarray of float64, shape (len(RANK_BINS),)
    """
    bins = np.array(RANK_BINS)
    right = np.bincount(
        np.searchsorted(bins, ranks[ranks > 0], side="right") - 1, minlength=len(bins)
    )
    ends = np.append(bins[1:], np.iinfo(np.int64).max)
    shown = np.clip(lengths[:, None] - bins + 1, 0, ends - bins).sum(axis=0)
    wrong = shown - right
    p_right, p_wrong = ((n + 0.5) / (n.sum() + 0.5 * len(bins)) for n in (right, wrong))
    return np.log(p_right / p_wrong)


def bayes_scores(union: Union, ratios: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Sum of both lists' log likelihood ratios, shape (N, U); absent ranks add nothing."""
    total = np.zeros(union.disease.shape)
    for reciprocal, ratio in zip((union.ontology, union.llm), ratios, strict=True):
        ranks = ranks_of(reciprocal)
        which = np.searchsorted(np.array(RANK_BINS), ranks, side="right") - 1
        total += np.where(ranks > 0, ratio[np.maximum(which, 0)], 0.0)
    return total


def gold_ranks_in(union: Union, gold: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Rank of the diagnosis (a column of the union, -1 for none) in both lists, 0 where absent."""
    rows, column = np.arange(len(gold)), np.maximum(gold, 0)
    return [
        np.where(gold >= 0, ranks_of(reciprocal[rows, column]), 0)
        for reciprocal in (union.ontology, union.llm)
    ]


class Trained(NamedTuple):
    """What rules learn from labelled rows: one array a list.

    Parameters
    ----------
    shares : list of ndarray
        `hit_shares`, for ProbFuse.
    ratios : list of ndarray
        `rank_ratios`, for Bayes-fuse.
    """

    shares: list[NDArray[np.float64]]
    ratios: list[NDArray[np.float64]]


def train_rules(union: Union, gold: NDArray[np.int64]) -> Trained:
    """Count where the diagnosis stands in the lists of labelled rows."""
    trained = Trained([], [])
    for ranks, reciprocal in zip(
        gold_ranks_in(union, gold), (union.ontology, union.llm), strict=True
    ):
        trained.shares.append(hit_shares(ranks, reciprocal.shape[1]))
        trained.ratios.append(rank_ratios(ranks, (reciprocal > 0).sum(axis=1)))
    return trained


def right_by_weight(union: Union, gold: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each fixed weight puts the diagnosis first, shape (len(WEIGHTS), N).

    Parameters
    ----------
    gold : ndarray of int64, shape (N,)
        Column of the diagnosis in the union, -1 for none.
    """
    return np.stack(
        [
            places_by_score(union, fused_score(union, *_constant(w, union)), gold)[:, 0] == 1
            for w in WEIGHTS
        ]
    )


def best_fixed_weight(right: NDArray[np.bool_]) -> float:
    """Ontology weight in 0, 0.01 … 1 with the best Recall@1 on labelled rows; ties nearest 1/2.

    The labels are those of the target model, an advantage over transfer (paper, section 5).

    Parameters
    ----------
    right : ndarray of bool, shape (len(WEIGHTS), R)
        `right_by_weight` of the labelled rows.
    """
    total = right.sum(axis=1)
    best = np.flatnonzero(total == total.max())
    return float(WEIGHTS[best[np.argmin(np.abs(WEIGHTS[best] - 0.5))]])


def _constant(weight: float, union: Union) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.full(len(union.disease), weight), np.full(len(union.disease), 1.0 - weight)
