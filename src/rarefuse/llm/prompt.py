"""The paper's prompt (A.2), rendered from the closed view and nothing else.

The system message and the closing instruction are quoted from the paper, word for word. It gives
the order of what stands between them (sex, age or onset, observed terms, excluded terms) and that
the clinical text consists of canonical HPO labels only, but not the layout: ours is one label a
line.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SYSTEM = (
    "You are a clinical geneticist performing phenotype-only differential diagnosis of rare "
    "Mendelian disease. You are given a patient’s Human Phenotype Ontology findings. Reply with "
    "exactly 10 candidate diagnoses, most likely first, one per line, formatted as “<rank>. "
    "<disease name>”. Use standard OMIM/Mondo disease names. No explanations, no other text."
)
INSTRUCTION = "List the 10 most likely rare genetic diagnoses, ranked."
OBSERVED = "Observed findings:"
EXCLUDED = "Explicitly excluded findings:"
LABEL = "- "
"""What stands before a canonical label; `rarefuse.llm.guard` knows labels by it."""

SEXES = {"FEMALE": "female", "MALE": "male", "OTHER_SEX": "other"}

DECODING = {"temperature": 0.0, "n": 1, "max_tokens": 384, "context": 4096}
"""Greedy, one completion, at most 384 new tokens within a context of 4,096 (A.2)."""

_DAYS_A_YEAR = 365.25
_DAYS_A_MONTH = _DAYS_A_YEAR / 12
_DURATION = re.compile(
    r"P(?:(?P<year>[0-9.]+)Y)?(?:(?P<month>[0-9.]+)M)?(?:(?P<week>[0-9.]+)W)?"
    r"(?:(?P<day>[0-9.]+)D)?(?:T(?:(?P<hour>[0-9.]+)H)?(?:(?P<minute>[0-9.]+)M)?"
    r"(?:(?P<second>[0-9.]+)S)?)?"
)


@dataclass(frozen=True)
class Prompt:
    """What a model is asked about one case.

    Parameters
    ----------
    case_id : str
        Hashed case id; the model does not see it.
    user : str
        The user message.
    """

    case_id: str
    user: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """System and user message, as chat templates and chat endpoints take them."""
        return [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": self.user},
        ]

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that stand for the messages."""
        return digest(self.messages)


def digest(value: Any) -> str:
    """16 hexadecimal digits of anything that JSON can write."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def age_in_words(days: float) -> str:
    """Age in the largest unit of which it has at least two: years, months or days, rounded down."""
    for unit, length in (("year", _DAYS_A_YEAR), ("month", _DAYS_A_MONTH)):
        if days >= 2 * length:
            return f"{int(days / length)} {unit}s"
    return _counted(str(int(days)), "day")


def onset_in_words(onset: str) -> str:
    """Onset as the view has it: an HPO label as it is, an ISO 8601 duration in words."""
    found = _DURATION.fullmatch(onset)
    if found is None:
        return onset
    parts = [_counted(number, unit) for unit, number in found.groupdict().items() if number]
    return " ".join(parts) or onset


def _counted(number: str, unit: str) -> str:
    return f"{number} {unit}" if number == "1" else f"{number} {unit}s"


def render_prompt(case: Mapping[str, Any]) -> Prompt:
    """Render the prompt of one case.

    Parameters
    ----------
    case : mapping
        A row of `rarefuse.corpus.view.VIEW`.

    Returns
    -------
    Prompt
        Sex, age and onset where the view has them, then the labels in the view's order.
    """
    lines = []
    if case["sex"] is not None:
        lines.append(f"Sex: {SEXES[case['sex']]}")
    if case["age_days"] is not None:
        lines.append(f"Age: {age_in_words(case['age_days'])}")
    if case["onset"] is not None:
        lines.append(f"Onset: {onset_in_words(case['onset'])}")
    for heading, column in ((OBSERVED, "observed_labels"), (EXCLUDED, "excluded_labels")):
        if case[column]:
            lines += [heading, *(f"{LABEL}{label}" for label in case[column])]
    return Prompt(case["case_id"], "\n".join([*lines, "", INSTRUCTION]))


_SPECIMEN = {
    "case_id": "",
    "sex": "FEMALE",
    "age_days": 1000.0,
    "onset": "P1Y",
    "observed_labels": ["observed"],
    "excluded_labels": ["excluded"],
}


def template_digest() -> str:
    """Digest of the prompt's template: the rendered messages of a specimen case."""
    return render_prompt(_SPECIMEN).digest
