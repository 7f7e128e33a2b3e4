"""What the rankers know, arranged so that one case is scored without a look at every profile.

The knowledge artifacts are read once and kept as plain arrays in the user's cache. Beside them
stands an index by term: the diseases whose ancestor-closed profile holds it, each with the largest
frequency of its annotations at or below the term. The ancestors of a case's terms, some 150 rows
of it, hold all that scores of closed profiles depend on (`rarefuse.diagnose.narrow`).
"""

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import orjson
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from rarefuse.annotations.knowledge import Knowledge
from rarefuse.annotations.relations import DISEASES, RELATIONS
from rarefuse.artifacts import read, replacing
from rarefuse.compiled import njit
from rarefuse.errors import InputError
from rarefuse.ontology.arrays import Ontology, Resolution
from rarefuse.rankers.run import read_knowledge

FORMAT = 1
"""Of the cached files; a change of what they mean makes older ones unused."""
FILES = ("terms", "aliases", "diseases", "relations", "information_content")


class Closed(NamedTuple):
    """Ancestor-closed profiles of C columns, one below the other.

    Parameters
    ----------
    ptr : ndarray of int64, shape (C + 1,)
        Where each column begins.
    terms : ndarray of int32
        Ontology rows, ascending within a column.
    numerator, denominator : ndarray of int32
        Counts behind the largest frequency at or below each term.
    """

    ptr: NDArray[np.int64]
    terms: NDArray[np.int32]
    numerator: NDArray[np.int32]
    denominator: NDArray[np.int32]


@dataclass(frozen=True)
class Library:
    """Knowledge with names, publications and the index by term.

    Parameters
    ----------
    knowledge : Knowledge
        D candidates over T terms.
    names : list of str
        Name of each candidate.
    pmid_ptr : ndarray of int64, shape (R + 1,)
        Where the publications of each relation begin; relations as `Knowledge.profile_terms`.
    pmids : ndarray of int32
        PMIDs as numbers.
    by_term : Closed
        T columns; its ``terms`` are candidate rows.
    digest : str
        Of the artifacts that it was made from.
    """

    knowledge: Knowledge
    names: list[str]
    pmid_ptr: NDArray[np.int64]
    pmids: NDArray[np.int32]
    by_term: Closed
    digest: str

    def publications(self, relation: int) -> list[str]:
        """PMID CURIEs behind one relation."""
        own = self.pmids[self.pmid_ptr[relation] : self.pmid_ptr[relation + 1]]
        return [f"PMID:{number}" for number in own]


@njit(cache=True, nogil=True)
def close_counts(
    ptr: NDArray[np.int64],
    terms: NDArray[np.int32],
    numerator: NDArray[np.int32],
    denominator: NDArray[np.int32],
    parent_ptr: NDArray[np.int32],
    parents: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Close profiles over their ancestors, with the largest frequency at or below each term.

    Parameters
    ----------
    ptr, terms, numerator, denominator : ndarray
        Direct annotations of C columns, as in `rarefuse.rankers.base.Columns`.
    parent_ptr, parents : ndarray of int32
        Of the ontology, terms in topological order.

    Returns
    -------
    ptr, terms, numerator, denominator : ndarray
        Fields of `Closed`.
    """
    n_terms = len(parent_ptr) - 1
    closed = np.zeros(n_terms, np.bool_)
    above = np.zeros(n_terms, np.int64)
    below = np.ones(n_terms, np.int64)
    out_ptr = np.zeros(len(ptr), np.int64)
    size = max(64, 8 * len(terms))
    out_terms = np.empty(size, np.int32)
    out_above = np.empty(size, np.int32)
    out_below = np.empty(size, np.int32)
    used = 0
    for c in range(len(ptr) - 1):
        last = -1
        for i in range(ptr[c], ptr[c + 1]):
            t = terms[i]
            closed[t], above[t], below[t] = True, numerator[i], denominator[i]
            last = max(last, t)
        for t in range(last, -1, -1):
            if not closed[t]:
                continue
            for i in range(parent_ptr[t], parent_ptr[t + 1]):
                p = parents[i]
                if not closed[p] or above[t] * below[p] > above[p] * below[t]:
                    above[p], below[p] = above[t], below[t]
                closed[p] = True
        for t in range(last + 1):
            if closed[t]:
                if used == size:
                    size *= 2
                    out_terms = np.append(out_terms, np.empty(size - used, np.int32))
                    out_above = np.append(out_above, np.empty(size - used, np.int32))
                    out_below = np.append(out_below, np.empty(size - used, np.int32))
                out_terms[used], out_above[used], out_below[used] = t, above[t], below[t]
                used += 1
                closed[t], above[t], below[t] = False, 0, 1
        out_ptr[c + 1] = used
    return out_ptr, out_terms[:used], out_above[:used], out_below[:used]


def index_by_term(knowledge: Knowledge) -> Closed:
    """Candidates that hold each term, ascending (`Library.by_term`)."""
    ontology = knowledge.ontology
    ptr, terms, numerator, denominator = close_counts(
        knowledge.profile_ptr,
        knowledge.profile_terms,
        knowledge.numerator,
        knowledge.denominator,
        ontology.parent_ptr,
        ontology.parents,
    )
    disease = np.repeat(np.arange(len(ptr) - 1, dtype=np.int32), np.diff(ptr))
    order = np.argsort(terms, kind="stable")
    begins = np.searchsorted(terms[order], np.arange(len(ontology.term_ids) + 1))
    return Closed(begins.astype(np.int64), disease[order], numerator[order], denominator[order])


def make_library(folder: Path, digest: str = "") -> Library:
    """Read the knowledge artifacts and index them."""
    knowledge = read_knowledge(folder)
    relations = read(folder / "relations.parquet", RELATIONS)
    lists = relations["pmids"].to_list()
    ptr = np.zeros(len(lists) + 1, np.int64)
    ptr[1:] = np.cumsum([len(own) for own in lists])
    return Library(
        knowledge,
        read(folder / "diseases.parquet", DISEASES)["name"].to_list(),
        ptr,
        np.array([int(pmid[5:]) for own in lists for pmid in own], np.int32),
        index_by_term(knowledge),
        digest,
    )


def cache_home() -> Path:
    """Folder of this command's cache: beside the compiled kernels', or in theirs where that is a
    temporary one.
    """
    kernels = Path(numba.config.CACHE_DIR)
    home = kernels.parent.parent if kernels.parent.name == "kernels" else kernels
    return home / "diagnose"


def knowledge_digest(folder: Path) -> str:
    """Digest of the knowledge artifacts' bytes, 16 hexadecimal digits.

    Raises
    ------
    InputError
        If one is missing, naming what makes it.
    """
    digest = hashlib.sha256(f"{FORMAT}".encode())
    for name in FILES:
        path = folder / f"{name}.parquet"
        try:
            digest.update(path.read_bytes())
        except OSError as error:
            raise InputError(
                "what the rankers know has not been made yet",
                where=str(path),
                found=error.strerror or str(error),
                expected="the ontology and annotation artifacts of the config's releases",
                todo=f"run 'snakemake --cores 2 {folder}/terms.parquet {folder}/relations.parquet' "
                "with the same --configfile, then again",
            ) from error
    return digest.hexdigest()[:16]


def open_library(folder: Path, cache: Path | None = None) -> Library:
    """Library of a knowledge folder, from the cache where it is there.

    Parameters
    ----------
    folder : Path
        Knowledge artifacts.
    cache : Path, optional
        Folder of the cache; `cache_home` by default.

    Raises
    ------
    InputError
        If an artifact is missing or damaged.
    """
    digest = knowledge_digest(folder)
    path = (cache or cache_home()) / f"library-{digest}.safetensors"
    try:
        return _unpack(load_file(path), digest)
    except (OSError, SafetensorError, KeyError, ValueError):
        # Not there, or cut off by a full disk: it is made again either way.
        library = make_library(folder, digest)
        keep(_pack(library), path)
        return library


def keep(arrays: dict[str, NDArray], path: Path) -> None:
    """Write arrays into the cache; a cache that cannot be written is done without, and said so."""
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(save(arrays))
    except InputError as error:
        print(f"not kept for the next run: {error.found}, {path}", file=sys.stderr)


def _text(value: object) -> NDArray[np.uint8]:
    return np.frombuffer(orjson.dumps(value), np.uint8)


def _pack(library: Library) -> dict[str, NDArray]:
    knowledge = library.knowledge
    ontology = knowledge.ontology
    words = {
        "term_ids": ontology.term_ids,
        "labels": ontology.labels,
        "aliases": {a: [r.term_id, r.status] for a, r in ontology.aliases.items()},
        "disease_ids": knowledge.disease_ids,
        "names": library.names,
        "first_rows": knowledge.first_rows,
    }
    return {
        "words": _text(words),
        "parent_ptr": ontology.parent_ptr,
        "parents": ontology.parents,
        "depth": ontology.depth,
        "profile_ptr": knowledge.profile_ptr,
        "profile_terms": knowledge.profile_terms,
        "ic": np.ascontiguousarray(knowledge.ic),
        "numerator": knowledge.numerator,
        "denominator": knowledge.denominator,
        "pmid_ptr": library.pmid_ptr,
        "pmids": library.pmids,
        **{f"by_term.{name}": value for name, value in library.by_term._asdict().items()},
    }


def _unpack(arrays: dict[str, NDArray], digest: str) -> Library:
    words = orjson.loads(arrays["words"].tobytes())
    ontology = Ontology(
        words["term_ids"],
        words["labels"],
        arrays["parent_ptr"],
        arrays["parents"],
        arrays["depth"],
        {alias: Resolution(*meaning) for alias, meaning in words["aliases"].items()},
    )
    knowledge = Knowledge(
        ontology,
        words["disease_ids"],
        arrays["profile_ptr"],
        arrays["profile_terms"],
        words["first_rows"],
        arrays["ic"],
        arrays["numerator"],
        arrays["denominator"],
    )
    return Library(
        knowledge,
        words["names"],
        arrays["pmid_ptr"],
        arrays["pmids"],
        Closed(*(arrays[f"by_term.{name}"] for name in Closed._fields)),
        digest,
    )
