"""Phenomizer's p-values of one case, the same bits as the ranker's, without sampling every column.

The ranker counts, for each disease, how many of N shared random queries score at least as high as
the case. Of each disease and query size some of the sorted null scores are kept: with the next
larger and the next smaller one a count is known within bounds (within one in eight; exactly up to
64). Only diseases whose bounds reach into the wanted places are then counted exactly, by the
ranker's own kernel and with its own draws: some hundred columns instead of 8,553.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from rarefuse.compiled import get_num_threads, njit, prange
from rarefuse.diagnose.library import FORMAT, Library, cache_home, keep
from rarefuse.diagnose.narrow import Narrow
from rarefuse.ontology.bestmatch import best_match_table
from rarefuse.rankers.base import Columns, Queries, Scores, Task, base_columns, make_task
from rarefuse.rankers.phenomizer import Phenomizer
from rarefuse.rankers.sampled import (
    GRID,
    chunk_count,
    count_sums,
    draw_queries,
    fill_steps,
    most_steps,
    sampled_columns,
)
from rarefuse.rankers.semantic import empty_scores

EXACT_PLACES, STEP = 64, 1.125


def kept_places(samples: int) -> NDArray[np.int64]:
    """Places of the sorted null scores that are kept: 1 … 64, then one in eight further each."""
    places = list(range(1, min(EXACT_PLACES, samples) + 1))
    while places[-1] < samples:
        places.append(min(samples, int(places[-1] * STEP)))
    return np.array(places, np.int64)


@njit(cache=True, nogil=True, parallel=True)
def null_places(
    task: Task,
    draws: NDArray[np.unsignedinteger],
    places: NDArray[np.int64],
    chunks: int,
    result: NDArray[np.uint32],
) -> None:
    """Write the null scores that stand at some places, shape (K, C, J), in grid steps.

    Parameters
    ----------
    task : Task
        C columns; its queries are not used.
    draws : ndarray of unsigned int, shape (N, K)
        From `rarefuse.rankers.sampled.draw_queries`.
    places : ndarray of int64, shape (J,)
        One-based places among the N scores, largest score first, ascending.
    """
    sizes = draws.shape[1]
    n_columns, n_terms = len(task.disease), len(task.ic)
    top_value = most_steps(task.ic)
    for chunk in prange(chunks):
        closed = np.empty(n_terms, np.bool_)
        column = np.empty(n_terms, np.float32)
        value = np.empty(n_terms, np.uint16)
        histogram = np.zeros((sizes, sizes * top_value + 2), np.int32)
        for c in range(chunk * n_columns // chunks, (chunk + 1) * n_columns // chunks):
            fill_steps(task, c, closed, column, value)
            top = count_sums(value, draws, sizes, histogram)
            for k in range(sizes):
                seen = 0
                j = 0
                for b in range(min(top, (k + 1) * top_value), -1, -1):
                    seen += histogram[k, b]
                    while j < len(places) and places[j] <= seen:
                        result[k, c, j] = b
                        j += 1
                    histogram[k, b] = 0


@dataclass(frozen=True)
class Nulls:
    """Kept null scores of every candidate.

    Parameters
    ----------
    places : ndarray of int64, shape (J,)
        From `kept_places`.
    draws : ndarray of unsigned int, shape (N, K)
        The ranker's random queries.
    path : Path or None
        Safetensors file with ``size1`` … ``sizeK``, each (D, J); None where `tables` has them.
    tables : ndarray of uint32, shape (K, D, J), or None
        The same in memory.
    """

    places: NDArray[np.int64]
    draws: NDArray[np.unsignedinteger]
    path: Path | None
    tables: NDArray[np.uint32] | None = None

    def table(self, size: int) -> NDArray[np.uint32]:
        """Null scores of queries of one size, shape (D, J)."""
        if self.tables is not None:
            return self.tables[size - 1]
        with safe_open(self.path, "np") as file:
            found: NDArray[np.uint32] = file.get_tensor(f"size{size}")
        return found


def make_nulls(library: Library, ranker: Phenomizer) -> Nulls:
    """Sample the null of every candidate and size; as long as ranking a corpus once."""
    knowledge = library.knowledge
    assert ranker.max_query_size is not None
    draws = draw_queries(len(knowledge.ic), ranker.samples, ranker.max_query_size, ranker.seed)
    places = kept_places(ranker.samples)
    none = Queries([], np.zeros(1, np.int64), np.empty(0, np.int32), [], *_no_terms())
    columns = base_columns(knowledge, none)
    tables = np.zeros((draws.shape[1], len(columns), len(places)), np.uint32)
    chunks = chunk_count(len(columns))
    null_places(make_task(knowledge, none, columns), draws, places, chunks, tables)
    return Nulls(places, draws, None, tables)


def _no_terms() -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    return np.zeros(1, np.int64), np.empty(0, np.int32)


def open_nulls(library: Library, ranker: Phenomizer, cache: Path | None = None) -> Nulls:
    """Nulls of a Phenomizer with a sampled null and a cap, from the cache where they are there."""
    stem = f"nulls-{FORMAT}-{library.digest}-{ranker.samples}-{ranker.max_query_size}-{ranker.seed}"
    path = (cache or cache_home()) / f"{stem}.safetensors"
    try:
        with safe_open(path, "np") as file:
            return Nulls(file.get_tensor("places"), file.get_tensor("draws"), path)
    except (OSError, SafetensorError):
        # Not there, or cut off: it is made again either way.
        nulls = make_nulls(library, ranker)
    assert nulls.tables is not None
    sizes = {f"size{k + 1}": table for k, table in enumerate(nulls.tables)}
    keep({"places": nulls.places, "draws": nulls.draws, **sizes}, path)
    return nulls


def one_case(
    library: Library,
    cut: Narrow,
    queries: Queries,
    touched: Columns,
    nulls: Nulls,
    depth: int,
) -> Scores:
    """Scores of one case, p-values exact where they can matter.

    Parameters
    ----------
    queries : Queries
        One case, over the whole ontology.
    touched : Columns
        Profiles that LOPO leaves of the diseases that it touches; empty for the ordinary protocol.
    depth : int
        Places that are to be right, all ties of the last one included.

    Returns
    -------
    Scores
        p-values of candidates that cannot be among the first `depth` are infinite; `fill` counts
        them.
    """
    knowledge = library.knowledge
    scores = empty_scores(knowledge, queries, p_value=True)
    assert scores.p_value is not None
    own = cut.rows(queries.observed)
    matches = best_match_table(
        cut.knowledge.profile_ptr,
        cut.knowledge.profile_terms,
        cut.knowledge.ic.astype(np.float32),
        cut.knowledge.ontology.parent_ptr,
        cut.knowledge.ontology.parents,
    )[:, own]
    scores.score[0] = matches.astype(np.float64).sum(axis=1) / len(own)
    values = (matches * np.float32(GRID) + np.float32(0.5)).astype(np.uint16)
    size = min(len(own), nulls.draws.shape[1])
    reach = (values.astype(np.int64).sum(axis=1) * size + len(own) - 1) // len(own)
    below = (nulls.table(size) >= reach[:, None]).sum(axis=1)
    samples = len(nulls.draws)
    ends = np.concatenate([[0], nulls.places, [samples + 1]])
    low, high = ends[below], np.where(below == len(nulls.places), samples, ends[below + 1] - 1)
    scores.p_value[0] = np.where(low == high, (1.0 + low) / (1.0 + samples), np.inf)
    # Touched profiles have a null of their own.
    _count(library, queries, touched, nulls.draws, scores)
    exact = np.rint(scores.p_value[0, touched.disease] * (1.0 + samples)).astype(np.int64) - 1
    low[touched.disease] = high[touched.disease] = exact

    place = min(depth, len(high)) - 1
    last = np.partition(high, place)[place]
    needed = np.flatnonzero((low < high) & (low <= last)).astype(np.int32)
    fill(library, queries, nulls, needed, scores)
    return scores


def fill(
    library: Library, queries: Queries, nulls: Nulls, rows: NDArray[np.int32], scores: Scores
) -> None:
    """Count the p-values of some candidates that have none yet in the scores of one case."""
    assert scores.p_value is not None
    rows = np.unique(rows[np.isinf(scores.p_value[0, rows])])
    _count(library, queries, _pick(base_columns(library.knowledge, queries), rows), nulls.draws,
           scores)  # fmt: skip


def _pick(columns: Columns, rows: NDArray[np.int32]) -> Columns:
    """Some columns, their annotations together."""
    spans = [np.arange(columns.ptr[c], columns.ptr[c + 1]) for c in rows]
    at = np.concatenate(spans) if spans else np.empty(0, np.int64)
    ptr = np.concatenate([[0], np.cumsum([len(span) for span in spans])]).astype(np.int64)
    return Columns(
        columns.disease[rows],
        ptr,
        columns.terms[at],
        columns.numerator[at],
        columns.denominator[at],
        columns.start[rows],
        columns.stop[rows],
    )


def _count(
    library: Library,
    queries: Queries,
    columns: Columns,
    draws: NDArray[np.unsignedinteger],
    scores: Scores,
) -> None:
    """Score columns by the ranker's kernel."""
    if len(columns):
        chunks = min(len(columns), get_num_threads())
        size = min(len(queries.observed), draws.shape[1])
        task = make_task(library.knowledge, queries, columns)
        sampled_columns(task, np.ascontiguousarray(draws[:, :size]), chunks, scores.score,
                        scores.p_value)  # fmt: skip
