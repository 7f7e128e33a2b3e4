"""Lists of `diagnose` beside the pipeline's, with all annotations and under LOPO."""

import zipfile
from dataclasses import replace

import numba
import numpy as np
import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.annotations.lopo import removed_relations
from rarefuse.annotations.relations import RELATIONS
from rarefuse.corpus.readers import read_corpus
from rarefuse.corpus.view import close_view
from rarefuse.diagnose import ranking
from rarefuse.diagnose.case import patient_of_terms, read_patient
from rarefuse.diagnose.library import cache_home, make_library, open_library
from rarefuse.diagnose.ranking import rank_patients, removed_for
from rarefuse.errors import InputError
from rarefuse.fusion.evidence import make_protocol
from rarefuse.rankers.base import LOPO, ORDINARY
from rarefuse.rankers.catalogue import make_ranker
from rarefuse.rankers.run import rank_corpus

RANKERS = {
    "phenomizer": ("phenomizer", {"samples": 500}),
    "resnik": ("resnik", {}),
    "nb-lr-excluded": ("nb-lr", {"excluded": True}),
    "lirical": ("lirical", {}),
    "bma": ("bma", {}),
    "phenomizer-exact": ("phenomizer", {"null": "exact"}),
}


def pipeline_of(library, corpus, relations, rankers, depth):
    """Lists of the pipeline's stage by protocol, ranker and record."""
    cases = corpus.cases
    view = close_view(cases, library.knowledge.ontology)
    removed = removed_relations(relations, cases["publication_id"].drop_nulls().to_list())
    record = dict(cases.select("case_id", "record").iter_rows())
    return {
        (protocol, name, record[case]): own.drop("case_id")
        for name, (method, options) in rankers.items()
        for protocol, (lists, _) in rank_corpus(
            make_ranker(method, options), library.knowledge, view, cases, removed, depth
        ).items()
        for (case,), own in lists.group_by("case_id", maintain_order=True)
    }


def ours(library, patients, publications, rankers, depth, cache):
    ranked = rank_patients(library, rankers, patients, publications, depth, cache)
    return ranked, {
        (name, int(case)): own.drop("case_id")
        for name, lists in ranked.lists.items()
        for (case,), own in lists.group_by("case_id", maintain_order=True)
    }


@pytest.mark.parametrize("few", [0, 100])
@pytest.mark.parametrize("lopo", [False, True])
def test_lists_are_those_of_the_pipeline(library, knowledge, tiny, cache, monkeypatch, few, lopo):
    monkeypatch.setattr(ranking, "FEW", few)
    corpus = read_corpus("phenopackets", "tiny", tiny / "phenopackets", library.knowledge.ontology)
    relations = artifacts.read(knowledge / "relations.parquet", RELATIONS)
    expected = pipeline_of(library, corpus, relations, RANKERS, 5)
    usable = corpus.cases.filter(pl.col("observed").list.len() > 0).sort("case_id")
    records = usable["record"].to_list()
    ontology = library.knowledge.ontology
    patients = [read_patient(tiny / "phenopackets" / record, ontology) for record in records]
    publications = [(p,) if lopo and p else () for p in usable["publication_id"].to_list()]
    ranked, found = ours(library, patients, publications, RANKERS, 5, cache)
    protocol = LOPO if lopo else ORDINARY
    assert len(records) == 14
    for name in RANKERS:
        for position, record in enumerate(records):
            assert found[name, position].equals(expected[protocol, name, record]), (name, record)
    # Backgrounds of the narrow knowledge are those of the whole.
    whole = make_protocol(library.knowledge, ranked.queries, removed_for(library, publications))
    np.testing.assert_array_equal(ranked.protocol.background, whole.background)


def test_a_set_of_publications_takes_what_rests_on_nothing_else(library):
    def removed(*publications):
        rows = removed_for(library, [publications]).drop("publication_id").rows()
        return [row for row in rows if row[0] in ("OMIM:100002", "OMIM:100005", "OMIM:100006")]

    # HP:0001251 of 100002 cites PMID 12 and 13, its other annotation 13 alone.
    assert removed("PMID:13") == [("OMIM:100002", "HP:0010864")]
    assert removed("PMID:12") == []
    assert removed("PMID:12", "PMID:13") == [
        ("OMIM:100002", "HP:0001251"),
        ("OMIM:100002", "HP:0010864"),
    ]
    assert removed("PMID:19") == [("OMIM:100006", "HP:0002943")]
    assert removed("PMID:99999999999999") == []


def test_p_values_of_candidates_behind_the_list_are_counted_on_request(library, cache):
    ontology = library.knowledge.ontology
    patient = patient_of_terms(["HP:0001251", "HP:0000639"], [], ontology)
    rows = np.arange(len(library.names), dtype=np.int32)
    values = []
    for few in (100, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ranking, "FEW", few)
            ranked = rank_patients(library, RANKERS, [patient], [("PMID:11",)], 2, cache)
            values.append(ranked.p_value(library, 0, rows))
    assert values[0] == values[1]
    assert all(0 < p <= 1 for p in values[0])
    only = {"resnik": RANKERS["resnik"]}
    assert rank_patients(library, only, [patient], [()], 2).p_value(library, 0, rows) is None


def test_a_library_comes_back_from_the_cache(knowledge, library, tmp_path):
    for _ in range(2):
        found = open_library(knowledge, tmp_path)
        assert found.names == library.names
        assert found.knowledge.disease_ids == library.knowledge.disease_ids
        assert found.knowledge.ontology.aliases == library.knowledge.ontology.aliases
        for one, other in zip(found.by_term, library.by_term, strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(found.knowledge.ic, library.knowledge.ic)
        assert found.publications(0) == library.publications(0)
    (path,) = tmp_path.iterdir()
    path.write_bytes(b"cut off")
    assert open_library(knowledge, tmp_path).names == library.names


def test_the_cache_lies_beside_the_kernels_or_in_their_temporary_folder(monkeypatch, tmp_path):
    for kernels, expected in (
        (tmp_path / "rarefuse" / "kernels" / "0123", tmp_path / "rarefuse" / "diagnose"),
        (tmp_path / "rarefuse-kernels-x", tmp_path / "rarefuse-kernels-x" / "diagnose"),
    ):
        monkeypatch.setattr(numba.config, "CACHE_DIR", str(kernels))
        assert cache_home() == expected


def test_missing_knowledge_names_what_makes_it(tmp_path):
    with pytest.raises(InputError, match=r"(?s)has not been made.*snakemake --cores 2 .*terms"):
        open_library(tmp_path / "nothing", tmp_path)


@pytest.mark.realdata
def test_fifty_real_cases_rank_as_in_the_pipeline_under_lopo(data, real, tmp_path):
    """LIRICAL's published cases, those first that lose an annotation of some disease."""
    knowledge = real / "results" / "knowledge" / "hpo-2026-06-06_hpoa-2026-06-23"
    library = make_library(knowledge)
    ontology = library.knowledge.ontology
    archive = data / "lirical" / "pheval_corpus_lirical.zip"
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path / "lirical")
    corpus = read_corpus("phenopackets", "lirical", archive, ontology, {"publication": "id"})
    relations = artifacts.read(knowledge / "relations.parquet", RELATIONS)
    exclusive = set(relations.filter(pl.col("pmids").list.len() == 1)["pmids"].list.first())
    cases = (
        corpus.cases.filter(pl.col("observed").list.len() > 0)
        .with_columns(loses=pl.col("publication_id").is_in(list(exclusive)))
        .sort("loses", "record", descending=[True, False])
        .head(50)
    )
    assert cases["loses"].sum() >= 40
    corpus = replace(corpus, cases=cases.drop("loses").sort("record"))
    rankers = {"phenomizer": ("phenomizer", {})}
    expected = pipeline_of(library, corpus, relations, rankers, 100)
    records = corpus.cases["record"].to_list()
    patients = [read_patient(tmp_path / "lirical" / record, ontology) for record in records]
    publications = [(p,) for p in corpus.cases["publication_id"]]
    _, found = ours(library, patients, publications, rankers, 100, tmp_path / "cache")
    for position, record in enumerate(records):
        assert found["phenomizer", position].equals(expected[LOPO, "phenomizer", record]), record
    assert any(
        not expected[LOPO, "phenomizer", r].equals(expected[ORDINARY, "phenomizer", r])
        for r in records
    )
