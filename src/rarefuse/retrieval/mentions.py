"""Find the part of a query that names something, whatever the words around it.

Each word gets a score, positive inside a mention; the mention is the run of words with the largest
sum. The score is linear in hashed character n-grams of the word and its neighbours, so that it
survives misspellings, and is learned from the ontology's own labels and synonyms in the training
templates, clean and misspelt, and between words of general prose, so that it does not depend on
the templates' wording. The words of general prose are those that definitions use and names do not.
"""

import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from rarefuse import seeds
from rarefuse.errors import InputError
from rarefuse.retrieval.learning import batches
from rarefuse.retrieval.queries import misspell
from rarefuse.retrieval.templates import FAMILIES, TRAINING
from rarefuse.retrieval.tensors import reading, write_tensors

BINS = 1 << 16
STUB = "something"  # stands for the mention in the rest of a query
MAX_WORDS = 200  # a longer query is read to here
MAX_NAME = 25  # words of the longest name looked up
NAMED = 3.0  # what a word gains that is part of a known name; chosen on the validation part
_WORD = re.compile(r"\S+")
_EDGE = "?!.,;:\"'"
_NUMBER = re.compile(r"\d+[A-Za-z]?|[IVX]+[A-Za-z]?")


@dataclass(frozen=True)
class Parsed:
    """A query in two parts.

    Parameters
    ----------
    mention : str
        The words that name something.
    frame : str
        The query with `STUB` in place of the mention; what is asked of it.
    """

    mention: str
    frame: str


@dataclass(frozen=True)
class MentionTagger:
    """Weights of the hashed features.

    Parameters
    ----------
    weights : ndarray of float32, shape (BINS,)
    """

    weights: NDArray[np.float32]

    def parse(self, text: str, known: Callable[[str], bool] | None = None) -> Parsed:
        """Split a query into mention and frame.

        Parameters
        ----------
        text : str
            The query.
        known : callable, optional
            Whether some words, in lower case, are a name in the index. Names are preferred, the
            longer the more.

        Raises
        ------
        InputError
            If the query is empty.
        """
        words = [m.span() for m in _WORD.finditer(text)][:MAX_WORDS]
        if not words:
            raise InputError("the query is empty", todo="type what you are looking for")
        scores = [
            float(self.weights[features].sum())
            for features in word_features([text[a:b] for a, b in words])
        ]
        first, last = best_run(scores)
        if known is not None:
            first, last = self._named(text, words, scores, (first, last), known)
        start, end = words[first][0], words[last][1]
        mention = text[start:end].strip(_EDGE)
        if not mention:
            return Parsed(text.strip(), STUB)
        rest = f"{text[:start]}{STUB}{text[end:]}"
        return Parsed(mention, " ".join(rest.split()))

    @staticmethod
    def _named(
        text: str,
        words: Sequence[tuple[int, int]],
        scores: Sequence[float],
        found: tuple[int, int],
        known: Callable[[str], bool],
    ) -> tuple[int, int]:
        """The best run when every word of a known name counts `NAMED` more.

        A name inside a run is no better where what it leaves out has a number: "anaemia 3" is
        another term than "anaemia".
        """
        numbered = {
            place
            for place in range(found[0], found[1] + 1)
            if _NUMBER.fullmatch(text[words[place][0] : words[place][1]].strip(_EDGE))
        }
        sums = np.concatenate([[0.0], np.cumsum(scores)])
        best = sums[found[1] + 1] - sums[found[0]]
        for first in range(len(words)):
            for last in range(first, min(first + MAX_NAME, len(words))):
                if any(not first <= place <= last for place in numbered):
                    continue
                value = sums[last + 1] - sums[first] + NAMED * (last + 1 - first)
                span = text[words[first][0] : words[last][1]].strip(_EDGE).lower()
                if value > best and known(span):
                    best, found = value, (first, last)
        return found


def best_run(scores: Sequence[float]) -> tuple[int, int]:
    """First and last place of the run with the largest sum (Kadane); one word at least."""
    best, best_at = -np.inf, (0, 0)
    total, start = 0.0, 0
    for place, score in enumerate(scores):
        if total <= 0.0:
            total, start = 0.0, place
        total += score
        if total > best:
            best, best_at = total, (start, place)
    return best_at


def word_features(words: Sequence[str]) -> list[NDArray[np.int64]]:
    """Bins of every word: its character n-grams, its neighbours, its place and case."""
    bare = [word.strip(_EDGE).lower() for word in words]
    ends = [word[-1] if word[-1] in _EDGE else "" for word in words]
    return [
        np.fromiter(
            (zlib.crc32(f.encode()) % BINS for f in _features(words, bare, ends, i)), np.int64
        )
        for i in range(len(words))
    ]


def _features(
    words: Sequence[str], bare: Sequence[str], ends: Sequence[str], i: int
) -> Iterator[str]:
    last = len(words) - 1
    yield "bias"
    yield f"first{i == 0}"
    yield f"last{i == last}"
    yield f"only{last == 0}"
    yield f"case{words[i][0].isupper()}{i == 0}"
    yield f"end{ends[i]}"
    for offset in (-2, -1, 1, 2):
        j = i + offset
        near = bare[j] if 0 <= j <= last else "^"
        yield f"near{offset}={near}"
        if abs(offset) == 1:
            yield f"suffix{offset}={near[-3:]}"
            yield f"end{offset}={ends[j] if 0 <= j <= last else ''}"
    padded = f"<{bare[i]}>"
    yield f"word={padded}"
    for n in (3, 4, 5):
        for start in range(max(len(padded) - n + 1, 0)):
            yield padded[start : start + n]


PROSE_USES = 5  # in definitions, at least
PROSE_RATIO = 10.0  # times as frequent in definitions as in names, at least


def prose_words(names: Sequence[str], definitions: Sequence[str]) -> list[str]:
    """Words that definitions use much more than names do, sorted."""
    in_names, in_definitions = (
        Counter(w.strip(_EDGE).lower() for text in texts for w in text.split())
        for texts in (names, definitions)
    )
    size = (sum(in_names.values()) + 1) / (sum(in_definitions.values()) + 1)
    return sorted(
        word
        for word, count in in_definitions.items()
        if word.isalpha() and count >= PROSE_USES
        and count * size > PROSE_RATIO * (in_names[word] + 0.5)
    )  # fmt: skip


MOST_EXAMPLES = 15_000
EXAMPLES_PER_NAME = 40
PROSE_SHARE = 0.1  # of the examples


def train_tagger(
    names: Sequence[str],
    definitions: Sequence[str],
    seed: int,
    *,
    epochs: int = 3,
    examples: int = MOST_EXAMPLES,
) -> MentionTagger:
    """Learn from names set into the training templates and into prose.

    Parameters
    ----------
    names, definitions : sequence of str
        Of the nodes that may be learned from.
    seed : int
    epochs : int
        Passes over the examples.
    examples : int
        A third of them misspelt, a third in lower case, a tenth in prose. Few names take fewer.
    """
    examples = min(examples, EXAMPLES_PER_NAME * len(names))
    draw = seeds.generator(seed, "mentions")
    prose = prose_words(names, definitions)
    features, labels = [], []
    for _ in range(examples):
        family = FAMILIES[int(draw.integers(len(FAMILIES)))]
        template = TRAINING[family][int(draw.integers(len(TRAINING[family])))]
        before, _, after = template.partition("{}")
        if prose and draw.random() < PROSE_SHARE:
            before, after = (
                " ".join(prose[int(w)] for w in draw.integers(len(prose), size=int(n)))
                for n in draw.integers(0, 7, size=2)
            )
            before, after = f"{before} ".capitalize(), f" {after}"
        parts = [before, names[int(draw.integers(len(names)))], after]
        if draw.random() < 1 / 3:
            parts = [misspell(p, max(1, round(len(p) / 20)), draw) if p else p for p in parts]
        if draw.random() < 1 / 3:
            parts = [p.lower() for p in parts]
        words: list[str] = []
        inside: list[float] = []
        for part, is_mention in zip(parts, (0.0, 1.0, 0.0), strict=True):
            # Punctuation that stands against the mention belongs to its last word.
            for j, word in enumerate(part.split()):
                if j == 0 and words and part and not part[0].isspace() and not is_mention:
                    words[-1] += word
                else:
                    words.append(word)
                    inside.append(is_mention)
        features += word_features(words)
        labels += inside
    offsets = np.cumsum([0, *(len(f) for f in features[:-1])])
    flat, target = np.concatenate(features), torch.tensor(labels)
    ends = np.append(offsets[1:], len(flat))
    bag = torch.nn.EmbeddingBag(BINS, 1, mode="sum")
    torch.nn.init.zeros_(bag.weight)
    optimiser = torch.optim.Adam(bag.parameters(), lr=0.02)
    for _ in range(epochs):
        for batch in batches(len(target), 2048, draw):
            rows = [flat[offsets[i] : ends[i]] for i in batch]
            starts = torch.from_numpy(np.cumsum([0, *(len(r) for r in rows[:-1])]))
            logits = bag(torch.from_numpy(np.concatenate(rows)), starts)[:, 0]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                logits, target[torch.from_numpy(batch)]
            )
            optimiser.zero_grad()
            (loss + 1e-5 * (bag.weight**2).sum()).backward()
            optimiser.step()
    return MentionTagger(bag.weight.detach().numpy()[:, 0].copy())


def write_tagger(tagger: MentionTagger, path: Path) -> None:
    """Write a tagger as safetensors."""
    write_tensors({"weights": tagger.weights}, path, {"bins": json.dumps(BINS)})


def read_tagger(path: Path) -> MentionTagger:
    """Read what `write_tagger` wrote."""
    with reading(path, "the mention tagger") as file:
        return MentionTagger(file.get_tensor("weights"))
