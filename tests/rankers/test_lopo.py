"""LOPO through the touched columns is the ordinary run on filtered annotations, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.rankers.base import lopo_columns
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


@pytest.mark.parametrize("name", RANKERS)
@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_lopo_is_recomputing_from_filtered_annotations(worlds, name, data):
    ranker, world = RANKERS[name], data.draw(worlds)
    known, queries = world.knowledge, world.queries
    scores = ranker.ordinary(known, queries)
    ordinary = tables(scores)
    columns = lopo_columns(known, queries, world.removed)
    lopo = tables(ranker.lopo(known, queries, columns, scores))
    for q, publication in enumerate(queries.publications):
        if publication is None:
            assert lopo[q].tolist() == ordinary[q].tolist()
            continue
        filtered = tables(ranker.ordinary(world.without(publication), queries))
        assert lopo[q].tolist() == filtered[q].tolist()
        untouched = np.setdiff1d(np.arange(len(known.disease_ids)), world.touched(publication))
        assert lopo[q, untouched].tolist() == ordinary[q, untouched].tolist()
