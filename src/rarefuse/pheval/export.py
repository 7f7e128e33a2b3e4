"""Our lists of a corpus as PhEval disease results, and other tools' results as a recorded arm."""

from pathlib import Path

import numpy as np
import polars as pl

from rarefuse import artifacts
from rarefuse.artifacts import Column, Schema
from rarefuse.corpus.cases import CASES
from rarefuse.errors import InputError
from rarefuse.evaluation.metrics import NATIVE, WORST
from rarefuse.naming.lexicon import CROSSWALK
from rarefuse.pheval.results import (
    find_results,
    mondo_ids,
    read_result,
    record_stem,
    result_frame,
    result_path,
    write_result,
)

TIES = (NATIVE, WORST)
NAMED = Schema(
    "pheval_names",
    (
        Column("case_id", pl.String, "hashed case id; rows are sorted by case_id, rank"),
        Column("rank", pl.Int64, "place in the tool's list, ties in the file's order"),
        Column("name", pl.String, "name of the disease", nullable=True),
        Column("id", pl.String, "its id as the tool gives it"),
    ),
    key=("case_id", "rank"),
)
"""A tool's lists as a recorded language model reads them (docs/diagnose.md)."""


def export_stage(
    *, cases: Path, ranking: Path, crosswalk: Path | None, ties: str, output: Path
) -> int:
    """Write one PhEval disease result for every case of a corpus.

    A case that the list does not have gets PhEval's row of rank 0, so that it counts there as well.

    Parameters
    ----------
    cases : Path
        `CASES` of the corpus.
    ranking : Path
        Any list of the workflow: columns case_id, rank and disease_id, and where there are any
        score, p_value and tie_last.
    crosswalk : Path or None
        `rarefuse.naming.lexicon.CROSSWALK`, for Mondo's ids.
    ties : str
        ``native``: our stable order; ``worst``: the last place of a tie block, as PhEval ranks.
    output : Path
        PhEval's results folder.

    Returns
    -------
    int
        Files written.
    """
    known = artifacts.read(cases, CASES)
    lists = _read_list(ranking, ties)
    mondo = {} if crosswalk is None else mondo_ids(artifacts.read(crosswalk, CROSSWALK))
    stems: dict[str, str] = {}
    for record in known["record"]:
        stem = record_stem(record)
        if stems.setdefault(stem, record) != record:
            raise InputError(
                "two records would be one file",
                where=str(cases),
                found=f"{stems[stem]}, {record}",
                expected="records whose file names differ, as PhEval names results by them",
                todo="export parts of the corpus apart",
            )
    own = {case: frame for (case,), frame in lists.group_by("case_id", maintain_order=True)}
    for case, record, gold in known.select("case_id", "record", "gold_id").iter_rows():
        frame = own.get(case, lists.clear())
        result = result_frame(
            frame["rank"].to_list(),
            frame["score"].to_list(),
            frame["disease_id"].to_list(),
            mondo,
            gold,
        )
        write_result(result, result_path(output, record))
    return known.height


def _read_list(path: Path, ties: str) -> pl.DataFrame:
    """Columns case_id, rank, disease_id and score, sorted; scores never rise down a list."""
    try:
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _no_list(path, str(error).splitlines()[0]) from error
    if not {"case_id", "rank", "disease_id"} <= set(frame.columns):
        raise _no_list(path, f"columns {', '.join(frame.columns)}")
    frame = frame.sort("case_id", "rank")
    if "p_value" in frame.columns and frame["p_value"].null_count() == 0:
        score = -pl.col("p_value").log10()
    elif "score" in frame.columns:
        score = pl.col("score")
    else:
        score = 1.0 / pl.col("rank")
    rank = "tie_last" if ties == WORST and "tie_last" in frame.columns else "rank"
    # A ranker without a profile to go by says minus infinity, which no curve can be drawn of.
    least = float(np.finfo(np.float64).min)
    return frame.select(
        "case_id",
        pl.col(rank).cast(pl.Int64).alias("rank"),
        "disease_id",
        score.cast(pl.Float64).clip(lower_bound=least).alias("score"),
    )


def _no_list(path: Path, found: str) -> InputError:
    return InputError(
        "there is no ranked list",
        where=str(path),
        found=found,
        expected="a Parquet file with case_id, rank and disease_id, such as "
        "results/CORPUS/rankings/RANKER/lopo.parquet",
        todo="run the workflow so that it is made, or correct the path",
    )


def names_stage(*, results: Path, cases: Path, output: Path) -> tuple[int, int]:
    """Write a tool's disease results as one table of ids, `NAMED`, for a recorded arm.

    A case without a result is not in it: the arm has an empty list there, which is a miss.

    Returns
    -------
    cases, strangers : int
        Cases in the table, and results of no case of the corpus.
    """
    records = artifacts.read(cases, CASES).select("case_id", "record").iter_rows()
    known = {record_stem(record): case for case, record in records}
    found = find_results(results)
    rows = []
    for stem in sorted(known.keys() & found.keys(), key=known.__getitem__):
        frame = read_result(found[stem])
        for place, row in enumerate(frame.iter_rows(named=True), start=1):
            rows.append((known[stem], place, row["disease_name"], row["disease_identifier"]))
    frame = pl.DataFrame(rows, schema=NAMED.dtypes, orient="row")
    artifacts.write(frame, NAMED, output)
    return frame["case_id"].n_unique(), len(found.keys() - known.keys())
