"""What a fusion job reads: a corpus's cases, folds and ontology lists; an arm's unions and vectors.

Everything is aligned to the rankable cases, sorted by id.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.annotations.relations import DISEASES
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.splits import SPLITS
from rarefuse.errors import InputError
from rarefuse.fusion import catalogue
from rarefuse.fusion.catalogue import Component
from rarefuse.fusion.features import FEATURE_TABLE, Features, from_frame
from rarefuse.fusion.full import FULL_PLACES
from rarefuse.fusion.lists import LLM_DEPTH, Lists, Union, index_lists, make_union, vocabulary_of
from rarefuse.fusion.protocol import Fold, profile_folds, publication_folds, split_folds
from rarefuse.naming.stage import RANKING
from rarefuse.rankers.run import RANKINGS


@dataclass(frozen=True)
class Corpus:
    """N rankable cases.

    Parameters
    ----------
    folder : Path
        Of its artifacts.
    component, protocol : str
        Ontology component, such as ``phenomizer.top10``, and protocol.
    case_ids : list of str
        Sorted.
    candidates : list of str
        Candidate diseases, the first rows of every vocabulary.
    gold : ndarray of int32, shape (N,)
        Row of each diagnosis, -1 where it is no candidate.
    folds : list of Fold
        Of case rows.
    ontology : Lists
        Stored prefixes.
    """

    folder: Path
    component: str
    protocol: str
    case_ids: list[str]
    candidates: list[str]
    gold: NDArray[np.int32]
    folds: list[Fold]
    ontology: Lists


@dataclass(frozen=True)
class Arm:
    """One arm's lists united with the ontology's.

    Parameters
    ----------
    union : Union
        Of the corpus's cases.
    features : Features
        Both vectors of every case.
    gold : ndarray of int64, shape (N,)
        Column of each diagnosis in its union, -1 where it is not there.
    """

    union: Union
    features: Features
    gold: NDArray[np.int64]


def read_corpus(
    folder: Path, knowledge: Path, component: str, protocol: str, options: Mapping[str, Any]
) -> Corpus:
    """Read the cases of a corpus and part them.

    Parameters
    ----------
    options : mapping
        ``grouping``, ``folds``, ``validation_share``, ``seed``, and ``depth``, the places that
        are stored.
    """
    seen = catalogue.component_of(component)
    ranking = artifacts.read(folder / "rankings" / seen.ranker / f"{protocol}.parquet", RANKINGS)
    cases = (
        artifacts.read(folder / "cases.parquet", CASES)
        .join(ranking.select("case_id").unique(), on="case_id", how="semi")
        .sort("case_id")
    )
    candidates = artifacts.read(knowledge / "diseases.parquet", DISEASES)["disease_id"].to_list()
    case_ids = cases["case_id"].to_list()
    vocabulary = vocabulary_of(candidates)
    gold = np.array([vocabulary.get(g, -1) for g in cases["gold_id"]], np.int32)
    depth = options["depth"] if seen.depth is None else seen.depth
    return Corpus(
        folder,
        component,
        protocol,
        case_ids,
        candidates,
        gold,
        _folds(folder, cases, options),
        index_lists(ranking, case_ids, vocabulary, depth),
    )


def _folds(folder: Path, cases: pl.DataFrame, options: Mapping[str, Any]) -> list[Fold]:
    grouping = options["grouping"]
    if grouping == catalogue.SPLITS:
        splits = artifacts.read(folder / "splits.parquet", SPLITS)
        joined = cases.select("case_id").join(splits, on="case_id", maintain_order="left")
        return split_folds(joined["split"].to_list())
    if grouping == catalogue.PUBLICATIONS:
        groups = cases.select(pl.coalesce("publication_id", "case_id")).to_series().to_list()
        return publication_folds(
            groups, options["folds"], options["validation_share"], options["seed"]
        )
    profiles = [" ".join(sorted(terms)) for terms in cases["observed"].to_list()]
    return profile_folds(cases["gold_id"].to_list(), profiles, options["folds"], options["seed"])


def read_arm(corpus: Corpus, arm: str, kappa: float) -> Arm:
    """Read an arm's list and features and unite it with the ontology's list."""
    seen = catalogue.component_of(corpus.component)
    listed = artifacts.read(corpus.folder / "llm" / arm / "ranking.parquet", RANKING)
    kept = listed.filter(pl.col("rank") <= LLM_DEPTH).select("case_id", "rank", "disease_id")
    vocabulary = vocabulary_of(corpus.candidates, kept["disease_id"].to_list())
    llm = index_lists(kept, corpus.case_ids, vocabulary, LLM_DEPTH)
    union = make_union(corpus.ontology, llm, kappa)
    if seen.full:
        union = _whole_order(corpus, seen, union, vocabulary, kappa)
    trained_at = seen.ranker if seen.depth is None else corpus.component
    path = corpus.folder / "features" / trained_at / corpus.protocol / f"{arm}.parquet"
    features = from_frame(artifacts.read(path, FEATURE_TABLE), corpus.case_ids)
    if not (np.isfinite(features.ontology).all() and np.isfinite(features.llm).all()):
        raise InputError(
            "features are missing for some cases",
            where=str(path),
            found="fewer cases than the ranking has",
            expected=f"{len(corpus.case_ids)} cases",
            todo="delete the file and run again",
        )
    return Arm(union, features, union.places(corpus.gold))


def _whole_order(
    corpus: Corpus, seen: Component, union: Union, vocabulary: dict[str, int], kappa: float
) -> Union:
    """Give candidates that only the LLM named their rank in the whole ontology order."""
    path = corpus.folder / "full_places" / seen.ranker / f"{corpus.protocol}.parquet"
    places = artifacts.read(path, FULL_PLACES).filter(pl.col("disease_id").is_in(list(vocabulary)))
    row_of = {case: row for row, case in enumerate(corpus.case_ids)}
    ontology = union.ontology.copy()
    known = {
        (row_of[case], vocabulary[disease]): rank
        for case, disease, rank in places.iter_rows()
        if case in row_of
    }
    for row, column in zip(*np.nonzero((union.disease >= 0) & (ontology == 0)), strict=True):
        rank = known.get((int(row), int(union.disease[row, column])))
        if rank is not None:
            ontology[row, column] = 1.0 / (kappa + rank)
    return Union(union.disease, ontology, union.llm)


def stack_features(parts: Sequence[Features]) -> Features:
    """Vectors of several arms, one below the other."""
    return Features(
        np.concatenate([part.ontology for part in parts]),
        np.concatenate([part.llm for part in parts]),
    )


def stack_unions(parts: Sequence[Union]) -> Union:
    """Unions of several arms, one below the other."""
    return Union(
        np.concatenate([part.disease for part in parts]),
        np.concatenate([part.ontology for part in parts]),
        np.concatenate([part.llm for part in parts]),
    )
