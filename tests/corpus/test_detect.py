import gzip
import json
import zipfile

import polars as pl
import pytest

from rarefuse.corpus.detect import detect_reader
from rarefuse.corpus.readers import READERS, read_corpus
from rarefuse.errors import InputError

PHEVAL = {
    "original_file": ["f"],
    "original_id": ["i"],
    "pmid": ["PMID:1"],
    "gold_disease_id": ["OMIM:100001"],
    "sex": ["MALE"],
    "observed_hpo": [["HP:0000001"]],
    "excluded_hpo": [["HP:0000002"]],
    "phenopacket_id": ["p"],
    "case_stem": ["s"],
}
ROW = {"disease": "OMIM:100001", "observed": ["HP:0000001"]}
BENCH = {"Phenotype": ["HP:0000001"], "RareDisease": ["OMIM:100001"]}


@pytest.fixture
def source(tmp_path, packet):
    """Path of a source of the given kind, all under names that say nothing."""

    def make(kind):
        path = tmp_path / "source"
        one = json.dumps(packet()).encode()
        if kind == "folder":
            path.mkdir()
            (path / "a.json").write_bytes(one)
        elif kind == "zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("a.json", one)
        elif kind == "pheval":
            pl.DataFrame(PHEVAL).write_parquet(path)
        elif kind == "parquet":
            pl.DataFrame([ROW]).write_parquet(path)
        else:
            path.write_bytes(
                {
                    "packet": one,
                    "pretty packet": json.dumps(packet(), indent=1).encode(),
                    "rarebench": json.dumps(BENCH).encode() + b"\n" + json.dumps(BENCH).encode(),
                    "jsonl": json.dumps(ROW).encode(),
                    "tsv": b"disease\tobserved\nOMIM:100001\tHP:0000001\n",
                    "tsv.gz": gzip.compress(b"disease\tobserved\nOMIM:100001\tHP:0000001\n"),
                }[kind]
            )
        return path

    return make


@pytest.mark.parametrize(
    "kind, reader",
    {
        "folder": "phenopackets",
        "zip": "phenopackets",
        "packet": "phenopackets",
        "pretty packet": "phenopackets",
        "pheval": "pheval",
        "rarebench": "rarebench",
        "parquet": "table",
        "jsonl": "table",
        "tsv": "table",
        "tsv.gz": "table",
    }.items(),
)
def test_the_reader_that_is_told_reads_it(source, resolver, kind, reader):
    path = source(kind)
    assert detect_reader("c", path) == reader
    assert reader in READERS
    assert read_corpus(reader, "c", path, resolver).cases["gold_id"].to_list()[0] == "OMIM:100001"


@pytest.mark.parametrize(
    "name, content, reader",
    [
        ("cut.zip", b"no archive", "phenopackets"),
        ("cut", b"PK\x03\x04", "phenopackets"),
        ("cut", b"PAR1", "table"),
        ("cut", b'{\n "phenotypicFeatures": [', "phenopackets"),
    ],
)
def test_damage_is_left_to_the_reader(tmp_path, resolver, name, content, reader):
    path = tmp_path / name
    path.write_bytes(content)
    assert detect_reader("c", path) == reader
    with pytest.raises(InputError):
        read_corpus(reader, "c", path, resolver)


@pytest.mark.parametrize("content", [b"", b"  \n", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_named(tmp_path, content):
    path = tmp_path / "empty"
    path.write_bytes(content)
    with pytest.raises(InputError, match="empty file") as caught:
        detect_reader("c", path)
    assert caught.value.where == str(path)


def test_nothing_there_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        detect_reader("c", tmp_path / "none")
