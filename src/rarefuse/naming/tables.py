"""Tables of the arms: what their lists are worth, what each rule of the mapper gains, the audit."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.annotations.relations import DISEASES
from rarefuse.corpus.cases import CASES
from rarefuse.evaluation.base import NOT_APPLICABLE, Evaluation, Row, subsets_by_split
from rarefuse.evaluation.metrics import NATIVE, recall_at, reciprocal_rank
from rarefuse.llm.answers import COMPLETIONS, NAMES, NOT_ASKED
from rarefuse.naming.audit import AuditItems, read_reviews
from rarefuse.naming.lexicon import LEXICON
from rarefuse.naming.mapper import EXACT, EXTENDED, RULES, Mapper
from rarefuse.naming.normalise import fold
from rarefuse.naming.stage import MAPPING, RANKING, gold_ranks_of, map_names, ranking_of

CUT_OFFS = (1, 5, 10)
PLACES = {"rank": "position in the list", "name_rank": "place as written"}
"""Column of `RANKING` → what the table calls it."""


def _arm(evaluation: Evaluation, arm: str, artifact: str) -> Path:
    return evaluation.corpus / "llm" / arm / f"{artifact}.parquet"


def measures(gold_ranks: pl.DataFrame, cases: pl.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Recall and reciprocal rank of each of `cases`; a case without a list is a miss."""
    ranks = cases.select("case_id").join(
        gold_ranks, on="case_id", how="left", maintain_order="left"
    )
    rank = ranks["rank"].fill_null(0).to_numpy().astype(np.int64)
    values = {f"recall@{k}": recall_at(k, rank, rank, rank, NATIVE) for k in CUT_OFFS}
    return {**values, "mrr": reciprocal_rank(rank, rank, rank, NATIVE)}


def llm_arms_table(evaluation: Evaluation) -> Iterator[Row]:
    """Lists of the arms over all eligible cases and by split.

    `evaluation.options` gives ``llms``, the arms. `recall@k` and `mrr` come twice: by the position
    in the list of mapped diseases, as fusion uses it, and by the place of the name in the answer,
    where a name without a match keeps its place. A case that was not asked, or whose answer names
    nothing, is a miss.
    """
    cases = artifacts.read(evaluation.corpus / "cases.parquet", CASES)
    for arm in evaluation.options["llms"]:
        asked = artifacts.read(_arm(evaluation, arm, "completions"), COMPLETIONS)
        mapping = artifacts.read(_arm(evaluation, arm, "mapping"), MAPPING)
        ranking = artifacts.read(_arm(evaluation, arm, "ranking"), RANKING)
        gold = {place: gold_ranks_of(ranking, cases, place) for place in PLACES}
        for subset, part in subsets_by_split(evaluation.eligible()).items():
            names = mapping.join(part, on="case_id", how="semi")
            mapped = names.filter(pl.col("disease_id").is_not_null())
            absent = asked.filter(pl.col("status") == NOT_ASKED).join(
                part, on="case_id", how="semi"
            )
            named = names["case_id"].n_unique()
            for metric, value in (
                ("not_asked", float(absent.height)),
                ("lists", float(named)),
                ("mapped_lists", float(mapped["case_id"].n_unique())),
                ("names_per_list", names.height / named if named else None),
                ("mapped_share", mapped.height / names.height if names.height else None),
            ):
                yield Row(
                    "llm_arms", arm, NOT_APPLICABLE, NOT_APPLICABLE, subset, metric, value,
                    None, None, part.height,
                )  # fmt: skip
            bootstrap = evaluation.bootstrap(part, subset)
            for place, variant in PLACES.items():
                values = measures(gold[place], part)
                estimates = bootstrap.estimates(np.stack(list(values.values())))
                for metric, e in zip(values, estimates, strict=True):
                    yield Row(
                        "llm_arms", arm, NOT_APPLICABLE, variant, subset, metric, e.value, e.low,
                        e.high, part.height,
                    )  # fmt: skip


def naming_rules_table(evaluation: Evaluation) -> Iterator[Row]:
    """What each rule of the mapper gains on top of those before it (ours).

    `variant` is the rule, ``exact`` first; `mapped_share` is of the names of eligible cases.
    """
    cases = artifacts.read(evaluation.corpus / "cases.parquet", CASES)
    lexicon = artifacts.read(evaluation.knowledge / "lexicon.parquet", LEXICON)
    part = evaluation.eligible()
    bootstrap = evaluation.bootstrap(part, "all")
    names = {
        # Ids that an answer gave itself need no rule.
        arm: artifacts.read(_arm(evaluation, arm, "names"), NAMES)
        .join(part, on="case_id", how="semi")
        .with_columns(disease_id=pl.lit(None, pl.String))
        for arm in evaluation.options["llms"]
    }
    nothing = pl.DataFrame(schema={"class_id": pl.String, "disease_id": pl.String})
    for step in range(len(RULES) + 1):
        mapper = Mapper(lexicon, EXTENDED if step else EXACT, RULES[:step])
        variant = f"+ {RULES[step - 1]}" if step else EXACT
        for arm, written in names.items():
            mapping = map_names(written, mapper, nothing, [])
            share = mapping["disease_id"].is_not_null().mean() if mapping.height else None
            yield Row(
                "naming_rules", arm, NOT_APPLICABLE, variant, "all", "mapped_share",
                None if share is None else float(str(share)), None, None, mapping.height,
            )  # fmt: skip
            ranking = ranking_of(mapping)
            for place, called in PLACES.items():
                values = measures(gold_ranks_of(ranking, cases, place), part)["recall@1"]
                (e,) = bootstrap.estimates(values[None])
                yield Row(
                    "naming_rules", arm, NOT_APPLICABLE, variant, "all",
                    f"recall@1, {called}", e.value, e.low, e.high, part.height,
                )  # fmt: skip


def mapping_audit_table(evaluation: Evaluation) -> Iterator[Row]:
    """Why names have no match; and what two reviewers made of a sample of them (paper, A.2).

    `evaluation.options` gives ``llms`` and ``audit``, the configuration's slice of that name.
    Without two reviews the table stops after the reasons.
    """
    arms = list(evaluation.options["llms"])
    mappings = {arm: artifacts.read(_arm(evaluation, arm, "mapping"), MAPPING) for arm in arms}
    for arm, mapping in mappings.items():
        forms = mapping.filter(pl.col("name").is_not_null()).unique("name", maintain_order=True)
        forms = forms.with_columns(form=pl.col("name").map_elements(fold, pl.String)).unique("form")
        for variant, frame in (("occurrences", mapping), ("unique forms", forms)):
            reasons = frame.group_by("reason").len().sort("reason", nulls_last=True)
            for reason, count in reasons.iter_rows():
                yield Row(
                    "mapping_audit", arm, NOT_APPLICABLE, variant, "all", reason or "mapped",
                    count / frame.height, None, None, frame.height,
                )  # fmt: skip
    audit = evaluation.options["audit"]
    reviews = [Path(path) for path in audit["reviews"]]
    if not reviews:
        return
    items = AuditItems.draw(evaluation.corpus, arms, audit)
    judged = read_reviews(items, reviews)
    candidates = artifacts.read(evaluation.knowledge / "diseases.parquet", DISEASES)["disease_id"]
    cases = artifacts.read(evaluation.corpus / "cases.parquet", CASES)
    for row in judged.rows(mappings, cases, evaluation.eligible(), set(candidates)):
        yield Row("mapping_audit", *row)
