"""Phenomizer: the Resnik score made comparable between diseases by its own null distribution.

A disease with a rich profile scores well against any query. Phenomizer therefore orders diseases
by the p-value of the score under random queries of the same size (Köhler et al. 2009; FUSION_SPEC
section 4), then by the score, then by a stable position.
"""

from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from rarefuse import seeds
from rarefuse.annotations.knowledge import Knowledge
from rarefuse.errors import InputError
from rarefuse.rankers.base import Columns, Queries, Scores, base_columns, make_task
from rarefuse.rankers.exact import exact_columns
from rarefuse.rankers.order import java_hash_order
from rarefuse.rankers.reference import reference_columns
from rarefuse.rankers.sampled import GRID, chunk_count, draw_queries, sampled_columns
from rarefuse.rankers.semantic import empty_scores

COLUMNS_A_STEP = 512
"""Columns between two moves of the progress bar."""
NULLS = ("sampled", "exact", "reference")


@dataclass(frozen=True)
class Phenomizer:
    """Phenomizer with one of three null models.

    Parameters
    ----------
    null : str
        ``sampled``: shared seeded random queries. ``exact``: the distribution itself.
        ``reference``: the reference tool with every quirk, its order of full ties included.
    samples : int
        Random queries a null distribution (not used by ``exact``).
    max_query_size : int or None
        Largest size that has a null of its own; a longer query keeps its full score and uses the
        largest size's null. 10 is the reference's cap; None removes it.
    seed : int
        Seed of the random queries.
    """

    null: str = "sampled"
    samples: int = 100_000
    max_query_size: int | None = 10
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse an unknown null model."""
        if self.null not in NULLS:
            raise InputError(
                "unknown null model of the Phenomizer",
                where="config, rankers",
                found=f"null: {self.null}",
                expected=", ".join(NULLS),
            )

    def ordinary(self, knowledge: Knowledge, queries: Queries) -> Scores:
        """Scores and p-values with all annotations."""
        scores = empty_scores(knowledge, queries, p_value=True)
        if self.null == "reference":
            scores.order = java_hash_order(knowledge.disease_ids, knowledge.first_rows)
        self._fill(knowledge, queries, base_columns(knowledge, queries), scores)
        return scores

    def lopo(
        self, knowledge: Knowledge, queries: Queries, columns: Columns, scores: Scores
    ) -> Scores:
        """Scores and p-values with the touched profiles and their nulls rebuilt.

        The same random queries are used, so a column that nothing was removed from would come out
        the same, bit for bit.
        """
        self._fill(knowledge, queries, columns, scores)
        return scores

    def _fill(
        self, knowledge: Knowledge, queries: Queries, columns: Columns, scores: Scores
    ) -> None:
        if not len(columns) or not len(queries):
            return
        # Of all queries, not of the columns', so that both protocols have the same cap.
        largest = int(queries.sizes.max())
        cap = min(self.max_query_size or largest, largest)
        draws = np.empty((0, 0), np.uint16)
        word = 0
        if self.null == "sampled":
            draws = draw_queries(len(knowledge.ic), self.samples, cap, self.seed)
        elif self.null == "reference":
            word = int(seeds.generator(self.seed, "reference draws").integers(1 << 62))
        bar = tqdm(
            total=len(columns), desc=f"{self.null} null", unit="column", mininterval=5, leave=False
        )
        for begin in range(0, len(columns), COLUMNS_A_STEP):
            part = columns.slice(begin, min(begin + COLUMNS_A_STEP, len(columns)))
            task = make_task(knowledge, queries, part)
            results = (scores.score, scores.p_value)
            chunks = chunk_count(len(part))
            if self.null == "exact":
                exact_columns(task, cap, float(GRID), chunks, *results)
            elif self.null == "reference":
                reference_columns(task, self.samples, cap, word, chunks, *results)
            else:
                sampled_columns(task, draws, chunks, *results)
            bar.update(len(part))
        bar.close()
