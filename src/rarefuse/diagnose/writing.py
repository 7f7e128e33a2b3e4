"""One diagnosis in one of the formats, to a file or to the terminal."""

import sys
from pathlib import Path
from typing import Any

from rarefuse import artifacts
from rarefuse.diagnose.clinic import HTML, JSON, PHEVAL, TABLE, Clinic
from rarefuse.diagnose.diagnosis import Diagnosis
from rarefuse.diagnose.render import as_json, as_table
from rarefuse.pheval.results import FOLDER, mondo_ids, result_frame, write_result

ENDINGS = {TABLE: ".txt", JSON: ".json", HTML: ".html"}


def place_of(folder: Path, stem: str, kind: str) -> Path:
    """Where a patient's result of a format stands in a folder."""
    if kind == PHEVAL:
        return folder / FOLDER / f"{stem}-disease_result.parquet"
    return folder / f"{stem}{ENDINGS[kind]}"


def write_diagnosis(kind: str, diagnosis: Diagnosis, clinic: Clinic, path: Path | None) -> None:
    """Write a diagnosis in a format; a text without a path goes to standard output."""
    if kind == PHEVAL:
        assert path is not None  # checked before anything runs
        write_result(_pheval_frame(diagnosis, clinic), path)
        return
    if kind == HTML:
        from rarefuse.diagnose.page import render_case_page

        text = render_case_page(diagnosis, clinic.provenance)
    else:
        text = {TABLE: as_table, JSON: as_json}[kind](diagnosis, clinic.provenance)
    if path is None:
        sys.stdout.write(text)
    else:
        artifacts.write_text(text, path)


def _pheval_frame(diagnosis: Diagnosis, clinic: Clinic) -> Any:
    from rarefuse.naming.lexicon import CROSSWALK

    path = Path(clinic.run.knowledge) / "crosswalk.parquet"
    mondo = mondo_ids(artifacts.read(path, CROSSWALK)) if path.is_file() else {}
    found = diagnosis.candidates
    return result_frame(
        [c.rank for c in found],
        [c.score for c in found],
        [c.disease_id for c in found],
        mondo,
        None,
    )
