"""LIRICAL's phenotype likelihood ratio, natively and for all diseases at once.

The composite likelihood ratio of LIRICAL 2.4 in phenotype-only mode with uniform pretest
probabilities (Robinson et al. 2020; REFERENCE_LIRICAL), as its natural logarithm. Per disease and
term the first rule that applies gives the ratio. An annotation whose pooled numerator is 0 is
*absent*, the others are *present*; f is a present annotation's frequency.

Observed term t:

1. t or an ancestor of it is an absent annotation: 1/1000;
2. t is annotated: f / background(t);
3. terms below t are annotated: the largest of their f / background(t);
4. parents of t are annotated: the largest f / (number of the parent's children), or penalty(t) if
   that is more, / background(t);
5. a term above t carries an induced frequency, the first one on a breadth-first walk:
   max(0.01, induced frequency / background of that term);
6. otherwise 0.01.

Excluded term t: 1000 if an absent annotation is at or below it; 1 if background(t) is above 0.99;
else max(0.01, 1 - F(t)) / (1 - background(t)), with F(t) the largest f at or below t, 0 for none.

A rule depends on the disease alone, and its ratio on one background: that of t or, under rule 5, of
a term above t. So a column is classified once for all terms that are asked for, and queries look
backgrounds up, those of their publication under LOPO.

Rows of HPOA with the qualifier NOT, which the stock tool pools as absent observations, are no
relations (they make no candidate and no overlap), so that they do not count here.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.compiled import njit, prange
from rarefuse.ontology.arrays import Ontology, flatten
from rarefuse.rankers.background import (
    LEAST_BACKGROUND,
    Groups,
    Profiles,
    backgrounds,
    grid_logs,
    make_groups,
    make_profiles,
    on_grid,
)
from rarefuse.rankers.base import Columns, Queries, Scores, base_columns
from rarefuse.rankers.semantic import empty_scores

LN_LEAST = float(on_grid(np.log(0.01)))
"""Least log ratio of rules 5 and 6."""
LN_ABSENT = float(on_grid(np.log(1 / 1000)))
"""Log ratio of a term that the disease is known not to have."""
RULED_OUT_BACKGROUND = 0.99
"""An excluded term with a larger background says nothing."""
ABSENT, ANNOTATED, CHILD, ABOVE = range(4)
"""Kinds of ratio: rule 1; rules 2 and 3; rule 4; rules 5 and 6, which nearly all are."""

LANES = 16
"""Whole profiles scored side by side."""


class Asked(NamedTuple):
    """Queries, and the backgrounds that the likelihood ratios of their terms need.

    Q queries; U distinct observed and V distinct excluded terms; O observed and E excluded terms of
    all queries together.
    Backgrounds are natural logarithms on the grid.

    Parameters
    ----------
    scored : ndarray of bool, shape (Q,)
        Queries that are wanted.
    observed_ptr : ndarray of int64, shape (Q + 1,)
        Where each query's observed terms begin.
    observed : ndarray of int64, shape (O,)
        Positions in the distinct terms.
    background_at : ndarray of int64, shape (O,)
        Where the backgrounds of the walk of each observed term begin.
    background : ndarray of float64
        Logarithms along the walks: first of the term itself, then of each term above it, then 0
        for rule 6, whose ratio has no background.
    penalty : ndarray of float64, shape (O,)
        ln(penalty(t)), minus infinity where it is not positive.
    excluded_ptr : ndarray of int64, shape (Q + 1,)
        Where each query's excluded terms begin.
    excluded : ndarray of int64, shape (E,)
        Positions in the distinct excluded terms.
    complement : ndarray of float64, shape (E,)
        ln(1 - background(t)), infinite where the background is above 0.99.
    walk_ptr : ndarray of int64, shape (U + 1,)
        Where each distinct term's walk begins.
    walk : ndarray of int32
        Ontology rows of the term and of its ancestors, breadth first, then a -1.
    excluded_terms : ndarray of int32, shape (V,)
        Ontology rows of the distinct excluded terms.
    """

    scored: NDArray[np.bool_]
    observed_ptr: NDArray[np.int64]
    observed: NDArray[np.int64]
    background_at: NDArray[np.int64]
    background: NDArray[np.float64]
    penalty: NDArray[np.float64]
    excluded_ptr: NDArray[np.int64]
    excluded: NDArray[np.int64]
    complement: NDArray[np.float64]
    walk_ptr: NDArray[np.int64]
    walk: NDArray[np.int32]
    excluded_terms: NDArray[np.int32]


def breadth_first(ontology: Ontology, term: int) -> list[int]:
    """Rows of a term and its ancestors, breadth first, parents in the order of is_a lines."""
    walk = [term]
    seen = {term}
    for t in walk:
        for parent in ontology.parents_of(t).tolist():
            if parent not in seen:
                seen.add(parent)
                walk.append(parent)
    return walk


def penalty(background: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least numerator of rule 4: b·(0.002 + (b - 0.01)·(0.098 / 0.09)) of each background b."""
    return background * (0.002 + (background - 0.01) * (0.098 / 0.09))


def make_asked(
    knowledge: Knowledge, queries: Queries, columns: Columns | None, groups: Groups
) -> Asked:
    """Look up the backgrounds of all terms of all queries.

    Parameters
    ----------
    columns, groups
        As in `rarefuse.rankers.background.backgrounds`. With columns, the queries of group 0 are
        not scored: their ordinary scores hold.
    """
    n_terms = len(knowledge.ontology.term_ids)
    terms, observed = np.unique(queries.observed, return_inverse=True)
    excluded_terms, excluded = np.unique(queries.excluded, return_inverse=True)
    walk_ptr, walk = flatten([[*breadth_first(knowledge.ontology, int(t)), -1] for t in terms])
    lengths = np.diff(walk_ptr)
    group_of = [
        np.repeat(groups.of_query, np.diff(ptr))
        for ptr in (queries.observed_ptr, queries.excluded_ptr)
    ]

    # One entry for each term of each group, with the walk behind it; excluded terms have no walk.
    slots, slot_of = np.unique(group_of[0] * len(terms) + observed, return_inverse=True)
    slot_term = slots % max(1, len(terms))
    slot_at = np.concatenate([[0], np.cumsum(lengths[slot_term])])
    step = np.arange(slot_at[-1]) - np.repeat(slot_at[:-1], lengths[slot_term])
    slot_walk = walk[np.repeat(walk_ptr[slot_term], lengths[slot_term]) + step]
    slot_group = np.repeat(slots // max(1, len(terms)), lengths[slot_term])
    mean = backgrounds(knowledge, queries, columns, groups, slot_group, np.maximum(slot_walk, 0))
    background = grid_logs(np.maximum(mean, LEAST_BACKGROUND))
    background[slot_walk < 0] = 0.0

    others, other_of = np.unique(group_of[1] * n_terms + queries.excluded, return_inverse=True)
    other_mean = np.maximum(
        LEAST_BACKGROUND,
        backgrounds(
            knowledge,
            queries,
            columns,
            groups,
            others // n_terms,
            (others % n_terms).astype(np.int32),
        ),
    )
    complement = np.where(other_mean > RULED_OUT_BACKGROUND, np.inf, grid_logs(1.0 - other_mean))
    return Asked(
        scored=(groups.of_query > 0) | (columns is None),
        observed_ptr=queries.observed_ptr,
        observed=observed,
        background_at=slot_at[slot_of],
        background=background,
        penalty=grid_logs(penalty(mean[slot_at[:-1]]))[slot_of],
        excluded_ptr=queries.excluded_ptr,
        excluded=excluded,
        complement=complement[other_of],
        walk_ptr=walk_ptr,
        walk=walk,
        excluded_terms=excluded_terms,
    )


@njit(cache=True, nogil=True)
def spread_annotations(
    profiles: Profiles,
    c: int,
    phenotypic: NDArray[np.bool_],
    direct: NDArray[np.float64],
    below: NDArray[np.float64],
    induced: NDArray[np.float64],
    absent_above: NDArray[np.bool_],
    absent_below: NDArray[np.bool_],
) -> None:
    """Spread the annotations of column `c` over the ontology; arrays have shape (T,).

    Parameters
    ----------
    phenotypic : ndarray of bool
        Terms strictly below Phenotypic abnormality, the only ones to carry induced frequencies.
    direct, below, induced : ndarray of float64
        Afterwards frequency of the present annotation that a term is; the largest at or below it;
        the largest of frequency / 10^k over those k >= 1 steps below it. 0 for none.
    absent_above, absent_below : ndarray of bool
        Afterwards whether an absent annotation is the term or above it; the term or below it.
    """
    direct[:] = 0.0
    induced[:] = 0.0
    absent_above[:] = False
    absent_below[:] = False
    any_absent = False
    for i in range(profiles.ptr[c], profiles.ptr[c + 1]):
        t = profiles.terms[i]
        if profiles.numerator[i] > 0:
            direct[t] = profiles.numerator[i] / profiles.denominator[i]
        else:
            absent_above[t] = True
            absent_below[t] = True
            any_absent = True
    below[:] = direct
    for t in range(len(direct) - 1, -1, -1):
        if below[t] > 0.0 or absent_below[t]:
            passed = max(direct[t], induced[t]) / 10.0
            for i in range(profiles.parent_ptr[t], profiles.parent_ptr[t + 1]):
                p = profiles.parents[i]
                below[p] = max(below[p], below[t])
                absent_below[p] |= absent_below[t]
                if phenotypic[p]:
                    induced[p] = max(induced[p], passed)
    if any_absent:
        for t in range(len(direct)):
            for i in range(profiles.parent_ptr[t], profiles.parent_ptr[t + 1]):
                absent_above[t] |= absent_above[profiles.parents[i]]


@njit(cache=True, nogil=True)
def classify_terms(
    profiles: Profiles,
    c: int,
    asked: Asked,
    phenotypic: NDArray[np.bool_],
    n_children: NDArray[np.int64],
    kind: NDArray[np.int8],
    step: NDArray[np.int32],
    value: NDArray[np.float64],
    without: NDArray[np.float64],
) -> None:
    """Find the rule of every distinct term in column `c`; O(T + V + a few steps a walk for U).

    Parameters
    ----------
    phenotypic, n_children
        As in `lirical_columns`.
    kind : ndarray of int8, shape (U,)
        Afterwards which rules apply to an observed term.
    step : ndarray of int32, shape (U,)
        Afterwards which entry of the term's walk has the background of its ratio.
    value : ndarray of float64, shape (U,)
        Afterwards the logarithm of the ratio's numerator.
    without : ndarray of float64, shape (V,)
        Afterwards ln(max(0.01, 1 - F)) of an excluded term; infinite where the disease is known not
        to have it.
    """
    n_terms = len(phenotypic)
    direct = np.empty(n_terms)
    below = np.empty(n_terms)
    induced = np.empty(n_terms)
    absent_above = np.empty(n_terms, np.bool_)
    absent_below = np.empty(n_terms, np.bool_)
    spread_annotations(profiles, c, phenotypic, direct, below, induced, absent_above, absent_below)
    for v in range(len(without)):
        t = asked.excluded_terms[v]
        without[v] = 0.0
        if absent_below[t]:
            without[v] = np.inf
        elif below[t] > 0.0:
            without[v] = on_grid(np.log(max(0.01, 1.0 - below[t])))
    for t in range(n_terms):  # from here on logarithms
        induced[t] = on_grid(np.log(induced[t])) if induced[t] > 0.0 else -np.inf
    for u in range(len(value)):
        begin, end = asked.walk_ptr[u], asked.walk_ptr[u + 1] - 1
        t = asked.walk[begin]
        step[u] = 0
        if absent_above[t]:
            kind[u] = ABSENT
            value[u] = LN_ABSENT
            continue
        own = direct[t] if direct[t] > 0.0 else below[t]
        if own > 0.0:
            kind[u] = ANNOTATED
            value[u] = on_grid(np.log(own))
            continue
        share = 0.0
        for i in range(profiles.parent_ptr[t], profiles.parent_ptr[t + 1]):
            p = profiles.parents[i]
            share = max(share, direct[p] / n_children[p])
        if share > 0.0:
            kind[u] = CHILD
            value[u] = on_grid(np.log(share))
            continue
        kind[u] = ABOVE
        step[u] = end - begin
        value[u] = LN_LEAST
        for i in range(begin + 1, end):
            if induced[asked.walk[i]] > -np.inf:
                step[u] = i - begin
                value[u] = induced[asked.walk[i]]
                break


@njit(cache=True, nogil=True, parallel=True)
def lirical_columns(
    profiles: Profiles,
    asked: Asked,
    phenotypic: NDArray[np.bool_],
    n_children: NDArray[np.int64],
    lanes: int,
    score: NDArray[np.float64],
) -> None:
    """Write ``score[query, disease]`` of every column against its queries, in nats.

    Minus infinity where a column is empty. O(T + U + V + terms of the queries) a column.

    Parameters
    ----------
    phenotypic : ndarray of bool, shape (T,)
        Terms strictly below Phenotypic abnormality.
    n_children : ndarray of int64, shape (T,)
        Children of each term.
    lanes : int
        Columns that are scored side by side, so that memory is read and written in rows. They must
        have the same queries; 1 where columns differ in that.
    """
    n_columns = len(profiles.disease)
    n_asked = len(asked.walk_ptr) - 1
    for block in prange((n_columns + lanes - 1) // lanes):
        first = block * lanes
        width = min(lanes, n_columns - first)
        kind = np.empty((n_asked, lanes), np.int8)
        step = np.empty((n_asked, lanes), np.int32)
        value = np.empty((n_asked, lanes))
        without = np.empty((len(asked.excluded_terms), lanes))
        total = np.empty(lanes)
        for k in range(width):
            classify_terms(
                profiles, first + k, asked, phenotypic, n_children,
                kind[:, k], step[:, k], value[:, k], without[:, k],
            )  # fmt: skip
        for q in range(profiles.start[first], profiles.stop[first]):
            if not asked.scored[q]:
                continue
            total[:] = 0.0
            for i in range(asked.observed_ptr[q], asked.observed_ptr[q + 1]):
                u = asked.observed[i]
                at = asked.background_at[i]
                for k in range(width):
                    rule = kind[u, k]
                    ratio = value[u, k]
                    if rule == CHILD:
                        ratio = max(ratio, asked.penalty[i])
                    if rule != ABSENT:
                        ratio -= asked.background[at + step[u, k]]
                    if rule == ABOVE:
                        ratio = max(ratio, LN_LEAST)
                    total[k] += ratio
            for i in range(asked.excluded_ptr[q], asked.excluded_ptr[q + 1]):
                v = asked.excluded[i]
                complement = asked.complement[i]
                for k in range(width):
                    own = without[v, k]
                    if own == np.inf:
                        total[k] -= LN_ABSENT
                    elif complement != np.inf:
                        total[k] += own - complement
            for k in range(width):
                c = first + k
                empty = profiles.ptr[c] == profiles.ptr[c + 1]
                score[q, profiles.disease[c]] = -np.inf if empty else total[k]


@dataclass(frozen=True)
class Lirical:
    """LIRICAL's composite likelihood ratio of a case's terms, as its natural logarithm.

    Equal scores keep the candidate order, as in the stock tool. A disease that LOPO leaves without
    annotations is no candidate any more: it scores minus infinity and stands last.

    Parameters
    ----------
    excluded : bool
        Whether excluded terms count, as in the stock tool.
    """

    excluded: bool = True

    def ordinary(self, knowledge: Knowledge, queries: Queries) -> Scores:
        """Scores with all annotations."""
        queries = self._seen(queries)
        scores = empty_scores(knowledge, queries)
        scores.order = np.arange(len(knowledge.disease_ids), dtype=np.int32)
        asked = make_asked(knowledge, queries, None, make_groups(len(queries)))
        self._fill(knowledge, base_columns(knowledge, queries), asked, LANES, scores)
        return scores

    def lopo(
        self, knowledge: Knowledge, queries: Queries, columns: Columns, scores: Scores
    ) -> Scores:
        """Scores with the touched profiles and the backgrounds rebuilt, in place of the ordinary.

        A query that something is removed for is scored anew against all diseases, since its
        backgrounds change; the others keep their scores.
        """
        queries = self._seen(queries)
        asked = make_asked(knowledge, queries, columns, make_groups(len(queries), columns))
        self._fill(knowledge, base_columns(knowledge, queries), asked, LANES, scores)
        self._fill(knowledge, columns, asked, 1, scores)
        return scores

    def _seen(self, queries: Queries) -> Queries:
        return queries if self.excluded else queries.without_excluded()

    def _fill(
        self, knowledge: Knowledge, columns: Columns, asked: Asked, lanes: int, scores: Scores
    ) -> None:
        ontology = knowledge.ontology
        lirical_columns(
            make_profiles(knowledge, columns),
            asked,
            ontology.depth > 0,
            np.bincount(ontology.parents, minlength=len(ontology.term_ids)),
            lanes,
            scores.score,
        )
