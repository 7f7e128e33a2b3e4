"""Reader of RareBench cases: JSON lines with ``Phenotype`` and ``RareDisease`` lists."""

from collections.abc import Iterator
from pathlib import Path

import orjson

from rarefuse.corpus.build import Corpus, RawCase, build, check_file, numbered_lines
from rarefuse.corpus.terms import Skip, TermResolver

NOT_JSON = "not JSON"
NOT_A_CASE = "without a list 'Phenotype' or 'RareDisease'"
NO_GOLD = "no gold disease"
SEVERAL_GOLD = "several gold diseases"


def read_rarebench(name: str, path: Path | str, resolver: TermResolver) -> Corpus:
    """Read RareBench cases.

    Parameters
    ----------
    name : str
        Corpus.
    path : Path or str
        JSON lines; blank ones are passed over.
    resolver : TermResolver
        The ontology.

    Returns
    -------
    Corpus
        ``record`` is the line: ``row 000001``. Gold is the one OMIM id among ``RareDisease``.
        RareBench names no publication, sex, age or excluded term.

    Raises
    ------
    InputError
        If the file is missing or gives no usable case.
    """
    path = check_file(name, path)
    return build(name, path, _records(name, path), resolver)


def _records(name: str, path: Path) -> Iterator[RawCase | Skip]:
    for number, line in numbered_lines(name, path):
        record = f"row {number:06d}"
        try:
            row = orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
        except orjson.JSONDecodeError as error:
            yield Skip(record, "case", NOT_JSON, f"line {number}: {error}"[:200])
            continue
        phenotype = row.get("Phenotype") if isinstance(row, dict) else None
        diseases = row.get("RareDisease") if isinstance(row, dict) else None
        if not isinstance(phenotype, list) or not isinstance(diseases, list):
            yield Skip(record, "case", NOT_A_CASE, line[:80].decode(errors="replace").strip())
            continue
        ids = sorted({disease for disease in diseases if isinstance(disease, str)})
        omim = [disease for disease in ids if disease.startswith("OMIM:")]
        if len(omim) != 1:
            yield Skip(record, "case", SEVERAL_GOLD if omim else NO_GOLD, ", ".join(ids)[:200])
            continue
        withheld = {("disease_id", disease) for disease in ids} | {("path", record)}
        yield RawCase(record, omim[0], phenotype, [], withheld=withheld)
