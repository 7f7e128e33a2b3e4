"""What a request for diagnoses asks for, what its patients share, and their diagnoses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rarefuse.annotations.pmid import pmid
from rarefuse.diagnose.answers import Named, ask_model, map_answers
from rarefuse.diagnose.case import Patient
from rarefuse.diagnose.diagnosis import Diagnosis, diagnose_patients
from rarefuse.diagnose.library import Library, cache_home, open_library
from rarefuse.diagnose.models import Models, load_models
from rarefuse.diagnose.ordering import Setting
from rarefuse.diagnose.ranking import Publications, rank_patients
from rarefuse.diagnose.render import Provenance
from rarefuse.diagnose.settings import read_run
from rarefuse.errors import InputError
from rarefuse.rankers.catalogue import STOCK_METHODS, resolve_options
from rarefuse.retrieval.notes import LEAST_SIMILARITY
from rarefuse.workflow import Run

TABLE, JSON, HTML, PHEVAL = FORMATS = ("table", "json", "html", "pheval")
OWN = "own"
"""Stands for the publications that a phenopacket says it comes from."""


@dataclass(frozen=True)
class Request:
    """What the command line asks for.

    Parameters
    ----------
    configs : list of Path
        Configuration files, see `rarefuse.diagnose.settings.read_run`.
    case : Path or None
        Phenopacket, or free text by its suffix.
    text : str or None
        Free text in place of one.
    index : Path or None
        Folder of the retrieval index that free text is grounded with.
    least_similarity : float
        Cosine below which a phrase of a free text has no term.
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
    text: str | None = None
    index: Path | None = None
    least_similarity: float = LEAST_SIMILARITY
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


def answers_for(
    request: Request,
    clinic: Clinic,
    patients: Sequence[Patient],
    read: Sequence[Named | None],
) -> list[Named] | None:
    """Names of a language model about each patient; None where nobody is to be asked.

    Parameters
    ----------
    read : sequence of list or None
        What each patient's file of answers names, where the request names answers.
    """
    if request.answers is not None:
        return [names or [] for names in read]
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
    model = next(iter(clinic.run.llms.model(request.llm)), None)
    return ask_model(
        request.llm,
        arms[request.llm],
        Path(model) if model else None,
        patients,
        clinic.library,
        clinic.cache / "answers" / request.llm,
    )
