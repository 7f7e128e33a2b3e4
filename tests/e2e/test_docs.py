"""Every command of the documentation that a small corpus is enough for is run.

`doc_blocks` says which those are. They run in one folder, page after page, as a reader's would.
Its default corpus has the name of the embedded one and the cases of the tiny one; the server that a
page asks is the test's own.
"""

import re
import shutil

import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml

from builders import make_index
from doc_blocks import PAGES, ROOT, blocks, environment, merged, patched, shell
from rarefuse.manual.artifacts import FILES

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SHOWN_SERVER = "http://127.0.0.1:8000/v1"
LAST = "docs/how-to/add-a-ranker.md"
"""Changes the code, and so what is up to date; its commands are run last."""


def has(page, *kinds):
    return any(b.language in kinds and b.run == "full" for b in blocks(page))


RUN = sorted((p for p in PAGES if has(p, "sh", "python")), key=lambda p: p == ROOT / LAST)


def small_config(root):
    """The project's configuration with the tiny corpus in the embedded one's place."""
    config = yaml.safe_load((root / "config.yaml").read_text())
    tiny = yaml.safe_load((root / "workflow/config/tiny.yaml").read_text())
    del tiny["corpus"]
    config = merged(config, tiny)
    config["corpora"][config["corpus"]] = config["corpora"]["tiny"]
    # Enough to find a page's mistakes, and soon done.
    config["evaluation"]["tables"] = ["cohort", "overlap", "recall", "ties"]
    config["evaluation"]["rankers"] = ["phenomizer"]
    config["fusion"]["tables"] = []  # no lexicon of names, so nothing to fuse
    return config


@pytest.fixture(scope="module")
def reader(finished, place, tiny, tmp_path_factory):
    """Folder in which a reader has run the tiny corpus, and the environment of the commands."""
    project = finished[0]
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(project.folder, place, symlinks=True)
    (place / "config.yaml").write_text(yaml.safe_dump(small_config(ROOT)))
    shutil.copytree(tiny / "phenopackets", place / "my-phenopackets")
    shutil.copytree(tiny / "phenopackets", place / "CASES")
    shutil.copy(tiny / "tiny.hpoa", place / "phenotype.hpoa")
    shutil.copy(tiny / "tiny.obo", place / "hp.obo")
    variables = environment(tmp_path_factory.mktemp("reader"), project.environment)
    variables["PYTHONPATH"] = str(place / "src")
    status, printed = shell("snakemake --cores 2", place, variables)
    assert status == 0, printed
    centroid = {"dimension": 8, "min_steps": 60, "epochs": 1}
    make_index(place / "results/retrieval/hpo-full", place / "hp.obo", centroid)
    return place, variables


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_shows_works(reader, page, server):
    folder, variables = reader
    script = []
    for block in blocks(page):
        if block.language == "diff":
            file = folder / block.title
            file.write_text(patched(file.read_text(), block.text))
        elif block.title:
            file = folder / block.title
            file.write_text(block.text.replace(SHOWN_SERVER, server.base_url))
        elif block.language == "sh" and block.run == "full":
            status, printed = shell(block.text, folder, variables)
            assert status == 0, f"{block}\n{printed}"
        elif block.language == "python":
            script.append(block.text)
            source = "\n".join(script)
            status, printed = shell("python -", folder, variables, input=source)
            assert status == 0, f"{block}\n{printed}"


def test_the_added_ranker_ranks_untouched_cases_alike(reader):
    """Runs after the page that adds it."""
    results = reader[0] / "results/tiny"
    cases = pl.read_parquet(results / "cases.parquet")
    touched = pl.read_parquet(results / "lopo.parquet")["publication_id"].to_list()
    untouched = cases.filter(~pl.col("publication_id").is_in(touched).fill_null(False))
    before, after = (
        pl.read_parquet(results / f"rankings/simgic/{protocol}.parquet")
        for protocol in ("ordinary", "lopo")
    )
    assert not before.equals(after)
    one, other = (f.join(untouched, on="case_id", how="semi") for f in (before, after))
    assert one.height > 0
    assert one.equals(other)


def test_every_file_lies_where_the_reference_says(reader):
    results = reader[0] / "results"
    seen = set()
    for path in sorted(results.rglob("*.parquet")):
        name = pq.read_schema(path).metadata[b"artifact"].decode()
        place = path.relative_to(results).as_posix()
        patterns = [
            re.sub(r"\{\w+\}", "[^/]+", pattern).replace("/**/", "/(?:.+/)?")
            for pattern in FILES[name].split(", ")
        ]
        assert any(re.fullmatch(pattern, place) for pattern in patterns), (name, place)
        seen.add(name)
    assert len(seen) > 18
