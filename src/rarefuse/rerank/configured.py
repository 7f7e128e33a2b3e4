"""What the Snakefile asks about rerankers. Light: no numpy, no polars, no torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rarefuse.errors import InputError
from rarefuse.fusion.catalogue import HoldOut, hold_outs
from rarefuse.slices import as_json


@dataclass(frozen=True)
class RerankRun:
    """The configured rerankers.

    Parameters
    ----------
    config : mapping
        Checked, with defaults.
    results : str
        Folder for results.
    """

    config: Mapping[str, Any]
    results: str

    @property
    def arms(self) -> list[str]:
        """Language models that are reranked."""
        return list(self.config["evaluation"]["llms"])

    @property
    def targets(self) -> list[str]:
        """What is reranked: the ontology alone, and every language model in the report."""
        return ["ontology", *self.arms]

    @property
    def trained(self) -> list[str]:
        """Language models that a reranker may learn from."""
        test_only = self.config["reranker"]["test_only"]
        return [arm for arm in self.arms if arm not in test_only]

    @property
    def hold_outs(self) -> dict[str, HoldOut]:
        """Language model → what its reranker learns from: never an answer of its family.

        Where no other family is left to learn from, the model's own trains too, and tables say so.
        """
        if not self.trained:
            raise InputError(
                "there is no language model that a reranker may learn from",
                where="config, reranker.test_only",
                found=", ".join(self.arms) or "no language model in evaluation.llms",
                expected="at least one that may train",
                todo="name fewer as test-only, or ask for the target 'ontology' alone",
            )
        families = {arm: self.config["llms"][arm]["family"] for arm in self.arms}
        return hold_outs(families, self.arms, self.trained, own_family=False)

    def name_of(self, target: str) -> str:
        """Name of the reranker for a target.

        All targets without a relative among the models that train share one, so that a language
        model that is added for testing alone is reranked by what is there already.
        """
        return target if target == "ontology" else self.hold_outs[target].name

    def trains_on(self, name: str) -> list[str]:
        """Language models that a reranker learns from; none for the ontology alone."""
        if name == "ontology":
            return []
        held = next(h for h in self.hold_outs.values() if h.name == name)
        return [arm for arm in self.trained if arm in held.arms]

    @property
    def gate(self) -> str:
        """Folder of the fusion gate's gold ranks, which the reranker is compared with."""
        return f"fused_ranks/{self.config['fusion']['ranker']}/lopo/gate"

    def options(self) -> str:
        """Slice of the configuration that training a reranker depends on."""
        settings = self.config["reranker"]
        return as_json({k: v for k, v in settings.items() if k not in ("test_only", "places")})

    def inputs(self, corpus: str, arms: Sequence[str]) -> list[str]:
        """Lists that a reranker joins."""
        folder = f"{self.results}/{corpus}"
        return [
            *(f"{folder}/rankings/{r}/lopo.parquet" for r in self.config["reranker"]["rankers"]),
            *(f"{folder}/llm/{arm}/ranking.parquet" for arm in arms if arm != "ontology"),
        ]
