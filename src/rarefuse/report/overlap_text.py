"""The overlap audit in words, and as a table for the terminal."""

import textwrap

from rarefuse.provenance.overlap_audit import COUNTED, MEANINGS, OverlapAudit
from rarefuse.report.labels import MISSING, count, level_name, percent, percent_interval

WIDTH = 100
_SHARES = ("_share", "_mean", "_median")
GROUPS = {
    "records_skipped": "Cases",
    "overlap_cases": "Overlap with the diagnosis's own annotations",
    "cited_cases_share": "Citations anywhere in the release: a bound that needs no diagnosis",
    "lopo_publications": "What leaving the publications out removes",
}
"""Heading over each group of figures, by the first of them; `MEANINGS` has their order."""


def is_share(metric: str) -> bool:
    """Whether a figure is a share, to be shown in per cent; a count otherwise."""
    return metric.endswith(_SHARES)


def reasons(audit: OverlapAudit) -> list[tuple[str, int]]:
    """Why overlap cannot be told of the other cases: reason and cases, most first."""
    counted = audit.cases["status"].value_counts()
    return sorted(
        ((reason, n) for reason, n in counted.iter_rows() if reason != COUNTED),
        key=lambda pair: (-pair[1], pair[0]),
    )


def answer(audit: OverlapAudit, release: str, level: float = 0.95) -> list[str]:
    """The finding in plain sentences, the answer first.

    Parameters
    ----------
    audit : OverlapAudit
        What was found.
    release : str
        The annotation release, as the sentences are to call it.
    level : float
        Coverage of the intervals.
    """
    cases, counted = audit.value("cases"), audit.value("cases_counted")
    named = audit.value("cases_with_publication")
    if not named:
        nobody = _plural(cases, "The case names no", "None of the {} cases names its")
        return [
            f"{nobody} publication, so overlap with {release} cannot be told.",
            "That is not the same as no overlap: "
            + _plural(cases, "the case may stem from a paper", "the cases may stem from papers")
            + " that the release cites. Give each case's PMID to find out.",
        ]
    if not counted:
        nobody = _plural(cases, "The case does not have", "None of the {} cases has")
        return [
            f"{nobody} both a publication and a diagnosis that {release} annotates, so overlap "
            "cannot be told.",
            *_bound(audit),
        ]
    share = audit.value("overlap_share")
    found = (
        f"{count(audit.value('overlap_cases'))} ({percent(share)}; {level_name(level)} interval "
        f"{_interval(audit, 'overlap_share')})"
    )
    cohort = "Of " + _plural(
        counted,
        "{} case that names a publication and has an annotated diagnosis",
        "{} cases that name a publication and have an annotated diagnosis",
    )
    if not share:
        sentences = [
            f"{cohort}, none overlaps with {release}: no annotation of a case's diagnosis cites "
            "the case's own publication.",
            "Only overlap that the release records by PMID can be seen.",
        ]
    else:
        emptied = audit.value("emptied_cases") or 0.0
        overlap = _plural(audit.value("overlap_cases"), "overlaps", "overlap")
        sentences = [
            f"{cohort}, {found} {overlap} with {release}: an annotation of the case's diagnosis "
            "cites the case's own publication.",
            f"A score measured with this release on {_plural(counted, 'this case', 'these cases')} "
            "measures in part whether a method finds that publication again.",
            f"On average {percent(audit.value('exclusive_share_mean'))} of the diagnosis's "
            "annotations have no other source than the case's publication; for "
            f"{_plural(emptied, '{} case', '{} cases')} ({percent(emptied / counted)}) none has "
            "another.",
        ]
    return [*sentences, *_bound(audit)]


def _bound(audit: OverlapAudit) -> list[str]:
    """Counts and no share: its denominator is another than the overlap's."""
    cited = int(audit.cases["publication_in_hpoa"].sum())
    publications = _plural(audit.value("publications"), "{} publication", "{} publications")
    cases = _plural(audit.value("cases_with_publication"), "{} case", "{} cases")
    return [
        f"Whatever the diagnoses: the release cites {count(audit.value('cited_publications'))} of "
        f"the cases' {publications}, from which {count(cited)} of {cases} "
        f"{_plural(cited, 'comes', 'come')}; no more than these can overlap."
    ]


def _plural(n: float | None, one: str, several: str) -> str:
    """What is said of one, or of another number; the number itself at ``{}``."""
    return (one if n == 1 else several).format(count(n))


def _interval(audit: OverlapAudit, metric: str) -> str:
    found = dict(zip(audit.summary["metric"], audit.summary.rows(named=True), strict=True))[metric]
    return percent_interval(found["ci_low"], found["ci_high"])


def summary_groups(audit: OverlapAudit) -> list[tuple[str, list[tuple[str, str, str, str]]]]:
    """Figures under their headings, each as meaning, value, interval and number behind it."""
    found = {row["metric"]: row for row in audit.summary.iter_rows(named=True)}
    groups: list[tuple[str, list[tuple[str, str, str, str]]]] = []
    for metric, meaning in MEANINGS.items():
        if metric in GROUPS:
            groups.append((GROUPS[metric], []))
        if metric not in found:
            continue
        row, share = found[metric], is_share(metric)
        bounds = percent_interval(row["ci_low"], row["ci_high"]) if share else ""
        value = percent(row["value"]) if share else count(row["value"])
        groups[-1][1].append((meaning, value, bounds, count(row["n"]) if share else ""))
    return [(heading, rows) for heading, rows in groups if rows]


def terminal_table(audit: OverlapAudit, release: str, page: str, level: float = 0.95) -> str:
    """The audit for the terminal: plain ASCII, at most 100 columns, no colour.

    Parameters
    ----------
    audit : OverlapAudit
        What was found.
    release : str
        As in `answer`.
    page : str
        Where the page lies; the only line that may be longer.
    level : float
        Coverage of the intervals.
    """
    groups = summary_groups(audit)
    values = max(len(value) for _, rows in groups for _, value, _, _ in rows)
    name = WIDTH - values - 29
    lines = [*textwrap.wrap(" ".join(answer(audit, release, level)), WIDTH), ""]
    lines.append(f"{'':{name + 2}}  {'':{values}}  {level_name(level):>5} interval  {'n':>7}")
    for heading, rows in groups:
        lines.append(heading)
        for meaning, value, bounds, n in rows:
            *above, last = textwrap.wrap(meaning, name)
            lines += [f"  {part}" for part in above]
            lines.append(f"  {last:<{name}}  {value:>{values}}  {bounds:>14}  {n:>7}".rstrip())
    left_out = reasons(audit)
    if left_out:
        lines += ["", "Cases of which overlap cannot be told, by reason"]
        lines += [f"  {count(n):>7}  {reason}" for reason, n in left_out]
    plain = [line.replace("\u00a0", " ").replace("−", "-").replace(MISSING, "-") for line in lines]
    return "\n".join([*plain, "", f"Page: {page}"])
