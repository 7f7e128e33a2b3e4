"""Ground free text to ontology terms: the saved index, loaded once and asked many times.

>>> grounder = read_grounder(Path("results/retrieval/hpo-5k"))
>>> [hit.term_id for hit in grounder.ground("parents of arachnodactyly", k=3)]
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rarefuse.errors import InputError
from rarefuse.retrieval.indexes import read_index
from rarefuse.retrieval.intents import IntentGate, read_gate
from rarefuse.retrieval.linker import RELATED, Linker, TextHit, make_linker
from rarefuse.retrieval.measures import DEPTH
from rarefuse.retrieval.mentions import STUB, MentionTagger, Parsed, read_tagger
from rarefuse.retrieval.parsing import name_owners
from rarefuse.retrieval.spelling import Speller, make_speller
from rarefuse.retrieval.subsets import Subset, read_subset
from rarefuse.retrieval.templates import ENTITY, FAMILIES, HIERARCHY, SIBLING
from rarefuse.retrieval.text import Encoder, find_encoder
from rarefuse.retrieval.unseen import UnseenModel

Vector = NDArray[np.float32]
AUTO = "auto"
WANTED = {"term": ENTITY, "parents": HIERARCHY, "ancestors": HIERARCHY, "siblings": SIBLING}
"""What may be asked for → family. ``auto`` leaves it to the gate."""
MAX_CHARACTERS = 20_000


@dataclass(frozen=True)
class Hit:
    """One term of an answer."""

    rank: int
    term_id: str
    label: str
    similarity: float | None
    """Cosine of the mention and the nearest of the term's texts; None where none is near."""


@dataclass(frozen=True)
class Answer:
    """What a text was grounded to.

    Parameters
    ----------
    mention : str
        The words that were looked up, their spelling corrected.
    linked : Hit
        The term that they name, as far as the text index knows.
    intents : dict
        Family → probability.
    hits : tuple of Hit
        Best first.
    """

    mention: str
    linked: Hit
    intents: Mapping[str, float]
    hits: tuple[Hit, ...]

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Grounder:
    """A loaded index.

    Parameters
    ----------
    subset : Subset
        Terms by row.
    names : dict
        Label or synonym in lower case → rows.
    speller, linker, tagger, gate, encoder
        The parts of a search.
    """

    subset: Subset
    names: Mapping[str, set[int]]
    speller: Speller
    linker: Linker
    tagger: MentionTagger
    gate: IntentGate
    encoder: Encoder

    def ground(self, text: str, *, k: int = DEPTH, want: str = AUTO, whole: bool = False) -> Answer:
        """Ground one text.

        Parameters
        ----------
        text : str
            A mention, or a question about one.
        k : int
            Terms to return.
        want : str
            ``term``, ``parents``, ``ancestors``, ``siblings``, or ``auto``: what the text asks.
        whole : bool
            Whether all of the text is the mention, so that none is looked for in it.

        Raises
        ------
        InputError
            If the text is empty or longer than 20,000 characters, k below 1, or `want` unknown.
        """
        if want != AUTO and want not in WANTED:
            raise InputError(
                "unknown kind of answer",
                found=want,
                expected=f"one of {', '.join([AUTO, *WANTED])}",
            )
        if k < 1:
            raise InputError("too few terms asked for", found=str(k), expected="1 or more")
        if len(text) > MAX_CHARACTERS:
            raise InputError(
                "the query is too long",
                found=f"{len(text)} characters",
                expected=f"{MAX_CHARACTERS} at most",
                todo="ask about one finding at a time",
            )
        if not any(c.isalnum() for c in text):
            raise InputError(
                "the query is empty", found=repr(text[:50]), todo="type what you are looking for"
            )
        parsed, mention, frame, hit = self._read(self.speller.correct(text).strip(), whole=whole)
        if want == AUTO:
            weights = self.gate.probabilities(frame[None], [parsed.frame])[0]
        else:
            weights = np.array([float(family == WANTED[want]) for family in FAMILIES])
        rows, cosines = self.linker.entities(hit)
        linked = int(rows[0])
        first = FAMILIES[int(np.argmax(weights))]
        near = dict(zip(rows.tolist(), cosines.tolist(), strict=True))
        found = self.linker.search(mention, weights, k + 1, hit=hit)
        if first != ENTITY:
            found = found[found != linked]
        if want == "parents":
            found = self._direct(found, linked)
        return Answer(
            parsed.mention,
            self._hit(0, linked, near),
            dict(zip(FAMILIES, map(float, weights), strict=True)),
            tuple(self._hit(i + 1, int(row), near) for i, row in enumerate(found[:k])),
        )

    def _read(self, text: str, *, whole: bool) -> tuple[Parsed, Vector, Vector, TextHit]:
        """Mention and frame of a text, their vectors, and what the mention hits.

        A text that is closer to a name as a whole than its mention is, is a mention as a whole.
        """
        parsed = Parsed(text, STUB) if whole else self.tagger.parse(text, self.names.__contains__)
        mention, frame, entire = self.encoder.encode([parsed.mention, parsed.frame, text])
        own, other = self.linker.hits(np.stack([mention, entire]), thorough=True)
        if other[0][0] > own[0][0]:
            return Parsed(text, STUB), entire, frame, other
        return parsed, mention, frame, own

    def _direct(self, found: NDArray[np.int64], linked: int) -> NDArray[np.int64]:
        """Direct parents of the linked term first; the order is otherwise kept."""
        parent = np.isin(found, self.subset.parents[linked])
        return np.concatenate([found[parent], found[~parent]])

    def _hit(self, rank: int, row: int, near: Mapping[int, float]) -> Hit:
        term_id, label = self.subset.nodes.select("term_id", "label").row(row)
        return Hit(rank, term_id, label, near.get(row))


def read_grounder(folder: Path, encoder: str = "all-MiniLM-L6-v2") -> Grounder:
    """Load what `index_stage` wrote below a set's folder.

    Raises
    ------
    InputError
        If a part is missing or damaged, or the index was made with another encoder.
    """
    found = find_encoder(encoder)
    index = folder / "index"
    try:
        settings = json.loads((index / "settings.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            "there is no index to ground with",
            where=str(index),
            found=str(error),
            expected="what the workflow's target 'retrieval' makes",
            todo=f"run: snakemake {index}/settings.json --cores 2 "
            "--configfile workflow/config/hyem.yaml",
        ) from error
    subset = read_subset(folder)
    row = {term: i for i, term in enumerate(subset.nodes["term_id"])}
    text = read_index(index, "text", found.identity)
    linker = make_linker(
        subset,
        text,
        np.array([row[term] for term in text.ids]),
        {intent: read_index(index, intent, found.identity) for intent in RELATED},
        settings["origin"],
        settings["temperature"],
        UnseenModel.from_dict(settings["unseen"]),
    )
    return Grounder(
        subset,
        name_owners(subset),
        make_speller(subset),
        linker,
        read_tagger(folder / "tagger.safetensors"),
        read_gate(index / "gate.safetensors"),
        found,
    )
