"""Read one patient: a GA4GH phenopacket of schema v1 or v2, JSON or YAML, HPO ids, or free text.

Read are the phenotypic features, sex, age and the onset of the disease: what systems may see of a
case in the pipeline. A diagnosis, a gene or a variant in the record is never read. Every field
that is not used is counted by its path, and every term that is left out or mapped is kept with its
reason.
"""

import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import yaml

from rarefuse.annotations.pmid import pmid
from rarefuse.config import parse_yaml
from rarefuse.corpus.build import SEXES, UNKNOWN_SEX
from rarefuse.corpus.phenopackets import BAD_AGE, BAD_ONSET, duration_days
from rarefuse.corpus.terms import Skip, normalise_terms
from rarefuse.errors import InputError
from rarefuse.ontology.arrays import Ontology
from rarefuse.retrieval.context import EXCLUDED, OBSERVED
from rarefuse.retrieval.notes import Finding

LARGEST_BYTES = 64 << 20
SUFFIXES = (".json", ".yaml", ".yml")
NOTE = ".txt"
"""Suffix of a free text."""
V1, V2 = "1", "2"

_USED = {"id", "subject", "phenotypicFeatures", "metaData"}
_USED_SUBJECT = {"id", "sex", "timeAtLastEncounter", "ageAtCollection"}
_USED_FEATURE = {"type", "excluded", "negated"}
_USED_METADATA = {"phenopacketSchemaVersion", "externalReferences"}
_V1_SUBJECT = ("ageAtCollection",)
_V1_DISEASE = ("ageOfOnset", "classOfOnset", "ageRangeOfOnset")


@dataclass(frozen=True)
class Patient:
    """What is known of one patient.

    Parameters
    ----------
    name : str
        The record's own id, or the file's name; shown, never used.
    source : str
        Where it was read from.
    schema : str or None
        ``1`` or ``2`` of a phenopacket; None of a list of terms.
    observed, excluded : list of str
        Current HP CURIEs.
    sex : str or None
        FEMALE, MALE or OTHER_SEX.
    age_days : float or None
        Age at the last encounter.
    onset : str or None
        HP CURIE or ISO 8601 duration.
    publications : list of str
        PMIDs that the record says it comes from.
    left_out : list of Skip
        Terms left out or mapped, and values not understood.
    unused : dict
        Path of each field that is not used → how often it stands there.
    mappings : list of Finding
        Phrases of a free text, and what each was mapped to.
    """

    name: str
    source: str
    schema: str | None
    observed: list[str]
    excluded: list[str]
    sex: str | None = None
    age_days: float | None = None
    onset: str | None = None
    publications: list[str] = field(default_factory=list)
    left_out: list[Skip] = field(default_factory=list)
    unused: dict[str, int] = field(default_factory=dict)
    mappings: list[Finding] = field(default_factory=list)


def read_patient(path: Path, ontology: Ontology) -> Patient:
    """Read a phenopacket.

    Parameters
    ----------
    path : Path
        JSON or YAML file of schema v1 or v2. Of a family the proband is read.

    Raises
    ------
    InputError
        If the file is missing, larger than 64 MiB, neither JSON nor YAML, no phenopacket, a cohort
        of several patients, or malformed.
    """
    packet = _parse(path, _bytes(path))
    if not isinstance(packet, dict):
        raise _no_phenopacket(path, type(packet).__name__)
    return patient_of(_camel(packet), path, ontology)


def patient_of(packet: dict[str, Any], path: Path, ontology: Ontology) -> Patient:
    """Patient of a parsed phenopacket with camel-case keys; errors as of `read_patient`."""
    unused: Counter[str] = Counter()
    if "members" in packet or "allMembers" in packet:
        found = packet.get("members") or packet.get("allMembers")
        raise InputError(
            "a cohort holds several patients",
            where=str(path),
            found=f"{len(found) if isinstance(found, list) else 0} members",
            expected="a phenopacket of one patient, or a family with a proband",
            todo="write each member into a file of its own and use --batch",
        )
    if "proband" in packet:
        for key in packet.keys() - {"proband", "id", "metaData"}:
            unused[key] += _items(packet[key])
        outer, packet = packet, _object(packet, "proband", path)
        packet = {"metaData": outer.get("metaData"), "id": outer.get("id"), **packet}
    if not packet.keys() & {"phenotypicFeatures", "subject", "diseases", "interpretations"}:
        raise _no_phenopacket(path, ", ".join(sorted(packet)[:8]) or "an empty object")
    subject = _object(packet, "subject", path)
    features = _objects(packet, "phenotypicFeatures", path)
    metadata = _object(packet, "metaData", path)
    schema = _schema(metadata, subject, features, packet)
    for part, prefix, used in (
        (packet, "", _USED),
        (subject, "subject.", _USED_SUBJECT),
        (metadata, "metaData.", _USED_METADATA),
        *((feature, "phenotypicFeatures.", _USED_FEATURE) for feature in features),
    ):
        for key in part.keys() - used:
            if part[key] not in (None, "", [], {}):
                unused[f"{prefix}{key}"] += _items(part[key])
    sides: dict[bool, list[str]] = {False: [], True: []}
    for feature in features:
        # A finding that either schema's word denies is denied, whatever the record's version says.
        denied = False
        for word in ("negated", "excluded"):
            value = feature.get(word)
            if value is not None and not isinstance(value, bool):
                raise _malformed(path, f"phenotypicFeatures.{word}", value, "true or false")
            denied |= bool(value)
        term = _object(feature, "type", path).get("id")
        sides[denied].append(term if isinstance(term, str) else reprlib.repr(term))
    name = _text(packet.get("id")) or path.stem
    observed, excluded, left_out = normalise_terms(name, sides[False], sides[True], ontology)
    sex = _sex(subject, name, left_out)
    age = _age(subject, schema, path, name, left_out)
    onset = _onset(packet, path, ontology, name, left_out)
    references = [
        found
        for entry in _objects(metadata, "externalReferences", path)
        if (found := pmid(entry.get("id"))) is not None
    ]
    return Patient(
        name,
        str(path),
        schema,
        observed,
        excluded,
        sex,
        age,
        onset,
        list(dict.fromkeys(references)),
        left_out,
        dict(sorted(unused.items())),
    )


def patient_of_terms(
    observed: Iterable[str], excluded: Iterable[str], ontology: Ontology, name: str = "terms"
) -> Patient:
    """Patient of HPO ids alone, such as ``--hpo`` gives them."""
    here, absent, left_out = normalise_terms(name, observed, excluded, ontology)
    return Patient(name, "command line", None, here, absent, left_out=left_out)


def read_note(path: Path) -> str:
    """Text of a note.

    Raises
    ------
    InputError
        If the file is missing, larger than 64 MiB, or no UTF-8.
    """
    try:
        return _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "the text is not UTF-8",
            where=str(path),
            found=f"byte {error.object[error.start]:#04x} at {error.start}",
            expected="a plain text in UTF-8",
            todo="save it as UTF-8",
        ) from error


def patient_of_findings(
    findings: Sequence[Finding], source: str, ontology: Ontology, name: str
) -> Patient:
    """Patient of the findings of a free text; one that is named twice counts once."""
    sides = {
        status: list(dict.fromkeys(f.term_id for f in findings if f.status == status and f.term_id))
        for status in (OBSERVED, EXCLUDED)
    }
    here, absent, left_out = normalise_terms(name, sides[OBSERVED], sides[EXCLUDED], ontology)
    return Patient(name, source, None, here, absent, left_out=left_out, mappings=list(findings))


def need_terms(patient: Patient) -> Patient:
    """Give the patient back, or say that there is nothing to rank by.

    Raises
    ------
    InputError
        Without an observed term.
    """
    if patient.observed:
        return patient
    reasons = Counter(skip.reason for skip in patient.left_out if skip.level == "term")
    left = ", ".join(f"{n} × {reason}" for reason, n in reasons.items())
    words = ", ".join(f"'{f.text}' ({f.reason or f.status})" for f in patient.mappings)[:1000]
    raise InputError(
        "the patient has no observed phenotypic feature that can be used",
        where=patient.source,
        found=", ".join(filter(None, [left, words])) or "no observed feature",
        expected="at least one HPO term at or below Phenotypic abnormality (HP:0000118)",
        todo="correct the terms; features that are only excluded cannot rank diseases",
    )


def _bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise InputError(
                "a folder is no patient",
                where=str(path),
                expected="a JSON or YAML file",
                todo="rank the files of a folder with --batch",
            )
        with path.open("rb") as handle:
            raw = handle.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise InputError(
            "the patient's file cannot be read",
            where=str(path),
            found=error.strerror or str(error),
            expected="a phenopacket, JSON or YAML",
            todo="check the path",
        ) from error
    if len(raw) > LARGEST_BYTES:
        raise InputError(
            "the file is larger than any phenopacket",
            where=str(path),
            found=f"more than {LARGEST_BYTES >> 20} MiB",
            expected="one patient a file",
            todo="check the path",
        )
    return raw


def _parse(path: Path, raw: bytes) -> object:
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        if raw.lstrip()[:1] in (b"{", b"[") or path.suffix.lower() == ".json":
            return orjson.loads(raw)
        return parse_yaml(raw.decode("utf-8"))
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            "the file is neither JSON nor YAML",
            where=str(path),
            found=first[:200],
            expected="a phenopacket of schema v1 or v2",
            todo="check that the file is whole",
        ) from error


def _camel(value: Any, depth: int = 0, done: dict[int, Any] | None = None) -> Any:
    """Keys as the schema's JSON form has them: ``phenotypic_features`` is ``phenotypicFeatures``.

    Only as deep as fields are read; what lies below is counted, not looked at. What YAML's aliases
    share stays shared, so that a small file cannot grow large.
    """
    done = {} if done is None else done
    if depth > _DEPTH or not isinstance(value, dict | list):
        return value
    if id(value) not in done:
        done[id(value)] = (
            {_camel_key(key): _camel(below, depth + 1, done) for key, below in value.items()}
            if isinstance(value, dict)
            else [_camel(item, depth + 1, done) for item in value]
        )
    return done[id(value)]


_DEPTH = 8


def _camel_key(key: object) -> str:
    first, *rest = str(key).split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _items(value: object) -> int:
    return len(value) if isinstance(value, list) else 1


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _object(holder: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
    value = holder.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _malformed(path, key, value, "an object")
    return value


def _objects(holder: Mapping[str, Any], key: str, path: Path) -> list[dict[str, Any]]:
    value = holder.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _malformed(path, key, value, "a list of objects")
    return value


def _malformed(path: Path, key: str, value: object, expected: str) -> InputError:
    return InputError(
        "the phenopacket is malformed",
        where=f"{path}, {key}",
        found=f"{type(value).__name__} {reprlib.repr(value)}",
        expected=expected,
        todo="check the file with a validator such as phenopacket-tools",
    )


def _no_phenopacket(path: Path, found: str) -> InputError:
    return InputError(
        "the file is no phenopacket",
        where=str(path),
        found=found[:200],
        expected="an object with 'phenotypicFeatures' or 'subject'",
        todo="check that it is a GA4GH phenopacket of schema v1 or v2",
    )


def _schema(
    metadata: Mapping[str, Any],
    subject: Mapping[str, Any],
    features: Sequence[Mapping[str, Any]],
    packet: Mapping[str, Any],
) -> str:
    version = metadata.get("phenopacketSchemaVersion")
    if version is not None and str(version).strip()[:1] in (V1, V2):
        return str(version).strip()[:1]
    diseases = packet.get("diseases")
    entries = diseases if isinstance(diseases, list) else []
    old = (
        any("negated" in feature for feature in features)
        or any(key in subject for key in _V1_SUBJECT)
        or any(key in entry for entry in entries if isinstance(entry, dict) for key in _V1_DISEASE)
        or not packet.keys().isdisjoint(("genes", "variants"))
    )
    return V1 if old else V2


def _sex(subject: Mapping[str, Any], name: str, left_out: list[Skip]) -> str | None:
    sex = subject.get("sex")
    if sex is None or sex == "UNKNOWN_SEX":
        return None
    if not isinstance(sex, str) or sex not in SEXES:
        left_out.append(Skip(name, "field", UNKNOWN_SEX, reprlib.repr(sex)))
        return None
    return str(sex)


def _days(ages: Sequence[object]) -> float | None:
    days = [day for age in ages if (day := duration_days(age)) is not None]
    return sum(days) / len(days) if days and len(days) == len(ages) else None


def _duration(age: object) -> object:
    """Duration of an age: an object in schema v2, the text itself in v1."""
    return age.get("iso8601duration", age.get("age")) if isinstance(age, dict) else age


def _ages(time: Mapping[str, Any]) -> list[object]:
    """Durations of a time element; those of both ends of a range."""
    if "ageRange" in time and isinstance(time["ageRange"], dict):
        time = time["ageRange"]
    if "start" in time or "end" in time:
        return [_duration(time.get(end)) for end in ("start", "end")]
    return [_duration(time["age"])] if "age" in time else []


def _age(
    subject: Mapping[str, Any], schema: str, path: Path, name: str, left_out: list[Skip]
) -> float | None:
    key = "ageAtCollection" if schema == V1 else "timeAtLastEncounter"
    time = _object(subject, key, path)
    if not time:
        return None
    days = _days(_ages(time))
    if days is None:
        left_out.append(Skip(name, "field", BAD_AGE, reprlib.repr(time)))
    return days


def _onset(
    packet: Mapping[str, Any], path: Path, ontology: Ontology, name: str, left_out: list[Skip]
) -> str | None:
    """Onset of the first listed disease that has one; what the disease is, is not read."""
    for entry in _objects(packet, "diseases", path):
        if entry.get("excluded") is True:
            continue
        time = entry.get("onset")
        term = entry.get("classOfOnset")
        if isinstance(time, dict):
            term = time.get("ontologyClass", term)
            ages = _ages(time)
        else:
            ages = [_duration(entry["ageOfOnset"])] if "ageOfOnset" in entry else []
        if isinstance(term, dict):
            current = ontology.resolve(str(term.get("id"))).term_id
            if current is not None:
                return current
            left_out.append(Skip(name, "field", BAD_ONSET, reprlib.repr(term)))
        elif len(ages) == 1 and duration_days(ages[0]) is not None:
            return str(ages[0])
        elif time is not None or ages:
            left_out.append(Skip(name, "field", BAD_ONSET, reprlib.repr(time or ages)))
    return None
