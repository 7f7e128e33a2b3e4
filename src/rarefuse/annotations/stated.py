"""Terms as they stand in ``phenotype.hpoa``, for work on it without an ontology release.

The file says which of its terms describe phenotypes (aspect P); it says nothing of alternative
ids, replaced terms, or ancestors. What needs these must not be computed from here.
"""

import re

import numpy as np
import polars as pl

from rarefuse.ontology import Ontology, Resolution
from rarefuse.ontology.arrays import PHENOTYPIC_ABNORMALITY, depths, flatten

_HPO_ID = re.compile(r"HP:[0-9]{7}")


def stated_ontology(annotations: pl.DataFrame) -> Ontology:
    """Ontology of one level that holds the terms of an annotation file.

    Parameters
    ----------
    annotations : polars.DataFrame
        `rarefuse.annotations.hpoa.ANNOTATIONS`.

    Returns
    -------
    Ontology
        Every HP id of the file, as a child of Phenotypic abnormality where a row of aspect P
        states it and beside it otherwise. Labels are the ids, and there are no aliases.
    """
    well_formed = annotations.filter(pl.col("hpo_id").str.contains(f"^{_HPO_ID.pattern}$"))
    phenotypic = set(well_formed.filter(pl.col("aspect") == "P")["hpo_id"])
    ids = sorted(set(well_formed["hpo_id"]) - {PHENOTYPIC_ABNORMALITY})
    order = [PHENOTYPIC_ABNORMALITY, *ids]
    pointer, flat = flatten([[], *([0] if term in phenotypic else [] for term in ids)])
    parent_ptr = pointer.astype(np.int32)
    return Ontology(order, list(order), parent_ptr, flat, depths(parent_ptr, flat, 0), {})


class StatedTerms:
    """A `rarefuse.corpus.terms.TermResolver` that takes ids at their word.

    Parameters
    ----------
    ontology : Ontology
        `stated_ontology` of the annotation file. A well-formed id that the file has not is taken
        for a current phenotypic term: nothing here can say otherwise.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology

    def resolve(self, term_id: str) -> Resolution:
        """The id itself, if it is well-formed."""
        if _HPO_ID.fullmatch(term_id):
            return Resolution(term_id, "current")
        return Resolution(None, "unknown")

    def is_phenotypic(self, term_id: str) -> bool:
        """Whether the file does not state the term under other aspects alone."""
        return term_id not in self._ontology.index or self._ontology.is_phenotypic(term_id)
