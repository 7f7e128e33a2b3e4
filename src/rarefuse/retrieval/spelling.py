"""Correct the spelling of a query's words before it is read.

A word that neither the terms' names and definitions nor the training templates use is replaced by
the most frequent word one edit away (a letter dropped, doubled, replaced, inserted, or two swapped;
Damerau 1964), if there is one. Words that are short, in capitals, or have digits stay as they are.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from string import ascii_lowercase

from rarefuse.retrieval.subsets import Subset
from rarefuse.retrieval.templates import TRAINING

SHORTEST = 5  # letters of a word that is corrected
_WORD = re.compile(r"[^\W\d_]+")
_CORRECTED = re.compile(rf"(?<![\w'-])[A-Za-z]{{{SHORTEST},}}(?![\w'-])")


def words_of(texts: Iterable[str]) -> Counter[str]:
    """How often each word, in lower case, stands in some texts."""
    return Counter(word.lower() for text in texts for word in _WORD.findall(text))


@dataclass(frozen=True)
class Speller:
    """Words and how often they are used.

    Parameters
    ----------
    used : Counter
        Word in lower case → times used.
    """

    used: Counter[str]

    def correct(self, text: str, hidden: Counter[str] | None = None) -> str:
        """Text with its unknown words replaced where one edit makes them known.

        Parameters
        ----------
        text : str
        hidden : Counter, optional
            Uses that must not count: those of a term that is held out.
        """
        without = hidden or Counter()

        def count(word: str) -> int:
            return self.used[word] - without[word]

        def replaced(match: re.Match[str]) -> str:
            word = match.group()
            lower = word.lower()
            if word.isupper() or count(lower) > 0:
                return word
            best = max(dict.fromkeys(one_edit(lower)), key=count)
            if count(best) <= 0:
                return word
            return best.capitalize() if word[0].isupper() else best

        return _CORRECTED.sub(replaced, text)


def one_edit(word: str) -> Iterator[str]:
    """Every word one edit away."""
    for i in range(len(word) + 1):
        left, right = word[:i], word[i:]
        if right:
            yield left + right[1:]
            yield from (left + letter + right[1:] for letter in ascii_lowercase)
        if len(right) > 1:
            yield left + right[1] + right[0] + right[2:]
        yield from (left + letter + right for letter in ascii_lowercase)


def make_speller(subset: Subset) -> Speller:
    """Speller of a subset's names and definitions, and of the training templates."""
    used = words_of(text.format("") for texts in TRAINING.values() for text in texts)
    for own in words_by_term(subset):
        used.update(own)
    return Speller(used)


def words_by_term(subset: Subset) -> list[Counter[str]]:
    """Words of each term's names and definition, by row."""
    texts = subset.nodes.select("label", "definition", "synonyms").iter_rows()
    return [words_of([label, definition, *synonyms]) for label, definition, synonyms in texts]
