"""Candidate lists as arrays, the union of two lists, and ranking by a weight a case.

The fused score of a disease is s(d) = w_T r_T(d) + w_L r_L(d) with r(d) = 1/(kappa + rank(d)), 0
where a list does not have it (paper, equations 1 and 4). Equal scores, frequent at w = 1/2, keep
the ontology list's order, then the language model's: a union is stored in that order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse.compiled import njit, prange

LLM_DEPTH = 10
"""Names that a language model is asked for, and the cap of its list."""


@dataclass(frozen=True)
class Lists:
    """One candidate list a case.

    Parameters
    ----------
    disease : ndarray of int32, shape (N, K)
        Rows of a vocabulary in list order, -1 behind the end.
    score : ndarray of float64, shape (N, K)
        Scores in list order, larger is better, 0 behind the end. They need not fall along the
        list: Phenomizer orders by p-value before its score.
    """

    disease: NDArray[np.int32]
    score: NDArray[np.float64]

    @property
    def length(self) -> NDArray[np.int64]:
        """Candidates of each case, shape (N,)."""
        return (self.disease >= 0).sum(axis=1)

    def top(self, depth: int) -> "Lists":
        """The first `depth` places."""
        return Lists(self.disease[:, :depth], self.score[:, :depth])

    def rows(self, rows: NDArray[np.int64]) -> "Lists":
        """The lists of some cases."""
        return Lists(self.disease[rows], self.score[rows])


def vocabulary_of(*ids: Sequence[str]) -> dict[str, int]:
    """Number all diseases of some sequences, in the order of first sight."""
    seen: dict[str, int] = {}
    for some in ids:
        for disease in some:
            seen.setdefault(disease, len(seen))
    return seen


def index_lists(
    ranking: pl.DataFrame,
    case_ids: Sequence[str],
    vocabulary: dict[str, int],
    depth: int,
) -> Lists:
    """Lists of some cases from a ranking artifact.

    Parameters
    ----------
    ranking : polars.DataFrame
        Columns case_id, rank, disease_id, and score where there is one; without, the candidate at
        rank r scores 1/r (paper, section 4.1).
    case_ids : sequence of str
        Length N. A case that the ranking lacks has an empty list.
    vocabulary : dict
        Disease → row; has every disease of `ranking`.
    depth : int
        Places to take, K.
    """
    rows = pl.DataFrame(
        {"case_id": case_ids, "row": np.arange(len(case_ids))},
        schema={"case_id": pl.String, "row": pl.Int64},
    )
    kept = ranking.filter(pl.col("rank") <= depth).join(rows, on="case_id")
    row, place = kept["row"].to_numpy(), kept["rank"].to_numpy().astype(np.int64) - 1
    disease = np.full((len(case_ids), depth), -1, np.int32)
    score = np.zeros((len(case_ids), depth))
    disease[row, place] = [vocabulary[d] for d in kept["disease_id"]]
    score[row, place] = kept["score"].to_numpy() if "score" in kept.columns else 1.0 / (place + 1)
    return Lists(disease, score)


@dataclass(frozen=True)
class Union:
    """Candidates of two lists together: the ontology's in its order, then the LLM's own.

    Parameters
    ----------
    disease : ndarray of int32, shape (N, U)
        Rows of the vocabulary, -1 behind the end.
    ontology, llm : ndarray of float64, shape (N, U)
        Reciprocal ranks r_T and r_L; 0 where the list lacks the candidate and behind the end.
    """

    disease: NDArray[np.int32]
    ontology: NDArray[np.float64]
    llm: NDArray[np.float64]

    def rows(self, rows: NDArray[np.int64]) -> "Union":
        """The unions of some cases."""
        return Union(self.disease[rows], self.ontology[rows], self.llm[rows])

    def places(self, disease: NDArray[np.int32]) -> NDArray[np.int64]:
        """Column of one disease a case, shape (N,); -1 where the union lacks it."""
        same = (self.disease == disease[:, None]) & (disease[:, None] >= 0)
        return np.where(same.any(axis=1), same.argmax(axis=1), -1)


def make_union(ontology: Lists, llm: Lists, kappa: float) -> Union:
    """Unite two lists a case.

    Parameters
    ----------
    kappa : float
        At least 0; larger values flatten the decay down the list (paper, equation 1).
    """
    n, k_t = ontology.disease.shape
    disease = np.full((n, k_t + llm.disease.shape[1]), -1, np.int32)
    r_t, r_l = np.zeros(disease.shape), np.zeros(disease.shape)
    _unite(ontology.disease, llm.disease, kappa, disease, r_t, r_l)
    return Union(disease, r_t, r_l)


@njit(cache=True, nogil=True, parallel=True)
def _unite(
    ontology: NDArray[np.int32],
    llm: NDArray[np.int32],
    kappa: float,
    disease: NDArray[np.int32],
    r_t: NDArray[np.float64],
    r_l: NDArray[np.float64],
) -> None:
    for i in prange(len(ontology)):
        size = 0
        for k in range(ontology.shape[1]):
            if ontology[i, k] < 0:
                break
            disease[i, size] = ontology[i, k]
            r_t[i, size] = 1.0 / (kappa + k + 1)
            size += 1
        own = size
        for k in range(llm.shape[1]):
            if llm[i, k] < 0:
                break
            place = size
            for j in range(own):
                if disease[i, j] == llm[i, k]:
                    place = j
                    break
            if place == size:
                disease[i, size] = llm[i, k]
                size += 1
            r_l[i, place] = 1.0 / (kappa + k + 1)


@njit(cache=True, nogil=True, parallel=True)
def gold_places(
    disease: NDArray[np.int32],
    score: NDArray[np.float64],
    gold: NDArray[np.int64],
    places: NDArray[np.int64],
) -> None:
    """Write where one candidate of each case stands, shape (N, 3), 0 where there is none.

    Parameters
    ----------
    disease : ndarray of int32, shape (N, U)
        Candidates in stable order, -1 behind the end.
    score : ndarray of float64, shape (N, U)
        Larger is better.
    gold : ndarray of int64, shape (N,)
        Column of the wanted candidate, -1 for none.
    places : ndarray of int64, shape (N, 3)
        Place in the stable order, first and last place of the tie block.
    """
    for i in prange(len(gold)):
        g = gold[i]
        if g < 0:
            places[i] = 0
            continue
        better = 0
        before = 0
        equal = 0
        for j in range(disease.shape[1]):
            if disease[i, j] < 0:
                break
            if score[i, j] > score[i, g]:
                better += 1
            elif score[i, j] == score[i, g]:
                equal += 1
                before += j < g
        places[i, 0] = better + before + 1
        places[i, 1] = better + 1
        places[i, 2] = better + equal


def fused_score(
    union: Union, w_t: NDArray[np.float64], w_l: NDArray[np.float64]
) -> NDArray[np.float64]:
    """s(d) of every candidate, shape (N, U); weights of shape (N,) (paper, equation 4)."""
    return w_t[:, None] * union.ontology + w_l[:, None] * union.llm


def places_by_score(
    union: Union, score: NDArray[np.float64], gold: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Places of the gold candidates (columns of the union, -1 for none), shape (N, 3)."""
    places = np.empty((len(gold), 3), np.int64)
    gold_places(union.disease, np.ascontiguousarray(score), gold, places)
    return places


def order_by_score(union: Union, score: NDArray[np.float64]) -> NDArray[np.int64]:
    """Columns of every union, best first, the padding last; equal scores keep the stable order."""
    return np.argsort(np.where(union.disease < 0, np.inf, -score), axis=1, kind="stable")
