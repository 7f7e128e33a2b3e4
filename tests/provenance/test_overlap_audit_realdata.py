"""The audit gives the figures of docs/RESULTS.md, which are the pipeline's own."""

import pytest

from rarefuse import artifacts
from rarefuse.annotations.crosswalk import read_crosswalk
from rarefuse.annotations.hpoa import read_hpoa
from rarefuse.annotations.relations import DISEASES, RELATIONS, build_relations
from rarefuse.annotations.stated import StatedTerms, stated_ontology
from rarefuse.corpus.cases import CASES
from rarefuse.corpus.detect import detect_reader
from rarefuse.corpus.readers import read_corpus
from rarefuse.evaluation.base import Evaluation
from rarefuse.ontology import read_obo
from rarefuse.provenance.cohort import overlap_table
from rarefuse.provenance.overlap_audit import Resampling, audit_overlap

pytestmark = pytest.mark.realdata

CORPORA = {
    "phenopacket-store": ("phenopacket-store/all_phenopackets.zip", 10_348, 7_718, 0.746),
    "pheval-2024": ("llm_rankings/original_cases_5213.parquet", 5_188, 2_956, 0.570),
    "lirical": ("lirical/pheval_corpus_lirical.zip", 385, 200, 0.519),
}


@pytest.fixture(scope="module")
def release(data):
    return read_hpoa(data / "hpoa/phenotype_2026-06-23.hpoa.gz")


@pytest.fixture(scope="module")
def hpo(data):
    return read_obo(data / "hpoa/hp_2026-06-06.obo.gz")


@pytest.fixture(scope="module")
def built(release, hpo):
    return build_relations(release, hpo)


@pytest.mark.parametrize("name", CORPORA)
def test_the_audit_and_the_pipeline_agree(data, release, hpo, built, tmp_path, name):
    file, counted, overlapping, share = CORPORA[name]
    corpus = read_corpus(detect_reader(name, data / file), name, data / file, hpo)
    audit = audit_overlap(corpus, release, built, resampling=Resampling(200))
    assert audit.value("cases_counted") == counted
    assert audit.value("overlap_cases") == overlapping
    assert audit.value("overlap_share") == pytest.approx(share, abs=5e-4)
    artifacts.write(corpus.cases, CASES, tmp_path / "cases.parquet")
    artifacts.write(built.diseases, DISEASES, tmp_path / "diseases.parquet")
    artifacts.write(built.relations, RELATIONS, tmp_path / "relations.parquet")
    evaluation = Evaluation(tmp_path, tmp_path, [], [], 200, 0.95, Resampling().seed)
    table = {row.metric: row[6:10] for row in overlap_table(evaluation)}
    figures = {row[0]: row[1:5] for row in audit.summary.iter_rows()}
    assert len(table) == 5
    assert {metric: figures[metric] for metric in table} == table


def test_without_an_ontology_the_overlap_is_the_same(data, release):
    ontology = stated_ontology(release)
    built = build_relations(release, ontology)
    path = data / CORPORA["lirical"][0]
    corpus = read_corpus("phenopackets", "lirical", path, StatedTerms(ontology))
    assert audit_overlap(corpus, release, built).value("overlap_cases") == 200


def test_orphanets_own_map(data):
    known = read_crosswalk(data / "names/omim_orpha_map.tsv.gz")
    assert len(known.omim) == 7_205
    assert len(known.orpha) == 5_074
    # 3,781 exact rows; four OMIM ids have two exact ORPHA ids, no ORPHA id has two.
    assert sum(len(others) == 1 for others in known.orpha.values()) == 3_781
    assert sum(len(others) > 1 for others in known.omim.values()) == 4
