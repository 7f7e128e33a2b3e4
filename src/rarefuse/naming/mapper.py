"""Map a disease name as written to a candidate, with the reason why, or why not.

`exact` is the paper's protocol (A.2): the folded name is looked up in the lexicon of candidate
names, Mondo names and Mondo synonyms. `extended` goes on with the rules of
`rarefuse.naming.normalise.LADDER` and `rarefuse.naming.rewrite.REWRITES`, with Orphanet's names and
with the names of phenotypic series. At both levels the subtype guard refuses a match that changes
a subtype number or letter that the name states, or a mode of inheritance that cut-off text states.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from rarefuse.naming.lexicon import SOURCES
from rarefuse.naming.normalise import (
    LADDER,
    MAX_LENGTH,
    acronym_number,
    comparable_head,
    designators,
    fold,
    inheritance,
    is_extended,
    is_subtype,
    mixed_numerals,
    names_a_type,
)
from rarefuse.naming.rewrite import BRACKETS, INSIDE, REWRITES

EXACT, EXTENDED = LEVELS = ("exact", "extended")
EXACT_SOURCES = ("hpoa name", "mondo name", "omim title", "mondo synonym")
LABELS = ("hpoa name", "mondo name", "omim title")
SERIES, ORPHANET = "series", "orphanet"

EMPTY = "no letter or digit"
TOO_LONG = f"longer than {MAX_LENGTH} characters"
UNKNOWN = "in no source"
AMBIGUOUS = "names several candidates"
GROUP = "names a group of diseases without an OMIM id"
OUTSIDE = "names a disease outside the candidates"
SUBTYPE = "the match would change the subtype"
INHERITANCE = "the match would change the mode of inheritance"
REASONS = (SUBTYPE, INHERITANCE, AMBIGUOUS, OUTSIDE, GROUP, UNKNOWN, TOO_LONG, EMPTY)

RULES = (SERIES, ORPHANET, *LADDER, *REWRITES)
"""Everything that `extended` adds to `exact`, in the order in which it is tried."""


class Match(NamedTuple):
    """What became of a name.

    Parameters
    ----------
    disease_id : str or None
        Candidate, OMIM CURIE.
    form, source : str or None
        The lexicon's form that was met and where it comes from; of a refused match too.
    rule : str or None
        ``exact``, or the rules that were needed, joined by ``+``.
    reason : str or None
        Why there is no match, one of `REASONS`.
    """

    disease_id: str | None
    form: str | None = None
    source: str | None = None
    rule: str | None = None
    reason: str | None = None


_UNKNOWN = Match(None, reason=UNKNOWN)


class _Row(NamedTuple):
    source: int
    form: str
    disease: str | None
    candidate: bool


class Mapper:
    """A lexicon made ready for look-up.

    Parameters
    ----------
    lexicon : polars.DataFrame
        `rarefuse.naming.lexicon.LEXICON`.
    level : str
        ``exact`` or ``extended``.
    rules : iterable of str, optional
        Those of `RULES` that `extended` uses; all by default.
    """

    def __init__(
        self, lexicon: pl.DataFrame, level: str = EXACT, rules: Iterable[str] | None = None
    ) -> None:
        chosen = set(RULES if rules is None else rules) if level == EXTENDED else set()
        self._ladder = {name: change for name, change in LADDER.items() if name in chosen}
        self._rewrites = {name: change for name, change in REWRITES.items() if name in chosen}
        sources = {s for s in SOURCES if s in EXACT_SOURCES or s.split(" ")[0] in chosen}
        self._rows: defaultdict[str, list[_Row]] = defaultdict(list)
        for form, source, disease, candidate in (
            lexicon.filter(pl.col("source").is_in(sources))
            .select("form", "source", "disease_id", "candidate")
            .iter_rows()
        ):
            self._rows[fold(form)].append(_Row(SOURCES.index(source), form, disease, candidate))
        self._steps: list[defaultdict[str, list[str]]] = [defaultdict(list) for _ in self._ladder]
        self._labels: defaultdict[str, list[tuple[frozenset[str], tuple[str, ...]]]] = defaultdict(
            list
        )
        self._stated: defaultdict[str, set[str]] = defaultdict(set)
        self._vocabulary: defaultdict[str, set[str]] = defaultdict(set)
        self._modes: defaultdict[str, set[str]] = defaultdict(set)
        for folded, rows in self._rows.items():
            words = folded.split()
            stated = designators(words)
            modes = inheritance(words)
            label = (comparable_head(words), stated)
            for row in rows:
                if row.candidate and row.disease is not None:
                    self._stated[row.disease].update(stated)
                    self._vocabulary[row.disease].update(label[0])
                    self._modes[row.disease].update(modes)
                    if stated and SOURCES[row.source] in LABELS:
                        self._labels[row.disease].append(label)
            for step, change in zip(self._steps, self._ladder.values(), strict=True):
                words = change(words)
                step[" ".join(words)].append(folded)

    def match(self, name: str | None) -> Match:
        """Map one name.

        Parameters
        ----------
        name : str or None
            As written.

        Returns
        -------
        Match
            With an explanation either way.
        """
        if name is None:
            return Match(None, reason=EMPTY)
        if len(name) > MAX_LENGTH:
            return Match(None, reason=TOO_LONG)
        folded = fold(name)
        if not folded:
            return Match(None, reason=EMPTY)
        found = self._look_up(name)
        if found.disease_id is not None or found.reason in (GROUP, OUTSIDE, AMBIGUOUS):
            return found
        return self._rewritten(name, found)

    def _rewritten(self, name: str, whole: Match) -> Match:
        """Map a part of a name.

        A series' name in parentheses says what kind of disease the rest names, and is not used.
        Of two parts that lead to different diseases, the one that is not a series' name counts:
        "Severe congenital neutropenia (Kostmann syndrome)". Otherwise they leave it ambiguous.
        """
        first: Match | None = None
        if not self._rewrites or BRACKETS.isdisjoint(name):
            return whole
        for rule, rewrite in self._rewrites.items():
            for kept, dropped in rewrite(name):
                found = self._look_up(kept, dropped)
                if rule == INSIDE and _of_series(found):
                    continue
                needed = rule if found.rule == EXACT else f"{rule}+{found.rule}"
                if first is None:
                    if found.disease_id is not None:
                        first = found._replace(rule=needed)
                    elif _rank(found) < _rank(whole):
                        whole = found
                    continue
                if found.disease_id is not None and _of_series(first) and not _of_series(found):
                    first = found._replace(rule=needed)
                    continue
                alone = self._look_up(kept)
                if alone.disease_id not in (None, first.disease_id) and not _of_series(alone):
                    return first._replace(disease_id=None, rule=None, reason=AMBIGUOUS)
        return first or whole

    def _look_up(self, written: str, dropped: str = "") -> Match:
        """Map a name or the part of it that is left when `dropped` is cut off."""
        folded = fold(written)
        if not folded:
            return _UNKNOWN
        words = folded.split()
        rest = fold(dropped).split() if dropped else []
        rows = self._rows.get(folded)
        if rows is not None:
            return self._guard(self._resolve(rows), EXACT, written, words, rest)
        refused = _UNKNOWN
        climbed = words
        spellings = [climbed := change(climbed) for change in self._ladder.values()]
        # Forms that are one at a step are one at all later steps: most names end here.
        if not spellings or " ".join(climbed) not in self._steps[-1]:
            return refused
        for rule, step, spelt in zip(self._ladder, self._steps, spellings, strict=True):
            forms = step.get(" ".join(spelt))
            if forms is None:
                continue
            met = [row for form in forms for row in self._rows[form]]
            found = self._guard(self._resolve(met), rule, written, words, rest)
            if found.disease_id is not None or found.reason in (AMBIGUOUS, GROUP):
                return found
            refused = found
        return refused

    def _resolve(self, rows: Sequence[_Row]) -> Match:
        """The candidate that forms of one key name, if it is one."""
        named = [row for row in rows if row.disease is not None]
        if not named:
            return Match(None, rows[0].form, SOURCES[rows[0].source], reason=GROUP)
        best = min(named)
        first = {row.disease: row for row in reversed(named) if row.source == best.source}
        candidates = {d: row for d, row in first.items() if row.candidate}
        if not candidates:
            return Match(None, best.form, SOURCES[best.source], reason=OUTSIDE)
        if len(candidates) > 1:
            series = {r.disease for r in named if SOURCES[r.source].startswith(SERIES)}
            candidates = {d: row for d, row in candidates.items() if d in series}
            if len(candidates) != 1:
                return Match(None, best.form, SOURCES[best.source], reason=AMBIGUOUS)
        ((disease, row),) = candidates.items()
        return Match(disease, row.form, SOURCES[row.source])

    def _guard(
        self, found: Match, rule: str, written: str, words: Sequence[str], rest: Sequence[str]
    ) -> Match:
        """Refuse a match that changes what the name, and what was cut off, state of the subtype."""
        if found.disease_id is None or found.form is None:
            return found
        stated = designators(words)
        known = self._vocabulary[found.disease_id]
        if (
            stated != designators(fold(found.form).split())
            or not mixed_numerals(found.form) <= mixed_numerals(written)
            or self._contradicts(found.disease_id, words, stated)
            or self._says_less(found.disease_id, words)
            or not all(self._known(found.disease_id, d, words) for d in designators(rest))
            or (names_a_type(rest) and not comparable_head(rest) <= known)
        ):
            return found._replace(disease_id=None, reason=SUBTYPE)
        modes = inheritance(rest)
        if modes and modes.isdisjoint(self._modes[found.disease_id]):
            return found._replace(disease_id=None, reason=INHERITANCE)
        return found._replace(rule=rule)

    def _known(self, disease: str, designator: str, words: Sequence[str]) -> bool:
        """Whether some name of a disease states a designator, or a closer one: ``1`` and ``1h``.

        Of an acronym of the name's words the number counts: ``sca3`` of spinocerebellar ataxia.
        """
        stated = self._stated[disease]
        number = acronym_number(designator, words)
        return (
            designator in stated
            or number in stated
            or (number.isdigit() and any(other[:-1] == number for other in stated))
        )

    def _contradicts(self, disease: str, words: Sequence[str], stated: tuple[str, ...]) -> bool:
        """Whether the disease's own labels give the same disease another number or letter.

        Labels that state more than the name do not contradict it, nor do genes, loci and the X of
        "X-linked".
        """
        name = comparable_head(words)
        explicit = {d for d in stated if is_subtype(d)}
        if not explicit or not name:
            return False
        alike = [
            other
            for label, other in self._labels.get(disease, [])
            if label and (label <= name or name <= label)
        ]
        return bool(alike) and not any(explicit.issubset(other) for other in alike)

    def _says_less(self, disease: str, words: Sequence[str]) -> bool:
        """Whether a name is an acronym whose number a label of the disease extends.

        ``CMT2A`` is neither 2A1 nor 2A2A. Another number is no contradiction: ``LGMD1B`` counts
        other diseases than the label, "Emery-Dreifuss muscular dystrophy 2".
        """
        if len(words) > 2 or len(words[0]) > _ACRONYM_LENGTH:
            return False
        numbers = {d for _, other in self._labels.get(disease, []) for d in other}
        return is_extended("".join(words), numbers)


_ACRONYM_LENGTH = 7


def _rank(match: Match) -> int:
    return REASONS.index(match.reason or UNKNOWN)


def _of_series(match: Match) -> bool:
    return match.source is not None and match.source.startswith(SERIES)
