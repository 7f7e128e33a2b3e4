"""The page of one patient: a single self-contained HTML file, no scripts, nothing fetched."""

from dataclasses import dataclass

from rarefuse import __version__
from rarefuse.diagnose.diagnosis import LANGUAGE_MODEL, Candidate, Diagnosis
from rarefuse.diagnose.ordering import EQUAL, GATED, ONTOLOGY_ONLY, RERANKED
from rarefuse.diagnose.render import (
    Provenance,
    counted,
    explained_of,
    frequency_text,
    how_text,
    p_text,
    place_text,
)
from rarefuse.pheval.results import USE
from rarefuse.report.environment import environment
from rarefuse.report.labels import system_label

ORDERS = {
    ONTOLOGY_ONLY: "the ontology ranker alone",
    EQUAL: "equal-weight fusion",
    GATED: "the fusion gate",
    RERANKED: "the evidence reranker",
}
SCORES = {
    ONTOLOGY_ONLY: "The reciprocal of the place in the ontology ranker's list.",
    EQUAL: "The reciprocals of the places in both lists, each times its list's weight, added.",
    GATED: "The reciprocals of the places in both lists, each times its list's weight, added.",
    RERANKED: "The reranker's, in log odds: the sum of the contributions.",
}
GROUP_NAMES = {
    "observed_findings": "observed findings",
    "excluded_findings": "excluded findings",
    "expected_findings": "findings one would expect",
    "ranks": "places in the rankers' lists",
    "agreement": "agreement of the lists",
    "language_model": "language model's names",
    "profile": "size of the profile",
}
MOST_PUBLICATIONS = 6
"""Publications of an annotation that are listed; the JSON has all."""


@dataclass(frozen=True)
class Bar:
    """A contribution as a bar: name, text, share of the largest one in 0..1, sign."""

    name: str
    text: str
    width: float
    positive: bool


def bars(candidate: Candidate, largest: float) -> list[Bar]:
    """Contributions of a candidate, the largest first; those of 0 are left out."""
    parts = candidate.contributions or {}
    return [
        Bar(GROUP_NAMES.get(name, name), f"{value:+.2f}", abs(value) / largest, value > 0)
        for name, value in sorted(parts.items(), key=lambda part: (-abs(part[1]), part[0]))
        if value
    ]


def render_case_page(diagnosis: Diagnosis, provenance: Provenance) -> str:
    """Render the page.

    Returns
    -------
    str
        HTML; the same inputs give the same text. Whatever the record says is escaped.
    """
    largest = max(
        (abs(v) for c in diagnosis.candidates for v in (c.contributions or {}).values()),
        default=0.0,
    )
    return (
        environment()
        .get_template("case.html.j2")
        .render(
            diagnosis=diagnosis,
            provenance=provenance,
            version=__version__,
            use=USE,
            order=ORDERS[diagnosis.order],
            score=SCORES[diagnosis.order],
            lists=_lists(diagnosis),
            language_model=LANGUAGE_MODEL,
            label=_label,
            age=_age(diagnosis.age_days),
            bars={c.rank: bars(c, largest or 1.0) for c in diagnosis.candidates},
            explained={c.rank: explained_of(c.matches) for c in diagnosis.candidates},
            tied={c.rank: _tied(c) for c in diagnosis.candidates},
            place=place_text,
            p_text=p_text,
            frequency=frequency_text,
            how=how_text,
            counted=counted,
            mapped=[finding for finding in diagnosis.mappings if finding.by],
            unmapped=[finding for finding in diagnosis.mappings if not finding.by],
            most=MOST_PUBLICATIONS,
        )
    )


def _lists(diagnosis: Diagnosis) -> list[str]:
    return list(diagnosis.candidates[0].lists) if diagnosis.candidates else []


def _label(name: str) -> str:
    """A list's name as a reader knows it."""
    return name.capitalize() if name == LANGUAGE_MODEL else system_label(name)


def _tied(candidate: Candidate) -> int:
    """Other candidates that the ranker cannot tell from this one."""
    if candidate.tie_first is None or candidate.tie_last is None:
        return 0
    return candidate.tie_last - candidate.tie_first


def _age(days: float | None) -> str | None:
    from rarefuse.llm.prompt import age_in_words

    return None if days is None else age_in_words(days)
