import json
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class FakeResolution:
    term_id: str | None
    status: str


class FakeResolver:
    """HP:0000001 to HP:0000009 are current and phenotypic; see the rest below."""

    def resolve(self, term_id):
        if term_id in {f"HP:{i:07d}" for i in range(1, 10)} or term_id == "HP:0003577":
            return FakeResolution(term_id, "current")
        return {
            "HP:0000101": FakeResolution("HP:0000001", "alt_id"),
            "HP:0000102": FakeResolution("HP:0000002", "replaced_by"),
            "HP:0000103": FakeResolution(None, "obsolete"),
            "HP:0000104": FakeResolution("HP:0003577", "alt_id"),
        }.get(term_id, FakeResolution(None, "unknown"))

    def is_phenotypic(self, term_id):
        return term_id != "HP:0003577"


@pytest.fixture
def resolver():
    return FakeResolver()


def make_packet(observed=("HP:0000001",), excluded=(), gold=("OMIM:100001",), **fields):
    """A whole v2 phenopacket, with the given terms and gold diseases."""
    packet = {
        "id": "PMID_123_case_1",
        "subject": {
            "id": "1",
            "sex": "FEMALE",
            "timeAtLastEncounter": {"age": {"iso8601duration": "P6Y"}},
        },
        "phenotypicFeatures": [{"type": {"id": t, "label": t}} for t in observed]
        + [{"type": {"id": t, "label": t}, "excluded": True} for t in excluded],
        "interpretations": [
            {
                "id": g,
                "progressStatus": "SOLVED",
                "diagnosis": {"disease": {"id": g, "label": f"name of {g}"}},
            }
            for g in gold
        ],
        "metaData": {
            "phenopacketSchemaVersion": "2.0",
            "externalReferences": [{"id": "PMID:123"}],
        },
    }
    packet.update(fields)
    return {key: value for key, value in packet.items() if value is not None}


def write_packets(folder, **packets):
    """Folder with one file a phenopacket (a dict) or raw bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in packets.items():
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        (folder / f"{name}.json").write_bytes(data)
    return folder


def rows(corpus, level=None):
    """Skipped rows as tuples without the level, of one level if given."""
    return [
        (r["record"], r["reason"], r["detail"])
        for r in corpus.skipped.iter_rows(named=True)
        if level in (None, r["level"])
    ]


@pytest.fixture
def packet():
    return make_packet


@pytest.fixture
def packets():
    return write_packets


@pytest.fixture
def skipped():
    return rows
