"""What the components have to offer together, and where the fused first candidates come from."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rarefuse.evaluation.base import Evaluation, Row
from rarefuse.fusion.tables import GATE, LLM, MACRO, ONTOLOGY, Ranks, Study

CASE_TYPES = ("both right", "only ontology right", "only llm right", "neither right")
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def coverage_table(evaluation: Evaluation) -> Iterator[Row]:
    """Candidate coverage, the oracle, ontology evidence and weights (paper, section 6.4)."""
    study = Study(evaluation, "coverage")
    parts: dict[str, list[NDArray[np.float64]]] = {}
    for arm in study.arms:
        rules, gate = study.main("rules", arm), study.main("gate", arm)[GATE]
        ours, theirs = rules[ONTOLOGY], rules[LLM]
        yield from _offered(study, arm, ours, theirs, gate, rules["equal-weight"])
        if arm in study.macro:
            for name, values in _chosen(ours, theirs, gate, rules["equal-weight"]).items():
                parts.setdefault(name, []).append(values)
        yield from _evidence(study, arm, [gate])
        yield from _weights(study, arm, ours, theirs, gate)
    means = [
        (GATE, study.protocol, MACRO, name, np.mean(values, axis=0))
        for name, values in parts.items()
    ]
    yield from study.rows(means)
    gates = [study.main("gate", arm)[GATE] for arm in study.macro]
    yield from _evidence(study, MACRO, gates)


def _chosen(
    ours: Ranks, theirs: Ranks, gate: Ranks, union: Ranks
) -> dict[str, NDArray[np.float64]]:
    """Values of each case behind the means of `_offered`."""
    a, b, g = ours.recall(1), theirs.recall(1), gate.recall(1).mean(axis=0, keepdims=True)
    oracle = np.maximum(a, b)
    stronger = a if a.mean() >= b.mean() else b
    return {
        "gold_in_union": (union.rank > 0).astype(float),
        "gold_in_prefix": (ours.rank > 0).astype(float),
        "gold_in_llm_list": (theirs.rank > 0).astype(float),
        "oracle@1": oracle,
        "oracle_gain": oracle - stronger,
        "gate_gain": g - stronger,
    }


def _offered(
    study: Study, arm: str, ours: Ranks, theirs: Ranks, gate: Ranks, union: Ranks
) -> Iterator[Row]:
    """Shares of all cases, and of the ontology's errors and the LLM's lists."""
    values = _chosen(ours, theirs, gate, union)
    yield from study.rows(
        [(GATE, study.protocol, arm, name, value) for name, value in values.items()]
    )
    wrong, right = 1.0 - ours.recall(1), theirs.recall(1)
    yield study.share(LLM, arm, "llm_right_in_ontology_errors", wrong * right, wrong)
    there = (theirs.rank > 0).astype(float)
    yield study.share(LLM, arm, "llm_first_where_listed", right, there)


def _evidence(study: Study, variant: str, gates: list[Ranks]) -> Iterator[Row]:
    """Where the first fused candidates stand in the ontology's list, and how right they are.

    Over all arms and seeds of `gates`, a row of the stacked table each.
    """
    right = np.concatenate([gate.recall(1) for gate in gates])
    top = np.concatenate([gate.top_rank for gate in gates])
    inside, near = (top > 0).astype(float), ((top >= 2) & (top <= 10)).astype(float)
    outside = 1.0 - inside
    everything = np.ones_like(right)
    for metric, part, whole in (
        ("correct_in_prefix", right * inside, right),
        ("first_outside_prefix", outside, everything),
        ("correct_outside_prefix", right * outside, right),
        ("outside_precision", right * outside, outside),
        ("promoted_2_to_10", near, everything),
        ("promoted_2_to_10_precision", right * near, near),
    ):
        yield study.share(GATE, variant, metric, part, whole)


def _weights(study: Study, arm: str, ours: Ranks, theirs: Ranks, gate: Ranks) -> Iterator[Row]:
    """Distribution of w_T, mean over seeds, by which component's first candidate is right."""
    a, b = ours.recall(1)[0] > 0, theirs.recall(1)[0] > 0
    weight = gate.weight.mean(axis=0)
    kinds = dict(zip(CASE_TYPES, (a & b, a & ~b, ~a & b, ~a & ~b), strict=True))
    for kind, chosen in kinds.items():
        if not chosen.any():
            continue
        own = weight[chosen]
        found = {f"weight_q{round(100 * q)}": float(np.quantile(own, q)) for q in QUANTILES}
        for metric, value in {"weight_mean": float(own.mean()), **found}.items():
            yield Row(
                study.table, GATE, study.protocol, arm, kind, metric, value, None, None, len(own),
                None,
            )  # fmt: skip
