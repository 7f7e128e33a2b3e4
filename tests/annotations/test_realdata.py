"""The releases that the paper used, against the figures it gives for them (Table 10)."""

import numpy as np
import polars as pl
import pytest

from rarefuse.annotations.hpoa import ANNOTATIONS, read_hpoa
from rarefuse.annotations.lopo import lopo_annotations, removed_relations
from rarefuse.annotations.relations import DISEASES, RELATIONS, build_relations
from rarefuse.corpus.readers import read_corpus
from rarefuse.ontology import Resolution, read_obo

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def hpo(data):
    return read_obo(data / "hpoa/hp_2026-06-06.obo.gz")


@pytest.fixture(scope="module")
def release(data):
    return read_hpoa(data / "hpoa/phenotype_2026-06-23.hpoa.gz")


@pytest.fixture(scope="module")
def built(release, hpo):
    return build_relations(release, hpo)


@pytest.fixture(scope="module")
def cases(data, hpo, built):
    path = data / "phenopacket-store/all_phenopackets.zip"
    cases = read_corpus("phenopackets", "phenopacket-store", path, hpo).cases
    return cases.filter(pl.col("gold_id").is_in(built.diseases["disease_id"].implode()))


def test_the_ontology(hpo):
    assert len(hpo.term_ids) == 19_810
    assert hpo.phenotypic.sum() == 19_094
    # Obsolete with two replacements, but also an alt id of the second.
    assert hpo.resolve("HP:0410382") == Resolution("HP:0410379", "alt_id")
    assert hpo.resolve("HP:0025623") == Resolution("HP:0410379", "replaced_by")


def test_the_candidate_space(release, built):
    ANNOTATIONS.check(release, "annotations")
    RELATIONS.check(built.relations, "relations")
    DISEASES.check(built.diseases, "diseases")
    assert built.diseases.height == 8_553
    assert built.diseases["n_relations"].min() == 1
    assert built.diseases["n_relations"].median() == 12
    assert built.relations["pmids"].explode().drop_nulls().n_unique() == 8_958
    assert built.problems.is_empty()


def test_overlap_and_exclusive_shares_of_the_paper(cases, built):
    assert cases.height == 10_348
    assert (cases["observed"].list.len() > 0).sum() == 10_345
    profile = {}
    for disease, term, pmids in built.relations.select(
        "disease_id", "term_id", "pmids"
    ).iter_rows():
        profile.setdefault(disease, []).append((term, pmids))
    overlap, share, covered = [], [], []
    for publication, gold, observed in cases.select(
        "publication_id", "gold_id", "observed"
    ).iter_rows():
        exclusive = {term for term, pmids in profile[gold] if pmids == [publication]}
        overlap.append(any(publication in pmids for _, pmids in profile[gold]))
        share.append(len(exclusive) / len(profile[gold]))
        if observed:
            covered.append(np.mean([term in exclusive for term in observed]))
    share = np.array(share)
    assert np.mean(overlap) == pytest.approx(0.746, abs=5e-4)
    assert share.mean() == pytest.approx(0.336, abs=5e-4)
    assert np.median(share) == pytest.approx(0.123, abs=5e-4)
    assert (share == 1).mean() == pytest.approx(0.196, abs=5e-4)
    assert np.mean(covered) == pytest.approx(0.377, abs=5e-4)


def test_the_filtered_file_gives_the_filtered_relations(release, hpo, built, cases):
    # The publication that takes most away.
    gone = removed_relations(built.relations, cases["publication_id"].to_list())
    publication = gone["publication_id"].mode().sort()[0]
    file = lopo_annotations(release, built.relations, publication)
    removed = gone.filter(pl.col("publication_id") == publication)
    rest = built.relations.join(removed, on=["disease_id", "term_id"], how="anti")
    assert rest.height == built.relations.height - removed.height
    assert build_relations(file, hpo).relations.equals(rest)
