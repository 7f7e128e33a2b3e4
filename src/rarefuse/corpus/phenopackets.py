"""Reader of GA4GH phenopackets, schema v2, from a zip archive, a folder or one JSON file."""

import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from rarefuse.annotations.pmid import pmid
from rarefuse.corpus.build import NO_PUBLICATION, Corpus, RawCase, build, unreadable
from rarefuse.corpus.terms import Skip, TermResolver
from rarefuse.errors import InputError

NOT_A_RECORD = "not a .json file"
UNSAFE_PATH = "path climbs out of the archive"
TOO_LARGE = "larger than 64 MiB"
ENCRYPTED = "encrypted"
UNPACKABLE = "compressed in an unknown way"
UNREADABLE = "file cannot be read"
NOT_JSON = "not JSON"
NOT_A_PHENOPACKET = "not a phenopacket"
MALFORMED = "malformed phenopacket"
SCHEMA_V1 = "phenopacket schema v1 (convert with 'phenopacket-tools convert')"
NO_GOLD = "no gold disease"
SEVERAL_GOLD = "several gold diseases"
BAD_GOLD = "gold disease id is not a CURIE"
SEVERAL_PUBLICATIONS = "several publications"
BAD_AGE = "age not understood"
OTHER_AGE = "age given in another form than a duration"
BAD_ONSET = "onset not understood"
OTHER_ONSET = "onset given in another form than a term or duration"

PUBLICATION = ("external-references", "id", "none")
"""Where the source publication of a phenopacket is looked for."""

_MEMBER_BYTES = 64 << 20
_TOTAL_BYTES = 8 << 30
_MEMBERS = 1_000_000
_DAYS = {"Y": 365.25, "M": 30.4375, "W": 7.0, "D": 1.0}
_DURATION = re.compile(
    r"P(?=[0-9T])(?:(?P<Y>N)Y)?(?:(?P<M>N)M)?(?:(?P<W>N)W)?(?:(?P<D>N)D)?"
    r"(?:T(?=[0-9])(?:(?P<h>N)H)?(?:(?P<m>N)M)?(?:(?P<s>N)S)?)?".replace(
        "N", r"[0-9]{1,9}(?:[.,][0-9]{1,9})?"
    )
)
_OLDEST = 150 * 365.25
_CURIE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*:[A-Za-z0-9_.-]+")
_PMID_IN_NAME = re.compile(r"(?<![A-Za-z])PMID[:_ -]{0,3}0*([1-9][0-9]*)", re.IGNORECASE)
_HGVS = re.compile(r"(?:^|[:(\s])[cgmnpr]\.\S")
_HPO_ID = re.compile(r"HP:[0-9]{7}")
_V1_SUBJECT = ("ageAtCollection", "ageOfOnset")
_V1_DISEASE = ("ageOfOnset", "classOfOnset", "ageRangeOfOnset")


def read_phenopackets(
    name: str,
    path: Path | str,
    resolver: TermResolver,
    publication: str = "external-references",
) -> Corpus:
    """Read a corpus of phenopackets.

    Parameters
    ----------
    name : str
        Corpus.
    path : Path or str
        Zip archive or folder, searched at any depth for ``*.json``, or one JSON file.
    resolver : TermResolver
        The ontology.
    publication : str
        ``"external-references"``: the PMID in ``metaData.externalReferences``; where there is
        none, the one in the phenopacket's id or file name; where there are several, the one of
        them that the id names. ``"id"``: id or file name alone. ``"none"``: no publication.

    Returns
    -------
    Corpus
        ``record`` is the path in the archive or folder. Gold is the disease of the
        interpretations (those marked UNSOLVED aside), else the one entry of ``diseases``; a
        record without one, or with several, is skipped with its reason, as is one that is not
        JSON, of schema v1, or malformed. Ages are in days (year 365.25, month 30.4375).

    Raises
    ------
    InputError
        If the path is missing, the archive is damaged or absurdly large, or no usable case is
        in it.
    """
    if publication not in PUBLICATION:
        raise InputError(
            "no such way to find a phenopacket's publication",
            where=f"corpora.{name}.publication in the config",
            found=str(publication),
            expected=", ".join(PUBLICATION),
            todo="correct the config",
        )
    path = Path(path)
    return build(name, path, _records(name, path, resolver, publication), resolver)


def duration_days(text: object) -> float | None:
    """Days of an ISO 8601 duration.

    Parameters
    ----------
    text : object
        Such as ``P5Y8M``, ``P3W``, ``P1DT12H``; decimals are allowed.

    Returns
    -------
    float or None
        Days, a year taken as 365.25 and a month as 30.4375; None if it is no duration, negative,
        or more than 150 years.
    """
    match = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    parts = {
        unit: float((value or "0").replace(",", ".")) for unit, value in match.groupdict().items()
    }
    days = sum(parts[unit] * length for unit, length in _DAYS.items())
    days += parts["h"] / 24 + parts["m"] / 1440 + parts["s"] / 86400
    return days if days <= _OLDEST else None


def _records(
    name: str, path: Path, resolver: TermResolver, publication: str
) -> Iterator[RawCase | Skip]:
    for record, found in _members(name, path):
        if isinstance(found, Skip):
            yield found
            continue
        try:
            # Some tools write a byte order mark, which is not JSON.
            packet = orjson.loads(found.removeprefix(b"\xef\xbb\xbf"))
        except orjson.JSONDecodeError as error:
            yield Skip(record, "case", NOT_JSON, str(error)[:200])
            continue
        try:
            yield from _record(record, packet, resolver, publication)
        except _Left as left:
            yield Skip(record, "case", left.reason, left.detail)


class _Left(Exception):
    """The record is left out, for a reason."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(reason)


# --- archive, folder, file


def _members(name: str, path: Path) -> Iterator[tuple[str, bytes | Skip]]:
    if path.is_dir():
        yield from _from_folder(path)
    elif not path.is_file():
        raise InputError(
            f"corpus '{name}' is missing",
            where=str(path),
            found="no such file or folder",
            expected="a zip archive, a folder or a JSON file of phenopackets",
            todo="fetch the source, or correct the path",
        )
    elif path.suffix.lower() == ".json" or _begins_like_json(path):
        record = _printable(path.name)
        yield record, _read_file(path, record)
    else:
        yield from _from_zip(name, path)


def _begins_like_json(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            return handle.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"
    except OSError:
        return False  # whoever reads it says why


def _printable(name: str) -> str:
    """A name that is valid Unicode, whatever bytes it has in the file system."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _read_file(path: Path, record: str) -> bytes | Skip:
    try:
        if path.stat().st_size > _MEMBER_BYTES:
            return Skip(record, "case", TOO_LARGE, f"{path.stat().st_size} bytes")
        return path.read_bytes()
    except OSError as error:
        return Skip(record, "case", UNREADABLE, error.strerror)


def _from_folder(folder: Path) -> Iterator[tuple[str, bytes | Skip]]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            path = Path(parent, file)
            record = _printable(path.relative_to(folder).as_posix())
            if path.suffix.lower() == ".json":
                yield record, _read_file(path, record)
            else:
                yield record, Skip(record, "file", NOT_A_RECORD)


def _from_zip(name: str, path: Path) -> Iterator[tuple[str, bytes | Skip]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            total = sum(m.file_size for m in members if m.file_size <= _MEMBER_BYTES)
            if len(members) > _MEMBERS or total > _TOTAL_BYTES:
                raise InputError(
                    f"corpus '{name}' is larger than any corpus of phenopackets",
                    where=str(path),
                    found=f"{len(members)} files, {total} bytes when unpacked",
                    expected=f"at most {_MEMBERS} files and {_TOTAL_BYTES} bytes",
                    todo="check that this is the right archive",
                )
            for member in members:
                record = _printable(member.filename)
                yield record, _read_member(archive, member, record, name, path)
    except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError) as error:
        raise _damaged(name, path, str(error)) from error
    except OSError as error:
        raise unreadable(name, path, error) from error


def _read_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, record: str, name: str, path: Path
) -> bytes | Skip:
    inside = PurePosixPath(member.filename)
    if inside.suffix.lower() != ".json":
        return Skip(record, "file", NOT_A_RECORD)
    if inside.is_absolute() or ".." in inside.parts:
        return Skip(record, "case", UNSAFE_PATH)
    if member.file_size > _MEMBER_BYTES:
        return Skip(record, "case", TOO_LARGE, f"{member.file_size} bytes")
    if member.flag_bits & 1:
        return Skip(record, "case", ENCRYPTED)
    try:
        # Reads no more than the size stated in the directory, which was just checked.
        return archive.read(member)
    except NotImplementedError as error:
        return Skip(record, "case", UNPACKABLE, str(error))
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError) as error:
        raise _damaged(name, f"{path}, member {record}", str(error)) from error


def _damaged(name: str, where: Path | str, found: str) -> InputError:
    return InputError(
        f"corpus '{name}' is not a whole zip archive",
        where=str(where),
        found=found or "it ends too early",
        expected="a zip archive, a folder or a .json file of phenopackets",
        todo="fetch the source again; its digest tells whether it is whole",
    )


# --- one phenopacket


def _dict(holder: dict[str, Any], key: str, where: str = "") -> dict[str, Any]:
    value = holder.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _Left(MALFORMED, f"{where}{key} is {type(value).__name__}, expected an object")
    return value


def _dicts(holder: dict[str, Any], key: str, where: str = "") -> list[dict[str, Any]]:
    value = holder.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _Left(MALFORMED, f"{where}{key} is not a list of objects")
    return value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _record(
    record: str, packet: object, resolver: TermResolver, publication: str
) -> Iterator[RawCase | Skip]:
    if not isinstance(packet, dict) or not packet.keys() & {
        "phenotypicFeatures",
        "interpretations",
        "diseases",
        "subject",
    }:
        raise _Left(NOT_A_PHENOPACKET, "none of the fields of a phenopacket")
    subject = _dict(packet, "subject")
    features = _dicts(packet, "phenotypicFeatures")
    diseases = _dicts(packet, "diseases")
    interpretations = _dicts(packet, "interpretations")
    metadata = _dict(packet, "metaData")
    _refuse_v1(packet, metadata, subject, features, diseases)

    gold, label, labels = _gold(interpretations, diseases)
    packet_id = _text(packet.get("id"))
    references = {
        reference
        for entry in _dicts(metadata, "externalReferences", "metaData.")
        if (reference := pmid(entry.get("id"))) is not None
    }
    source = _publication(record, packet_id, references, publication)
    notes: list[Skip] = []
    if source is None and publication != "none":
        notes.append(Skip(record, "field", NO_PUBLICATION, packet_id))

    observed: list[object] = []
    excluded: list[object] = []
    for feature in features:
        side = feature.get("excluded")
        if side is not None and not isinstance(side, bool):
            raise _Left(MALFORMED, f"phenotypicFeatures.excluded is {side!r}, expected a boolean")
        (excluded if side else observed).append(_dict(feature, "type").get("id"))

    age, note = _age(_dict(subject, "timeAtLastEncounter", "subject."))
    if note is not None:
        notes.append(Skip(record, "field", *note))
    onset, note = _onset(gold, diseases, resolver)
    if note is not None:
        notes.append(Skip(record, "field", *note))

    withheld = {("disease_id", gold), ("path", record), ("path", PurePosixPath(record).stem)}
    withheld |= {("disease_name", text) for text in labels}
    withheld |= {("pmid", text) for text in references | ({source} if source else set())}
    if packet_id is not None:
        withheld.add(("path", packet_id))
    for interpretation in interpretations:
        diagnosis = _dict(interpretation, "diagnosis")
        for genomic in _dicts(diagnosis, "genomicInterpretations", "diagnosis."):
            withheld |= _genomic(genomic)
    yield from notes
    yield RawCase(
        record,
        gold,
        observed,
        excluded,
        publication_id=source,
        gold_label=label,
        sex=subject.get("sex"),
        age_days=age,
        onset=onset,
        withheld=withheld,
    )


def _refuse_v1(
    packet: dict[str, Any],
    metadata: dict[str, Any],
    subject: dict[str, Any],
    features: list[dict[str, Any]],
    diseases: list[dict[str, Any]],
) -> None:
    """Leave out schema v1, in which an excluded feature is ``negated`` and gold has no place."""
    version = metadata.get("phenopacketSchemaVersion")
    if version is not None and str(version).strip().startswith("1"):
        raise _Left(SCHEMA_V1, f"phenopacketSchemaVersion {version}")
    marks = [f"subject.{key}" for key in _V1_SUBJECT if key in subject]
    marks += ["phenotypicFeatures.negated"] if any("negated" in f for f in features) else []
    marks += [f"diseases.{key}" for key in _V1_DISEASE if any(key in d for d in diseases)]
    marks += [key for key in ("genes", "variants") if key in packet]
    if marks:
        raise _Left(SCHEMA_V1, ", ".join(marks))


def _gold(
    interpretations: list[dict[str, Any]], diseases: list[dict[str, Any]]
) -> tuple[str, str | None, set[str]]:
    """Gold id, its first label, and all labels that the record gives it."""
    named: list[tuple[object, object]] = []
    unsolved = False
    for interpretation in interpretations:
        disease = _dict(_dict(interpretation, "diagnosis"), "disease", "diagnosis.")
        if interpretation.get("progressStatus") == "UNSOLVED":
            unsolved = True
        elif disease.get("id") is not None:
            named.append((disease["id"], disease.get("label")))
    listed: list[tuple[object, object]] = []
    for entry in diseases:
        term = _dict(entry, "term", "diseases.")
        if entry.get("excluded") is not True and term.get("id") is not None:
            listed.append((term["id"], term.get("label")))
    # A record that says it is unsolved only suspects the diseases that it lists.
    candidates = named or ([] if unsolved else listed)
    ids = list(dict.fromkeys(str(identifier) for identifier, _ in candidates))
    if not ids:
        raise _Left(NO_GOLD, "marked UNSOLVED" if unsolved else None)
    if len(ids) > 1:
        raise _Left(SEVERAL_GOLD, ", ".join(ids)[:200])
    if not _CURIE.fullmatch(ids[0]):
        raise _Left(BAD_GOLD, ids[0][:80])
    labels = [_text(label) for identifier, label in named + listed if identifier == ids[0]]
    texts = [label for label in labels if label is not None]
    return ids[0], (texts[0] if texts else None), set(texts)


def _publication(
    record: str, packet_id: str | None, references: set[str], publication: str
) -> str | None:
    if publication == "none":
        return None
    file = PurePosixPath(record).name
    by_name = next(
        (
            f"PMID:{m[1]}"
            for text in (packet_id, file)
            if text and (m := _PMID_IN_NAME.search(text))
        ),
        None,
    )
    if publication == "id" or not references:
        return by_name
    if len(references) == 1:
        return next(iter(references))
    if by_name in references:
        return by_name
    # Taking either would correct for the wrong source, and taking none for no source at all.
    raise _Left(SEVERAL_PUBLICATIONS, ", ".join(sorted(references))[:200])


def _age(time: dict[str, Any]) -> tuple[float | None, tuple[str, str] | None]:
    """Age in days, or the reason for its absence where the record gives something."""
    if not time:
        return None, None
    if "age" in time:
        texts = [_dict(time, "age").get("iso8601duration")]
    elif "ageRange" in time:
        ends = _dict(time, "ageRange")
        texts = [_dict(ends, end).get("iso8601duration") for end in ("start", "end")]
    else:
        return None, (OTHER_AGE, ", ".join(map(str, time))[:80])
    days = [day for text in texts if (day := duration_days(text)) is not None]
    if len(days) < len(texts):
        return None, (BAD_AGE, " to ".join(map(str, texts))[:80])
    return sum(days) / len(days), None


def _onset(
    gold: str, diseases: list[dict[str, Any]], resolver: TermResolver
) -> tuple[str | None, tuple[str, str] | None]:
    """Onset of the gold disease, or the reason for its absence where the record gives one."""
    onset: dict[str, Any] = {}
    for entry in diseases:
        if entry.get("excluded") is not True and _dict(entry, "term").get("id") == gold:
            onset = onset or _dict(entry, "onset", "diseases.")
    if not onset:
        return None, None
    if "age" in onset:
        text = _dict(onset, "age").get("iso8601duration")
        if duration_days(text) is None:
            return None, (BAD_ONSET, str(text)[:80])
        return str(text), None
    if "ontologyClass" in onset:
        term = _dict(onset, "ontologyClass").get("id")
        current = None
        if isinstance(term, str) and _HPO_ID.fullmatch(term):
            current = resolver.resolve(term).term_id
        return current, None if current is not None else (BAD_ONSET, str(term)[:80])
    return None, (OTHER_ONSET, ", ".join(map(str, onset))[:80])


def _genomic(genomic: dict[str, Any]) -> set[tuple[str, str]]:
    """Genes and variants of one genomic interpretation, as nobody may show them."""
    found: set[tuple[str, str | None]] = set()
    descriptor = _dict(_dict(genomic, "variantInterpretation"), "variationDescriptor")
    for gene in (_dict(genomic, "gene"), _dict(descriptor, "geneContext")):
        found.add(("gene", _text(gene.get("symbol"))))
        others = gene.get("alternateIds")
        for identifier in (gene.get("valueId"), *(others if isinstance(others, list) else ())):
            text = _text(identifier)
            if text is not None and text.startswith("HGNC:"):
                found.add(("hgnc", text))
    for expression in _dicts(descriptor, "expressions"):
        found.add(("variant", _text(expression.get("value"))))
    for key in ("id", "label", "description"):
        text = _text(descriptor.get(key))
        if text is not None and _HGVS.search(text):
            found.add(("variant", text))
    record = _dict(descriptor, "vcfRecord")
    if record:
        parts = [record.get(key) for key in ("chrom", "pos", "ref", "alt")]
        if all(part is not None for part in parts):
            found.add(("variant", "-".join(map(str, parts))))
    return {(kind, value) for kind, value in found if value is not None}
