"""The final order of the candidates: one ranker's, fused with a language model's, or reranked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse.diagnose.case import Patient
from rarefuse.diagnose.library import Library
from rarefuse.diagnose.models import Models
from rarefuse.diagnose.ranking import Publications, Ranked
from rarefuse.fusion.lists import (
    LLM_DEPTH,
    Lists,
    fused_score,
    index_lists,
    make_union,
    order_by_score,
    vocabulary_of,
)
from rarefuse.rankers.order import neutral_order

if TYPE_CHECKING:
    from rarefuse.rerank.checkpoint import Reranker

ONTOLOGY_ONLY, EQUAL, GATED, RERANKED = "ontology", "equal-weight", "gate", "reranker"
"""What ordered the candidates."""


@dataclass(frozen=True)
class Setting:
    """How patients are ranked.

    Parameters
    ----------
    ranker : str
        The ontology component.
    depth : int
        Places of its list.
    top : int
        Candidates to show.
    kappa : float
        Of the reciprocal ranks, where no gate brings its own.
    answered_by : str or None
        Whose names are fused; None for nobody's.
    """

    ranker: str
    depth: int
    top: int
    kappa: float
    answered_by: str | None


@dataclass(frozen=True)
class Order:
    """Candidates of Q queries in order.

    Parameters
    ----------
    kind : str
        What ordered them.
    disease : list of ndarray of int32
        Candidate rows of each query, best first.
    score : list of ndarray of float64
        Aligned with `disease`.
    weight : ndarray of float64, shape (Q,)
        Weight of the ontology's list; the language model's is the rest to 1.
    parts : list of ndarray of float64 or None
        The reranker's contributions, a column for each group of evidence.
    """

    kind: str
    disease: list[NDArray[np.int32]]
    score: list[NDArray[np.float64]]
    weight: NDArray[np.float64]
    parts: list[NDArray[np.float64]] | None


def order_candidates(
    library: Library,
    ranked: Ranked,
    models: Models,
    patients: Sequence[Patient],
    publications: Sequence[Publications],
    named: pl.DataFrame | None,
    setting: Setting,
) -> Order:
    """Order the candidates of every query.

    Parameters
    ----------
    named : polars.DataFrame or None
        `rarefuse.naming.stage.RANKING` of the answers, case ids being the patients' positions.
    """
    queries = ranked.queries
    candidates = library.knowledge.disease_ids
    listed = _by_query(queries.case_ids, named)
    vocabulary = vocabulary_of(candidates, listed["disease_id"].to_list())
    ontology = index_lists(
        ranked.lists[setting.ranker], queries.case_ids, vocabulary, setting.depth
    )
    llm = index_lists(listed, queries.case_ids, vocabulary, LLM_DEPTH)
    kappa = setting.kappa if models.gate is None else models.gate.kappa
    union = make_union(ontology, llm, kappa)
    kind, w_t, w_l = _weights(ranked, models, patients, ontology, llm, named is not None)
    if models.reranker is not None:
        return _reranked(library, ranked, models.reranker, publications, named, w_t)
    score = fused_score(union, w_t, w_l)
    columns = order_by_score(union, score)
    sizes = (union.disease >= 0).sum(axis=1)
    taken = [columns[q, :n] for q, n in enumerate(sizes)]
    return Order(
        kind,
        [union.disease[q, own] for q, own in enumerate(taken)],
        [score[q, own] for q, own in enumerate(taken)],
        w_t,
        None,
    )


def _by_query(case_ids: Sequence[str], named: pl.DataFrame | None) -> pl.DataFrame:
    """Places and diseases of the answers; none where nobody answered."""
    columns = {"case_id": pl.String, "rank": pl.Int64, "disease_id": pl.String}
    if named is None:
        return pl.DataFrame(schema=columns)
    return named.filter(pl.col("rank") <= LLM_DEPTH, pl.col("case_id").is_in(case_ids)).select(
        *columns
    )


def _weights(
    ranked: Ranked,
    models: Models,
    patients: Sequence[Patient],
    ontology: Lists,
    llm: Lists,
    answered: bool,
) -> tuple[str, NDArray[np.float64], NDArray[np.float64]]:
    n = len(ranked.queries)
    if models.gate is not None and answered:
        from rarefuse.fusion.features import make_features

        rows = [patients[position] for position in ranked.order]
        view = pl.DataFrame(
            {
                "case_id": ranked.queries.case_ids,
                "age_days": [patient.age_days for patient in rows],
                "onset": [patient.onset for patient in rows],
                "sex": [patient.sex for patient in rows],
            },
            schema={
                "case_id": pl.String,
                "age_days": pl.Float64,
                "onset": pl.String,
                "sex": pl.String,
            },
        )
        return GATED, *models.gate.weights(make_features(ranked.protocol, view, ontology, llm))
    if answered:
        return EQUAL, np.full(n, 0.5), np.full(n, 0.5)
    return ONTOLOGY_ONLY, np.ones(n), np.zeros(n)


def _reranked(
    library: Library,
    ranked: Ranked,
    reranker: "Reranker",
    publications: Sequence[Publications],
    named: pl.DataFrame | None,
    weight: NDArray[np.float64],
) -> Order:
    from rarefuse.rerank.candidates import gather_evidence, join_lists
    from rarefuse.rerank.checkpoint import score_candidates

    queries = ranked.queries
    lists = join_lists(
        library.knowledge,
        queries.case_ids,
        {name: ranked.lists[name] for name in reranker.rankers},
        _by_query(queries.case_ids, named) if reranker.llm else None,
        reranker.depth,
    )
    unseen = [_training_publication(reranker, publications[p]) for p in ranked.order]
    score, parts = score_candidates(reranker, gather_evidence(ranked.protocol, lists), unseen)
    position = neutral_order(library.knowledge.disease_ids)
    order = np.lexsort((position[lists.disease], -score, lists.query))
    spans = [order[lists.ptr[q] : lists.ptr[q + 1]] for q in range(len(queries))]
    return Order(
        RERANKED,
        [lists.disease[span] for span in spans],
        [score[span] for span in spans],
        weight,
        [parts[span] for span in spans],
    )


def _training_publication(reranker: "Reranker", publications: Publications) -> str | None:
    """An excluded publication whose fold's models have not seen any of them; None if no fold."""
    known = [p for p in publications if p in reranker.fold_of]
    return known[0] if len({reranker.fold_of[p] for p in known}) == 1 else None
