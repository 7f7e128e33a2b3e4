"""The ranker that the documentation adds, computed by hand and against its definition."""

import numpy as np
import polars as pl
import pytest

from doc_blocks import ROOT, blocks
from rarefuse.annotations.lopo import REMOVED
from rarefuse.rankers.base import lopo_columns

PAGE = ROOT / "docs/how-to/add-a-ranker.md"


@pytest.fixture(scope="module")
def simgic():
    """The class of the page, made from its block."""
    (block,) = (b for b in blocks(PAGE) if b.title and b.title.endswith("simgic.py"))
    names = {"__name__": "simgic"}
    exec(compile(block.text, str(block), "exec"), names)
    return names["SimGIC"]


def test_scores_by_hand(simgic, knowledge_of, queries_of):
    # Stars 1, 2 and 3 below the root 0, whose IC is 0. Profiles {1, 2}, {3} and none.
    known = knowledge_of([[], [0], [0], [0]], [[1, 2], [3], []], ic=[0, 1, 2, 4])
    scores = simgic().ordinary(known, queries_of(known, [1], [1, 3], [0]))
    # {1}: 1 of 1 + 2, nothing of 4.  {1, 3}: 1 of 1 + 2 + 4; 4 of 1 + 4.  Root: nothing at all.
    assert scores.score == pytest.approx(
        np.array([[1 / 3, 0, 0], [1 / 7, 4 / 5, 0], [0, 0, 0]]), abs=1e-9
    )


def test_ancestors_are_shared_too(simgic, knowledge_of, queries_of):
    # 1 below the root, 2 and 3 below 1.
    known = knowledge_of([[], [0], [1], [1]], [[2]], ic=[0, 1, 3, 5])
    # {3} closes to 1 and 3, {2} to 1 and 2: 1 shared of 1 + 3 + 5.
    assert simgic().ordinary(known, queries_of(known, [3])).score[0, 0] == pytest.approx(1 / 9)


def test_lopo_rebuilds_what_is_touched_and_keeps_the_rest(simgic, knowledge_of, queries_of):
    known = knowledge_of([[], [0], [0], [0]], [[1, 2], [3]], ic=[0, 1, 2, 4])
    queries = queries_of(known, [1], [1, 3], publications=[None, "PMID:1"])
    removed = pl.DataFrame(
        [("PMID:1", "OMIM:1", "HP:0000002")], schema=REMOVED.dtypes, orient="row"
    )
    before = simgic().ordinary(known, queries)
    kept = before.score.copy()
    after = simgic().lopo(known, queries, lopo_columns(known, queries, removed), before)
    # {1, 3} against {1}: 1 of 1 + 4.
    assert after.score[1, 0] == pytest.approx(1 / 5)
    assert after.score[0].tolist() == kept[0].tolist()
    assert after.score[1, 1] == kept[1, 1]
