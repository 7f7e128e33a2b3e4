"""Places in the whole ontology order of the diseases that language models name.

Training and features see the stored prefix; the depth control replaces the prefix by the whole
order at inference (paper, section 6.2). Of the whole order fusion needs only where the named
diseases stand, so those places are stored and not 8,553 a case.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rarefuse import artifacts
from rarefuse.annotations.lopo import REMOVED
from rarefuse.artifacts import Column, Schema
from rarefuse.compiled import use_threads
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.view import VIEW
from rarefuse.naming.stage import RANKING
from rarefuse.rankers.base import LOPO, ORDINARY, Scores, corpus_queries, lopo_columns
from rarefuse.rankers.catalogue import make_ranker
from rarefuse.rankers.order import places
from rarefuse.rankers.run import query_blocks, read_knowledge

FULL_PLACES = Schema(
    "full_places",
    (
        Column("case_id", pl.String, "case; rows are sorted by case_id, disease_id"),
        Column("disease_id", pl.String, "disease that a language model named for the case"),
        Column("rank", pl.Int32, "one-based place in the ranker's whole order"),
    ),
    key=("case_id", "disease_id"),
)


def full_places_stage(
    *,
    knowledge: Path,
    corpus: Path,
    arms: Sequence[str],
    method: str,
    options: Mapping[str, Any],
    output: Path,
    threads: int,
) -> None:
    """Rank a corpus again under both protocols and write where named diseases stand.

    Parameters
    ----------
    arms : sequence of str
        Language models whose lists are looked up.
    output : Path
        Folder to write ``ordinary.parquet`` and ``lopo.parquet`` into.
    """
    use_threads(threads)
    known = read_knowledge(knowledge)
    view = artifacts.read(corpus / "view.parquet", VIEW)
    named = (
        pl.concat(
            [
                artifacts.read(corpus / "llm" / arm / "ranking.parquet", RANKING).select(
                    "case_id", "disease_id"
                )
                for arm in arms
            ]
        )
        .unique()
        .filter(pl.col("disease_id").is_in(known.disease_ids))
        .group_by("case_id")
        .agg(pl.col("disease_id").sort())
    )
    wanted = dict(named.iter_rows())
    queries = corpus_queries(known, view, artifacts.read(corpus / "cases.parquet", CASES))
    removed = artifacts.read(corpus / "lopo.parquet", REMOVED)
    ranker = make_ranker(method, options)
    found: dict[str, list[pl.DataFrame]] = {ORDINARY: [], LOPO: []}
    for begin, end in query_blocks(queries, len(known.disease_ids)):
        block = queries.slice(begin, end)
        lists = [wanted.get(case, []) for case in block.case_ids]
        scores = ranker.ordinary(known, block)
        found[ORDINARY].append(_places(block.case_ids, lists, known.disease_index, scores))
        columns = lopo_columns(known, block, removed)
        scores = ranker.lopo(known, block, columns, scores)
        found[LOPO].append(_places(block.case_ids, lists, known.disease_index, scores))
    for protocol, frames in found.items():
        frame = pl.concat(frames) if frames else pl.DataFrame(schema=FULL_PLACES.dtypes)
        artifacts.write(
            frame.sort("case_id", "disease_id"), FULL_PLACES, output / f"{protocol}.parquet"
        )


def _places(
    case_ids: Sequence[str],
    lists: Sequence[Sequence[str]],
    index: Mapping[str, int],
    scores: Scores,
) -> pl.DataFrame:
    longest = max((len(own) for own in lists), default=0)
    rows = []
    for k in range(longest):
        disease = np.array([index[own[k]] if k < len(own) else -1 for own in lists], np.int32)
        for case, own, place in zip(case_ids, lists, places(scores, disease)[:, 0], strict=True):
            if k < len(own):
                rows.append((case, own[k], int(place)))
    return pl.DataFrame(rows, schema=FULL_PLACES.dtypes, orient="row")
