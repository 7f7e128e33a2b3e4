"""What the Snakefile asks about result tables. Light: no numpy, no polars, no torch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rarefuse.codedigest import code_digest
from rarefuse.corpus.configured import CorporaRun
from rarefuse.errors import InputError
from rarefuse.evaluation.catalogue import TABLES
from rarefuse.fusion import plan as fusion_plan
from rarefuse.fusion.plan import FusionPlan
from rarefuse.llm.configured import LlmRun
from rarefuse.rankers.configured import RankersRun
from rarefuse.rerank.configured import RerankRun
from rarefuse.slices import as_json

NAMING_TABLES = ("llm_arms", "naming_rules", "mapping_audit")
PROTOCOLS = ("ordinary", "lopo")
DELETION_CONDITIONS = ("source_deletion", "matched_deletion")


@dataclass(frozen=True)
class EvaluationRun:
    """The configured tables, of what the other parts make.

    Parameters
    ----------
    config : mapping
        Checked, with defaults.
    results, knowledge : str
        Folders.
    resource : callable
        Path of a source of the registry.
    corpora, rankers, llms, fusion, reranker
        The other parts.
    """

    config: Mapping[str, Any]
    results: str
    knowledge: str
    resource: Callable[[str], str]
    corpora: CorporaRun
    rankers: RankersRun
    llms: LlmRun
    fusion: FusionPlan
    reranker: RerankRun

    @property
    def tables(self) -> list[str]:
        """Tables of the report."""
        llm = ["llm"] * bool(self.llms.arms)
        return [*self.config["evaluation"]["tables"], *llm, *self.fusion.tables]

    def table_rankers(self, table: str) -> list[str]:
        """Rankers that a table is about."""
        if table in (
            "recall",
            "ties",
            "split_sensitivity",
            "unchanged",
            "single_case",
            "retained_profile",
            "dose",
        ):
            return list(self.config["evaluation"]["rankers"])
        if table in ("null_models", "matched_deletion"):
            return list(self.config[table]["rankers"])
        if table == "monte_carlo":
            settings = self.config["monte_carlo"]
            return [f"{settings['ranker']}.seed{seed}" for seed in settings["seeds"]]
        if table == "query_cap":
            ranker = self.config["query_cap"]["ranker"]
            return [ranker, f"{ranker}.uncapped"]
        if table == "stock_comparison":
            pairs = self.config["stock_comparison"]["pairs"]
            return list(dict.fromkeys(ranker for pair in pairs for ranker in pair))
        return []

    def table_inputs(self, corpus: str, table: str) -> list[str]:
        """Artifacts that a table reads besides cases, splits and annotations."""
        folder = f"{self.results}/{corpus}"
        if table in fusion_plan.TABLES:
            return self.fusion.table_inputs(corpus, table)
        if table == "llm":
            return self.llms.artifacts(corpus)
        if table in NAMING_TABLES:
            lexicon = [f"{self.knowledge}/lexicon.parquet"] * (table == "naming_rules")
            reviews = list(self.config["mapping_audit"]["reviews"])
            return [
                *lexicon,
                *reviews * (table == "mapping_audit"),
                *self.llms.artifacts(corpus, ("completions", "names", "mapping", "ranking")),
            ]
        if table == "reranker":
            return [
                *(f"{folder}/reranked/{name}/gold_ranks.parquet" for name in self.reranker.targets),
                *(f"{folder}/llm/{arm}/gold_ranks.parquet" for arm in self.llms.arms),
                *(f"{folder}/{self.reranker.gate}/{arm}.parquet" for arm in self.llms.arms),
                *(
                    f"{folder}/gold_ranks/{ranker}/lopo.parquet"
                    for ranker in self.config["reranker"]["rankers"]
                ),
            ]
        kinds = ["gold_ranks"]
        if table in ("ties", "unchanged", "stock_comparison"):
            kinds.append("rankings")
        protocols = list(PROTOCOLS)
        extra: list[str] = []
        if table == "unchanged":
            extra = [f"{folder}/lopo.parquet"]
        if table == "matched_deletion":
            protocols += DELETION_CONDITIONS
        if table in ("matched_deletion", "split_sensitivity"):
            extra = [f"{folder}/deletions.parquet"]
        if table == "cross_corpus":
            settings = self.config["cross_corpus"]
            extra = [f"{self.results}/{name}/cases.parquet" for name in settings["corpora"]]
            extra.append(self.resource(settings["disease_map"]))
        if table == "stock_comparison":
            rankers = self.table_rankers(table)
            if not rankers:
                raise InputError(
                    "there is no stock program to compare with",
                    where="config, stock_comparison.pairs",
                    found="no pair",
                    expected="pairs such as [lirical, lirical-stock]",
                    todo="configure a stock program as docs/rankers.md says, and name the pair",
                )
            extra = [
                f"{folder}/rankings/{ranker}/failures.parquet"
                for ranker in rankers
                if ranker in self.rankers.stock
            ]
        return extra + [
            f"{folder}/{kind}/{ranker}/{protocol}.parquet"
            for kind in kinds
            for ranker in self.table_rankers(table)
            for protocol in protocols
        ]

    def kept(self, corpus: str) -> list[str]:
        """Tables of the report, and the answers, rankings and gold ranks behind them."""
        rankers = dict.fromkeys(r for table in self.tables for r in self.table_rankers(table))
        tables = [f"{self.results}/{corpus}/tables/{table}.parquet" for table in self.tables]
        return [*tables, *self.llms.artifacts(corpus)] + [
            f"{self.results}/{corpus}/{kind}/{ranker}/{protocol}.parquet"
            for kind in ("rankings", "gold_ranks")
            for ranker in rankers
            for protocol in PROTOCOLS
        ]

    def table_options(self, table: str) -> str:
        """Slice of the configuration that a table depends on."""
        evaluation = self.config["evaluation"]
        options = {
            "rankers": self.table_rankers(table),
            "seed": self.config["seed"],
            **{name: evaluation[name] for name in ("recall_at", "resamples", "level")},
        }
        if table == "split_sensitivity":
            options["options"] = self.corpora.split_options()
        if table == "stock_comparison":
            options["options"] = {"pairs": self.config["stock_comparison"]["pairs"]}
        if table == "llm":
            notes = {arm: self.config["llms"][arm].get("note") for arm in self.llms.arms}
            options["options"] = {"llms": notes}
        if table in NAMING_TABLES:
            options["options"] = {"llms": self.llms.arms}
        if table == "mapping_audit":
            options["options"]["audit"] = self.config["mapping_audit"]
        if table in fusion_plan.TABLES:
            options["options"] = self.fusion.table_options(table)
        if table == "reranker":
            options["rankers"] = list(self.config["reranker"]["rankers"])
            held = self.reranker.hold_outs if self.llms.arms else {}
            options["options"] = {
                "llms": self.llms.arms,
                "macro": self.reranker.trained,
                "gate": self.reranker.gate,
                "in_family": [arm for arm, h in held.items() if not h.complete],
            }
        if table == "cross_corpus":
            settings = self.config["cross_corpus"]
            options["options"] = {
                **settings,
                "disease_map": self.resource(settings["disease_map"]),
            }
        return as_json(options)

    def table_code(self, table: str) -> str:
        """Digest of the code behind a table."""
        return code_digest("rarefuse.evaluation.stage", TABLES[table][0])
