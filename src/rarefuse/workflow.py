"""What the Snakefile asks: a checked configuration and the slice of it that each rule needs.

What belongs to one part of the workflow stands beside it, in `configured.py` or `plan.py` of its
folder. Light on purpose (no numpy, no polars): every job parses the Snakefile again.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rarefuse import __version__
from rarefuse.config import check_config, load_schema
from rarefuse.corpus.configured import CorporaRun
from rarefuse.evaluation.configured import EvaluationRun
from rarefuse.explorer.configured import ExplorerRun
from rarefuse.fusion.plan import FusionPlan
from rarefuse.llm.configured import LlmRun
from rarefuse.locks import jobs_lock
from rarefuse.rankers.configured import RankersRun
from rarefuse.rerank.configured import RerankRun
from rarefuse.retrieval.configured import RetrievalRun
from rarefuse.slices import as_json
from rarefuse.sources.registry import Source, find_source, load_registry


@dataclass(frozen=True)
class Run:
    """A configured run.

    Parameters
    ----------
    config : dict
        Checked, with defaults.
    registry : dict
        Source registry.
    """

    config: dict[str, Any]
    registry: dict[str, Source]

    @property
    def corpus(self) -> str:
        """Corpus that the default target is about."""
        return str(self.config["corpus"])

    @property
    def results(self) -> str:
        """Folder for results."""
        return str(self.config["results"]).rstrip("/") or "/"

    @property
    def registry_path(self) -> str:
        """Path of the source registry."""
        return str(self.config["sources"]["registry"])

    @property
    def hpo(self) -> Source:
        """Ontology release."""
        return self.source(self.config["knowledge"]["hpo"])

    @property
    def hpoa(self) -> Source:
        """Annotation release."""
        return self.source(self.config["knowledge"]["hpoa"])

    @property
    def knowledge(self) -> str:
        """Folder of what the rankers know: one for each pair of releases."""
        return f"{self.results}/knowledge/{self.hpo.id}_{self.hpoa.id}"

    def source(self, name: str) -> Source:
        """Entry of the source registry."""
        return find_source(self.registry, name, self.registry_path)

    def source_of_file(self, file: str) -> Source:
        """Entry that is kept as `file`."""
        return next(s for s in self.registry.values() if s.file == file)

    def resource(self, name: str) -> str:
        """Path of a fetched source."""
        return f"{self.config['sources']['folder']}/{self.source(name).file}"

    def naming_source(self, kind: str) -> str:
        """Path of a source of disease names: mondo, mappings or orphanet."""
        return self.resource(self.config["naming"][kind])

    @property
    def corpora(self) -> CorporaRun:
        """The corpora."""
        return CorporaRun(self.config, self.resource)

    @property
    def rankers(self) -> RankersRun:
        """The rankers."""
        return RankersRun(self.config)

    @property
    def llms(self) -> LlmRun:
        """The language models."""
        return LlmRun(self.config, self.results, self.source, self.resource)

    @property
    def fusion(self) -> FusionPlan:
        """What fusion this run has."""
        return FusionPlan(self.config, self.results)

    @property
    def reranker(self) -> RerankRun:
        """The rerankers."""
        return RerankRun(self.config, self.results)

    @property
    def retrieval(self) -> RetrievalRun:
        """The retrieval part."""
        return RetrievalRun(self.config, self.resource)

    @property
    def evaluation(self) -> EvaluationRun:
        """The tables."""
        return EvaluationRun(
            config=self.config,
            results=self.results,
            knowledge=self.knowledge,
            resource=self.resource,
            corpora=self.corpora,
            rankers=self.rankers,
            llms=self.llms,
            fusion=self.fusion,
            reranker=self.reranker,
        )

    @property
    def explorer(self) -> ExplorerRun:
        """The pages of cases."""
        return ExplorerRun(self.config, self.evaluation)

    def provenance(self, corpus: str) -> str:
        """What a reader needs to make the same results again."""
        entry = self.config["corpora"][corpus]
        used = [self.hpo, self.hpoa]
        if "source" in entry:
            used.append(self.source(entry["source"]))
        sources = [
            {name: getattr(s, name) for name in ("id", "title", "release", "licence", "sha256")}
            for s in {s.id: s for s in used}.values()
        ]
        rankers = {
            f"ranker {ranker}": as_json(self.config["rankers"][ranker])
            for ranker in sorted(self.config["rankers"])
        }
        arms = {
            f"language model {arm}": as_json(self.config["llms"][arm]) for arm in self.llms.arms
        }
        return as_json(
            {
                "sources": sources,
                "settings": {
                    "rows with frequency 0/n": "kept"
                    if self.config["knowledge"]["keep_zero_frequency"]
                    else "dropped",
                    "places kept": self.config["evaluation"]["depth"],
                    **rankers,
                    **arms,
                },
                "version": __version__,
                "seed": self.config["seed"],
                "resamples": self.config["evaluation"]["resamples"],
                "level": self.config["evaluation"]["level"],
            }
        )

    def environment(self, base: Path) -> dict[str, str]:
        """Environment of the jobs.

        Jobs run ``python -m rarefuse`` of the interpreter that runs Snakemake, unless a conda
        environment puts its own first; the package always comes from the checkout at `base`.
        Where sources may be found does not change what they are, so it travels here and is no
        rule's parameter.
        """
        inherited = os.environ.get("PYTHONPATH")
        return {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
            "PYTHONPATH": os.pathsep.join([str(base / "src"), *([inherited] if inherited else [])]),
            "RAREFUSE_MIRROR_DIRS": os.pathsep.join(self.config["sources"]["mirror_dirs"]),
            "RAREFUSE_OFFLINE": "1" if self.config["sources"]["offline"] else "",
            "RAREFUSE_JOBS_LOCK": os.path.abspath(jobs_lock(self.results)),
        }


def configured_run(config: Mapping[str, Any], schema: Path) -> Run:
    """Check Snakemake's merged configuration.

    Raises
    ------
    InputError
        On the first mistake in the configuration or the source registry.
    """
    checked = check_config(config, load_schema(schema))
    run = Run(checked, load_registry(checked["sources"]["registry"]))
    for name in (
        checked["knowledge"]["hpo"],
        checked["knowledge"]["hpoa"],
        checked["corpora"][run.corpus].get("source"),
    ):
        if name is not None:
            run.source(name)
    run.corpora.path(run.corpus)
    run.llms.check()
    run.fusion.check()
    run.rankers.check()
    return run
