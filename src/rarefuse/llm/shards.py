"""Answers on disk while an arm is being asked, so that a killed job loses one shard at most.

A shard is an artifact of at most `size` answers, in a folder named by the arm's digest (prompt
template, decoding, model). Each answer carries the digest of its own messages: if the view of a
case changes, its old answer no longer counts. Failures are not kept; a later run asks again.
"""

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

import polars as pl

from rarefuse import artifacts
from rarefuse.artifacts import Column, Schema
from rarefuse.errors import InputError
from rarefuse.llm.backends.base import Answer
from rarefuse.llm.prompt import Prompt

SHARD = Schema(
    "completion_shard",
    (
        Column("case_id", pl.String, "hashed case id; rows are sorted by it"),
        Column("prompt", pl.String, "digest of the messages that were sent"),
        Column("text", pl.String, "the answer exactly as it came", nullable=True),
        Column("finish_reason", pl.String, "why generation ended", nullable=True),
        Column("reasoning", pl.Boolean, "whether the back end kept reasoning apart"),
        Column("refused", pl.Boolean, "whether the back end says that the model refused"),
        Column("prompt_tokens", pl.Int64, "length of the prompt", "token", nullable=True),
        Column("completion_tokens", pl.Int64, "length of the answer", "token", nullable=True),
    ),
    key=("case_id",),
)


class Shards:
    """Answers of one arm under one digest.

    Parameters
    ----------
    folder : Path
        Where the shards of all digests are.
    digest : str
        Of prompt template, decoding and model.
    size : int
        Answers a shard.
    """

    def __init__(self, folder: Path, digest: str, size: int) -> None:
        self.folder = folder / digest
        self.size = size
        self._waiting: list[tuple[Answer, str]] = []
        self._paths = sorted(self.folder.glob("[0-9]*.parquet"))
        self._next = 1 + max((int(path.stem) for path in self._paths), default=0)
        self.stale = sorted(
            path for path in folder.glob("*/[0-9]*.parquet") if path.parent != self.folder
        )
        """Shards of other prompts or models, left where they are."""

    def answered(self, prompts: Iterable[Prompt]) -> dict[str, Answer]:
        """Answers that are there already, by case id; only those to these very prompts.

        Raises
        ------
        InputError
            If a shard cannot be read, or a case stands in two.
        """
        expected = {prompt.case_id: prompt.digest for prompt in prompts}
        found: dict[str, Answer] = {}
        for path in self._paths:
            for row in artifacts.read(path, SHARD).iter_rows(named=True):
                case_id = row["case_id"]
                if expected.get(case_id) != row.pop("prompt"):
                    continue
                if case_id in found:
                    raise InputError(
                        "a case was answered twice",
                        where=f"{path}, case {case_id}",
                        expected="one answer a case in the shards of an arm",
                        todo="remove one of the shards that hold it, then run again",
                    )
                found[case_id] = Answer(**row)
        return found

    def add(self, answer: Answer, prompt: Prompt) -> None:
        """Keep an answer; write a shard when it is full."""
        self._waiting.append((answer, prompt.digest))
        if len(self._waiting) >= self.size:
            self.flush()

    def flush(self) -> None:
        """Write what waits as a shard."""
        if not self._waiting:
            return
        rows = [
            {
                "case_id": answer.case_id,
                "prompt": digest,
                "text": answer.text,
                "finish_reason": answer.finish_reason,
                "reasoning": answer.reasoning,
                "refused": answer.refused,
                "prompt_tokens": answer.prompt_tokens,
                "completion_tokens": answer.completion_tokens,
            }
            for answer, digest in self._waiting
        ]
        frame = pl.DataFrame(rows, schema=SHARD.dtypes).sort("case_id")
        artifacts.write(frame, SHARD, self.folder / f"{self._next:06d}.parquet")
        self._next += 1
        self._waiting.clear()

    def __enter__(self) -> "Shards":
        """Nothing to set up."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write what waits, also when the block ends with an error."""
        self.flush()
