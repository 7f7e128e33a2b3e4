"""The main finding in sentences, all numbers from the tables."""

from collections.abc import Mapping

import polars as pl

from rarefuse.report.labels import (
    AFTER,
    BEFORE,
    CHANGE,
    NATIVE,
    Cell,
    Key,
    cells,
    count,
    distinct,
    interval,
    level_name,
    main_ranker,
    number,
    percent,
    points,
    rankers,
    system_label,
)


def lead(tables: Mapping[str, pl.DataFrame], level: float = 0.95) -> list[str]:
    """Sentences of the first paragraph.

    Parameters
    ----------
    tables : mapping of str to polars.DataFrame
        At least `recall`.
    level : float
        Coverage of the intervals.

    Returns
    -------
    list of str
        What LOPO does to Recall@1 of the main ranker, of the others, and on the test split; before
        that, that it can do nothing, where no case names its publication.
    """
    recall = tables["recall"]
    systems = rankers(recall)
    known = cells(recall)
    main = main_ranker(systems)
    sentences = _without_publications(tables.get("cohort"))
    sentences += [_change_sentence(known, main, level), *_share_lost(known, main)]
    if len(systems) > 1:
        sentences.append(_range_sentence(known, systems))
    if "test" in distinct(recall, "subset"):
        sentences.extend(_test_sentence(known, main))
    return sentences


def _without_publications(cohort: pl.DataFrame | None) -> list[str]:
    """A warning where the figures after LOPO are those before it for want of publications."""
    cell = None if cohort is None else cells(cohort).get(("hpoa", "-", "-", "all", "publications"))
    if cell is None or cell.value != 0:
        return []
    return [
        "No case of this corpus names the publication it comes from: LOPO removes nothing, and "
        "whether the corpus overlaps with the annotations cannot be told."
    ]


def background(tables: Mapping[str, pl.DataFrame]) -> list[str]:
    """Sentences on how common overlap is and how many profiles LOPO empties.

    Parameters
    ----------
    tables : mapping of str to polars.DataFrame
        At least `overlap` and `cohort`.
    """
    return _overlap_sentences(cells(tables["overlap"])) + _emptied(tables["cohort"])


def _recall(known: Mapping[Key, Cell], system: str, protocol: str, subset: str = "all") -> Cell:
    return known[system, protocol, NATIVE, subset, "recall@1"]


def is_clear(cell: Cell) -> bool:
    """Whether a change has an interval and that interval leaves out zero."""
    return cell.low is not None and cell.high is not None and (cell.low > 0 or cell.high < 0)


def _is_none(cell: Cell) -> bool:
    return abs(cell.value or 0.0) < 5e-7


def _change_sentence(known: Mapping[Key, Cell], system: str, level: float) -> str:
    before, after, change = (_recall(known, system, p) for p in (BEFORE, AFTER, CHANGE))
    start = f"{system_label(system)} puts the right disease first in "
    if _is_none(change):
        return (
            f"{start}{percent(before.value)} of {count(change.n)} eligible cases, and leaving each "
            "case's own publication out of the knowledge base does not change that figure."
        )
    verb = "falls" if (change.value or 0.0) < 0 else "rises"
    text = (
        f"{start}{percent(before.value)} of {count(change.n)} eligible cases; with each case's own "
        f"publication left out of the knowledge base this {verb} to {percent(after.value)} "
        f"(Recall@1 {number(before.value)} to {number(after.value)}, a paired change of "
        f"{points(change.value)} points"
    )
    bounds = f", {level_name(level)} interval {interval(change, change=True)}"
    text += ")" if change.low is None else f"{bounds})"
    if change.low is not None and not is_clear(change):
        return f"{text}, a change that the interval does not tell apart from none."
    return f"{text}."


def _share_lost(known: Mapping[Key, Cell], system: str) -> list[str]:
    before, change = _recall(known, system, BEFORE), _recall(known, system, CHANGE)
    if not before.value or not is_clear(change) or (change.value or 0.0) >= 0:
        return []
    lost = -(change.value or 0.0) / before.value
    return [
        f"So a net {percent(lost, 0)} of its first places rested on what only the case's own "
        "publication supports."
    ]


def _range_sentence(known: Mapping[Key, Cell], systems: list[str]) -> str:
    values = {system: _recall(known, system, CHANGE).value or 0.0 for system in systems}
    low, high = min(values, key=lambda s: values[s]), max(values, key=lambda s: values[s])
    amount = "both rankers" if len(systems) == 2 else f"all {len(systems)} rankers"
    if points(values[low]) == points(values[high]):
        return f"Recall@1 of {amount} changes by {points(values[low])} points."
    return (
        f"Over {amount} the change in Recall@1 runs from {points(values[low])} points "
        f"({system_label(low)}) to {points(values[high])} points ({system_label(high)})."
    )


def _test_sentence(known: Mapping[Key, Cell], system: str) -> list[str]:
    found = [known.get((system, p, NATIVE, "test", "recall@1")) for p in (BEFORE, AFTER)]
    if any(cell is None or cell.value is None for cell in found):
        return []
    before, after = (cell for cell in found if cell is not None)
    return [
        f"On the {count(before.n)} cases of the test split its Recall@1 is "
        f"{number(before.value)} before and {number(after.value)} after."
    ]


def _overlap_sentences(known: Mapping[Key, Cell]) -> list[str]:
    cell = known.get(("hpoa", "-", "-", "all", "overlap_share"))
    if cell is None or cell.value is None:
        return []
    if cell.value == 1:
        return [
            f"In this corpus every one of the {count(cell.n)} cases with an annotated diagnosis "
            "has its own publication among the sources of that diagnosis's annotations."
        ]
    return [
        f"Of the {count(cell.n)} cases whose diagnosis has annotations, {percent(cell.value)} have "
        "their own publication among the sources of those annotations."
    ]


def emptied(cohort: pl.DataFrame) -> tuple[float, float] | None:
    """Eligible cases whose gold profile LOPO empties, and all eligible cases."""
    known = cells(cohort)
    found = [
        known.get(("hpoa", "-", "-", "all", metric)) for metric in ("emptied_by_lopo", "eligible")
    ]
    values = [cell.value for cell in found if cell is not None and cell.value is not None]
    return (values[0], values[1]) if len(values) == 2 else None


def _emptied(cohort: pl.DataFrame) -> list[str]:
    found = emptied(cohort)
    if found is None:
        return []
    gone, eligible = found
    if not gone:
        return ["LOPO leaves every eligible case's diagnosis some annotation."]
    share = f" ({percent(gone / eligible)})" if eligible else ""
    return [
        f"For {count(gone)} of {count(eligible)} eligible cases{share} LOPO leaves the diagnosis "
        "no annotation at all, so that no ranker which reads only annotations can find it."
    ]
