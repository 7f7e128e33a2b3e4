"""Disease results that another tool left in PhEval's format, as a ranker of the pipeline.

The tool has run already: its answer about a case is looked up by the record's file name. Ids of
other namespaces (ORPHA, MONDO) become candidates through exact matches; two ids of one disease take
the better place; equal ranks are a tie block in a neutral order. A case without a file is a miss.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from rarefuse.llm.recorded import curie
from rarefuse.pheval.results import find_results, read_result, record_stem
from rarefuse.rankers.base import LOPO, ORDINARY
from rarefuse.rankers.order import neutral_order
from rarefuse.rankers.stock.answers import ANSWER, Store, digest
from rarefuse.rankers.stock.presence import check_pheval
from rarefuse.rankers.stock.process import Failure, file_digest
from rarefuse.rankers.stock.world import World

NO_RESULT = "the tool wrote no result"
NO_CANDIDATE = "the tool's result names no candidate"


@dataclass(frozen=True)
class PhevalResults:
    """Results of another tool.

    Parameters
    ----------
    results : str
        Folder of results that the tool got with all annotations.
    lopo_results : str
        Folder of results without each case's own publication (``rarefuse audit-overlap
        --write-hpoa`` writes the annotation files). The same folder says that the tool could not
        be run so: its figures then stand for both protocols, and LOPO says nothing of it.
    """

    results: str
    lopo_results: str

    def present(self, where: str) -> None:
        """Raise `InputError` unless both folders are there."""
        check_pheval(where, results=self.results, lopo_results=self.lopo_results)

    def verify(self) -> None:
        """Nothing to verify: nothing is executed."""

    def identity(self, world: World) -> str:
        """Digest of all result files."""
        return digest(
            *(
                [stem, file_digest(path)]
                for folder in (self.results, self.lopo_results)
                for stem, path in sorted(find_results(Path(folder)).items())
            )
        )

    def answers(
        self, world: World, store: Store, threads: int
    ) -> Iterator[tuple[str, str, pl.DataFrame | Failure]]:
        """Protocol, case and `ANSWER` or failure; cases with a result first."""
        files = {
            protocol: find_results(Path(folder))
            for protocol, folder in ((ORDINARY, self.results), (LOPO, self.lopo_results))
        }
        place = _Places(world)
        misses = []
        for protocol, found in files.items():
            for case_id in world.queries.case_ids:
                stem = record_stem(world.records[case_id])
                if stem not in found:
                    misses.append((protocol, case_id, Failure(NO_RESULT, stem)))
                    continue
                answer = place.answer(read_result(found[stem]))
                if answer.is_empty():
                    misses.append((protocol, case_id, Failure(NO_CANDIDATE, stem)))
                else:
                    yield protocol, case_id, answer
        yield from misses


class _Places:
    """Candidates of another tool's rows."""

    def __init__(self, world: World) -> None:
        self._candidates = world.knowledge.disease_index
        self._matches = world.equivalents
        ids = world.knowledge.disease_ids
        self._neutral = dict(zip(ids, neutral_order(ids).tolist(), strict=True))

    def answer(self, rows: pl.DataFrame) -> pl.DataFrame:
        """`ANSWER` of one result: the score is minus the tool's rank, so that ties stay ties."""
        best: dict[str, int] = {}
        for rank, *ids in rows.select("rank", "disease_identifier", "mondo_identifier").iter_rows():
            disease = candidate_of(ids, self._candidates, self._matches)
            if disease is not None:
                best.setdefault(disease, rank)
        order = sorted(best, key=lambda disease: (best[disease], self._neutral[disease]))
        return pl.DataFrame(
            {
                "place": range(1, len(order) + 1),
                "disease_id": order,
                "score": [-float(best[disease]) for disease in order],
                "p_value": None,
                "posttest": None,
            },
            schema=ANSWER.dtypes,
        )


def candidate_of(
    ids: list[str | None], candidates: Mapping[str, object], matches: Mapping[str, str]
) -> str | None:
    """The candidate that the first of some ids of a disease leads to; None if none does."""
    for text in ids:
        if text is None:
            continue
        identifier = curie(text)
        if identifier in candidates:
            return identifier
        if identifier in matches:
            return matches[identifier]
    return None
