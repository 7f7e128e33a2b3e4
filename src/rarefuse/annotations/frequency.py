"""Frequencies of HPOA rows as counts, pooled by sums of numerators and denominators.

Rules of LIRICAL 2.4 (Robinson et al. 2020): an empty frequency is 1/1, a frequency
term is the midpoint of its range in a nominal cohort of 50, a percentage is of 50.
"""

import math
import re
from dataclasses import dataclass

NOMINAL_COHORT = 50
FREQUENCY_TERMS = {
    "HP:0040280": 1.0,  # obligate
    "HP:0040281": 0.895,  # very frequent
    "HP:0040282": 0.545,  # frequent
    "HP:0040283": 0.17,  # occasional
    "HP:0040284": 0.025,  # very rare
    "HP:0040285": 0.0,  # excluded
}
_RATIO = re.compile(r"(\d+)\s*/\s*(\d+)")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")


@dataclass(frozen=True)
class Count:
    """Patients with the finding and patients examined; `problem` names what was mended."""

    numerator: int
    denominator: int
    problem: str | None = None


def parse_frequency(text: str) -> Count:
    """Read one HPOA frequency field.

    Parameters
    ----------
    text : str
        Empty, a frequency term, ``n/m`` or a percentage.

    Returns
    -------
    Count
        Halves are rounded up. ``n/0`` counts as n of 50; a numerator above its denominator is
        capped to it; text that is none of the four counts as if it were empty. The last three
        carry a `problem`.
    """
    text = text.strip()
    if not text:
        return Count(1, 1)
    if text in FREQUENCY_TERMS:
        return _of_cohort(FREQUENCY_TERMS[text])
    if ratio := _RATIO.fullmatch(text):
        numerator, denominator = int(ratio[1]), int(ratio[2])
        if denominator == 0:
            return Count(
                min(numerator, NOMINAL_COHORT), NOMINAL_COHORT, "frequency with a denominator of 0"
            )
        if numerator > denominator:
            return Count(denominator, denominator, "frequency above 1")
        return Count(numerator, denominator)
    if (percent := _PERCENT.fullmatch(text)) and float(percent[1]) <= 100:
        return _of_cohort(float(percent[1]), 100.0)
    return Count(1, 1, "frequency not understood")


def _of_cohort(part: float, whole: float = 1.0) -> Count:
    # Multiplied first: 29 % of 50 is 14.5, but 0.29 * 50 is less in floating point.
    return Count(math.floor(part * NOMINAL_COHORT / whole + 0.5), NOMINAL_COHORT)
