"""`rarefuse diagnose`: one patient or a folder of them, in the formats asked for."""

import os
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rarefuse import artifacts
from rarefuse.compiled import use_threads
from rarefuse.diagnose.answers import Named, read_answers
from rarefuse.diagnose.case import NOTE, SUFFIXES, Patient, need_terms
from rarefuse.diagnose.clinic import (
    HTML,
    PHEVAL,
    Clinic,
    Request,
    answers_for,
    diagnose,
    open_clinic,
    publications_of,
)
from rarefuse.diagnose.diagnosis import Diagnosis
from rarefuse.diagnose.ranking import Publications
from rarefuse.diagnose.reading import PatientReader
from rarefuse.diagnose.writing import place_of, write_diagnosis
from rarefuse.errors import InputError
from rarefuse.pheval.results import record_stem

LONGEST_NAME = 220
"""Bytes of a result's file name: file systems take 255, and a temporary name is longer."""
NO_PATIENT = "not JSON and not YAML"
AT_ONCE = 2000
"""Patients of a folder that are ranked together."""


def diagnose_stage(request: Request) -> None:
    """Run a request and write or print its results."""
    _check(request)
    use_threads(request.threads)
    clinic = open_clinic(request)
    if request.batch is not None:
        _batch(request, clinic)
        return
    stem = "text" if request.text is not None else "terms"
    if request.case is not None:
        stem = record_stem(request.case.name)
    several = len(request.formats) > 1
    places: dict[str, Path | None] = {}
    for kind in request.formats:
        path = request.output
        if path is not None and (several or path.is_dir()):
            path = place_of(path, stem, kind)
        _check_target(path, {request.case, request.answers})
        places[kind] = path
    patient = need_terms(PatientReader(request, clinic).of_request())
    read = None if request.answers is None else read_answers(request.answers)
    named = answers_for(request, clinic, [patient], [read])
    if named is not None and not named[0]:
        print("the answer names no disease: a numbered list of names is read", file=sys.stderr)
    (diagnosis,) = diagnose(clinic, [patient], [publications_of(request, patient)], named)
    for kind, path in places.items():
        write_diagnosis(kind, diagnosis, clinic, path)
        if path is not None:
            print(f"written: {path}", file=sys.stderr)


def _check_target(path: Path | None, read: set[Path | None]) -> None:
    """Refuse to write over what is read, or over what is no file.

    Raises
    ------
    InputError
        If the path is one of those that are read, or a device, pipe or socket.
    """
    if path is None or not path.exists():
        return
    if any(source is not None and source.exists() and path.samefile(source) for source in read):
        raise InputError(
            "the output would replace what it is made from",
            where="--output",
            found=str(path),
            expected="another file or folder",
        )
    if not path.is_file():
        raise InputError(
            "the output is no file that can be written",
            where="--output",
            found=str(path),
            expected="a file or a folder",
        )


def _check(request: Request) -> None:
    given = [
        name
        for name, value in (
            ("CASE", request.case),
            ("--text", request.text),
            ("--hpo", request.observed),
            ("--batch", request.batch),
        )
        if value
    ]
    if len(given) != 1:
        raise InputError(
            "diagnose needs one source of findings",
            found=", ".join(given) or "none",
            expected="a phenopacket or text file, or --text, --hpo HP:…,HP:… or --batch FOLDER",
            todo="give exactly one of them",
        )
    if request.excluded and not request.observed:
        raise InputError(
            "excluded terms alone cannot rank diseases",
            where="--excluded-hpo",
            expected="--hpo with observed terms beside them",
        )
    if request.llm is not None and request.answers is not None:
        raise InputError(
            "a language model's names can come from one place only",
            found="--llm and --answers",
            expected="one of them, or neither",
        )
    needs_folder = request.batch is not None or len(request.formats) > 1
    if needs_folder and (request.output is None or request.output.is_file()):
        raise InputError(
            "several files need a folder",
            where="--output",
            found=str(request.output) if request.output else "nothing",
            expected="a folder, which is made if it is not there",
        )
    if not needs_folder and request.output is None and request.formats[0] in (HTML, PHEVAL):
        raise InputError(
            f"the format '{request.formats[0]}' is no text for a terminal",
            where="--output",
            found="nothing",
            expected="a file to write",
        )
    if request.batch is not None:
        _check_folders(request.batch, request.output, request.answers)


def _check_folders(batch: Path, output: Path | None, answers: Path | None) -> None:
    if not batch.is_dir():
        raise InputError(
            "there is no such folder of patients",
            where=str(batch),
            expected="a folder of phenopackets",
        )
    if output is not None and output.exists() and output.samefile(batch):
        raise InputError(
            "results among the patients could replace them",
            where="--output",
            found=str(output),
            expected="another folder than that of the patients",
        )
    if answers is not None and not answers.is_dir():
        raise InputError(
            "the answers of a folder of patients are a folder",
            where="--answers",
            found=str(answers),
            expected="a folder with {stem}.txt or {stem}.json for each patient",
        )


@dataclass(frozen=True)
class _Waiting:
    """A patient of a folder that can be ranked.

    Parameters
    ----------
    record : str
        The file, below the folder.
    publications : tuple of str
        PMIDs to leave out.
    named : list or None
        What the patient's file of answers names; None without such a file.
    places : dict
        Format → where the result goes.
    """

    record: str
    patient: Patient
    publications: Publications
    named: Named | None
    places: dict[str, Path]


def _batch(request: Request, clinic: Clinic) -> None:
    """Diagnose every patient file below a folder; files that cannot be used are counted."""
    assert request.batch is not None
    assert request.output is not None
    skipped: list[tuple[str, str, str]] = []
    done: list[tuple[str, Diagnosis]] = []
    waiting: list[_Waiting] = []
    reader = PatientReader(request, clinic)
    taken: set[Path] = set()
    unanswered = 0
    for path in _files(request, skipped):
        record = path.relative_to(request.batch).as_posix()
        try:
            found = _waiting(request, reader, path, record, taken)
        except InputError as error:
            skipped.append((record, error.what, error.found or ""))
            continue
        taken.update(found.places.values())
        unanswered += request.answers is not None and found.named is None
        waiting.append(found)
        if len(waiting) == AT_ONCE:
            done += _block(request, clinic, waiting)
            waiting.clear()
    if waiting:
        done += _block(request, clinic, waiting)
    _summary(request.output, clinic, done, skipped)
    counts = Counter(reason for _, reason, _ in skipped)
    if unanswered:
        print(f"{unanswered} patients without a file of answers", file=sys.stderr)
    print(f"{len(done)} patients diagnosed, {len(skipped)} files skipped", file=sys.stderr)
    for reason, n in counts.most_common():
        print(f"skipped {n} × {reason}", file=sys.stderr)
    if not done:
        raise InputError(
            "no file of the folder is a patient that can be ranked",
            where=str(request.batch),
            found=", ".join(f"{n} × {reason}" for reason, n in counts.items()) or "no file",
            expected=f"phenopackets ({', '.join(SUFFIXES)})",
        )


def _files(request: Request, skipped: list[tuple[str, str, str]]) -> Iterator[Path]:
    """Files of a folder that may be patients: texts only where their index was named."""
    folder, texts = request.batch, request.index is not None
    assert folder is not None
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            continue
        name = path.relative_to(folder).as_posix()
        if not path.is_file():
            skipped.append((name, "no file, or a link to none", ""))
            continue
        if not name.isprintable():
            printable = os.fsencode(name).decode("utf-8", "replace")
            skipped.append((printable, "a file name that cannot be printed", ""))
            continue
        suffix = path.suffix.lower()
        if suffix in SUFFIXES or (texts and suffix == NOTE):
            yield path
        else:
            reason = "a text, and --index is not given" if suffix == NOTE else NO_PATIENT
            skipped.append((name, reason, ""))


def _waiting(
    request: Request, reader: PatientReader, path: Path, record: str, taken: Collection[Path]
) -> _Waiting:
    """Read what a folder has on a patient.

    Parameters
    ----------
    taken : collection of Path
        Where results of other patients go.

    Raises
    ------
    InputError
        If the patient cannot be ranked, or the result not be written.
    """
    assert request.output is not None
    patient = need_terms(reader.of_file(path))
    publications = publications_of(request, patient)
    stem = Path(record).with_name(record_stem(path.name)).as_posix()
    places = {kind: place_of(request.output, stem, kind) for kind in request.formats}
    for target in places.values():
        _check_target(target, {path})
        if target in taken:
            raise InputError(
                "another patient of this folder has the same file name", found=path.stem
            )
        if len(os.fsencode(target.name)) > LONGEST_NAME:
            raise InputError("the file name is too long for its result", found=target.name[:80])
    answer = _answer_file(request, path)
    named = None if answer is None else read_answers(answer)
    return _Waiting(record, patient, publications, named, places)


def _block(
    request: Request, clinic: Clinic, waiting: Sequence[_Waiting]
) -> list[tuple[str, Diagnosis]]:
    patients = [one.patient for one in waiting]
    named = answers_for(request, clinic, patients, [one.named for one in waiting])
    diagnoses = diagnose(clinic, patients, [one.publications for one in waiting], named)
    for one, diagnosis in zip(waiting, diagnoses, strict=True):
        for kind, target in one.places.items():
            write_diagnosis(kind, diagnosis, clinic, target)
    return [(one.record, diagnosis) for one, diagnosis in zip(waiting, diagnoses, strict=True)]


def _answer_file(request: Request, path: Path) -> Path | None:
    if request.answers is None:
        return None
    stem = record_stem(path.name)
    candidates = [request.answers / f"{stem}{ending}" for ending in (".txt", ".json")]
    return next((p for p in candidates if p.is_file()), None)


def _summary(
    output: Path,
    clinic: Clinic,
    done: Sequence[tuple[str, Diagnosis]],
    skipped: Sequence[tuple[str, str, str]],
) -> None:
    """One row a candidate of every patient, and one a file that was skipped, as TSV."""
    from rarefuse.pheval.results import USE

    lines = [f"# {USE}", "record\trank\tdisease_id\tname\tscore\tp_value\tno_ontology_evidence"]
    for record, diagnosis in done:
        for c in diagnosis.candidates:
            cells = (
                record, c.rank, c.disease_id, c.name, f"{c.score:.6g}",
                "" if c.p_value is None else f"{c.p_value:.6g}", c.no_ontology_evidence or "",
            )  # fmt: skip
            lines.append("\t".join(_cell(cell) for cell in cells))
    artifacts.write_text("\n".join(lines) + "\n", output / "candidates.tsv")
    lines = ["record\treason\tfound", *("\t".join(map(_cell, row)) for row in skipped)]
    artifacts.write_text("\n".join(lines) + "\n", output / "skipped.tsv")


def _cell(value: object) -> str:
    return " ".join(str(value).split())
