"""Input audit: no answer in what systems see, proved able to find one.

What is looked for, a case at a time: gold disease id and its names in the corpus and in HPOA, gene
symbols and HGNC ids, variant expressions, PMIDs, archive paths (paper, A.1), each in the ways it is
commonly written. The only free text of the view is HPO's canonical
labels. Some of them name a disease or a gene of their own accord ("Hirschsprung disease" is a
finding as well); the paper keeps such labels, and so do we, but we count them apart.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from rarefuse import artifacts
from rarefuse.annotations.relations import DISEASES
from rarefuse.artifacts import Column, Schema
from rarefuse.corpus.cases import CASES, WITHHELD
from rarefuse.corpus.splits import SPLITS
from rarefuse.corpus.view import VIEW, render
from rarefuse.errors import InputError
from rarefuse.ontology import Ontology, read_ontology

AUDIT = Schema(
    "audit",
    (
        Column("check", pl.String, "what was checked"),
        Column("passed", pl.Boolean, "whether it holds"),
        Column("value", pl.Float64, "count or share that the check gives", nullable=True),
        Column("detail", pl.String, "what the value is, and the first findings"),
    ),
    key=("check",),
)

ONSET = "HP:0003674"
DURATION = re.compile(r"P[0-9.]+[YMWD][0-9.YMWDTHS]*|PT[0-9.]+[HMS][0-9.HMS]*")
CONTENT_WORD_LETTERS = 5
"""Shortest content word. The paper gives no definition; with five letters its 34.7 % comes out."""


_SHORTEST_PATH = 5
_BARE_NUMBER_DIGITS = 6


def normal(text: str) -> str:
    """Words of a text in lower case, one blank around each: punctuation does not count."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.casefold()))} "


def spellings(kind: str, value: str) -> list[str]:
    """Ways in which an answer may be written; empty if it is too short to be looked for.

    Identifiers also without their prefix, if they have at least six digits, and OMIM ids as MIM; a
    path also without its suffix. A path that is a bare number or has fewer than five letters and
    digits could be anything (an age, say) and is not looked for.
    """
    if kind == "gene":
        return [value]
    found = [value]
    if kind in ("disease_id", "pmid", "hgnc"):
        prefix, _, local = value.partition(":")
        if local.isdigit() and len(local) >= _BARE_NUMBER_DIGITS:
            found.append(local)
        if prefix == "OMIM":
            found.append(f"MIM {local}")
    if kind == "path":
        found.append(re.sub(r"\.json$", "", value))
        found = [f for f in found if len(normal(f)) >= _SHORTEST_PATH + 2]
        found = [f for f in found if not normal(f).strip().isdigit()]
    return list(dict.fromkeys(normal(f) for f in found if normal(f).strip()))


def contains(text: str, value: str, kind: str) -> bool:
    """Whether an answer stands in a text as words of its own, in any of its spellings.

    A gene symbol counts as written only: ``REST`` is a gene, "rest" is not. Everything else is
    compared without case and punctuation, so that ``PMID_123`` is ``PMID:123`` and not part of
    ``PMID:1234``.
    """
    if kind == "gene":
        return re.search(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", text) is not None
    words = normal(text)
    return any(spelling in words for spelling in spellings(kind, value))


def split_text(case: Mapping[str, Any], canonical: Mapping[str, str]) -> tuple[str, str]:
    """Rendered input of one case, divided into what is canonical and all the rest.

    Parameters
    ----------
    case : mapping
        A row of `VIEW`.
    canonical : mapping
        Current HP CURIE → canonical label.

    Returns
    -------
    free, labels : str
        Everything else, and the labels that are letter by letter those of their term.
    """
    free: list[str] = []
    labels: list[str] = []
    for kind in ("observed", "excluded"):
        for term, label in zip(case[kind], case[f"{kind}_labels"], strict=True):
            (labels if canonical.get(term) == label else free).append(f"{term} {label}")
    bare = {**case, "observed": [], "excluded": [], "observed_labels": [], "excluded_labels": []}
    return "\n".join([render(bare), *free]), "\n".join(labels)


def planted(case: Mapping[str, Any], value: str) -> dict[str, Any]:
    """Copy of a case with `value` written behind a phenotype label (into one, if it has none)."""
    copy = dict(case)
    for kind in ("observed", "excluded"):
        if copy[f"{kind}_labels"]:
            first, *rest = copy[f"{kind}_labels"]
            copy[f"{kind}_labels"] = [f"{first} {value}", *rest]
            return copy
    return {**copy, "observed": ["HP:0000118"], "observed_labels": [value]}


def secrets_by_case(
    cases: pl.DataFrame, withheld: pl.DataFrame, disease_names: Mapping[str, str]
) -> dict[str, list[tuple[str, str]]]:
    """What no system may see of each case: kind and value, the gold disease's HPOA name included.

    Parameters
    ----------
    cases, withheld : polars.DataFrame
        `CASES`, `WITHHELD`.
    disease_names : mapping
        Disease CURIE → name in HPOA.
    """
    secrets: dict[str, list[tuple[str, str]]] = {}
    for case_id, kind, value in withheld.iter_rows():
        secrets.setdefault(case_id, []).append((kind, value))
    for case_id, gold in cases.select("case_id", "gold_id").iter_rows():
        if gold in disease_names:
            secrets.setdefault(case_id, []).append(("disease_name", disease_names[gold]))
    return secrets


def onset_labels(ontology: Ontology) -> set[str]:
    """Canonical labels of the ontology's onsets."""
    return {
        label
        for term, label in zip(ontology.term_ids, ontology.labels, strict=True)
        if ONSET in _above(ontology, term)
    }


def content_words(text: str) -> set[str]:
    """Words of a name or label with at least `CONTENT_WORD_LETTERS` letters."""
    return {w for w in re.findall(r"[a-z]+", text.casefold()) if len(w) >= CONTENT_WORD_LETTERS}


def audit(
    view: pl.DataFrame,
    cases: pl.DataFrame,
    withheld: pl.DataFrame,
    splits: pl.DataFrame,
    disease_names: Mapping[str, str],
    ontology: Ontology,
) -> pl.DataFrame:
    """Run every check over a corpus.

    Parameters
    ----------
    view, cases, withheld, splits : polars.DataFrame
        `VIEW`, `CASES`, `WITHHELD`, `SPLITS`.
    disease_names : mapping
        Disease CURIE → name in HPOA, looked for beside the corpus's own.
    ontology : Ontology
        Gives canonical labels, and says what is a phenotype or an onset.

    Returns
    -------
    polars.DataFrame
        `AUDIT`. Whether any failed is for the caller to act on; see `refuse_failures`.
    """
    canonical = dict(zip(ontology.term_ids, ontology.labels, strict=True))
    secrets = secrets_by_case(cases, withheld, disease_names)
    gold_name = {
        case_id: label or disease_names.get(gold)
        for case_id, gold, label in cases.select("case_id", "gold_id", "gold_label").iter_rows()
    }
    onsets = onset_labels(ontology)

    leaks: list[str] = []
    odd_labels: list[str] = []
    missed: list[str] = []
    n_planted = 0
    n_short = 0
    intrinsic: dict[str, int] = {}
    overlapping = 0
    for case in view.iter_rows(named=True):
        free, labels = split_text(case, canonical)
        for kind in ("observed", "excluded"):
            for term, label in zip(case[kind], case[f"{kind}_labels"], strict=True):
                if canonical.get(term) != label or not ontology.is_phenotypic(term):
                    odd_labels.append(f"{case['case_id']}: {term} {label!r}")
        if case["onset"] is not None and not (
            case["onset"] in onsets or DURATION.fullmatch(case["onset"])
        ):
            odd_labels.append(f"{case['case_id']}: onset {case['onset']!r}")
        kinds = set()
        plants: dict[tuple[str, int], tuple[str, str]] = {}
        for kind, value in secrets.get(case["case_id"], []):
            written = spellings(kind, value)
            if not written:
                n_short += 1
            elif contains(free, value, kind):
                leaks.append(f"{case['case_id']}: {kind}")
            elif contains(labels, value, kind):
                kinds.add(kind)
            for i, spelling in enumerate(written):
                plants.setdefault((kind, i), (value, spelling.strip()))
        for (kind, _), (value, spelling) in plants.items():
            n_planted += 1
            if not contains(split_text(planted(case, spelling), canonical)[0], value, kind):
                missed.append(f"{case['case_id']}: {kind}")
        for kind in kinds:
            intrinsic[kind] = intrinsic.get(kind, 0) + 1
        words = set().union(*map(content_words, case["observed_labels"]))
        overlapping += bool(words & content_words(gold_name[case["case_id"]] or ""))

    crossing = (
        cases.join(splits, on="case_id")
        .filter(pl.col("publication_id").is_not_null())
        .group_by("publication_id")
        .agg(pl.col("split").n_unique())
        .filter(pl.col("split") > 1)["publication_id"]
        .sort()
        .to_list()
    )
    by_kind = ", ".join(f"{kind} {n}" for kind, n in sorted(intrinsic.items())) or "none"
    named = sum(name is not None for name in gold_name.values())
    return pl.DataFrame(
        [
            (
                "planted answers found",
                n_planted > 0 and not missed,
                float(n_planted - len(missed)),
                _detail(
                    f"of {n_planted} planted copies, one a case, kind of answer and spelling",
                    missed,
                ),
            ),
            (
                "no answer in the real view",
                not leaks,
                float(len(leaks)),
                _detail(
                    f"answers found outside canonical labels, {view.height} cases; "
                    f"{n_short} paths too short to be looked for",
                    leaks,
                ),
            ),
            (
                "labels are canonical",
                not odd_labels,
                float(len(odd_labels)),
                _detail(
                    "labels that differ from their term's or are no phenotype, and odd onsets",
                    odd_labels,
                ),
            ),
            (
                "publications stay in one split",
                not crossing,
                float(len(crossing)),
                _detail("publications with cases in several splits", crossing),
            ),
            (
                "lexical overlap",
                True,
                overlapping / named if named else None,
                "share of cases in which an observed label and the gold name share a word of "
                f"{CONTENT_WORD_LETTERS} letters or more",
            ),
            (
                "label names the answer",
                True,
                float(sum(intrinsic.values())),
                f"cases whose canonical labels themselves hold an answer, by kind: {by_kind}",
            ),
        ],
        schema=AUDIT.dtypes,
        orient="row",
    )


def _above(ontology: Ontology, term: str) -> list[str]:
    """Ancestors of a term, itself included."""
    return [ontology.term_ids[row] for row in ontology.ancestors_of(ontology.index[term])]


def _detail(what: str, findings: Sequence[str]) -> str:
    shown = "; ".join(findings[:3])
    return f"{what}; first: {shown}" if findings else what


def refuse_failures(result: pl.DataFrame, where: str) -> None:
    """Raise `InputError` if a check of an `AUDIT` failed."""
    failed = result.filter(~pl.col("passed"))
    if failed.height:
        raise InputError(
            "the input audit failed: " + ", ".join(failed["check"].to_list()),
            where=where,
            found="; ".join(failed["detail"].to_list()),
            expected="no gold disease, gene, variant, PMID or path in what systems see, and an "
            "audit that finds planted ones",
            todo="mend the reader or the corpus; nothing is ranked until the audit passes",
        )


def audit_stage(
    *,
    view: Path,
    cases: Path,
    withheld: Path,
    splits: Path,
    diseases: Path,
    terms: Path,
    aliases: Path,
    output: Path,
) -> None:
    """Audit the closed view; write `AUDIT` if every check passes, else stop the run."""
    result = audit(
        artifacts.read(view, VIEW),
        artifacts.read(cases, CASES),
        artifacts.read(withheld, WITHHELD),
        artifacts.read(splits, SPLITS),
        dict(artifacts.read(diseases, DISEASES).select("disease_id", "name").iter_rows()),
        read_ontology(terms, aliases),
    )
    refuse_failures(result, str(view))
    artifacts.write(result, AUDIT, output)
