"""The tiny corpus ranked, with a language model's list, a fused and a reranked one by hand."""

import json
import shutil
from types import SimpleNamespace

import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.corpus.cases import CASES
from rarefuse.explorer.stage import explorer_stage
from rarefuse.fusion.fused import FUSED
from rarefuse.naming.stage import RANKING
from rarefuse.rankers.run import GOLD_RANKS, rank_stage
from rarefuse.rerank.columns import GROUPS
from rarefuse.rerank.stage import RERANKED

OPTIONS = {
    "rankers": ["resnik"],
    "arms": ["alpha"],
    "fused": True,
    "reranked": ["ontology"],
    "component": "resnik",
    "protocol": "lopo",
    "places": 5,
}
HOSTILE = "<img src=x onerror=\"document.title='run'\"> syndrome"


@pytest.fixture(scope="session")
def corpus(artifacts_of_tiny, tmp_path_factory):
    """Folders of knowledge and corpus; the case whose record is PMID_11_A has all four lists."""
    root = tmp_path_factory.mktemp("explorer")
    folder, knowledge = root / "corpus", root / "knowledge"
    shutil.copytree(artifacts_of_tiny.corpus, folder)
    shutil.copytree(artifacts_of_tiny.knowledge, knowledge)
    rank_stage(
        knowledge=knowledge,
        corpus=folder,
        method="resnik",
        options={},
        depth=10,
        rankings=folder / "rankings/resnik",
        gold_ranks=folder / "gold_ranks/resnik",
        threads=1,
    )
    cases = artifacts.read(folder / "cases.parquet", CASES)
    case = dict(cases.select("record", "case_id").iter_rows())["PMID_11_A.json"]
    write = artifacts.write
    named = [
        (case, 1, "OMIM:100009", 1, "Hematite ataxia", "exact"),
        (case, 2, "OMIM:555555", 2, HOSTILE, "exact"),
    ]
    frame = pl.DataFrame(named, schema=["case_id", "rank", "disease_id", "name_rank", "name",
                                        "rule"], orient="row")  # fmt: skip
    missing = {
        column: pl.lit("tiny").cast(kind)
        for column, kind in RANKING.dtypes.items()
        if column not in frame.columns
    }
    frame = frame.with_columns(**missing).select(
        pl.col(name).cast(kind) for name, kind in RANKING.dtypes.items()
    )
    write(frame, RANKING, folder / "llm/alpha/ranking.parquet")
    none = pl.DataFrame([(case, None, None, None)], schema=GOLD_RANKS.dtypes, orient="row")
    write(none, GOLD_RANKS, folder / "llm/alpha/gold_ranks.parquet")
    fused = [
        (case, 1, "OMIM:100001", 0.75, 0.75, 0.25, True),
        (case, 2, "OMIM:100009", 0.5, 0.75, 0.25, True),
    ]
    write(
        pl.DataFrame(fused, schema=FUSED.dtypes, orient="row"),
        FUSED,
        folder / "fused/gate/alpha.parquet",
    )
    parts = [1.25, -0.5, *[0.0] * (len(GROUPS) - 2)]
    reranked = [(case, 1, "OMIM:100001", 0.75, *parts, ["resnik:1"], ["HP:0001251"], [])]
    write(
        pl.DataFrame(reranked, schema=RERANKED.dtypes, orient="row"),
        RERANKED,
        folder / "reranked/ontology/ranking.parquet",
    )
    first = pl.DataFrame([(case, 1, 1, 1)], schema=GOLD_RANKS.dtypes, orient="row")
    write(first, GOLD_RANKS, folder / "reranked/ontology/gold_ranks.parquet")
    return SimpleNamespace(knowledge=knowledge, corpus=folder, case=case)


@pytest.fixture(scope="session")
def pages(corpus):
    """Folder of the written pages."""
    output = corpus.corpus / "explorer"
    explorer_stage(
        knowledge=corpus.knowledge,
        corpus=corpus.corpus,
        name="tiny <b>corpus</b>",
        options=OPTIONS,
        output=output,
    )
    return output


@pytest.fixture(scope="session")
def handed():
    """Read what a data script hands to the page."""

    def read(path):
        text = path.read_text(encoding="utf-8")
        return json.loads(text[text.index("(") + 1 : text.rindex(")")])

    return read
