import gzip

import polars as pl
import pytest

from rarefuse.corpus import terms
from rarefuse.corpus.readers import read_corpus
from rarefuse.ontology.obo import read_obo

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def hpo(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("hpo") / "hp.obo"
    path.write_bytes(gzip.decompress((data / "hpoa/hp_2026-06-06.obo.gz").read_bytes()))
    return read_obo(path)


def counts(corpus):
    cases = corpus.cases
    return (
        cases.height,
        cases["publication_id"].drop_nulls().n_unique(),
        cases["gold_id"].n_unique(),
    )


def reasons(corpus):
    table = corpus.skipped.group_by("level", "reason").len()
    return {(level, reason): n for level, reason, n in table.iter_rows()}


def test_phenopacket_store(data, hpo):
    path = data / "phenopacket-store/all_phenopackets.zip"
    corpus = read_corpus("phenopackets", "phenopacket-store", path, hpo)
    assert counts(corpus) == (10_377, 1_733, 780)
    per_publication = corpus.cases.group_by("publication_id").len()["len"]
    assert (per_publication == 1).sum() == 666
    assert corpus.cases["publication_id"].null_count() == 0
    assert corpus.cases.filter(pl.col("observed").list.len() == 0).height == 3
    assert not corpus.skipped["level"].is_in(["case", "term"]).any()
    assert reasons(corpus)["mapped", terms.FROM_OBSOLETE] == 26


def test_lirical(data, hpo):
    path = data / "lirical/pheval_corpus_lirical.zip"
    corpus = read_corpus("phenopackets", "pheval-lirical", path, hpo)
    assert counts(corpus) == (385, 289, 262)
    assert reasons(corpus)["term", terms.BOTH] == 6
    assert reasons(corpus)["term", terms.OUTSIDE] == 9


def test_structural_variants(data, hpo):
    path = data / "lirical/pheval_corpus_structural_variants.zip"
    corpus = read_corpus("phenopackets", "pheval-structural-variants", path, hpo)
    assert corpus.cases.height == 186
    assert corpus.cases["publication_id"].null_count() == 0


def test_pheval_2024(data, hpo):
    path = data / "llm_rankings/original_cases_5213.parquet"
    corpus = read_corpus("pheval", "pheval-2024", path, hpo)
    assert counts(corpus) == (5_213, 725, 378)
    assert not corpus.skipped["level"].is_in(["case"]).any()


def test_ramedis(data, hpo):
    corpus = read_corpus("rarebench", "ramedis", data / "ramedis/ramedis.jsonl", hpo)
    assert counts(corpus) == (624, 0, 74)
    assert not corpus.skipped["level"].is_in(["case"]).any()
