"""A language model's answers about patients, and the candidates that the names in them mean.

Mapping one name needs the whole lexicon made ready, which takes seconds; what became of a name is
therefore kept in the cache, under a digest of lexicon, rules and code.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from rarefuse import artifacts
from rarefuse.artifacts import replacing
from rarefuse.diagnose.case import Patient
from rarefuse.diagnose.library import Library, cache_home
from rarefuse.errors import InputError
from rarefuse.llm.answers import NAMES
from rarefuse.llm.parser import MAX_NAMES, parse

LARGEST_BYTES = 1 << 20
Named = list[tuple[str | None, str | None]]
"""Name and id of each place of an answer, either may be missing."""


def read_answers(path: Path) -> Named:
    """Read the answer to one patient's prompt.

    Parameters
    ----------
    path : Path
        Text as a model wrote it (numbered lines), or a JSON list of names, or of objects with
        ``name`` or ``id`` or both, most likely first.

    Returns
    -------
    list of (name, id)
        The first ten; none for a text without a numbered name.

    Raises
    ------
    InputError
        If the file is missing, larger than 1 MiB, or JSON of another shape.
    """
    try:
        with path.open("rb") as handle:
            raw = handle.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise InputError(
            "the answers cannot be read",
            where=str(path),
            found=error.strerror or str(error),
            expected="a text or JSON file",
            todo="check the path",
        ) from error
    if len(raw) > LARGEST_BYTES:
        raise _odd(path, "more than 1 MiB")
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    if raw.lstrip()[:1] in (b"[", b"{"):
        return _from_json(path, raw)
    return named_in(raw.decode("utf-8", "replace"))


def named_in(text: str) -> Named:
    """Names and ids in a model's answer."""
    return [(found.name, found.disease_id) for found in parse(text)]


def _from_json(path: Path, raw: bytes) -> Named:
    try:
        entries = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise _odd(path, f"no JSON: {error}") from error
    if not isinstance(entries, list):
        raise _odd(path, type(entries).__name__)
    named: Named = []
    for given in entries[:MAX_NAMES]:
        entry = {"name": given} if isinstance(given, str) else given
        if not isinstance(entry, dict):
            raise _odd(path, f"a {type(entry).__name__} in the list")
        name, identifier = entry.get("name"), entry.get("id")
        if not all(part is None or isinstance(part, str) for part in (name, identifier)):
            raise _odd(path, "a name or id that is no text")
        if name or identifier:
            named.append((name or None, identifier or None))
    return named


def _odd(path: Path, found: str) -> InputError:
    return InputError(
        "the answers cannot be used",
        where=str(path),
        found=found[:200],
        expected="numbered lines as a model writes them, or a JSON list of names (or of objects "
        'with "name" and "id")',
        todo="correct the file",
    )


def map_answers(
    named: Sequence[Named],
    library: Library,
    knowledge: Path,
    level: str,
    rules: Sequence[str] | None,
    cache: Path | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Map the names of several answers to candidates.

    Parameters
    ----------
    named : sequence of Named
        One entry a patient.
    library : Library
        Knows the candidates.
    knowledge : Path
        Folder with ``lexicon`` and ``crosswalk``.
    level, rules
        As the config's section ``naming``.
    cache : Path, optional
        Folder of the cache.

    Returns
    -------
    mapping, ranking : polars.DataFrame
        `rarefuse.naming.stage.MAPPING` and `RANKING`; case ids are positions in `named`.

    Raises
    ------
    InputError
        If lexicon or crosswalk are missing.
    """
    from rarefuse.llm.recorded import curie
    from rarefuse.naming.stage import MAPPING, ranking_of

    wanted = list(dict.fromkeys((name, i and curie(i)) for answer in named for name, i in answer))
    key = _names_digest(knowledge, level, rules)
    path = (cache or cache_home()) / f"names-{key}-{library.digest}.json"
    known = _read_known(path)
    missing = [pair for pair in wanted if _key(*pair) not in known]
    if missing:
        known |= _explain(missing, library, knowledge, level, rules)
        _write_known(path, known)
    rows = []
    for position, answer in enumerate(named):
        for rank, (name, identifier) in enumerate(answer, start=1):
            found = known[_key(name, identifier and curie(identifier))]
            rows.append((f"{position:06d}", rank, name, *found))
    mapping = pl.DataFrame(rows, schema=MAPPING.dtypes, orient="row")
    return mapping, ranking_of(mapping)


def _key(name: str | None, identifier: str | None) -> str:
    return f"{name or ''}\x1f{identifier or ''}"


def _names_digest(knowledge: Path, level: str, rules: Sequence[str] | None) -> str:
    import rarefuse.naming

    digest = hashlib.sha256(orjson.dumps([level, rules and list(rules)]))
    for path in (knowledge / "lexicon.parquet", knowledge / "crosswalk.parquet"):
        try:
            digest.update(path.read_bytes())
        except OSError as error:
            raise InputError(
                "the names of diseases have not been collected yet",
                where=str(path),
                found=error.strerror or str(error),
                expected="the lexicon of the config's releases",
                todo=f"run 'snakemake --cores 2 {path}' with the same --configfile, then again",
            ) from error
    for source in sorted(Path(rarefuse.naming.__path__[0]).glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _read_known(path: Path) -> dict[str, list[str | None]]:
    try:
        known = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return known if isinstance(known, dict) else {}


def _write_known(path: Path, known: Mapping[str, Sequence[str | None]]) -> None:
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(orjson.dumps(known, option=orjson.OPT_SORT_KEYS))
    except InputError:
        return  # the next run maps them again


def _explain(
    pairs: Sequence[tuple[str | None, str | None]],
    library: Library,
    knowledge: Path,
    level: str,
    rules: Sequence[str] | None,
) -> dict[str, list[str | None]]:
    from rarefuse.naming.lexicon import CROSSWALK, LEXICON
    from rarefuse.naming.mapper import Mapper
    from rarefuse.naming.stage import map_names

    names = pl.DataFrame(
        [("", place, *pair) for place, pair in enumerate(pairs, start=1)],
        schema=NAMES.dtypes,
        orient="row",
    )
    mapped = map_names(
        names,
        Mapper(artifacts.read(knowledge / "lexicon.parquet", LEXICON), level, rules),
        artifacts.read(knowledge / "crosswalk.parquet", CROSSWALK),
        library.knowledge.disease_ids,
    )
    columns = ("disease_id", "matched_form", "source", "rule", "reason")
    rows = dict(zip(mapped["rank"], mapped.select(columns).iter_rows(), strict=True))
    return {_key(*pair): list(rows[place]) for place, pair in enumerate(pairs, start=1)}


def ask_model(
    arm: str,
    entry: Mapping[str, Any],
    model: Path | None,
    patients: Sequence[Patient],
    library: Library,
    folder: Path,
) -> list[Named]:
    """Ask a configured language model about patients, as the pipeline asks.

    A prompt holds sex, age, onset and canonical labels of HPO terms, nothing else of a record.
    Answers are kept, so that the same prompt is not asked again.

    Parameters
    ----------
    arm, entry
        The arm's id and its entry under ``llms:``.
    model : Path or None
        Folder of a prepared model, where the entry names a source.
    folder : Path
        Where answers are kept.

    Raises
    ------
    InputError
        If the arm cannot be asked, or gave no answer about a patient.
    """
    from rarefuse.llm.ask import arm_digest, ask
    from rarefuse.llm.catalogue import BACKENDS, check_arm
    from rarefuse.llm.prompt import Prompt, render_prompt
    from rarefuse.llm.shards import Shards

    if entry["backend"] not in BACKENDS:
        raise InputError(
            "a recorded language model cannot be asked",
            where=f"config, llms.{arm}",
            found=f"backend: {entry['backend']}",
            expected=f"one of {', '.join(sorted(BACKENDS))}",
            todo="give its answer about this patient with --answers",
        )
    check_arm(arm, entry)
    if model is not None and not model.is_dir():
        raise InputError(
            "the language model has not been prepared yet",
            where=str(model),
            expected="a folder that vLLM loads",
            todo=f"run 'snakemake --cores 2 {model}' with the same --configfile, then again",
        )
    rendered = [render_prompt(view_of(patient, library)) for patient in patients]
    # A case id here is the prompt's own digest: the same findings are asked about once.
    prompts = [Prompt(prompt.digest, prompt.user) for prompt in rendered]
    unique = {prompt.case_id: prompt for prompt in prompts}
    answers = ask(list(unique.values()), arm, entry, Shards(folder, arm_digest(entry), 1), model)
    named = []
    for patient, prompt in zip(patients, prompts, strict=True):
        answer = answers[prompt.case_id]
        if answer.failure is not None:
            raise InputError(
                "the language model gave no answer",
                where=f"llms.{arm}, {patient.source}",
                found=answer.failure,
                todo="run again; answers that came are kept",
            )
        named.append(named_in(answer.text or ""))
    return named


def view_of(patient: Patient, library: Library) -> dict[str, Any]:
    """A patient as the closed view has it, labels from the ontology alone."""
    ontology = library.knowledge.ontology
    label = {row: ontology.labels[ontology.index[row]] for row in
             (*patient.observed, *patient.excluded)}  # fmt: skip
    onset = patient.onset
    if onset is not None and onset.startswith("HP:"):
        onset = ontology.labels[ontology.index[onset]]
    return {
        "case_id": patient.name,
        "sex": patient.sex,
        "age_days": patient.age_days,
        "onset": onset,
        "observed": patient.observed,
        "observed_labels": [label[term] for term in patient.observed],
        "excluded": patient.excluded,
        "excluded_labels": [label[term] for term in patient.excluded],
    }
