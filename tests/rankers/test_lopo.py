"""LOPO through the touched columns is the ordinary run on filtered annotations, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.rankers.base import lopo_columns
from rarefuse.rankers.likelihood import NaiveBayes
from rarefuse.rankers.lirical import Lirical
from rarefuse.rankers.phenomizer import Phenomizer
from rarefuse.rankers.semantic import BestMatchAverage, Resnik

RANKERS = {
    "resnik": Resnik(),
    "bma": BestMatchAverage(),
    "sampled": Phenomizer("sampled", samples=50, max_query_size=3),
    "exact": Phenomizer("exact", max_query_size=3),
    "reference": Phenomizer("reference", samples=50, max_query_size=3),
}


def tables(scores):
    """Score and p-value stacked, copied: `lopo` may overwrite them."""
    parts = [scores.score] + ([] if scores.p_value is None else [scores.p_value])
    return np.stack(parts, axis=-1).copy()


def both_protocols(ranker, world):
    """Tables of the ordinary run and of LOPO through the touched columns."""
    scores = ranker.ordinary(world.knowledge, world.queries)
    ordinary = tables(scores)
    columns = lopo_columns(world.knowledge, world.queries, world.removed)
    return ordinary, tables(ranker.lopo(world.knowledge, world.queries, columns, scores))


@pytest.mark.parametrize("name", RANKERS)
@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_lopo_is_recomputing_from_filtered_annotations(worlds, name, data):
    ranker, world = RANKERS[name], data.draw(worlds)
    known, queries = world.knowledge, world.queries
    ordinary, lopo = both_protocols(ranker, world)
    for q, publication in enumerate(queries.publications):
        if publication is None:
            assert lopo[q].tolist() == ordinary[q].tolist()
            continue
        filtered = tables(ranker.ordinary(world.without(publication), queries))
        assert lopo[q].tolist() == filtered[q].tolist()
        untouched = np.setdiff1d(np.arange(len(known.disease_ids)), world.touched(publication))
        assert lopo[q, untouched].tolist() == ordinary[q, untouched].tolist()


LIKELIHOODS = {
    "nb-lr": NaiveBayes(),
    "nb-lr-excluded": NaiveBayes(excluded=True, floor=0.05),
    "lirical": Lirical(),
}


@pytest.mark.parametrize("name", LIKELIHOODS)
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_lopo_recomputes_backgrounds_too(counted_worlds, name, data):
    # Unlike above, diseases that lose nothing may score otherwise: their backgrounds change.
    ranker, world = LIKELIHOODS[name], data.draw(counted_worlds)
    queries = world.queries
    ordinary, lopo = both_protocols(ranker, world)
    for q, publication in enumerate(queries.publications):
        if publication is None or not world.touched(publication):
            assert lopo[q].tolist() == ordinary[q].tolist()
        else:
            filtered = tables(ranker.ordinary(world.without(publication), queries))
            assert lopo[q].tolist() == filtered[q].tolist()


@pytest.mark.parametrize("name", LIKELIHOODS)
@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_likelihoods_do_not_depend_on_the_order_of_terms(counted_worlds, queries_of, name, data):
    world = data.draw(counted_worlds)
    (terms, _), excluded = world.cases[0], world.excluded[0]
    queries = queries_of(
        world.knowledge,
        terms,
        data.draw(st.permutations(terms)),
        excluded=[excluded, data.draw(st.permutations(excluded))],
    )
    one, other = LIKELIHOODS[name].ordinary(world.knowledge, queries).score
    assert one.tolist() == other.tolist()
