"""The blinded audit of names without a match: its sample, and the score of two reviewers (A.2).

The reviewers get a text and nothing else: no model, no case, no diagnosis. What an item stands for
is in a key file of its own, and is drawn again from the same seed when the reviews are scored.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from rarefuse import artifacts, seeds
from rarefuse.errors import InputError
from rarefuse.evaluation.base import NOT_APPLICABLE
from rarefuse.llm.answers import COMPLETIONS, FAILED, NOT_ASKED
from rarefuse.naming.normalise import fold
from rarefuse.naming.stage import MAPPING, ranking_of

STRATA = EMPTY, OCCURRENCE, FORM = ("empty answer", "random occurrence", "unique form")
CATEGORIES = {
    "invalid": "no disease, or one that does not exist",
    "mapper-miss": "an OMIM disease that the mapper should have found; give its id",
    "granularity": "broader or narrower than any one OMIM entry",
    "not-omim": "a disease that OMIM has no entry for",
    "formatting": "cut short, several names in one, or other trouble of form",
}
REVIEW_COLUMNS = ("item", "text", "category", "omim_id", "comment")
KEY_COLUMNS = ("item", "arm", "stratum", "case_id", "rank", "reason")
LONGEST_TEXT = 2_000
"""Characters of an answer without names that a reviewer is shown."""

Item = tuple[str, str, str, int | None, str | None, str]
"""Arm, stratum, case, rank, reason, text."""


def draw_items(
    arm: str,
    completions: pl.DataFrame,
    mapping: pl.DataFrame,
    *,
    seed: int,
    per_arm: int,
    empty: int,
) -> list[Item]:
    """Draw one arm's items.

    Parameters
    ----------
    arm : str
        Part of the generator's name: arms are drawn independently.
    completions, mapping : polars.DataFrame
        `COMPLETIONS` and `MAPPING`.
    seed, per_arm, empty : int
        See the configuration. Up to `empty` answers without any name; what is left of `per_arm` is
        divided equally between occurrences and unique forms (an odd one goes to occurrences).

    Returns
    -------
    list of Item
        Fewer where an arm has fewer; no form twice.
    """
    random = seeds.generator(seed, "mapping audit", arm)
    answered = completions.filter(~pl.col("status").is_in([FAILED, NOT_ASKED]))
    without = answered.join(mapping, on="case_id", how="anti").sort("case_id")
    chosen = random.permutation(without.height)[:empty]
    items: list[Item] = [
        (arm, EMPTY, row["case_id"], None, None, (row["text"] or "")[:LONGEST_TEXT])
        for row in without[chosen].iter_rows(named=True)
    ]
    missed = mapping.filter(pl.col("reason").is_not_null(), pl.col("name").is_not_null()).sort(
        "case_id", "rank"
    )
    rest = per_arm - len(items)
    occurrences = missed[random.permutation(missed.height)[: rest - rest // 2]]
    drawn = {fold(name) for name in occurrences["name"]}
    forms = (
        missed.with_columns(form=pl.col("name").map_elements(fold, pl.String))
        .filter(~pl.col("form").is_in(list(drawn)))
        .unique("form", keep="first", maintain_order=True)
        .sort("form")
    )
    forms = forms[random.permutation(forms.height)[: rest // 2]]
    for stratum, frame in ((OCCURRENCE, occurrences), (FORM, forms)):
        items += [
            (arm, stratum, row["case_id"], row["rank"], row["reason"], row["name"])
            for row in frame.iter_rows(named=True)
        ]
    return items


@dataclass(frozen=True)
class AuditItems:
    """The sample: item id → what it stands for, in the order that the reviewers see."""

    items: Mapping[str, Item]

    @classmethod
    def draw(cls, corpus: Path, arms: Sequence[str], options: Mapping[str, Any]) -> "AuditItems":
        """Draw the items of all arms and shuffle them.

        Parameters
        ----------
        corpus : Path
            Folder of artifacts.
        options : mapping
            ``seed``, ``per_arm`` and ``empty``.
        """
        settings = {name: int(options[name]) for name in ("seed", "per_arm", "empty")}
        drawn: list[Item] = []
        for arm in sorted(arms):
            folder = corpus / "llm" / arm
            drawn += draw_items(
                arm,
                artifacts.read(folder / "completions.parquet", COMPLETIONS),
                artifacts.read(folder / "mapping.parquet", MAPPING),
                **settings,
            )
        order = seeds.generator(settings["seed"], "mapping audit", "order").permutation(len(drawn))
        return cls({f"N{place:04d}": drawn[i] for place, i in enumerate(order, start=1)})

    def blinded(self) -> str:
        """TSV for a reviewer; `category`, `omim_id` and `comment` are left to be filled in."""
        return _tsv(
            REVIEW_COLUMNS, ((item, text, "", "", "") for item, (*_, text) in self.items.items())
        )

    def key(self) -> str:
        """TSV of what the items stand for."""
        return _tsv(
            KEY_COLUMNS,
            (
                (item, arm, stratum, case, rank or "", reason or "")
                for item, (arm, stratum, case, rank, reason, _) in self.items.items()
            ),
        )


def _tsv(columns: Sequence[str], rows: Iterator[tuple[object, ...]] | Any) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([" ".join(str(cell).split()) for cell in row] for row in rows)
    return text.getvalue()


def sample_stage(
    *, arms: Sequence[str], corpus: Path, options: Mapping[str, Any], items: Path, key: Path
) -> None:
    """Draw the sample and write the blinded file and its key."""
    drawn = AuditItems.draw(corpus, arms, options)
    artifacts.write_text(drawn.key(), key)
    artifacts.write_text(drawn.blinded(), items)


@dataclass(frozen=True)
class Judgement:
    """One reviewer's judgement of an item."""

    category: str
    omim_id: str | None


def agreement(first: Sequence[str], second: Sequence[str]) -> tuple[float, float]:
    """Share of equal judgements and Cohen's kappa of two reviewers.

    Kappa is (p_o - p_e) / (1 - p_e), where p_e is the agreement of two reviewers who choose with
    the same frequencies at random; it is 1 where both chose one category throughout.

    Parameters
    ----------
    first, second : sequence of str
        Categories of the same items in the same order, at least one.
    """
    n = len(first)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    chance = sum(first.count(c) * second.count(c) for c in set(first) | set(second)) / n**2
    return observed, 1.0 if chance == 1.0 else (observed - chance) / (1.0 - chance)


@dataclass(frozen=True)
class Judged:
    """The sample with both reviewers' judgements, one mapping each, item → judgement."""

    items: AuditItems
    reviewers: Sequence[Mapping[str, Judgement]]

    def rows(
        self,
        mappings: Mapping[str, pl.DataFrame],
        cases: pl.DataFrame,
        eligible: pl.DataFrame,
        candidates: set[str],
    ) -> Iterator[tuple[Any, ...]]:
        """Shares, agreement and effect of the repaired names, as `Row` without the table's name.

        Parameters
        ----------
        mappings : mapping
            Arm → `MAPPING`.
        cases, eligible : polars.DataFrame
            `CASES`, and those whose Recall@1 counts.
        candidates : set of str
            Ids that a reviewer's repair may lead to.
        """
        strata = {"all": list(self.items.items)}
        for stratum in STRATA:
            strata[stratum] = [i for i, item in self.items.items.items() if item[1] == stratum]
        for stratum, members in strata.items():
            if not members:
                continue
            for number, judged in enumerate(self.reviewers, start=1):
                chosen = [judged[item].category for item in members]
                for category in CATEGORIES:
                    yield (
                        f"reviewer {number}", NOT_APPLICABLE, stratum, "all", category,
                        chosen.count(category) / len(members), None, None, len(members),
                    )  # fmt: skip
            one, other = ([judged[i].category for i in members] for judged in self.reviewers)
            for metric, value in zip(("agreement", "kappa"), agreement(one, other), strict=True):
                yield (
                    "both reviewers", NOT_APPLICABLE, stratum, "all", metric, value, None, None,
                    len(members),
                )  # fmt: skip
        for number in range(1, len(self.reviewers) + 1):
            for metric, value, n in self._repairs(
                number - 1, mappings, cases, eligible, candidates
            ):
                yield (
                    f"reviewer {number}", NOT_APPLICABLE, "repaired", "all", metric, value, None,
                    None, n,
                )  # fmt: skip

    def _repairs(
        self,
        reviewer: int,
        mappings: Mapping[str, pl.DataFrame],
        cases: pl.DataFrame,
        eligible: pl.DataFrame,
        candidates: set[str],
    ) -> Iterator[tuple[str, float, int]]:
        """Effect of inserting a reviewer's candidates wherever the arm wrote the same name."""
        repairs: dict[str, dict[str, str]] = {arm: {} for arm in mappings}
        for item, (arm, stratum, *_, text) in self.items.items.items():
            given = self.reviewers[reviewer][item].omim_id
            if stratum != EMPTY and given in candidates:
                repairs[arm][text] = str(given)
        gold = eligible.select("case_id").join(cases.select("case_id", "gold_id"), on="case_id")
        changed = gained = lost = 0
        for arm, mapping in mappings.items():
            mended = mapping.with_columns(
                disease_id=pl.coalesce(
                    "disease_id",
                    pl.col("name").replace_strict(
                        repairs[arm], default=None, return_dtype=pl.String
                    ),
                )
            )
            tops = [
                gold.join(
                    ranking_of(frame.with_columns(rule=pl.lit("-")))
                    .filter(pl.col("rank") == 1)
                    .select("case_id", top="disease_id"),
                    on="case_id",
                    how="left",
                    maintain_order="left",
                )
                for frame in (mapping, mended)
            ]
            before, after = (top["top"] for top in tops)
            changed += int((~before.eq_missing(after)).sum())
            right = [
                top.select(pl.col("top").eq_missing(pl.col("gold_id"))).to_series() for top in tops
            ]
            gained += int((~right[0] & right[1]).sum())
            lost += int((right[0] & ~right[1]).sum())
        n = gold.height * len(mappings)
        yield "names repaired", float(sum(map(len, repairs.values()))), len(self.items.items)
        yield "top labels changed", float(changed), n
        yield "top labels now right", float(gained), n
        yield "top labels now wrong", float(lost), n
        yield "recall@1 change", (gained - lost) / n, n


def read_reviews(items: AuditItems, paths: Sequence[Path]) -> Judged:
    """Read the files that the reviewers filled in.

    Raises
    ------
    InputError
        If a file lacks a column or an item, or has an item twice, a text other than the sample's,
        no or an unknown category, or a mapper miss without an OMIM id.
    """
    return Judged(items, [_review(items, path) for path in paths])


def _review(items: AuditItems, path: Path) -> dict[str, Judgement]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            reader = csv.DictReader(handle, delimiter="\t")
            rows = list(reader)
            columns = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            "a review cannot be read", where=str(path), found=str(error),
            expected="the blinded file as TSV (UTF-8)", todo="check the path and the file",
        ) from error  # fmt: skip
    missing = [column for column in REVIEW_COLUMNS[:4] if column not in columns]
    if missing:
        raise _bad(path, "columns", ", ".join(columns), ", ".join(REVIEW_COLUMNS))
    judged: dict[str, Judgement] = {}
    shown = {item: " ".join(text.split()) for item, (*_, text) in items.items.items()}
    for number, row in enumerate(rows, start=2):
        item, category = row["item"], (row["category"] or "").strip()
        omim = (row["omim_id"] or "").strip() or None
        place = f"line {number}, item {item}"
        if item not in shown or item in judged:
            raise _bad(
                path, place, "an item twice" if item in judged else item, "the sample's items"
            )
        if row["text"] != shown[item]:
            raise _bad(path, place, repr(row["text"]), repr(shown[item]))
        if category not in CATEGORIES:
            raise _bad(path, place, category or "no category", ", ".join(CATEGORIES))
        if omim is not None and omim.isdigit():
            omim = f"OMIM:{omim}"
        if omim is not None and re.fullmatch(r"OMIM:[0-9]+", omim) is None:
            raise _bad(path, place, omim, "an OMIM id, as OMIM:154700 or 154700")
        if category == "mapper-miss" and omim is None:
            raise _bad(path, place, "no OMIM id", "the id of the disease that was missed")
        judged[item] = Judgement(category, omim)
    if len(judged) != len(shown):
        raise _bad(path, "items", f"{len(judged)} of {len(shown)}", "every item of the sample")
    return judged


def _bad(path: Path, place: str, found: str, expected: str) -> InputError:
    return InputError(
        "a review cannot be used",
        where=f"{path}, {place}",
        found=found,
        expected=expected,
        todo="correct the review; the sample is drawn again from the config's seed and arms",
    )
