"""Rank a corpus with a stock program under both protocols and write what `rank` writes."""

import fcntl
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
from tqdm import tqdm

from rarefuse import artifacts
from rarefuse.annotations.hpoa import read_text
from rarefuse.annotations.lopo import REMOVED
from rarefuse.annotations.relations import RELATIONS
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.view import VIEW
from rarefuse.errors import InputError
from rarefuse.naming.lexicon import CROSSWALK
from rarefuse.rankers.base import LOPO, ORDINARY, corpus_queries
from rarefuse.rankers.catalogue import make_ranker
from rarefuse.rankers.run import GOLD_RANKS, RANKINGS, read_knowledge
from rarefuse.rankers.stock.answers import FAILURES, Answer, Store, answer_of
from rarefuse.rankers.stock.process import Failure
from rarefuse.rankers.stock.world import World

GIVE_UP = 20
"""So many failures without a single answer end the run: the set-up is at fault, not a case."""


class StockProgram(Protocol):
    """An outside program behind the artifacts of a ranker."""

    def present(self, where: str) -> None:
        """Raise `InputError` unless all that it needs is there."""
        ...

    def verify(self) -> None:
        """Raise `InputError` unless it is the pinned program. Nothing is executed before."""
        ...

    def identity(self, world: World) -> str:
        """Digest of the program and its options, for the name of the state folder."""
        ...

    def answers(
        self, world: World, store: Store, threads: int
    ) -> Iterator[tuple[str, str, pl.DataFrame | Failure]]:
        """Protocol, case and `ANSWER` or failure, for every query under both protocols."""
        ...


def rank_world(
    program: StockProgram,
    world: World,
    store: Store,
    gold: Mapping[str, str],
    depth: int,
    threads: int,
) -> tuple[dict[str, tuple[pl.DataFrame, pl.DataFrame]], pl.DataFrame]:
    """Rank every query with a program.

    A case without a usable answer is a miss: it has no ranking and its gold rank is null.

    Parameters
    ----------
    gold : mapping
        Case → diagnosis, looked up in finished answers.
    depth : int
        Places to keep.

    Returns
    -------
    results : dict
        Protocol → (`RANKINGS`, `GOLD_RANKS`), sorted.
    failures : polars.DataFrame
        `FAILURES`.

    Raises
    ------
    InputError
        If the first cases, or all cases, fail.
    """
    rankings: dict[str, list[pl.DataFrame]] = {ORDINARY: [], LOPO: []}
    places: dict[str, list[tuple[Any, ...]]] = {ORDINARY: [], LOPO: []}
    failures: list[tuple[str, str, str, str]] = []
    answered = others = 0
    outcomes = program.answers(world, store, threads)
    for protocol, case_id, outcome in tqdm(
        outcomes, total=2 * len(world.queries), unit="answer", file=sys.stderr, mininterval=5.0,
        disable=None,
    ):  # fmt: skip
        if isinstance(outcome, Failure):
            failures.append((case_id, protocol, outcome.reason, outcome.detail))
            places[protocol].append((case_id, None, None, None))
            if not answered and len(failures) == min(GIVE_UP, 2 * len(world.queries)):
                raise _nothing_works(failures)
            continue
        answered += 1
        answer = answer_of(outcome, world.knowledge)
        others = max(others, answer.others)
        first, last = answer.ties()
        rankings[protocol].append(_list(world, case_id, answer, first, last, depth))
        diagnosis = world.equivalents.get(gold[case_id], gold[case_id])
        row = world.knowledge.disease_index.get(diagnosis, -1)
        at = np.flatnonzero(answer.disease == row)
        places[protocol].append(
            (case_id, int(at[0]) + 1, int(first[at[0]]), int(last[at[0]]))
            if row >= 0 and len(at)
            else (case_id, None, None, None)
        )
    if failures and not answered:
        raise _nothing_works(failures)
    if others:
        print(f"left out: up to {others} diseases a case that are no candidates", file=sys.stderr)
    for (protocol, reason), count in sorted(Counter((f[1], f[2]) for f in failures).items()):
        print(f"misses, {protocol}: {count} × {reason}", file=sys.stderr)
    results = {
        protocol: (
            pl.concat([pl.DataFrame(schema=RANKINGS.dtypes), *rankings[protocol]]).sort(
                "case_id", "rank"
            ),
            pl.DataFrame(places[protocol], schema=GOLD_RANKS.dtypes, orient="row").sort("case_id"),
        )
        for protocol in (ORDINARY, LOPO)
    }
    return results, pl.DataFrame(failures, schema=FAILURES.dtypes, orient="row").sort(
        "case_id", "protocol"
    )


def _list(
    world: World, case_id: str, answer: Answer, first: Any, last: Any, depth: int
) -> pl.DataFrame:
    kept = min(depth, len(answer.disease))
    ids = world.knowledge.disease_ids
    return pl.DataFrame(
        {
            "case_id": [case_id] * kept,
            "rank": np.arange(1, kept + 1, dtype=np.int32),
            "disease_id": [ids[d] for d in answer.disease[:kept]],
            "score": answer.score[:kept],
            "p_value": None if answer.p_value is None else answer.p_value[:kept],
            "tie_first": first[:kept],
            "tie_last": last[:kept],
        },
        schema=RANKINGS.dtypes,
    )


def _nothing_works(failures: list[tuple[str, str, str, str]]) -> InputError:
    counts = Counter(reason for _, _, reason, _ in failures)
    case_id, protocol, reason, detail = failures[0]
    return InputError(
        "the stock program answered no case",
        where=f"case {case_id}, protocol {protocol}",
        found=f"{', '.join(f'{n} × {r}' for r, n in sorted(counts.items()))}; "
        f"the first: {reason}, {detail}",
        expected="at least one usable answer",
        todo="run the program by hand on one case, correct the ranker's options in the config, "
        "then run again",
    )


@contextmanager
def _state(folder: Path) -> Iterator[None]:
    """Hold a state folder and clear what a killed process left in it."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                "another process is running this stock program",
                where=str(folder),
                todo="wait until it ends",
            ) from None
        for stale in folder.glob("*/scratch-*"):
            shutil.rmtree(stale, ignore_errors=True)
        yield


def read_world(
    knowledge: Path, corpus: Path, hpoa: Path, crosswalk: Path | None = None
) -> tuple[World, dict[str, str]]:
    """What a stock program is run on, and each case's diagnosis apart from it.

    Parameters
    ----------
    knowledge, corpus : Path
        Folders of the knowledge and of the corpus (``view``, ``cases``, ``lopo``).
    hpoa : Path
        The release's ``phenotype.hpoa``.
    crosswalk : Path, optional
        `CROSSWALK`, where diagnoses or answers may have ids of other namespaces.
    """
    known = read_knowledge(knowledge)
    view = artifacts.read(corpus / "view.parquet", VIEW)
    cases = artifacts.read(corpus / "cases.parquet", CASES)
    world = World(
        known,
        corpus_queries(known, view, cases),
        artifacts.read(knowledge / "relations.parquet", RELATIONS),
        artifacts.read(corpus / "lopo.parquet", REMOVED),
        read_text(hpoa),
        dict(cases.select("case_id", "record").iter_rows()),
        dict(artifacts.read(crosswalk, CROSSWALK).iter_rows()) if crosswalk else {},
    )
    return world, dict(cases.select("case_id", "gold_id").iter_rows())


def stock_stage(
    *,
    knowledge: Path,
    corpus: Path,
    hpoa: Path,
    crosswalk: Path | None = None,
    method: str,
    options: Mapping[str, Any],
    depth: int,
    state: Path,
    rankings: Path,
    gold_ranks: Path,
    failures: Path,
    threads: int,
) -> None:
    """Rank a corpus with a stock program and write five artifacts.

    Parameters
    ----------
    knowledge, corpus : Path
        Folders of the knowledge and of the corpus (``view``, ``cases``, ``lopo``).
    hpoa : Path
        The release's ``phenotype.hpoa``.
    crosswalk : Path, optional
        As in `read_world`.
    method, options
        See `rarefuse.rankers.catalogue`.
    depth : int
        Places to keep.
    state : Path
        Folder for finished answers; what a killed job had finished is not computed again.
    rankings, gold_ranks : Path
        Folders to write ``ordinary.parquet`` and ``lopo.parquet`` into.
    failures : Path
        `FAILURES` to write.
    threads : int
        Processes side by side (LIRICAL), or threads (Phenomizer).
    """
    program: StockProgram = make_ranker(method, options)
    program.present("config, rankers")
    program.verify()
    world, gold = read_world(knowledge, corpus, hpoa, crosswalk)
    state = state.resolve()  # programs run in folders of their own
    with _state(state):
        results, failed = rank_world(
            program,
            world,
            Store(state / program.identity(world)),
            gold,
            depth,
            threads,
        )
    for protocol, (ranked, places) in results.items():
        artifacts.write(ranked, RANKINGS, rankings / f"{protocol}.parquet")
        artifacts.write(places, GOLD_RANKS, gold_ranks / f"{protocol}.parquet")
    artifacts.write(failed, FAILURES, failures)
