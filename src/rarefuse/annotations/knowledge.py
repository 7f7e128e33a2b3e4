"""What a ranker knows: ontology, candidates, direct profiles, frequencies, information content."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse.artifacts import Column, Schema
from rarefuse.ontology import Ontology
from rarefuse.ontology.arrays import flatten

INFORMATION_CONTENT = Schema(
    "information_content",
    (
        Column("term_id", pl.String, "HP CURIE, in the order of `terms`"),
        Column("n_diseases", pl.Int32, "candidates whose ancestor-closed profile holds the term"),
        Column("ic", pl.Float64, "-ln(n_diseases / candidates); 0 where n_diseases is 0", "nat"),
    ),
    key=("term_id",),
)


@dataclass(frozen=True)
class Knowledge:
    """Annotations as arrays.

    Parameters
    ----------
    ontology : Ontology
        T live terms.
    disease_ids : list of str
        D candidates in candidate order.
    profile_ptr : ndarray of int64, shape (D + 1,)
        Where each candidate's direct annotations begin.
    profile_terms : ndarray of int32
        Ontology rows of the direct annotations, ascending within a candidate.
    first_rows : list of int
        Line of each candidate's first row in phenotype.hpoa: the reference tool's insertion order.
    ic : ndarray of float64, shape (T,)
        Information content in nats. Fixed over protocols: LOPO does not recompute it.
    numerator, denominator : ndarray of int32
        Patients with the finding and patients examined, of each direct annotation, aligned with
        `profile_terms`. A numerator of 0 is an absent annotation.
    """

    ontology: Ontology
    disease_ids: list[str]
    profile_ptr: NDArray[np.int64]
    profile_terms: NDArray[np.int32]
    first_rows: list[int]
    ic: NDArray[np.float64]
    numerator: NDArray[np.int32]
    denominator: NDArray[np.int32]

    @cached_property
    def disease_index(self) -> dict[str, int]:
        """Disease CURIE → candidate row."""
        return {disease: row for row, disease in enumerate(self.disease_ids)}

    def profile(self, disease: int) -> NDArray[np.int32]:
        """Ontology rows of one candidate's direct annotations."""
        return self.profile_terms[self.profile_ptr[disease] : self.profile_ptr[disease + 1]]


def information_content(
    ontology: Ontology, profiles: list[NDArray[np.int32]]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Count the candidates under each term and take the negative logarithm of the share.

    Parameters
    ----------
    profiles : list of ndarray
        Direct annotations (ontology rows) of each of the D candidates, empty profiles included.

    Returns
    -------
    n_diseases : ndarray of int32, shape (T,)
        Candidates whose ancestor-closed profile holds the term.
    ic : ndarray of float64, shape (T,)
        -ln(n_diseases / D) in nats, 0 where n_diseases is 0 (FUSION_SPEC section 2).
    """
    n_diseases = np.zeros(len(ontology.term_ids), np.int32)
    for profile in profiles:
        n_diseases[ontology.closure(profile)] += 1
    used = n_diseases > 0
    ic = np.zeros(len(n_diseases))
    ic[used] = -np.log(n_diseases[used] / len(profiles))
    return n_diseases, np.abs(ic)  # abs: the root's -0.0 becomes 0.0


def profiles_of(
    diseases: pl.DataFrame, relations: pl.DataFrame, ontology: Ontology
) -> list[NDArray[np.int32]]:
    """Direct annotations (ascending ontology rows) of each candidate, in candidate order."""
    index = ontology.index
    grouped: dict[str, list[int]] = {disease: [] for disease in diseases["disease_id"]}
    for disease, term in relations.select("disease_id", "term_id").iter_rows():
        grouped[disease].append(index[term])
    return [np.array(sorted(terms), np.int32) for terms in grouped.values()]


def build_knowledge(
    ontology: Ontology,
    diseases: pl.DataFrame,
    relations: pl.DataFrame,
    ic: NDArray[np.float64],
) -> Knowledge:
    """Arrays of the artifacts `DISEASES`, `RELATIONS` and `INFORMATION_CONTENT`."""
    index = ontology.index
    grouped: dict[str, list[tuple[int, int, int]]] = {d: [] for d in diseases["disease_id"]}
    for disease, term, numerator, denominator in relations.select(
        "disease_id", "term_id", "numerator", "denominator"
    ).iter_rows():
        grouped[disease].append((index[term], numerator, denominator))
    profiles = [sorted(profile) for profile in grouped.values()]
    ptr, terms = flatten([[term for term, _, _ in profile] for profile in profiles])
    return Knowledge(
        ontology,
        diseases["disease_id"].to_list(),
        ptr,
        terms,
        diseases["first_row"].to_list(),
        ic,
        flatten([[numerator for _, numerator, _ in profile] for profile in profiles])[1],
        flatten([[denominator for _, _, denominator in profile] for profile in profiles])[1],
    )
