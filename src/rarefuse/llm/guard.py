"""Last look at what is about to be sent: no prompt leaves that says more than it may.

The audit has searched the view; this searches the rendered prompts themselves, so that neither a
changed artifact nor a fault in rendering gets past it. Every line must be one of the template's,
with a canonical label or onset where it has free text, and what is not a canonical label must hold
none of the case's answers and nothing that looks like an identifier or a variant.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from rarefuse.corpus.audit import DURATION, contains, onset_labels, secrets_by_case
from rarefuse.errors import InputError
from rarefuse.llm.prompt import (
    EXCLUDED,
    INSTRUCTION,
    LABEL,
    OBSERVED,
    SEXES,
    Prompt,
    render_prompt,
)
from rarefuse.ontology import Ontology

_AGE = re.compile(r"Age: [0-9]+ (?:days?|months|years)")
_TELLING = {
    "an identifier": re.compile(
        r"\b(?:PMID|PMC|OMIM|MIM|ORPHA|Orphanet|MONDO|HGNC|ClinVar|DOID|HP)[:#_ ]?\s*[0-9]{2,}",
        re.IGNORECASE,
    ),
    "a variant": re.compile(
        r"\b[cgmnpr]\.\(?[A-Z*_+-]*[0-9]+|\b(?:NM|NP|NC|NG|ENST|ENSP)_?[0-9]{4,}|"
        r"\b(?:chr)?[0-9XYM]{1,2}[:-][0-9]{4,}",
        re.IGNORECASE,
    ),
    "a path": re.compile(r"\.json\b|[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+/"),
}


def check_prompts(
    prompts: Sequence[Prompt],
    view: Iterable[Mapping[str, Any]],
    cases: pl.DataFrame,
    withheld: pl.DataFrame,
    disease_names: Mapping[str, str],
    ontology: Ontology,
) -> None:
    """Refuse to send anything if one prompt holds what it must not.

    Parameters
    ----------
    prompts : sequence of Prompt
        All that are to be sent.
    view : iterable of mapping
        Their rows of `rarefuse.corpus.view.VIEW`, in the same order.
    cases, withheld : polars.DataFrame
        `CASES`, `WITHHELD`: the answers.
    disease_names : mapping
        Disease CURIE → name in HPOA.
    ontology : Ontology
        Gives the canonical labels.

    Raises
    ------
    InputError
        Naming the case and the kind of finding, never the answer itself.
    """
    canonical = dict(zip(ontology.term_ids, ontology.labels, strict=True))
    onsets = onset_labels(ontology)
    secrets = secrets_by_case(cases, withheld, disease_names)
    for prompt, case in zip(prompts, view, strict=True):
        findings = _findings(prompt, case, canonical, onsets, secrets.get(prompt.case_id, []))
        if findings:
            raise InputError(
                "a prompt holds what no model may see; none was sent",
                where=f"case {prompt.case_id}",
                found="; ".join(findings),
                expected="sex, age or onset, and canonical HPO labels",
                todo="run the corpus and its audit again; if it stays, the reader is at fault",
            )


def _findings(
    prompt: Prompt,
    case: Mapping[str, Any],
    canonical: Mapping[str, str],
    onsets: Collection[str],
    secrets: Iterable[tuple[str, str]],
) -> list[str]:
    labels = {
        label
        for kind in ("observed", "excluded")
        for term, label in zip(case[kind], case[f"{kind}_labels"], strict=True)
        if canonical.get(term) == label
    }
    lines = prompt.user.splitlines()
    free = [line for line in lines if not _is_label(line, labels)]
    found = []
    if render_prompt(case) != prompt:
        found.append("another text than the view's")
    odd = sum(not _is_template(line, onsets) for line in free)
    if odd:
        found.append(f"{odd} lines that are neither the template's nor a canonical label")
    text = "\n".join(free)
    found += [what for what, pattern in _TELLING.items() if pattern.search(text)]
    found += sorted(
        {f"the case's {kind}" for kind, value in secrets if contains(text, value, kind)}
    )
    return found


def _is_label(line: str, labels: Collection[str]) -> bool:
    return line.startswith(LABEL) and line.removeprefix(LABEL) in labels


def _is_template(line: str, onsets: Collection[str]) -> bool:
    if line in ("", OBSERVED, EXCLUDED, INSTRUCTION) or _AGE.fullmatch(line):
        return True
    if line.startswith("Sex: "):
        return line.removeprefix("Sex: ") in SEXES.values()
    onset = line.removeprefix("Onset: ")
    return onset != line and (onset in onsets or _is_duration(onset))


def _is_duration(text: str) -> bool:
    """Whether a text is a duration, as it stands in the view or in words."""
    if DURATION.fullmatch(text):
        return True
    units = "years?|months?|weeks?|days?|hours?|minutes?|seconds?"
    return re.fullmatch(rf"[0-9.]+ (?:{units})(?: [0-9.]+ (?:{units}))*", text) is not None
