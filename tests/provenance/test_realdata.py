"""Cohorts of the provenance controls on the real releases, against the paper's counts."""

import numpy as np
import polars as pl
import pytest

from rarefuse.annotations.hpoa import read_hpoa
from rarefuse.annotations.knowledge import information_content, profiles_of
from rarefuse.annotations.overlap import overlap_by_case
from rarefuse.annotations.relations import build_relations
from rarefuse.corpus.readers import read_corpus
from rarefuse.ontology import read_obo
from rarefuse.provenance.matched import standardised_difference
from rarefuse.provenance.matching import match_deletions

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def hpo(data):
    return read_obo(data / "hpoa/hp_2026-06-06.obo.gz")


@pytest.fixture(scope="module")
def built(data, hpo):
    return build_relations(read_hpoa(data / "hpoa/phenotype_2026-06-23.hpoa.gz"), hpo)


@pytest.fixture(scope="module")
def eligible(data, hpo, built):
    path = data / "phenopacket-store/all_phenopackets.zip"
    cases = read_corpus("phenopackets", "phenopacket-store", path, hpo).cases
    candidates = built.diseases["disease_id"].implode()
    return cases.filter(pl.col("gold_id").is_in(candidates), pl.col("observed").list.len() > 0)


def test_dose_and_emptied_cohorts(eligible, built):
    overlap = overlap_by_case(eligible, built.diseases, built.relations)
    assert overlap["overlap"].sum() == 7_717  # paper, appendix A.5
    assert overlap.filter(pl.col("n_exclusive") == pl.col("n_relations")).height == 2_023


def test_matching_is_as_balanced_as_the_papers(eligible, built, hpo):
    _, ic = information_content(hpo, profiles_of(built.diseases, built.relations, hpo))
    pairs = match_deletions(eligible, built.relations, hpo, ic)
    assert pairs.height == 4_694
    assert pairs.select("publication_id", "disease_id").n_unique() == 642
    assert pairs.group_by("publication_id", "disease_id").agg(
        twice=pl.col("matched_id").is_duplicated().any()
    )["twice"].sum() == 0  # fmt: skip
    ic_gap = np.abs(pairs["removed_ic"].to_numpy() - pairs["matched_ic"].to_numpy())
    level_gap = np.abs(
        pairs["removed_depth"].cast(pl.Int64) - pairs["matched_depth"].cast(pl.Int64)
    ).to_numpy()
    # The paper: 73.9 % within one unit, 89.3 % within one level, differences of 0.02 at most.
    assert (ic_gap <= 1).mean() == pytest.approx(0.739, abs=0.01)
    assert (level_gap <= 1).mean() > 0.89
    for name in ("ic", "depth"):
        a, b = (pairs[f"{side}_{name}"].to_numpy().astype(float) for side in ("removed", "matched"))
        assert abs(standardised_difference(a, b)) < 0.02
