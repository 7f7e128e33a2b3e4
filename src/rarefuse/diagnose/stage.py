"""`rarefuse diagnose`: one patient or a folder of them, in the formats asked for."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rarefuse import artifacts
from rarefuse.annotations.pmid import pmid
from rarefuse.compiled import use_threads
from rarefuse.diagnose.answers import Named, ask_model, map_answers, read_answers
from rarefuse.diagnose.case import SUFFIXES, Patient, need_terms, patient_of_terms, read_patient
from rarefuse.diagnose.diagnosis import Diagnosis, diagnose_patients
from rarefuse.diagnose.library import Library, cache_home, open_library
from rarefuse.diagnose.models import Models, load_models
from rarefuse.diagnose.ordering import Setting
from rarefuse.diagnose.ranking import Publications, rank_patients
from rarefuse.diagnose.render import Provenance, as_json, as_table
from rarefuse.diagnose.settings import read_run
from rarefuse.errors import InputError
from rarefuse.pheval.results import FOLDER, mondo_ids, record_stem, result_frame, write_result
from rarefuse.rankers.catalogue import STOCK_METHODS, resolve_options
from rarefuse.workflow import Run

TABLE, JSON, HTML, PHEVAL = FORMATS = ("table", "json", "html", "pheval")
ENDINGS = {TABLE: ".txt", JSON: ".json", HTML: ".html"}
OWN = "own"
"""Stands for the publications that a phenopacket says it comes from."""
AT_ONCE = 2000
"""Patients of a folder that are ranked together."""


@dataclass(frozen=True)
class Request:
    """What the command line asks for.

    Parameters
    ----------
    configs : list of Path
        Configuration files, see `rarefuse.diagnose.settings.read_run`.
    case : Path or None
        Phenopacket.
    observed, excluded : list of str
        HPO ids in place of one.
    batch : Path or None
        Folder of phenopackets.
    publications : list of str
        To be left out: PMIDs, or `OWN`.
    llm : str or None
        Language model to ask.
    answers : Path or None
        Its answer in a file; of a folder of patients a folder of answers by the files' stems.
    models : list of Path
        Checkpoints.
    formats : list of str
        Of `FORMATS`.
    output : Path or None
        File, or folder where there are several files.
    top : int
        Candidates to show.
    cache : Path or None
        Folder of the cache; the user's by default.
    threads : int
        Threads to use.
    """

    configs: list[Path]
    case: Path | None = None
    observed: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    batch: Path | None = None
    publications: list[str] = field(default_factory=list)
    llm: str | None = None
    answers: Path | None = None
    models: list[Path] = field(default_factory=list)
    formats: list[str] = field(default_factory=lambda: [TABLE])
    output: Path | None = None
    top: int = 20
    cache: Path | None = None
    threads: int = 1


@dataclass(frozen=True)
class Clinic:
    """All that patients of one request share."""

    run: Run
    library: Library
    models: Models
    setting: Setting
    rankers: dict[str, tuple[str, Mapping[str, Any]]]
    provenance: Provenance
    cache: Path


def open_clinic(request: Request) -> Clinic:
    """Read configuration, checkpoints and knowledge.

    Raises
    ------
    InputError
        On the first thing that is missing or wrong.
    """
    run = read_run(request.configs)
    models = load_models(request.models)
    fusion, depth = run.config["fusion"], run.config["evaluation"]["depth"]
    ranker = fusion["ranker"] if models.gate is None else models.gate.ranker
    depth = depth if models.gate is None else models.gate.depth
    names = [ranker, *(models.reranker.rankers if models.reranker is not None else ())]
    rankers: dict[str, tuple[str, Mapping[str, Any]]] = {
        name: resolve_options(name, run.config["rankers"]) for name in names
    }
    for name, (method, _) in rankers.items():
        if method in STOCK_METHODS:
            raise InputError(
                "an outside program cannot rank a single patient here",
                where=f"config, rankers.{name}",
                found=method,
                expected="a ranker of this package",
                todo="set fusion.ranker to another one",
            )
    if models.reranker is not None:
        depth = max(depth, models.reranker.depth)
    cache = request.cache or cache_home()
    method, options = rankers[ranker]
    used = []
    if models.gate is not None:
        used.append({"kind": "gate", "path": models.gate.path, "sha256": models.gate.sha256})
    if models.reranker is not None:
        used.append(
            {
                "kind": "reranker",
                "path": models.reranker_path,
                "sha256": models.reranker_sha256,
            }
        )
    library = open_library(Path(run.knowledge), cache)
    answered_by = request.llm or (str(request.answers) if request.answers else None)
    return Clinic(
        run,
        library,
        models,
        Setting(ranker, depth, request.top, fusion["kappa"], answered_by),
        rankers,
        Provenance(
            run.hpo.release,
            run.hpoa.release,
            library.digest,
            {"id": ranker, "method": method, **options},
            used,
            depth,
        ),
        cache,
    )


def publications_of(request: Request, patient: Patient) -> Publications:
    """Sorted PMIDs to leave out for a patient.

    Raises
    ------
    InputError
        If one is no PMID, or the patient is to name its own and names none.
    """
    found = set()
    for text in request.publications:
        if text == OWN:
            if not patient.publications:
                raise InputError(
                    "the patient's record names no publication",
                    where=f"{patient.source}, metaData.externalReferences",
                    found="no PMID",
                    expected="an external reference such as PMID:15266616",
                    todo="name the publication with --exclude-publication PMID:…",
                )
            found.update(patient.publications)
            continue
        curie = pmid(text if ":" in text else f"PMID:{text}")
        if curie is None:
            raise InputError(
                "this is no publication",
                where="--exclude-publication",
                found=text,
                expected="a PMID such as PMID:15266616, or 'own'",
                todo="correct it",
            )
        found.add(curie)
    return tuple(sorted(found, key=lambda curie: int(curie[5:])))


def diagnose(
    clinic: Clinic,
    patients: Sequence[Patient],
    publications: Sequence[Publications],
    named: Sequence[Named] | None,
) -> list[Diagnosis]:
    """Diagnose patients that have an observed term each.

    Parameters
    ----------
    named : sequence of Named or None
        Names of a language model about each patient; None where nobody was asked.
    """
    mapping = ranking = None
    if named is not None:
        naming = clinic.run.config["naming"]
        mapping, ranking = map_answers(
            named,
            clinic.library,
            Path(clinic.run.knowledge),
            naming["level"],
            naming["rules"],
            clinic.cache,
        )
    ranked = rank_patients(
        clinic.library, clinic.rankers, patients, publications, clinic.setting.depth, clinic.cache
    )
    return diagnose_patients(
        clinic.library,
        ranked,
        clinic.models,
        patients,
        publications,
        mapping,
        ranking,
        clinic.setting,
    )


def diagnose_stage(request: Request) -> None:
    """Run a request and write or print its results."""
    _check(request)
    use_threads(request.threads)
    clinic = open_clinic(request)
    if request.batch is not None:
        _batch(request, clinic)
        return
    ontology = clinic.library.knowledge.ontology
    if request.case is not None:
        patient = read_patient(request.case, ontology)
    else:
        patient = patient_of_terms(request.observed, request.excluded, ontology)
    need_terms(patient)
    named = _answers(request, clinic, [patient], [request.answers])
    (diagnosis,) = diagnose(clinic, [patient], [publications_of(request, patient)], named)
    stem = record_stem(request.case.name) if request.case is not None else "terms"
    several = len(request.formats) > 1
    for kind in request.formats:
        path = request.output
        if path is not None and (several or path.is_dir()):
            path = _place(path, stem, kind)
        _write(kind, diagnosis, clinic, path)


def _check(request: Request) -> None:
    given = [
        name
        for name, value in (
            ("CASE", request.case),
            ("--hpo", request.observed),
            ("--batch", request.batch),
        )
        if value
    ]
    if len(given) != 1:
        raise InputError(
            "diagnose needs one source of findings",
            found=", ".join(given) or "none",
            expected="a phenopacket, or --hpo HP:…,HP:…, or --batch FOLDER",
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


def _answers(
    request: Request,
    clinic: Clinic,
    patients: Sequence[Patient],
    files: Sequence[Path | None],
) -> list[Named] | None:
    if request.answers is not None:
        return [[] if path is None else read_answers(path) for path in files]
    if request.llm is None:
        return None
    arms = clinic.run.config["llms"]
    if request.llm not in arms:
        raise InputError(
            "the config has no such language model",
            where="--llm",
            found=request.llm,
            expected=f"one of {', '.join(sorted(arms))}",
            todo="correct the name, or add an entry under 'llms:'",
        )
    model = next(iter(clinic.run.arm_model(request.llm)), None)
    return ask_model(
        request.llm,
        arms[request.llm],
        Path(model) if model else None,
        patients,
        clinic.library,
        clinic.cache / "answers" / request.llm,
    )


def _place(folder: Path, stem: str, kind: str) -> Path:
    if kind == PHEVAL:
        return folder / FOLDER / f"{stem}-disease_result.parquet"
    return folder / f"{stem}{ENDINGS[kind]}"


def _write(kind: str, diagnosis: Diagnosis, clinic: Clinic, path: Path | None) -> None:
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


def _batch(request: Request, clinic: Clinic) -> None:
    """Diagnose every patient file below a folder; files that cannot be used are counted."""
    assert request.batch is not None
    assert request.output is not None
    skipped: list[tuple[str, str, str]] = []
    done: list[tuple[str, Diagnosis]] = []
    waiting: list[tuple[str, Path, Patient]] = []
    for path in _files(request.batch, skipped):
        record = path.relative_to(request.batch).as_posix()
        try:
            patient = need_terms(read_patient(path, clinic.library.knowledge.ontology))
            publications_of(request, patient)
        except InputError as error:
            skipped.append((record, error.what, error.found or ""))
            continue
        waiting.append((record, path, patient))
        if len(waiting) == AT_ONCE:
            done += _block(request, clinic, waiting)
            waiting.clear()
    if waiting:
        done += _block(request, clinic, waiting)
    _summary(request.output, clinic, done, skipped)
    counts = Counter(reason for _, reason, _ in skipped)
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


def _files(folder: Path, skipped: list[tuple[str, str, str]]) -> Iterator[Path]:
    if not folder.is_dir():
        raise InputError(
            "there is no such folder of patients",
            where=str(folder),
            expected="a folder of phenopackets",
        )
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        if path.suffix.lower() in SUFFIXES:
            yield path
        else:
            skipped.append((path.relative_to(folder).as_posix(), "not JSON and not YAML", ""))


def _block(
    request: Request, clinic: Clinic, waiting: Sequence[tuple[str, Path, Patient]]
) -> list[tuple[str, Diagnosis]]:
    assert request.output is not None
    patients = [patient for _, _, patient in waiting]
    files = [_answer_file(request, path) for _, path, _ in waiting]
    diagnoses = diagnose(
        clinic,
        patients,
        [publications_of(request, patient) for patient in patients],
        _answers(request, clinic, patients, files),
    )
    result = []
    for (record, path, _), diagnosis in zip(waiting, diagnoses, strict=True):
        stem = path.parent.relative_to(request.batch or path.parent) / record_stem(path.name)
        for kind in request.formats:
            _write(kind, diagnosis, clinic, _place(request.output, stem.as_posix(), kind))
        result.append((record, diagnosis))
    return result


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
