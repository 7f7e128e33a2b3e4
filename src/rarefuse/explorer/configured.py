"""What the Snakefile asks about the pages of cases. Light: no numpy, no polars."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rarefuse.evaluation.configured import PROTOCOLS, EvaluationRun
from rarefuse.slices import as_json

PLACES = 10


@dataclass(frozen=True)
class ExplorerRun:
    """The configured pages of cases.

    Parameters
    ----------
    config : mapping
        Checked, with defaults.
    evaluation : EvaluationRun
        The tables, and the parts behind them.
    """

    config: Mapping[str, Any]
    evaluation: EvaluationRun

    @property
    def _shown(self) -> dict[str, Any]:
        """What the pages of cases show."""
        return {
            "rankers": list(self.config["evaluation"]["rankers"]),
            "arms": self.evaluation.llms.arms,
            "fused": bool(self.evaluation.fusion.tables),
            "reranked": self.evaluation.reranker.targets
            if "reranker" in self.evaluation.tables
            else [],
            "component": self.config["fusion"]["ranker"],
            "protocol": self.config["fusion"]["protocol"],
            "places": PLACES,
        }

    def options(self) -> str:
        """Slice of the configuration that the pages of cases depend on."""
        return as_json(self._shown)

    def inputs(self, corpus: str) -> list[str]:
        """Lists that the pages of cases show."""
        folder = f"{self.evaluation.results}/{corpus}"
        shown = self._shown
        names = [
            *(
                f"{kind}/{ranker}/{protocol}"
                for kind in ("rankings", "gold_ranks")
                for ranker in shown["rankers"]
                for protocol in PROTOCOLS
            ),
            *(f"llm/{arm}/{name}" for arm in shown["arms"] for name in ("ranking", "gold_ranks")),
            *(f"fused/gate/{arm}" for arm in shown["arms"] if shown["fused"]),
            *(
                f"reranked/{target}/{name}"
                for target in shown["reranked"]
                for name in ("ranking", "gold_ranks")
            ),
        ]
        return [f"{folder}/{name}.parquet" for name in names]
