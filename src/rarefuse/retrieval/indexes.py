"""FAISS indexes of text and of hyperbolic points, each with its table of ids.

``text-flat``, ``text-hnsw``        cosine of text vectors
``tangent-flat``, ``tangent-hnsw``  Euclidean distance of normal coordinates (the reference's way)
``lorentz-flat``                    inner product with Lorentz points: exactly the hyperbolic order
``lorentz-hnsw``                    the same through a graph

The graph of ``lorentz-hnsw`` is built on normal coordinates and walked by inner products with the
Lorentz points: a graph built by inner products links every point to the few that are far out, and
finds little. Graphs are built on one thread, so that the same vectors give the same file.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from rarefuse.artifacts import replacing, write_text
from rarefuse.errors import InputError
from rarefuse.retrieval.geometry import exp_origin, inner_product_query

KINDS = (
    "text-flat", "text-hnsw", "tangent-flat", "tangent-hnsw", "lorentz-flat", "lorentz-hnsw",
)  # fmt: skip
LINKS = 16
EF_CONSTRUCTION = 200
EF_SEARCH = 100


@dataclass(frozen=True)
class Index:
    """An index that can be searched, saved and loaded.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    ids : tuple of str
        CURIE of every row.
    encoder : str
        Identity of the encoder whose vectors it was made for.
    faiss_index : faiss.Index
    """

    kind: str
    ids: tuple[str, ...]
    encoder: str
    faiss_index: Any

    def search(
        self, queries: NDArray[np.floating], k: int, *, ef: int | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """First k rows for every query.

        Parameters
        ----------
        queries : ndarray, shape (Q, dimension)
            Text vectors, normal coordinates, or Lorentz points, after the index's kind.
        k : int
        ef : int, optional
            Breadth of a graph search; `EF_SEARCH` or k by default, whichever is larger.

        Returns
        -------
        scores : ndarray of float32, shape (Q, k)
            Cosine; minus the Euclidean distance; or <q, x>_L, which is -cosh d.
        rows : ndarray of int64, shape (Q, k)
            -1 where there are fewer than k.
        """
        if self.kind.startswith("lorentz"):
            queries = inner_product_query(queries)
        if self.kind.endswith("hnsw"):
            self.faiss_index.hnsw.efSearch = max(k, ef or EF_SEARCH)
        found, rows = self.faiss_index.search(np.ascontiguousarray(queries, np.float32), k)
        return (
            -np.sqrt(np.maximum(found, 0.0)) if self.kind.startswith("tangent") else found
        ), rows

    def vectors(self) -> NDArray[np.float32]:
        """What is stored, one row a node: text vectors, normal coordinates or Lorentz points."""
        stored: NDArray[np.float32] = self.faiss_index.reconstruct_n(0, self.faiss_index.ntotal)
        return stored

    @property
    def megabytes(self) -> float:
        """Size of the saved index, in units of 2^20 bytes."""
        return float(len(faiss.serialize_index(self.faiss_index)) / 2**20)


def build_index(
    kind: str, vectors: NDArray[np.floating], ids: Sequence[str], encoder: str
) -> Index:
    """Build an index.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    vectors : ndarray, shape (N, dimension)
        Text vectors of length 1, or normal coordinates.
    ids : sequence of str
        CURIE of every row.
    encoder : str
        Identity of the encoder.
    """
    if kind not in KINDS:
        raise InputError("unknown index", found=kind, expected=f"one of {', '.join(KINDS)}")
    space, _, shape = kind.partition("-")
    vectors = np.ascontiguousarray(vectors, np.float32)
    metric = faiss.METRIC_L2 if space == "tangent" else faiss.METRIC_INNER_PRODUCT
    if kind == "lorentz-hnsw":
        made = _lorentz_graph(vectors)
    else:
        stored = exp_origin(vectors).astype(np.float32) if space == "lorentz" else vectors
        if shape == "flat":
            made = faiss.IndexFlat(stored.shape[1], metric)
            made.add(stored)
        else:
            made = _graph(stored, metric)
    return Index(kind, tuple(ids), encoder, made)


def _graph(vectors: NDArray[np.float32], metric: int) -> Any:
    made = faiss.IndexHNSWFlat(vectors.shape[1], LINKS, metric)
    made.hnsw.efConstruction = EF_CONSTRUCTION
    with threads(1):
        made.add(vectors)
    return made


def _lorentz_graph(coordinates: NDArray[np.float32]) -> Any:
    graph = _graph(coordinates, faiss.METRIC_L2)
    made = faiss.IndexHNSWFlat(coordinates.shape[1] + 1, LINKS, faiss.METRIC_INNER_PRODUCT)
    made.storage.add(exp_origin(coordinates).astype(np.float32))
    made.ntotal = graph.ntotal
    made.hnsw = graph.hnsw
    setattr(made.hnsw, "is_similarity", True)  # noqa: B010 (the stubs do not know it)
    return made


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Let FAISS use n threads inside the block."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def write_index(index: Index, folder: Path, name: str) -> None:
    """Write ``NAME.faiss`` and ``NAME.json`` (kind, encoder, ids)."""
    with replacing(folder / f"{name}.faiss") as temporary:
        faiss.write_index(index.faiss_index, str(temporary))
    meta = {"kind": index.kind, "encoder": index.encoder, "ids": list(index.ids)}
    write_text(json.dumps(meta, indent=0, ensure_ascii=False), folder / f"{name}.json")


def read_index(folder: Path, name: str, encoder: str) -> Index:
    """Read what `write_index` wrote.

    Raises
    ------
    InputError
        If a file is missing or damaged, index and id table do not belong together, or the index
        was made with another encoder than `encoder`.
    """
    path = folder / f"{name}.faiss"
    try:
        meta = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        made = faiss.read_index(str(path))
        index = Index(meta["kind"], tuple(meta["ids"]), meta["encoder"], made)
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise InputError(
            "an index cannot be read",
            where=str(path),
            found=str(error).splitlines()[0][:200],
            expected="an index with its table of ids",
            todo="run the workflow so that it is made again",
        ) from error
    if made.ntotal != len(index.ids):
        raise InputError(
            "an index and its table of ids do not belong together",
            where=str(path),
            found=f"{made.ntotal} vectors, {len(index.ids)} ids",
            todo="run the workflow so that both are made again",
        )
    if index.encoder != encoder:
        raise InputError(
            "the index was made with another sentence encoder",
            where=str(path),
            found=index.encoder,
            expected=encoder,
            todo="use the encoder that it was made with, or make the index again",
        )
    return index
