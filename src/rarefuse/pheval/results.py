"""PhEval's standardised disease result: one Parquet file a case (PhEval 0.6 and 0.7).

``pheval_disease_results/{record}-disease_result.parquet`` with the columns ``rank``, ``score``,
``disease_identifier``, ``mondo_identifier`` and ``true_positive``. PhEval 0.5 has ``disease_name``
in place of ``mondo_identifier``; before 0.5 the files were tab-separated
(``…-pheval_disease_result.tsv``) and knew nothing of the diagnosis. All of these are read.

PhEval itself marks what it misses: a row of rank 0 and score 0 is the diagnosis that the tool did
not give, and no candidate.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import polars as pl

from rarefuse import artifacts
from rarefuse.artifacts import Column, Schema
from rarefuse.errors import InputError

FOLDER = "pheval_disease_results"
ENDING = "-disease_result.parquet"
OLD_ENDING = "-pheval_disease_result.tsv"
USE = "Research use only. Not for the diagnosis of patients."

DISEASE_RESULT = Schema(
    "pheval_disease_result",
    (
        Column("rank", pl.Int64, f"one-based place; 0 for a diagnosis that is not listed. {USE}"),
        Column("score", pl.Float64, "larger is better, never rising down the list"),
        Column("disease_identifier", pl.String, "candidate, OMIM CURIE"),
        Column("mondo_identifier", pl.String, "its Mondo id; its own where it has none"),
        Column("true_positive", pl.Boolean, "whether it is the case's diagnosis"),
    ),
)
"""As PhEval 0.7.14 writes it."""


def result_path(folder: Path, record: str) -> Path:
    """Where a case's result stands below PhEval's results folder: named by the record's file."""
    return folder / FOLDER / f"{record_stem(record)}{ENDING}"


def record_stem(record: str) -> str:
    """A record's file name without folders and without its ending."""
    name = PurePosixPath(record).name
    for ending in (".json", ".yaml", ".yml", ".txt"):
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def mondo_ids(crosswalk: pl.DataFrame) -> dict[str, str]:
    """Candidate → the Mondo id that exactly matches it, the first of several."""
    rows = crosswalk.filter(pl.col("class_id").str.starts_with("MONDO:")).sort(
        "class_id", descending=True
    )
    return {disease: mondo for mondo, disease in rows.select("class_id", "disease_id").iter_rows()}


def result_frame(
    ranks: Sequence[int],
    scores: Sequence[float],
    diseases: Sequence[str],
    mondo: Mapping[str, str],
    gold: str | None,
) -> pl.DataFrame:
    """Make `DISEASE_RESULT` of one case.

    Parameters
    ----------
    gold : str or None
        Diagnosis; None where it is not known. One that is not listed gets PhEval's row of rank 0.
    """
    rows = [
        (rank, score, disease, mondo.get(disease, disease), disease == gold)
        for rank, score, disease in zip(ranks, scores, diseases, strict=True)
    ]
    if gold is not None and gold not in diseases:
        rows.append((0, 0.0, gold, mondo.get(gold, gold), True))
    return pl.DataFrame(rows, schema=DISEASE_RESULT.dtypes, orient="row")


def write_result(frame: pl.DataFrame, path: Path) -> None:
    """Write one case's `DISEASE_RESULT`."""
    artifacts.write(frame, DISEASE_RESULT, path)


def results_folder(folder: Path) -> Path:
    """Where the disease results are: in the folder itself, or below it as PhEval leaves them."""
    return folder / FOLDER if (folder / FOLDER).is_dir() else folder


def find_results(folder: Path) -> dict[str, Path]:
    """Record stem → result file, of all versions; the Parquet file where a case has both.

    Raises
    ------
    InputError
        If there is no result at all.
    """
    inside = results_folder(folder)
    found: dict[str, Path] = {}
    for ending in (OLD_ENDING, ENDING):
        for path in sorted(inside.glob(f"*{ending}")):
            found[path.name.removesuffix(ending)] = path
    if not found:
        raise InputError(
            "the folder holds no PhEval disease result",
            where=str(inside),
            found="no such folder" if not inside.is_dir() else "no file of that name",
            expected=f"files *{ENDING} or *{OLD_ENDING}",
            todo="give the folder that PhEval's post-processing wrote",
        )
    return found


def read_result(path: Path) -> pl.DataFrame:
    """Ranked rows of one case's result.

    Returns
    -------
    polars.DataFrame
        ``rank`` (from 1), ``disease_identifier``, ``mondo_identifier`` (null where the version has
        none) and ``disease_name`` (likewise), sorted by rank. PhEval's rows of rank 0 are gone.

    Raises
    ------
    InputError
        If the file cannot be read or lacks rank or identifier.
    """
    try:
        frame = (
            pl.read_csv(path, separator="\t", infer_schema=False)
            if path.suffix == ".tsv"
            else pl.read_parquet(path)
        )
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _unusable(path, str(error).splitlines()[0]) from error
    if not {"rank", "disease_identifier"} <= set(frame.columns):
        raise _unusable(path, f"columns {', '.join(frame.columns)}")
    for name in ("mondo_identifier", "disease_name"):
        if name not in frame.columns:
            frame = frame.with_columns(pl.lit(None, pl.String).alias(name))
    ranked = frame.select(
        pl.col("rank").cast(pl.Float64, strict=False).cast(pl.Int64, strict=False),
        *(
            pl.col(name).cast(pl.String).str.strip_chars()
            for name in ("disease_identifier", "mondo_identifier", "disease_name")
        ),
    )
    wrong = ranked.filter(pl.col("rank").is_null() | (pl.col("rank") < 0))
    if wrong.height:
        raise _unusable(path, f"{wrong.height} rows without a rank from 0 up")
    return ranked.filter(pl.col("rank") > 0).sort("rank", maintain_order=True)


def _unusable(path: Path, found: str) -> InputError:
    return InputError(
        "a PhEval disease result cannot be used",
        where=str(path),
        found=found[:200],
        expected="rank, score and disease_identifier, as PhEval's post-processing writes them",
        todo="run the post-processing again, or remove the file: its case then counts as a miss",
    )
