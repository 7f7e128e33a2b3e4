"""The evidence columns: name, group, and the only direction in which each may count. Light.

A direction is part of the model: more matched findings never count against a disease, and a
finding that was looked for and excluded never counts for it, whatever the training cases say. In
a benchmark they do say so: curators record as excluded what the disease's other papers report, so
that a model without directions learns that an excluded finding in the profile speaks *for* a
disease. That is knowledge of how the corpus was made, and no clinician could use it.
"""

from collections.abc import Sequence
from typing import NamedTuple

OBSERVED, EXCLUDED, EXPECTED, RANKS, AGREEMENT, NAMED, PROFILE = GROUPS = (
    "observed_findings",
    "excluded_findings",
    "expected_findings",
    "ranks",
    "agreement",
    "language_model",
    "profile",
)
"""Groups that a score comes apart into."""


class EvidenceColumn(NamedTuple):
    """One column of evidence.

    Parameters
    ----------
    name : str
        What it is; a margin is the distance to the best other candidate of the case.
    group : str
        One of `GROUPS`.
    direction : int
        1: more never lowers the score; -1: more never raises it.
    """

    name: str
    group: str
    direction: int


_FINDINGS = (
    EvidenceColumn("similarity", OBSERVED, 1),
    EvidenceColumn("similarity_margin", OBSERVED, 1),
    EvidenceColumn("log_ratio_margin", OBSERVED, 1),
    EvidenceColumn("log_ratio_fine_margin", OBSERVED, 1),
    EvidenceColumn("log_ratio_mean_margin", OBSERVED, 1),
    EvidenceColumn("direct_share", OBSERVED, 1),
    EvidenceColumn("direct_share_margin", OBSERVED, 1),
    EvidenceColumn("matched_share", OBSERVED, 1),
    EvidenceColumn("matched_share_margin", OBSERVED, 1),
    EvidenceColumn("near_share", OBSERVED, 1),
    EvidenceColumn("distant_share", OBSERVED, -1),
    EvidenceColumn("frequency_share", OBSERVED, 1),
    EvidenceColumn("frequency_share_margin", OBSERVED, 1),
    EvidenceColumn("most_specific", OBSERVED, 1),
    EvidenceColumn("excluded_log", EXCLUDED, 1),
    EvidenceColumn("excluded_log_margin", EXCLUDED, 1),
    EvidenceColumn("excluded_share", EXCLUDED, -1),
    EvidenceColumn("contradicted_share", EXCLUDED, -1),
    EvidenceColumn("coverage", EXPECTED, 1),
    EvidenceColumn("coverage_margin", EXPECTED, 1),
    EvidenceColumn("profile_similarity", EXPECTED, 1),
    EvidenceColumn("profile_similarity_margin", EXPECTED, 1),
    EvidenceColumn("missing_log", EXPECTED, 1),
    EvidenceColumn("missing_log_margin", EXPECTED, 1),
    EvidenceColumn("annotations", PROFILE, -1),
)
_AGREEMENT = (
    EvidenceColumn("lists_first", AGREEMENT, 1),
    EvidenceColumn("lists_first_ten", AGREEMENT, 1),
    EvidenceColumn("lists_holding", AGREEMENT, 1),
    EvidenceColumn("best_rank", AGREEMENT, -1),
    EvidenceColumn("mean_rank", AGREEMENT, -1),
    EvidenceColumn("worst_rank", AGREEMENT, -1),
)
_NAMED = (
    EvidenceColumn("llm_rank", NAMED, -1),
    EvidenceColumn("llm_first", NAMED, 1),
    EvidenceColumn("llm_first_three", NAMED, 1),
    EvidenceColumn("llm_named", NAMED, 1),
)


def evidence_columns(
    rankers: Sequence[str], p_values: Sequence[str], *, llm: bool
) -> tuple[EvidenceColumn, ...]:
    """Columns of the evidence matrix, in order.

    Parameters
    ----------
    rankers : sequence of str
        Rankers whose lists are joined.
    p_values : sequence of str
        Those among them that give p-values.
    llm : bool
        Whether a language model's names are evidence.
    """
    lists = [
        column
        for ranker in rankers
        for column in (
            EvidenceColumn(f"rank.{ranker}", RANKS, -1),
            EvidenceColumn(f"score_margin.{ranker}", RANKS, 1),
            *([EvidenceColumn(f"p_value.{ranker}", RANKS, -1)] if ranker in p_values else []),
        )
    ]
    return (*_FINDINGS, *lists, *_AGREEMENT, *(_NAMED if llm else ()))
