"""What the explorer shows side by side: systems, where their lists lie, what is compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from rarefuse import artifacts
from rarefuse.fusion.fused import FUSED
from rarefuse.naming.stage import RANKING
from rarefuse.rankers.base import LOPO, ORDINARY
from rarefuse.rankers.run import GOLD_RANKS, RANKINGS
from rarefuse.report.labels import PROTOCOLS, system_label
from rarefuse.rerank.columns import GROUPS
from rarefuse.rerank.stage import ONTOLOGY, RERANKED

ARM, FUSED_KIND, RANKER, RERANKED_KIND = "arm", "fused", "ranker", "reranked"


@dataclass(frozen=True)
class System:
    """A system with one list a case.

    Parameters
    ----------
    kind : str
        ``ranker``, ``arm``, ``fused`` or ``reranked``.
    name : str
        Ranker, or language model (``ontology`` for the reranker without one).
    protocol : str
        Whose annotations its evidence is shown against.
    """

    kind: str
    name: str
    protocol: str

    @property
    def label(self) -> str:
        """What a reader calls it."""
        if self.kind == RANKER:
            return f"{system_label(self.name)}, {PROTOCOLS[self.protocol]}".replace("\u00a0", " ")
        if self.kind == ARM:
            return self.name
        if self.kind == FUSED_KIND:
            return f"Gate, with {self.name}"
        other = "ontology only" if self.name == ONTOLOGY else f"with {self.name}"
        return f"Evidence reranker, {other}"


def systems_of(options: Mapping[str, Any]) -> list[System]:
    """Systems of a run, in the order they are shown.

    Parameters
    ----------
    options : mapping
        ``rankers``, ``arms``, ``fused`` (whether the gate's lists are there) and ``reranked``
        (targets of the reranker).
    """
    rankers = [System(RANKER, r, p) for r in options["rankers"] for p in (ORDINARY, LOPO)]
    arms = [System(ARM, arm, LOPO) for arm in options["arms"]]
    fused = [System(FUSED_KIND, arm, options["protocol"]) for arm in options["arms"]]
    reranked = [System(RERANKED_KIND, target, LOPO) for target in options["reranked"]]
    return [*rankers, *arms, *(fused if options["fused"] else []), *reranked]


def comparisons_of(systems: list[System], component: str) -> list[tuple[str, int, int]]:
    """Pairs of systems whose outcomes are compared: label, left and right index.

    Rankers before and after LOPO; then what fusion and reranking make of the ontology component's
    list after LOPO, and of each language model's.
    """
    at = {system: i for i, system in enumerate(systems)}
    found = [
        (f"{system_label(s.name)}: before and after LOPO", i, at[System(RANKER, s.name, LOPO)])
        for s, i in at.items()
        if s.kind == RANKER and s.protocol == ORDINARY
    ]
    for system, i in at.items():
        if system.kind not in (FUSED_KIND, RERANKED_KIND):
            continue
        protocol = system.protocol if system.kind == FUSED_KIND else LOPO
        for other in (System(RANKER, component, protocol), System(ARM, system.name, LOPO)):
            if other in at:
                found.append((f"{other.label} and {system.label}", at[other], i))
    return found


def read_lists(corpus: Path, system: System, places: int) -> tuple[pl.DataFrame, str]:
    """First places of a system's lists, and what their values are.

    Columns case_id, rank, disease_id; value (p-values or scores of rankers, the ontology's weight
    of the gate, summed log odds of the reranker); name as a language model wrote it; parts, the
    reranker's contributions in the order of `rarefuse.rerank.columns.GROUPS`.
    """
    path, schema = _list_artifact(corpus, system)
    frame = artifacts.read(path, schema)
    value, meaning = {
        ARM: (pl.lit(None, pl.Float64), ""),
        FUSED_KIND: (pl.col("weight_ontology"), "Ontology weight"),
        RERANKED_KIND: (pl.col("score"), "Log odds"),
    }.get(system.kind, (pl.col("score"), "Score"))
    if system.kind == RANKER and frame["p_value"].is_not_null().any():
        value, meaning = pl.col("p_value"), "p-value"
    name, parts = pl.lit(None, pl.String), pl.lit(None, pl.List(pl.Float64))
    if system.kind == ARM:
        name = pl.col("name")
    if system.kind == RERANKED_KIND:
        parts = pl.concat_list([f"from_{group}" for group in GROUPS])
    kept = frame.filter(pl.col("rank") <= places).select(
        "case_id",
        pl.col("rank").cast(pl.Int64),
        "disease_id",
        value=value,
        name=name,
        parts=parts,
    )
    return kept, meaning


def gold_ranks(corpus: Path, system: System, gold: pl.DataFrame) -> dict[str, int]:
    """Case → place of its diagnosis by a system; cases without one are absent.

    Parameters
    ----------
    gold : polars.DataFrame
        Columns case_id and gold_id.
    """
    if system.kind == FUSED_KIND:
        path, schema = _list_artifact(corpus, system)
        listed = artifacts.read(path, schema)
        found = gold.join(
            listed, left_on=["case_id", "gold_id"], right_on=["case_id", "disease_id"]
        ).select("case_id", "rank")
    else:
        folder = {
            RANKER: f"gold_ranks/{system.name}/{system.protocol}",
            ARM: f"llm/{system.name}/gold_ranks",
            RERANKED_KIND: f"reranked/{system.name}/gold_ranks",
        }[system.kind]
        found = artifacts.read(corpus / f"{folder}.parquet", GOLD_RANKS).select("case_id", "rank")
    return dict(found.drop_nulls().iter_rows())


def _list_artifact(corpus: Path, system: System) -> tuple[Path, artifacts.Schema]:
    name, schema = {
        RANKER: (f"rankings/{system.name}/{system.protocol}", RANKINGS),
        ARM: (f"llm/{system.name}/ranking", RANKING),
        FUSED_KIND: (f"fused/gate/{system.name}", FUSED),
        RERANKED_KIND: (f"reranked/{system.name}/ranking", RERANKED),
    }[system.kind]
    return corpus / f"{name}.parquet", schema
