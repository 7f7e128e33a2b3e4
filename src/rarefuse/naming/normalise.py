"""Surface forms of disease names made comparable.

`fold` is the exact level: what it equates differs in case, accents, punctuation and blanks alone.
Each rule of `LADDER` equates a little more and holds on top of those before it, so that the first
step at which a name meets a form names the rule that was needed.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

Words = list[str]

MAX_LENGTH = 1_000
"""Longest name that is looked at, in characters; the longest form of the lexicon has under 300."""

_KNOWN_WORDS = 200_000
"""Words that what is found out about them is remembered of: names repeat few."""

_NOT_WORD = re.compile(r"[\W_]+")
_APOSTROPHES = str.maketrans("", "", "'’‘ʼ`´")


def fold(name: str) -> str:
    """Casefolded words with one blank between them, without accents and punctuation.

    Apostrophes vanish, so that "Wilson's" and "Wilsons" are one word; every other sign that is
    neither letter nor digit parts words.

    Parameters
    ----------
    name : str
        Any text.

    Returns
    -------
    str
        Empty if the text has neither letter nor digit.
    """
    if name.isascii():
        folded = name.lower().replace("'", "").replace("`", "")
    else:
        folded = unicodedata.normalize("NFKD", name.translate(_APOSTROPHES)).casefold()
        folded = unicodedata.normalize("NFKD", folded)
        folded = "".join(c for c in folded if not unicodedata.combining(c))
    return _NOT_WORD.sub(" ", folded).strip()


_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_ROMAN_NUMERALS = {"x" * (n // 10) + _ONES[n % 10]: str(n) for n in range(1, 31)}
_ROMAN = re.compile(r"(x{0,2}(?:ix|iv|v?i{0,3}))([a-h]\d?|\d)")
_KINDS = frozenset(("type", "types", "subtype", "form", "variant", "group"))
_UNSAID = _KINDS | {"syndrome", "disease", "disorder", "deficiency", "with"}
_ATTACHED = re.compile(r"(?:type|subtype)(\d+[a-z]?|[ivx]+[a-h]?)")
_SUBTYPE = re.compile(r"\d{1,2}[a-z]{0,2}\d?[a-z]?|[a-w]")
_MIXED = re.compile(r"\b[IVX]+[ivx]\b")
_ACRONYM = re.compile(r"([a-z]{2,})(\d+[a-z]?\d?)")


@lru_cache(maxsize=_KNOWN_WORDS)
def _arabic(word: str) -> str | None:
    """Arabic spelling of a Roman numeral with an optional subtype letter, ``iiib`` → ``3b``."""
    if word in _ROMAN_NUMERALS:
        return _ROMAN_NUMERALS[word]
    match = _ROMAN.fullmatch(word)
    if match and match[1] in _ROMAN_NUMERALS:
        return _ROMAN_NUMERALS[match[1]] + match[2]
    return None


@lru_cache(maxsize=_KNOWN_WORDS)
def is_designator(word: str) -> bool:
    """Whether a folded word can name a subtype: a digit in it, a Roman numeral, or one letter."""
    return len(word) == 1 or not word.isalpha() or _arabic(word) is not None


def designators(words: Sequence[str]) -> tuple[str, ...]:
    """Subtype numbers and letters of a folded name, Roman numerals in Arabic spelling, sorted.

    A letter that stands apart from its number belongs to it: ``3 a`` is ``3a``, but not the X of
    "3, X-linked". The article "a" is none: the letter counts at the end, after "type" and after a
    number.
    """
    found: Words = []
    previous = -2
    for place, word in enumerate(words):
        if (word.isalpha() and len(word) > 5) or not is_designator(word):
            continue
        before = words[place - 1] if place else ""
        linkage = words[place + 1 : place + 2] == ["linked"]
        follows = place == previous + 1 and not linkage
        if follows and len(word) == 1 and word.isalpha() and found[-1].isdigit():
            found[-1] += word
        else:
            counts = before in _KINDS or place == len(words) - 1
            if word == "a" and not counts:
                continue
            # The X of "X-linked" is no ten.
            found.append((_arabic(word) if counts or word != "x" else None) or word)
            previous = place
    return tuple(sorted(found))


def is_subtype(designator: str) -> bool:
    """Whether a designator counts subtypes; genes, loci and the X of "X-linked" do not."""
    return _SUBTYPE.fullmatch(designator) is not None


def mixed_numerals(name: str) -> set[str]:
    """Numerals that only their case tells from others: type ``Ii`` is I, i, and not II."""
    return set(_MIXED.findall(name))


def names_a_type(words: Sequence[str]) -> bool:
    """Whether words state a subtype: 'vascular type', but not 'a type of ectodermal dysplasia'."""
    return any(
        word in _KINDS and "of" not in words[place + 1 : place + 2]
        for place, word in enumerate(words)
    )


_MODES = frozenset(("dominant", "recessive", "mitochondrial"))


def inheritance(words: Sequence[str]) -> frozenset[str]:
    """Modes of inheritance that a folded name states: dominant, recessive, mitochondrial, linked.

    Of "X-linked recessive", linkage alone counts: it is no autosomal recessive type.
    """
    if "linked" in words or "xlinked" in words:
        return frozenset(("linked",))
    return _MODES.intersection(words)


def acronym_number(designator: str, words: Sequence[str]) -> str:
    """Number of an acronym of a name, anything else as it is.

    ``sca3`` of ``spinocerebellar ataxia`` is ``3``: it has the first letter of every long word, and
    no letter that the name has not. Few genes are such acronyms.
    """
    match = _ACRONYM.fullmatch(designator)
    if match is None:
        return designator
    initials = {word[0] for word in words if len(word) > 3 and word not in _UNSAID}
    spelt = initials.issubset(match[1]) and set(match[1]).issubset("".join(words))
    return match[2] if spelt else designator


def is_extended(designator: str, numbers: Collection[str]) -> bool:
    """Whether one of `numbers` is a closer one than an acronym's, and none is that: 2A1 of CMT2A.

    An X behind it says only that the type is X-linked: ``1x`` is no closer than ``edmd1``.
    """
    match = _ACRONYM.fullmatch(designator)
    if match is None or designator in numbers or match[2] in numbers:
        return False
    closer = re.compile(rf"{match[2]}(?!x$)" + (r"\D.*" if match[2][-1].isdigit() else ".+"))
    return any(closer.fullmatch(number) for number in numbers)


def _plural(word: str) -> str:
    """Singular of a word in plain English plural or possessive."""
    if len(word) > 4 and word[-1] == "s" and word.isalpha() and word[-2:] not in ("ss", "us", "is"):
        if word.endswith("ies") and len(word) > 5:
            return word[:-3] + "y"
        if word.endswith("oses"):
            return word[:-2] + "is"
        return word[:-1]
    return word


@lru_cache(maxsize=_KNOWN_WORDS)
def _detached(word: str) -> str:
    attached = _ATTACHED.fullmatch(word)
    return attached[1] if attached else word


@lru_cache(maxsize=_KNOWN_WORDS)
def _matters(word: str) -> bool:
    """Whether `_numerals` could change a name that has the word."""
    return is_designator(_detached(word))


def _numerals(words: Words) -> Words:
    """Arabic numerals, no 'type' before a number or letter, a letter joined to its number."""
    if not any(map(_matters, words)):
        return words
    spelt: Words = []
    kind = False
    last = len(words) - 1
    for place, written in enumerate(words):
        word = _detached(written)
        before, kind = kind, word in _KINDS
        if kind and place < last and is_designator(words[place + 1]):
            continue
        if spelt and len(word) == 1 and word.isalpha() and spelt[-1].isdigit():
            spelt[-1] += word
        # Alone, 'x' is the chromosome and 'v' or 'i' may be initials, unless a 'type' precedes.
        elif len(word) > 1 or place == last or before:
            spelt.append(_arabic(word) or word)
        else:
            spelt.append(word)
    return spelt


_NOUNS = {"syndrome": "disease", "disorder": "disease", "condition": "disease"}


def _noun(word: str) -> str:
    """One word for 'syndrome', 'disease' and 'disorder'."""
    return _NOUNS.get(word, word)


_LINK_WORDS = "the of and a an to in by due caused related associated mutation gene chromosome"
_LINKS = frozenset(_LINK_WORDS.split())


def _order(words: Words) -> Words:
    """Words that carry meaning in one fixed order: 'Aciduria, glutaric' is 'glutaric aciduria'.

    Not where one word would be left: "DES gene mutation" is not "DES".
    """
    kept = [word for word in words if word not in _LINKS]
    return sorted(kept if len(kept) > 1 else words)


def _by_word(change: Callable[[str], str]) -> Callable[[Words], Words]:
    """Apply a change of single words to a name."""
    known = lru_cache(maxsize=_KNOWN_WORDS)(change)

    def changed(words: Words) -> Words:
        return [known(word) for word in words]

    return changed


LADDER: dict[str, Callable[[Words], Words]] = {
    "plural": _by_word(_plural),
    "numerals": _numerals,
    "noun": _by_word(_noun),
    "order": _order,
}
"""Rules that equate forms, in the order in which they are added."""


def comparable_head(words: Sequence[str]) -> frozenset[str]:
    """Words of a folded name that name the disease: neither designators nor 'type'.

    In one number and without order; 'syndrome' and 'disease' are one.
    """
    head = [word for word in words if word not in _KINDS and not is_designator(word)]
    for rule in ("plural", "noun", "order"):
        head = LADDER[rule](head)
    return frozenset(head)
