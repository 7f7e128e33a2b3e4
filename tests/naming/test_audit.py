import csv
import io

import polars as pl
import pytest

from rarefuse.corpus.cases import CASES
from rarefuse.errors import InputError
from rarefuse.llm.answers import COMPLETIONS
from rarefuse.naming.audit import (
    CATEGORIES,
    EMPTY,
    FORM,
    OCCURRENCE,
    AuditItems,
    agreement,
    draw_items,
    read_reviews,
)
from rarefuse.naming.stage import MAPPING


def mapping_of(names):
    rows = [
        (case, rank, name, disease, None, None, None if disease is None else "exact",
         None if disease else "in no source")
        for case, rank, name, disease in names
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=MAPPING.dtypes, orient="row").sort("case_id", "rank")


def completions_of(cases):
    rows = [(c, status, None, None, False, text, None, None) for c, status, text in cases]
    return pl.DataFrame(rows, schema=COMPLETIONS.dtypes, orient="row").sort("case_id")


# 30 empty answers, 50 cases with three misses each, of 60 forms, and one match each.
ANSWERS = [(f"e{i:02d}", "empty", f"no idea\t{i}\n") for i in range(30)]
ANSWERS += [(f"n{i:02d}", "ok", None) for i in range(50)] + [("zz", "not asked", None)]
NAMES = [(f"n{i:02d}", r, f"Miss {(3 * i + r) % 60}", None) for i in range(50) for r in (1, 2, 3)]
NAMES += [(f"n{i:02d}", 4, "found", "OMIM:1") for i in range(50)]


def drawn(seed=4, per_arm=50, empty=20):
    return draw_items(
        "arm", completions_of(ANSWERS), mapping_of(NAMES),
        seed=seed, per_arm=per_arm, empty=empty,
    )  # fmt: skip


def test_quotas():
    items = drawn()
    strata = [item[1] for item in items]
    assert [strata.count(s) for s in (EMPTY, OCCURRENCE, FORM)] == [20, 15, 15]
    texts = [item[5] for item in items if item[1] == FORM]
    assert len(set(texts)) == 15
    assert not set(texts) & {item[5] for item in items if item[1] == OCCURRENCE}
    assert "found" not in [item[5] for item in items]
    assert "zz" not in [item[2] for item in items]


def test_what_an_arm_has_not_got():
    strata = [item[1] for item in drawn(per_arm=100, empty=50)]
    assert [strata.count(s) for s in (EMPTY, OCCURRENCE)] == [30, 35]
    drawn_forms = {item[5] for item in drawn(per_arm=100, empty=50) if item[1] == OCCURRENCE}
    assert strata.count(FORM) == min(35, 60 - len(drawn_forms))


def test_the_seed_decides():
    assert drawn() == drawn()
    assert drawn() != drawn(seed=5)


# A textbook table: both yes 20, both no 15, first yes 5, second yes 10. Agreement 35/50; by chance
# (25·30 + 25·20)/50² = 0.5; kappa (0.7 - 0.5)/0.5 = 0.4.
def test_kappa_by_hand():
    first = ["y"] * 20 + ["y"] * 5 + ["n"] * 10 + ["n"] * 15
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    observed, kappa = agreement(first, second)
    assert observed == pytest.approx(0.7)
    assert kappa == pytest.approx(0.4)
    assert agreement(["a", "b"], ["a", "b"]) == (1.0, 1.0)
    assert agreement(["a"], ["a"]) == (1.0, 1.0)
    assert agreement(["a", "b"], ["b", "a"])[1] == pytest.approx(-1.0)


@pytest.fixture
def items():
    return AuditItems({f"N{i:04d}": item for i, item in enumerate(drawn(), start=1)})


def review(items, path, judge):
    rows = list(csv.DictReader(io.StringIO(items.blinded()), delimiter="\t"))
    for row in rows:
        row["category"], row["omim_id"] = judge(row)
    with path.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, rows[0].keys(), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_reviewers_see_texts_alone(items):
    blinded = items.blinded()
    assert "arm" not in blinded
    assert "n0" not in blinded.replace("N0", "")
    assert len(blinded.splitlines()) == 51
    assert len(items.key().splitlines()) == 51


def test_score(items, tmp_path):
    one = review(items, tmp_path / "one.tsv", lambda row: ("invalid", ""))
    other = review(
        items, tmp_path / "other.tsv",
        lambda row: ("mapper-miss", "2") if row["text"].startswith("Miss") else ("invalid", ""),
    )  # fmt: skip
    judged = read_reviews(items, [one, other])
    cases = pl.DataFrame(
        [(f"n{i:02d}", "r", None, "OMIM:2", *[None] * 4, ["HP:1"], []) for i in range(50)],
        schema=CASES.dtypes, orient="row",
    )  # fmt: skip
    rows = {
        (system, variant, metric): value
        for system, _, variant, _, metric, value, *_ in judged.rows(
            {"arm": mapping_of(NAMES)}, cases, cases, {"OMIM:1", "OMIM:2"}
        )
    }
    assert rows["reviewer 1", "all", "invalid"] == 1.0
    assert rows["reviewer 2", OCCURRENCE, "mapper-miss"] == 1.0
    assert rows["reviewer 2", "all", "mapper-miss"] == pytest.approx(0.6)
    assert rows["both reviewers", "all", "agreement"] == pytest.approx(0.4)
    assert rows["both reviewers", "all", "kappa"] == pytest.approx(0.0)
    # Every repaired form is mended wherever it stands: its case's first place goes to OMIM:2.
    mended = {item[5] for item in items.items.values() if item[1] != EMPTY}
    first = {case for case, rank, name, _ in NAMES if rank < 4 and name in mended}
    assert rows["reviewer 1", "repaired", "names repaired"] == 0
    assert rows["reviewer 2", "repaired", "names repaired"] == len(mended)
    assert rows["reviewer 2", "repaired", "top labels changed"] == len(first)
    assert rows["reviewer 2", "repaired", "recall@1 change"] == pytest.approx(len(first) / 50)


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        (lambda row: ("", ""), "no category"),
        (lambda row: ("maybe", ""), "maybe"),
        (lambda row: ("mapper-miss", ""), "no OMIM id"),
        (lambda row: ("granularity", "MONDO:7947"), "an OMIM id"),
    ],
)
def test_reviews_that_cannot_be_used(items, tmp_path, judge, message):
    path = review(items, tmp_path / "one.tsv", judge)
    with pytest.raises(InputError, match=message):
        read_reviews(items, [path])


def test_a_review_without_an_item(items, tmp_path):
    path = review(items, tmp_path / "one.tsv", lambda row: (next(iter(CATEGORIES)), ""))
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(InputError, match="49 of 50"):
        read_reviews(items, [path])
