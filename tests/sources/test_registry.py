from pathlib import Path

import pytest

from rarefuse.errors import InputError
from rarefuse.sources.registry import load_registry

ROOT = Path(__file__).resolve().parents[2]
DIGEST = "0" * 63 + "a"
GOOD = f"""\
tiny:
  title: A tiny file
  release: "1"
  licence: CC0
  file: tiny.txt
  url: https://example.org/tiny.txt
  sha256: {DIGEST}
  bytes: 12
  mirrors:
    - path: a/tiny.txt.gz
      gzip: true
    - wheel: tiny-data==1.0
      member: tiny/data.tsv
      drop_last_column: extra
    - url: http://example.org/other.txt
"""


def load(tmp_path, text):
    path = tmp_path / "sources.yaml"
    path.write_text(text)
    return load_registry(path)


def test_an_entry_is_read_with_its_mirrors_in_order(tmp_path):
    source = load(tmp_path, GOOD)["tiny"]
    assert (source.id, source.release, source.sha256, source.bytes) == ("tiny", "1", DIGEST, 12)
    assert [m.kind for m in source.mirrors] == ["path", "wheel", "url"]
    assert source.mirrors[0].gzip
    assert source.mirrors[1].member == "tiny/data.tsv"
    assert source.mirrors[1].drop_last_column == "extra"


def test_the_projects_own_registry_is_correct():
    sources = load_registry(ROOT / "resources" / "sources.yaml")
    assert {"hpo-2026-06-06", "hpoa-2026-06-23", "ramedis"} <= sources.keys()
    assert sources["hpoa-2026-06-23"].mirrors[1].drop_last_column == "cardinality"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("  licence: CC0\n", "", "'licence'"),
        ("  licence: CC0\n", "  licence: CC0\n  colour: red\n", "'colour'"),
        (DIGEST, DIGEST[:-1], "'sha256'"),
        (DIGEST, DIGEST.upper(), "'sha256'"),
        ("bytes: 12", "bytes: many", "'bytes'"),
        ("bytes: 12", "bytes: true", "'bytes'"),
        ('release: "1"', "release: 2026-06-06", "'release'"),
        ("file: tiny.txt", "file: ../tiny.txt", "'file'"),
        ("url: https://", "url: ftp://", "'url'"),
        ("path: a/tiny", "path: /a/tiny", "'mirrors[0].path'"),
        ("gzip: true", "gzip: 1", "'mirrors[0].gzip'"),
        ("tiny-data==1.0", "tiny-data", "'mirrors[1].wheel'"),
        ("      member: tiny/data.tsv\n", "", "'mirrors[1].member'"),
        ("path: a/tiny.txt.gz\n      gzip", "path: a\n      zip", "'mirrors[0].zip'"),
        ("    - url: http", "    - host: http", "'mirrors[2]'"),
    ],
)
def test_a_wrong_entry_is_named_with_its_key(tmp_path, old, new, key):
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        load(tmp_path, GOOD.replace(old, new))
    assert "entry 'tiny'" in caught.value.where
    assert f"key {key}" in caught.value.where
    assert caught.value.expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "nothing"),
        ("- a\n- b\n", "a list"),
        ("tiny: [", "line 1"),
        (GOOD + GOOD, "key 'tiny' stands twice"),
        (GOOD.replace("  bytes: 12\n", "  bytes: 12\n  bytes: 13\n"), "key 'bytes' stands twice"),
    ],
)
def test_a_file_that_is_no_registry_is_one_error(tmp_path, text, found):
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    assert found in caught.value.found
    assert "sources.yaml" in caught.value.where


def test_two_entries_cannot_claim_one_file(tmp_path):
    with pytest.raises(InputError, match="also of 'tiny'"):
        load(tmp_path, GOOD + GOOD.replace("tiny:", "small:"))


def test_a_missing_registry_is_named(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        load_registry(tmp_path / "none.yaml")
