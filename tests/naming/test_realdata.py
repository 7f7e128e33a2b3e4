"""The recorded answers of 2024 through the whole chain, against a plain prototype's figures."""

import gzip

import polars as pl
import pytest

from rarefuse.annotations.hpoa import read_hpoa
from rarefuse.annotations.relations import candidate_order, phenotype_rows
from rarefuse.naming.lexicon import build_lexicon
from rarefuse.naming.mapper import EXTENDED, Mapper
from rarefuse.naming.sources import DiseaseClass

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def mapper(data, tmp_path_factory):
    """The lexicon from the folder's table of names, which needs no download.

    It has no series and other releases than the pinned sources, so that less is mapped.
    """
    path = tmp_path_factory.mktemp("hpoa") / "phenotype.hpoa"
    path.write_bytes(gzip.decompress((data / "hpoa/phenotype_2026-06-23.hpoa.gz").read_bytes()))
    rows = phenotype_rows(read_hpoa(path)).unique("database_id", keep="first")
    names = dict(rows.select("database_id", "disease_name").iter_rows())
    candidates = {disease: names[disease] for disease in candidate_order(list(names))}
    assert len(candidates) == 8_553
    table = pl.read_csv(
        data / "names/disease_names_omim.tsv.gz", separator="\t", quote_char=None
    ).filter(pl.col("class_id").is_not_null())
    classes = [
        DiseaseClass(key[0], group["name"][0], group["name"].to_list(), set(group["omim_id"]))
        for key, group in table.group_by("class_id", maintain_order=True)
    ]
    return Mapper(build_lexicon(candidates, classes, []), EXTENDED)


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
