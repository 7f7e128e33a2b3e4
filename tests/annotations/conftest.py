import polars as pl
import pytest

from rarefuse.annotations.hpoa import ANNOTATIONS
from rarefuse.ontology.arrays import Ontology, Resolution, depths, flatten

HEADER = [
    "database_id",
    "disease_name",
    "qualifier",
    "hpo_id",
    "reference",
    "evidence",
    "onset",
    "frequency",
    "sex",
    "modifier",
    "aspect",
    "biocuration",
]
ROW = dict.fromkeys(HEADER, "") | {
    "database_id": "OMIM:100001",
    "disease_name": "first disease",
    "hpo_id": "HP:0000002",
    "reference": "PMID:1",
    "evidence": "PCS",
    "aspect": "P",
    "biocuration": "HPO:x[2020-01-01]",
}


@pytest.fixture
def hpoa_text():
    """Text of an HPOA file; each row is given by what differs from `ROW`."""

    def text(*rows, header=HEADER, comments=("#description: tiny", "#version: 1")):
        lines = [*comments, "\t".join(header)]
        lines += ["\t".join({**ROW, **row}[name] for name in header) for row in rows]
        return "".join(line + "\n" for line in lines)

    return text


@pytest.fixture
def annotations():
    """`ANNOTATIONS` with the given rows, numbered from 2 (line 1 being the header)."""

    def frame(*rows):
        rows = [{"row": number, **ROW, **row} for number, row in enumerate(rows, start=2)]
        return pl.DataFrame(rows, schema=ANNOTATIONS.dtypes)

    return frame


@pytest.fixture
def ontology():
    """HP:1 over HP:118 and HP:9 (outside); below 118: 2 over 3 and 4, 5 below 3 and 4."""
    ids = [f"HP:{i:07d}" for i in (1, 9, 118, 2, 3, 4, 5)]
    ptr, flat = flatten([[], [0], [0], [2], [3], [3], [4, 5]])
    ptr = ptr.astype("int32")
    aliases = {
        "HP:0000020": Resolution("HP:0000002", "alt_id"),
        "HP:0000030": Resolution("HP:0000003", "replaced_by"),
        "HP:0000040": Resolution(None, "obsolete"),
        "HP:0000090": Resolution("HP:0000009", "alt_id"),
    }
    return Ontology(ids, ids, ptr, flat, depths(ptr, flat, 2), aliases)
