"""Findings of a free text: its phrases, the terms they are grounded to, and what is said of them.

1. Names. Runs of words that are a label or a synonym, the longest first; plurals and one edit in a
   word do not matter, abbreviations only count in capitals.
2. More than a name. Where there are words around a name ("weakness of the legs"), the whole phrase
   is grounded, and another term taken if it is surely near.
3. Other phrases, between commas, verbs and joining words, are grounded, and taken where the cosine
   reaches a threshold, that for single words being higher: a bare "feet" is near to "Short foot".
   Values are not read, and a denial of words that are no name may mean the opposite of their term
   ("reflexes were absent"): such phrases have no term.
4. Context (`rarefuse.retrieval.context`): denied findings are excluded ones; normal, uncertain and
   relatives' ones are left out.

Every phrase is given back, with its term or with the reason why it has none.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rarefuse.errors import InputError
from rarefuse.retrieval.context import (
    ABSENT,
    EXCLUDED,
    LEFT_OUT,
    NEGATIONS,
    SEEN,
    WELL,
    is_cue,
    is_measured,
    status_of,
    words_in,
)

if TYPE_CHECKING:
    from rarefuse.retrieval.ground import Grounder, Hit

DEFAULT_INDEX = Path("results/retrieval/hpo-full")
LEAST_SIMILARITY = 0.8
"""Cosine below which a phrase that is no name has no term."""
SURE = 0.9
"""The same of a single word, and of a phrase that has a name in it but means something else."""
MOST_CHARACTERS = 100_000
BY_NAME, WIDER, BY_SIMILARITY = "name", "name and the words around it", "similarity"
TOO_FAR = "no term is near enough"
SINGLE = "a single word that is no name"
VALUE = "a value, which is not read"
DENIED = "denied words that are no name"
OUTSIDE = "nearest term lies outside Phenotypic abnormality"
BESIDE = "words beside a name"

_ALTERNATIVES = 2
_MOST_WORDS = 14
_ABBREVIATION = 4
_JOINING = words_in(
    "and or with who which that because since after before until due as from by including at"
)
_SMALL = words_in(
    "a an the of in on to for his her their its this these those there it they we i very "
    "some any also other both all more most such history evidence sign signs symptom symptoms "
    "feature features"
)
_EMPTY = _SMALL | SEEN | ABSENT | WELL
_WORD = re.compile(r"w/o|[^\W_]+(?:['’\-][^\W_]+)*|[^\w\s]", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])\s+(?=[^a-z])|;|\n\s*\n|\n(?=\s*[^a-z\s])")
_SHORT_FORM = re.compile(r"\b(?:e\.g|i\.e|dr|mr|mrs|ms|prof|st|vs|approx|ca)\.\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class Finding:
    """A phrase of a text and what became of it.

    Parameters
    ----------
    text : str
        As written.
    start : int
        Its first character in the text.
    status : str
        ``observed``, ``excluded`` or ``left out``.
    reason : str or None
        Why it is left out.
    term_id, label : str or None
        Term it was mapped to; of a phrase without one the nearest term.
    by : str or None
        How: by name, by a name and the words around it, or by similarity.
    similarity : float or None
        Cosine of phrase and term; None of a name.
    others : list of str
        Next terms, id and label.
    """

    text: str
    start: int
    status: str
    reason: str | None
    term_id: str | None
    label: str | None
    by: str | None
    similarity: float | None
    others: list[str]


@dataclass(frozen=True)
class _Sentence:
    text: str
    spans: list[tuple[int, int]]
    words: list[str]


class NoteReader:
    """Reads notes with one index.

    Parameters
    ----------
    grounder : Grounder
        The loaded index.
    wanted : callable
        Whether a term id may be a finding.
    least : float
        See `LEAST_SIMILARITY`.

    Raises
    ------
    InputError
        If no term of the index is wanted.
    """

    def __init__(
        self,
        grounder: "Grounder",
        wanted: Callable[[str], bool],
        least: float = LEAST_SIMILARITY,
    ) -> None:
        self.grounder, self.wanted, self.least = grounder, wanted, least
        nodes = grounder.subset.nodes
        self.labels = nodes["label"].to_list()
        self.ids = nodes["term_id"].to_list()
        self.names: dict[str, list[int]] = {}
        keep = [wanted(term) for term in self.ids]
        if not any(keep):
            raise InputError(
                "the index has no term that could be a finding",
                found=", ".join(self.ids[:3]) or "no term",
                expected="terms at or below Phenotypic abnormality (HP:0000118)",
                todo="name an index of HPO with --index",
            )
        # Labels before synonyms: a name of two terms means the one that bears it as its label.
        for names in ((label,) for label in self.labels), nodes["synonyms"]:
            for row, own in enumerate(names):
                for name in own if keep[row] else ():
                    rows = self.names.setdefault(_key(name), [])
                    if row not in rows:
                        rows.append(row)

    def read(self, text: str) -> list[Finding]:
        """Findings of a text, in its order.

        Raises
        ------
        InputError
            If the text is longer than 100,000 characters or has no letter.
        """
        if len(text) > MOST_CHARACTERS:
            raise InputError(
                "the text is too long",
                found=f"{len(text)} characters",
                expected=f"{MOST_CHARACTERS} at most",
                todo="give the part that describes the patient's findings",
            )
        if not any(letter.isalpha() for letter in text):
            raise InputError(
                "the text is empty", found=repr(text[:50]), todo="describe the findings in words"
            )
        return [finding for sentence in _sentences(text) for finding in self._of_sentence(sentence)]

    def _of_sentence(self, sentence: _Sentence) -> Iterator[Finding]:
        names = self._names(sentence)
        inside = {place for first, last in names for place in range(first, last + 1)}
        for first, last in _phrases(sentence.words, inside):
            own = [span for span in names if first <= span[0] and span[1] <= last]
            rest = [p for p in range(first, last + 1) if p not in inside]
            if len(own) == 1 and _content(sentence, rest):
                wider = self._wider(sentence, (first, last), names[own[0]][0])
                if wider is not None:
                    status = status_of(sentence.words, first, last, inside)
                    yield _finding(sentence, (first, last), wider, WIDER, status)
                    continue
            for span in own:
                status = status_of(sentence.words, *span, inside)
                yield _finding(sentence, span, self._own(names[span]), BY_NAME, status)
            for run in _runs(rest):
                trimmed = _trim(sentence, run)
                if trimmed is not None:
                    yield self._by_similarity(sentence, trimmed, inside, beside=bool(own))

    def _names(self, sentence: _Sentence) -> dict[tuple[int, int], list[int]]:
        """Spans of words that are a name → rows, no two overlapping, the longest taken first."""
        keys = [_fold(word) for word in sentence.words]
        corrected = [
            key if key in self.grounder.speller.used else _fold(self.grounder.speller.correct(word))
            for key, word in zip(keys, sentence.words, strict=True)
        ]
        found: dict[tuple[int, int], list[int]] = {}
        taken: set[int] = set()
        count = len(keys)
        for length in range(min(_MOST_WORDS, count), 0, -1):
            for first in range(count - length + 1):
                places = range(first, first + length)
                if not taken.isdisjoint(places):
                    continue
                rows = self.names.get(" ".join(keys[first : first + length])) or self.names.get(
                    " ".join(corrected[first : first + length])
                )
                if length == 1:
                    a, b = sentence.spans[first]
                    word = sentence.text[a:b]
                    if len(word) <= _ABBREVIATION and word.isupper():
                        rows = self.names.get(f"={word}") or rows
                if rows:
                    found[first, first + length - 1] = rows
                    taken.update(places)
        return dict(sorted(found.items()))

    def _wider(self, sentence: _Sentence, span: tuple[int, int], row: int) -> "list[Hit] | None":
        hits = self._ground(sentence, span)
        best = hits[0]
        if best.term_id == self.ids[row]:
            return None
        near = (best.similarity or 0.0) >= max(self.least, SURE)
        return hits if near and self.wanted(best.term_id) else None

    def _by_similarity(
        self, sentence: _Sentence, span: tuple[int, int], inside: set[int], *, beside: bool
    ) -> Finding:
        hits = self._ground(sentence, span)
        best = hits[0]
        single = span[0] == span[1]
        near = (best.similarity or 0.0) >= (max(self.least, SURE) if single else self.least)
        reason = OUTSIDE if near else BESIDE if beside else SINGLE if single else TOO_FAR
        if near and self.wanted(best.term_id):
            covered = inside | set(range(span[0], span[1] + 1))
            status = status_of(sentence.words, *span, covered, named=False)
            follows = sentence.words[span[1] + 1 : span[1] + 3]
            if _has_value(sentence.words, span):
                reason = VALUE
            elif status[0] == EXCLUDED or not NEGATIONS.isdisjoint(follows):
                reason = DENIED
            else:
                return _finding(sentence, span, hits, BY_SIMILARITY, status)
        text, start = _written(sentence, span)
        return Finding(
            text, start, LEFT_OUT, reason, best.term_id, best.label, None, best.similarity, []
        )

    def _ground(self, sentence: _Sentence, span: tuple[int, int]) -> "list[Hit]":
        text, _ = _written(sentence, span)
        return list(self.grounder.ground(text, k=1 + _ALTERNATIVES, want="term", whole=True).hits)

    def _own(self, rows: Sequence[int]) -> "list[Hit]":
        from rarefuse.retrieval.ground import Hit

        return [Hit(i + 1, self.ids[row], self.labels[row], 1.0) for i, row in enumerate(rows)]


def _finding(
    sentence: _Sentence,
    span: tuple[int, int],
    hits: "Sequence[Hit]",
    by: str,
    status: tuple[str, str | None],
) -> Finding:
    text, start = _written(sentence, span)
    best, *others = hits
    return Finding(
        text,
        start,
        *status,
        best.term_id,
        best.label,
        by,
        None if by == BY_NAME else best.similarity,
        [f"{hit.term_id} {hit.label}" for hit in others[:_ALTERNATIVES]],
    )


def _sentences(text: str) -> Iterator[_Sentence]:
    start = 0
    parts: list[tuple[int, int]] = []
    for match in _END.finditer(text):
        if _SHORT_FORM.search(text[start : match.start()] + " "):
            continue
        parts.append((start, match.start()))
        start = match.end()
    parts.append((start, len(text)))
    for first, last in parts:
        found = list(_WORD.finditer(text, first, last))
        if any(match.group()[0].isalnum() for match in found):
            yield _Sentence(
                text,
                [match.span() for match in found],
                [_plain(match.group()) for match in found],
            )


def _plain(word: str) -> str:
    """A word as cues are written."""
    word = word.lower().replace("’", "'")
    return "without" if word == "w/o" else word


def _fold(word: str) -> str:
    """A word in lower case and in the singular, as well as an ending tells."""
    word = _plain(word)
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui'":
        return word[:-1]
    return word


def _key(name: str) -> str:
    words = _WORD.findall(name)
    if len(words) == 1 and len(name) <= _ABBREVIATION and name.isupper():
        return f"={name}"
    return " ".join(map(_fold, words))


def _phrases(words: Sequence[str], inside: set[int]) -> Iterator[tuple[int, int]]:
    """First and last places of the runs between punctuation, joining words and cues."""
    start = 0
    for place in range(len(words) + 1):
        over = place == len(words)
        if over or (
            place not in inside
            and (not words[place][0].isalnum() or words[place] in _JOINING or is_cue(words, place))
        ):
            if place > start:
                yield start, place - 1
            start = place + 1


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = None
    for i, place in enumerate(places):
        if start is None:
            start = place
        if i + 1 == len(places) or places[i + 1] != place + 1:
            yield start, place
            start = None


def _trim(sentence: _Sentence, run: tuple[int, int]) -> tuple[int, int] | None:
    """A run without small words at its ends; None if nothing is left that could be a finding."""
    first, last = run
    while first <= last and sentence.words[first] in _SMALL:
        first += 1
    while last >= first and sentence.words[last] in _SMALL:
        last -= 1
    return (first, last) if _content(sentence, range(first, last + 1)) else None


def _content(sentence: _Sentence, places: Sequence[int]) -> bool:
    """Whether some words may mean a finding: one of three letters, or an abbreviation."""
    return any(
        word[0].isalpha()
        and word not in _EMPTY
        and (len(word) >= 3 or (len(word) == 2 and sentence.text[slice(*span)].isupper()))
        for word, span in ((sentence.words[p], sentence.spans[p]) for p in places)
    )


def _has_value(words: Sequence[str], span: tuple[int, int]) -> bool:
    within = words[span[0] : span[1] + 1]
    return any(word[0].isdigit() for word in within) or is_measured(words, span[1])


def _written(sentence: _Sentence, span: tuple[int, int]) -> tuple[str, int]:
    start, end = sentence.spans[span[0]][0], sentence.spans[span[1]][1]
    return " ".join(sentence.text[start:end].split()), start
