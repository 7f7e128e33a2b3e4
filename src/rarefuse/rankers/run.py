"""Rank a corpus under both protocols and write rankings and gold ranks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.annotations.knowledge import INFORMATION_CONTENT, Knowledge, build_knowledge
from rarefuse.annotations.lopo import REMOVED
from rarefuse.annotations.relations import DISEASES, RELATIONS
from rarefuse.artifacts import Column, Schema
from rarefuse.compiled import use_threads
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.view import VIEW
from rarefuse.ontology import read_ontology
from rarefuse.rankers.base import (
    LOPO,
    ORDINARY,
    Queries,
    Ranker,
    Scores,
    corpus_queries,
    lopo_columns,
)
from rarefuse.rankers.catalogue import make_ranker
from rarefuse.rankers.order import places, top_lists

RANKINGS = Schema(
    "rankings",
    (
        Column("case_id", pl.String, "case; rows are sorted by case_id, rank"),
        Column("rank", pl.Int32, "one-based place in the ranker's order"),
        Column("disease_id", pl.String, "candidate"),
        Column("score", pl.Float64, "the ranker's score, larger is better; nat for semantic ones"),
        Column("p_value", pl.Float64, "smaller is better, orders before the score", nullable=True),
        Column("tie_first", pl.Int32, "first place of the candidate's tie block, full order"),
        Column("tie_last", pl.Int32, "last place of the candidate's tie block, full order"),
    ),
    key=("case_id", "rank"),
)

GOLD_RANKS = Schema(
    "gold_ranks",
    (
        Column("case_id", pl.String, "rankable case; sorted"),
        Column("rank", pl.Int32, "place of the gold disease, full order", nullable=True),
        Column("tie_first", pl.Int32, "first place of its tie block", nullable=True),
        Column("tie_last", pl.Int32, "last place of its tie block", nullable=True),
    ),
    key=("case_id",),
)
"""Ranks are null where the gold disease is no candidate."""

MAX_CELLS = 150_000_000
"""Scores held at once; two tables of doubles, so 2.4 GB. More cases are ranked in blocks."""


def rank_block(
    ranker: Ranker,
    knowledge: Knowledge,
    queries: Queries,
    removed: pl.DataFrame,
    gold: NDArray[np.int32],
    depth: int,
) -> dict[str, tuple[pl.DataFrame, pl.DataFrame]]:
    """Rank queries under both protocols.

    Parameters
    ----------
    removed : polars.DataFrame
        `REMOVED` of the queries' publications.
    gold : ndarray of int32, shape (Q,)
        Candidate row of each diagnosis, -1 for none. Read only after the scores are made.
    depth : int
        Places to keep of every list.

    Returns
    -------
    dict
        Protocol → (`RANKINGS`, `GOLD_RANKS`), unsorted.
    """
    results = {}
    scores = ranker.ordinary(knowledge, queries)
    results[ORDINARY] = _frames(knowledge, queries, scores, gold, depth)
    columns = lopo_columns(knowledge, queries, removed)
    scores = ranker.lopo(knowledge, queries, columns, scores)
    results[LOPO] = _frames(knowledge, queries, scores, gold, depth)
    return results


def rankings_frame(
    knowledge: Knowledge, case_ids: Sequence[str], scores: Scores, depth: int
) -> pl.DataFrame:
    """First `depth` places of every query's list (`RANKINGS`), in the order of the queries."""
    top, first, last = top_lists(scores, depth)
    rows = np.arange(len(case_ids))[:, None]
    p_values = None if scores.p_value is None else scores.p_value[rows, top].ravel()
    kept = top.shape[1]
    return pl.DataFrame(
        {
            "case_id": pl.Series(case_ids, dtype=pl.String).gather(
                np.repeat(np.arange(len(case_ids)), kept)
            ),
            "rank": np.tile(np.arange(1, kept + 1, dtype=np.int32), len(case_ids)),
            "disease_id": pl.Series(knowledge.disease_ids, dtype=pl.String).gather(top.ravel()),
            "score": scores.score[rows, top].ravel(),
            "p_value": p_values,
            "tie_first": first.ravel(),
            "tie_last": last.ravel(),
        },
        schema=RANKINGS.dtypes,
    )


def _frames(
    knowledge: Knowledge,
    queries: Queries,
    scores: Scores,
    gold: NDArray[np.int32],
    depth: int,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    rankings = rankings_frame(knowledge, queries.case_ids, scores, depth)
    found = places(scores, gold)
    gold_ranks = pl.DataFrame(
        {
            "case_id": queries.case_ids,
            "rank": found[:, 0],
            "tie_first": found[:, 1],
            "tie_last": found[:, 2],
        },
        schema=GOLD_RANKS.dtypes,
    ).with_columns(
        pl.when(pl.col(name) > 0).then(pl.col(name)) for name in ("rank", "tie_first", "tie_last")
    )
    return rankings, gold_ranks


def rank_corpus(
    ranker: Ranker,
    knowledge: Knowledge,
    view: pl.DataFrame,
    cases: pl.DataFrame,
    removed: pl.DataFrame,
    depth: int,
) -> dict[str, tuple[pl.DataFrame, pl.DataFrame]]:
    """Rank every case of a closed view, in blocks of whole publications where there are many.

    Parameters
    ----------
    view : polars.DataFrame
        `VIEW`: all that the ranker sees of a case.
    cases : polars.DataFrame
        `CASES`: publications say what LOPO removes; diagnoses are looked up in finished orders.

    Returns
    -------
    dict
        Protocol → (`RANKINGS`, `GOLD_RANKS`), sorted.
    """
    diagnosis = dict(cases.select("case_id", "gold_id").iter_rows())
    queries = corpus_queries(knowledge, view, cases)
    parts: dict[str, list[tuple[pl.DataFrame, pl.DataFrame]]] = {ORDINARY: [], LOPO: []}
    for begin, end in query_blocks(queries, len(knowledge.disease_ids)):
        block = queries.slice(begin, end)
        gold = np.array(
            [knowledge.disease_index.get(diagnosis[c], -1) for c in block.case_ids], np.int32
        )
        for protocol, frames in rank_block(ranker, knowledge, block, removed, gold, depth).items():
            parts[protocol].append(frames)
    if not len(queries):
        empty = (pl.DataFrame(schema=RANKINGS.dtypes), pl.DataFrame(schema=GOLD_RANKS.dtypes))
        return {ORDINARY: empty, LOPO: empty}
    return {
        protocol: (
            pl.concat([rankings for rankings, _ in frames]).sort("case_id", "rank"),
            pl.concat([gold_ranks for _, gold_ranks in frames]).sort("case_id"),
        )
        for protocol, frames in parts.items()
    }


def query_blocks(queries: Queries, n_candidates: int) -> list[tuple[int, int]]:
    """Ranges of queries that are ranked at once, whole publications where one fits in a range."""
    return _blocks(queries, max(1, MAX_CELLS // n_candidates))


def _blocks(queries: Queries, size: int) -> list[tuple[int, int]]:
    """Ranges of at most `size` queries, cut between publications where one fits in a block."""
    blocks = []
    begin = 0
    while begin < len(queries):
        end = min(begin + size, len(queries))
        cut = end
        while cut < len(queries) and cut > begin and _together(queries, cut):
            cut -= 1
        blocks.append((begin, cut if cut > begin else end))
        begin = blocks[-1][1]
    return blocks


def _together(queries: Queries, i: int) -> bool:
    publication = queries.publications[i]
    return publication is not None and publication == queries.publications[i - 1]


def read_knowledge(folder: Path | str) -> Knowledge:
    """Read the artifacts of ontology and annotations from their folder."""
    folder = Path(folder)
    ontology = read_ontology(folder / "terms.parquet", folder / "aliases.parquet")
    return build_knowledge(
        ontology,
        artifacts.read(folder / "diseases.parquet", DISEASES),
        artifacts.read(folder / "relations.parquet", RELATIONS),
        artifacts.read(folder / "information_content.parquet", INFORMATION_CONTENT)[
            "ic"
        ].to_numpy(),
    )


def rank_stage(
    *,
    knowledge: Path,
    corpus: Path,
    method: str,
    options: Mapping[str, Any],
    depth: int,
    rankings: Path,
    gold_ranks: Path,
    threads: int,
) -> None:
    """Rank a corpus and write four artifacts.

    Parameters
    ----------
    knowledge, corpus : Path
        Folders of the knowledge and of the corpus (``view``, ``cases``, ``lopo``).
    method, options
        See `rarefuse.rankers.catalogue`.
    depth : int
        Places to keep.
    rankings, gold_ranks : Path
        Folders to write ``ordinary.parquet`` and ``lopo.parquet`` into.
    threads : int
        Threads to use.
    """
    use_threads(threads)
    ranker = make_ranker(method, options)
    results = rank_corpus(
        ranker,
        read_knowledge(knowledge),
        artifacts.read(corpus / "view.parquet", VIEW),
        artifacts.read(corpus / "cases.parquet", CASES),
        artifacts.read(corpus / "lopo.parquet", REMOVED),
        depth,
    )
    for protocol, (ranked, gold) in results.items():
        artifacts.write(ranked, RANKINGS, rankings / f"{protocol}.parquet")
        artifacts.write(gold, GOLD_RANKS, gold_ranks / f"{protocol}.parquet")
