"""Which reader a corpus is for, told by its content and not by its name."""

import gzip
import zlib
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from rarefuse.corpus.pheval import PHEVAL_COLUMNS
from rarefuse.errors import InputError

_PHENOPACKET = {"phenotypicFeatures", "interpretations", "diseases", "subject", "metaData"}


def detect_reader(name: str, path: Path | str) -> str:
    """Name of the reader for a file or folder.

    Parameters
    ----------
    name : str
        Corpus, for messages.
    path : path
        Folder or zip archive of phenopackets, one phenopacket, PhEval's Parquet table, RareBench
        JSON lines, or any other table of cases.

    Returns
    -------
    str
        Key of `rarefuse.corpus.readers.READERS`.

    Raises
    ------
    InputError
        If there is nothing there, or it is empty. Whether what is there is whole the reader says.
    """
    path = Path(path)
    if path.is_dir():
        return "phenopackets"
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"corpus '{name}' cannot be read",
            where=str(path),
            found=getattr(error, "strerror", None) or str(error),
            expected="a file or folder of cases",
            todo="check the path",
        ) from error
    if not raw.strip():
        raise InputError(
            f"corpus '{name}' is an empty file",
            where=str(path),
            found=f"{len(raw)} bytes",
            expected="a file or folder of cases",
            todo="check the path, or fetch the file again",
        )
    if raw[:2] == b"PK" or path.suffix.lower() == ".zip":
        return "phenopackets"
    if raw[:4] == b"PAR1":
        return _parquet(path)
    text = raw.removeprefix(b"\xef\xbb\xbf").lstrip()
    return _json(text) if text[:1] == b"{" else "table"


def _parquet(path: Path) -> str:
    try:
        columns = set(pq.read_schema(path).names)
    except (OSError, pa.ArrowException):
        return "table"
    return "pheval" if columns >= PHEVAL_COLUMNS else "table"


def _json(text: bytes) -> str:
    first = text.partition(b"\n")[0]
    for candidate in (first, text):
        try:
            found = orjson.loads(candidate)
        except orjson.JSONDecodeError:
            continue
        keys = found.keys() if isinstance(found, dict) else set()
        if keys >= {"Phenotype", "RareDisease"}:
            return "rarebench"
        return "phenopackets" if keys & _PHENOPACKET else "table"
    # One damaged object over several lines is a phenopacket; the reader says what is wrong.
    return "table" if first.rstrip().endswith(b"}") else "phenopackets"
