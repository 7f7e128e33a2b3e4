"""What a stock program answers for one case, kept so that no case is computed twice."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.annotations.knowledge import Knowledge
from rarefuse.artifacts import Column, Schema
from rarefuse.errors import InputError
from rarefuse.rankers.base import Queries

ANSWER = Schema(
    "stock_answer",
    (
        Column("place", pl.Int32, "one-based place in the program's own order; sorted"),
        Column("disease_id", pl.String, "disease as the program names it"),
        Column("score", pl.Float64, "the program's score, larger is better"),
        Column("p_value", pl.Float64, "the program's p-value", nullable=True),
        Column("posttest", pl.Float64, "post-test probability, LIRICAL's order", nullable=True),
    ),
    key=("disease_id",),
)

FAILURES = Schema(
    "stock_failures",
    (
        Column("case_id", pl.String, "case without a usable answer, so a miss; sorted"),
        Column("protocol", pl.String, "'ordinary' or 'lopo'"),
        Column("reason", pl.String, "a short fixed phrase, the same for every row of its kind"),
        Column("detail", pl.String, "what was found"),
    ),
    key=("case_id", "protocol"),
)


@dataclass(frozen=True)
class Answer:
    """A ranked list of candidates, best first.

    Parameters
    ----------
    disease : ndarray of int32, shape (K,)
        Candidate rows in the program's order.
    score : ndarray of float64, shape (K,)
        Larger is better.
    p_value : ndarray of float64, shape (K,), or None
        Smaller is better.
    posttest : ndarray of float64, shape (K,), or None
        Post-test probability where the program orders by it. It has the score's order but fewer
        values: it is 1.0 for every huge likelihood ratio.
    others : int
        Diseases in the program's answer that are no candidates and were left out.
    """

    disease: NDArray[np.int32]
    score: NDArray[np.float64]
    p_value: NDArray[np.float64] | None
    posttest: NDArray[np.float64] | None = None
    others: int = 0

    def ties(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """First and last one-based place of each row's block of what the program cannot order.

        That is equal post-test probability where it orders by it, equal p-value and score
        otherwise.
        """
        n = len(self.disease)
        keys = [self.score, self.p_value] if self.posttest is None else [self.posttest]
        new = np.ones(n, bool)
        new[1:] = False
        for key in keys:
            if key is not None:
                new[1:] |= key[1:] != key[:-1]
        begin = np.flatnonzero(new)
        length = np.diff([*begin, n])
        return (
            np.repeat(begin + 1, length).astype(np.int32),
            np.repeat(begin + length, length).astype(np.int32),
        )


def digest(*parts: Any) -> str:
    """16 hexadecimal digits that stand for plain values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def answer_of(frame: pl.DataFrame, knowledge: Knowledge) -> Answer:
    """Candidates of an `ANSWER`, in its order."""
    index = knowledge.disease_index
    rows = [index.get(disease, -1) for disease in frame["disease_id"].to_list()]
    disease = np.array(rows, np.int32)
    known = disease >= 0
    score = frame["score"].to_numpy()[known]
    p_value, posttest = (
        frame[name].to_numpy()[known] if frame[name].null_count() < frame.height else None
        for name in ("p_value", "posttest")
    )
    return Answer(disease[known], score, p_value, posttest, int((~known).sum()))


@dataclass(frozen=True)
class Store:
    """Answers of one program under one set of options.

    Parameters
    ----------
    folder : Path
        Its name holds a digest of the program and its options. Below it there is one folder for
        each annotation file, and in that one file for each case and view of it.
    """

    folder: Path

    def path(self, annotations: str, case_id: str, view: str) -> Path:
        """File of one answer."""
        return self.folder / annotations / f"{case_id}-{view}.parquet"

    def read(self, path: Path) -> pl.DataFrame | None:
        """The answer at `path`, or None if there is none or it is damaged."""
        if not path.exists():
            return None
        try:
            return artifacts.read(path, ANSWER)
        except InputError:
            # Written atomically, so a disk has lost it: compute it again.
            path.unlink()
            return None

    def write(self, frame: pl.DataFrame, path: Path) -> None:
        """Keep an answer."""
        artifacts.write(frame, ANSWER, path)


def terms_of(queries: Queries, i: int, term_ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """Observed and excluded CURIEs of query `i`, in the view's order."""
    observed = queries.observed[queries.observed_ptr[i] : queries.observed_ptr[i + 1]]
    excluded = queries.excluded[queries.excluded_ptr[i] : queries.excluded_ptr[i + 1]]
    return [term_ids[t] for t in observed], [term_ids[t] for t in excluded]
