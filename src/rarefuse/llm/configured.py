"""What the Snakefile asks about language models. Light: no numpy, no polars."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rarefuse.codedigest import code_digest
from rarefuse.errors import InputError
from rarefuse.llm.catalogue import BACKENDS, RECORDED, WORDS, check_arm, check_recorded
from rarefuse.slices import as_json, entry_path
from rarefuse.sources.registry import Source


@dataclass(frozen=True)
class LlmRun:
    """The configured language models, each an arm.

    Parameters
    ----------
    config : mapping
        Checked, with defaults.
    results : str
        Folder for results.
    source : callable
        Entry of the source registry.
    resource : callable
        Path of a source of the registry.
    """

    config: Mapping[str, Any]
    results: str
    source: Callable[[str], Source]
    resource: Callable[[str], str]

    @property
    def arms(self) -> list[str]:
        """Language models in the report."""
        return list(self.config["evaluation"]["llms"])

    @property
    def asked(self) -> list[str]:
        """Language models that a back end asks."""
        return [arm for arm, entry in self.config["llms"].items() if entry["backend"] in BACKENDS]

    @property
    def recorded(self) -> list[str]:
        """Language models whose answers were recorded elsewhere."""
        return [arm for arm, entry in self.config["llms"].items() if entry["backend"] == RECORDED]

    def recorded_path(self, arm: str) -> str:
        """Table of a recorded arm's answers."""
        return self._place(f"llms.{arm}", self.config["llms"][arm])

    def recorded_keys(self, arm: str) -> list[str]:
        """Table that leads a recorded arm's keys to records, if it has one."""
        keys = self.config["llms"][arm].get("keys")
        return [self._place(f"llms.{arm}.keys", keys)] if keys else []

    def recorded_options(self, arm: str) -> str:
        """Slice of the configuration that reading a recorded arm depends on."""
        entry = self.config["llms"][arm]
        return as_json({k: entry[k] for k in ("columns", "case_pattern", "keys") if k in entry})

    def _place(self, where: str, entry: Mapping[str, Any]) -> str:
        """File that an entry names by 'source' or 'path'."""
        if ("source" in entry) == ("path" in entry):
            raise InputError(
                "the config names no place, or two",
                where=f"config, {where}",
                found=", ".join(sorted(entry)),
                expected="either 'source' (an entry of the source registry) or 'path'",
                todo="add one of them, or take one away",
            )
        return entry_path(
            entry,
            self.resource,
            where,
            "a table of an arm",
            "a .parquet, .jsonl or .tsv file",
            os.path.isfile,
        )

    def model(self, arm: str) -> list[str]:
        """Folder of an arm's prepared model, if it is made from a source of the registry."""
        entry = self.config["llms"][arm]
        return [f"{self.results}/models/{entry['source']}"] if "source" in entry else []

    def options(self, arm: str) -> str:
        """Slice of the configuration that an arm's answers depend on.

        Not its family, its note and the GPUs it gets.
        """
        entry = self.config["llms"][arm]
        options = {k: v for k, v in entry.items() if k not in WORDS and k != "gpus"}
        if "source" in entry:
            options["sha256"] = self.source(entry["source"]).sha256
        return as_json(options)

    def gpus(self, arm: str) -> int:
        """GPUs that an arm gets."""
        entry = self.config["llms"][arm]
        shared = entry.get("tensor_parallel_size", 1) if entry["backend"] == "vllm" else 0
        return int(entry.get("gpus", shared))

    def threads(self, arm: str) -> int:
        """Threads that an arm can use; a server does the work of those behind one."""
        return 8 if self.config["llms"][arm]["backend"] == "vllm" else 1

    def memory(self, arm: str) -> int:
        """Memory (MB) that asking an arm needs at first; a server holds its models itself."""
        return 16_000 if self.config["llms"][arm]["backend"] == "vllm" else 2_000

    def attempts(self, corpus: str, arm: str) -> str:
        """How many runs left cases of an arm without an answer; see `rarefuse.llm.ask`."""
        path = Path(self.results, corpus, "llm", arm, "attempts")
        return path.read_text(encoding="utf-8").strip() if path.exists() else "0"

    def code(self, arm: str) -> str:
        """Digest of the code that asks an arm."""
        return code_digest("rarefuse.llm.ask", BACKENDS[self.config["llms"][arm]["backend"]][0])

    def artifacts(
        self, corpus: str, artifacts: Sequence[str] = ("completions", "names")
    ) -> list[str]:
        """Answers and names, or other artifacts, of every language model in the report."""
        return [
            f"{self.results}/{corpus}/llm/{arm}/{artifact}.parquet"
            for arm in self.arms
            for artifact in artifacts
        ]

    def check(self) -> None:
        """Refuse an arm that cannot be read or asked."""
        for arm in self.recorded:
            check_recorded(arm, self.config["llms"][arm])
            self.recorded_path(arm)
            self.recorded_keys(arm)
        for arm in self.asked:
            entry = self.config["llms"][arm]
            check_arm(arm, entry)
            if arm in self.arms and "source" in entry:
                self.source(entry["source"])
