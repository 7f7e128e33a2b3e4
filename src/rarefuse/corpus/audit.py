"""Input audit: no answer in what systems see, proved able to find one.

What is looked for, a case at a time: gold disease id and name, gene symbols and HGNC ids, variant
expressions, PMIDs, archive paths (paper, A.1). The only free text of the view is HPO's canonical
labels. Some of them name a disease or a gene of their own accord ("Hirschsprung disease" is a
finding as well); the paper keeps such labels, and so do we, but we count them apart.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from rarefuse import artifacts
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

CASE_SENSITIVE = {"gene"}
"""Gene symbols are looked for as written: 'REST' is a gene, 'rest' is not."""

CONTENT_WORD_LETTERS = 5
"""Shortest content word. The paper gives no definition; with five letters its 34.7 % comes out."""


def contains(text: str, value: str, kind: str) -> bool:
    """Whether `value` stands in `text` as a word or phrase of its own.

    Letters and digits right before or after rule a hit out, so that the gene ``AR`` is not found
    in "ear" and ``PMID:123`` not in ``PMID:1234``.
    """
    if kind not in CASE_SENSITIVE:
        text, value = text.casefold(), value.casefold()
    at = text.find(value)
    while at >= 0:
        before = text[at - 1 : at]
        after = text[at + len(value) : at + len(value) + 1]
        if not (before.isalnum() and value[:1].isalnum()) and not (
            after.isalnum() and value[-1:].isalnum()
        ):
            return True
        at = text.find(value, at + 1)
    return False


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


def content_words(text: str) -> set[str]:
    """Words of a name or label with at least `CONTENT_WORD_LETTERS` letters."""
    return {w for w in re.findall(r"[a-z]+", text.casefold()) if len(w) >= CONTENT_WORD_LETTERS}


def audit(
    view: pl.DataFrame,
    cases: pl.DataFrame,
    withheld: pl.DataFrame,
    splits: pl.DataFrame,
    ontology: Ontology,
) -> pl.DataFrame:
    """Run every check over a corpus.

    Returns
    -------
    polars.DataFrame
        `AUDIT`. Whether any failed is for the caller to act on; see `refuse_failures`.
    """
    canonical = dict(zip(ontology.term_ids, ontology.labels, strict=True))
    secrets: dict[str, list[tuple[str, str]]] = {}
    for case_id, kind, value in withheld.iter_rows():
        secrets.setdefault(case_id, []).append((kind, value))
    gold_name = dict(cases.select("case_id", "gold_label").iter_rows())

    leaks: list[str] = []
    odd_labels: list[str] = []
    missed: list[str] = []
    n_planted = 0
    intrinsic: dict[str, int] = {}
    overlapping = 0
    for case in view.iter_rows(named=True):
        free, labels = split_text(case, canonical)
        for kind in ("observed", "excluded"):
            for term, label in zip(case[kind], case[f"{kind}_labels"], strict=True):
                if canonical.get(term) != label or not ontology.is_phenotypic(term):
                    odd_labels.append(f"{case['case_id']}: {term} {label!r}")
        kinds = set()
        first_of_kind: dict[str, str] = {}
        for kind, value in secrets.get(case["case_id"], []):
            if contains(free, value, kind):
                leaks.append(f"{case['case_id']}: {kind}")
            elif contains(labels, value, kind):
                kinds.add(kind)
            first_of_kind.setdefault(kind, value)
        for kind, value in first_of_kind.items():
            n_planted += 1
            if not contains(split_text(planted(case, value), canonical)[0], value, kind):
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
                _detail(f"of {n_planted} planted copies, one a case and kind of answer", missed),
            ),
            (
                "no answer in the real view",
                not leaks,
                float(len(leaks)),
                _detail(f"answers found outside canonical labels, {view.height} cases", leaks),
            ),
            (
                "labels are canonical",
                not odd_labels,
                float(len(odd_labels)),
                _detail("labels that differ from their term's or are no phenotype", odd_labels),
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
        read_ontology(terms, aliases),
    )
    refuse_failures(result, str(view))
    artifacts.write(result, AUDIT, output)
