"""What the Snakefile asks about the retrieval part. Light: no numpy, no polars, no torch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rarefuse.codedigest import code_digest
from rarefuse.retrieval.catalogue import TABLES
from rarefuse.slices import as_json, entry_path


@dataclass(frozen=True)
class RetrievalRun:
    """The configured retrieval part.

    Parameters
    ----------
    config : mapping
        Checked, with defaults.
    resource : callable
        Path of a source of the registry.
    """

    config: Mapping[str, Any]
    resource: Callable[[str], str]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The config's ``retrieval``."""
        settings: Mapping[str, Any] = self.config["retrieval"]
        return settings

    @property
    def folder(self) -> str:
        """Folder of all sets."""
        return f"{str(self.config['results']).rstrip('/')}/retrieval"

    @property
    def sets(self) -> list[str]:
        """Names of the sets."""
        return list(self.settings["sets"])

    def set_path(self, name: str) -> str:
        """Ontology file that a set is sampled from."""
        return entry_path(
            self.settings["sets"][name],
            self.resource,
            f"retrieval.sets.{name}",
            "an ontology",
            "an OBO file or MeSH's ASCII descriptor file",
        )

    def set_options(self, name: str) -> str:
        """Options of the sampler and the queries."""
        entry = self.settings["sets"][name]
        return as_json(
            {"sampler": entry["sampler"], "size": entry["size"], "seed": self.settings["seed"]}
        )

    def encode_options(self) -> str:
        """Options of the encoding."""
        return as_json({"encoder": self.settings["encoder"], "seeds": self.settings["seeds"]})

    def train_options(self) -> str:
        """Options of the tables."""
        return as_json(
            {
                "split_seed": self.settings["seed"],
                "inductive": self.settings["inductive"],
                "centroid": self.settings["centroid"],
            }
        )

    def lists(self, name: str) -> list[str]:
        """Search lists of all systems and seeds."""
        return [
            f"{self.folder}/{name}/lists/{system}.seed{seed}.parquet"
            for system in ("reference", "centroid")
            for seed in self.settings["seeds"]
        ]

    def first_model(self, name: str, suffix: str = ".safetensors") -> str:
        """Model of the first seed: what is indexed and timed."""
        return f"{self.folder}/{name}/models/seed{self.settings['seeds'][0]}{suffix}"

    def table_inputs(self, name: str, table: str) -> list[str]:
        """Artifacts that a table reads besides the set itself."""
        reads = TABLES[table][2]
        if reads == "lists":
            return self.lists(name)
        if reads == "tables":
            return [self.first_model(name)]
        return []

    def table_options(self, table: str) -> str:
        """Slice of the configuration that a table depends on."""
        evaluation = self.config["evaluation"]
        if TABLES[table][2] == "lists":
            return as_json(
                {
                    "resamples": evaluation["resamples"],
                    "level": evaluation["level"],
                    "seed": self.config["seed"],
                }
            )
        if table == "theory":
            return "{}"
        options: dict[str, Any] = {"seed": self.settings["seeds"][0]}
        if table in ("indexability", "front"):
            options |= {
                "radii": self.settings["radii"],
                "centroid": self.settings["centroid"],
            }
        return as_json(options)

    def table_code(self, table: str) -> str:
        """Digest of the code behind a table."""
        return code_digest("rarefuse.retrieval.table_stage", TABLES[table][0])

    def targets(self) -> list[str]:
        """Everything that the target ``retrieval`` makes.

        Tables that read nothing are about no set, and made with the first alone.
        """
        return [
            path
            for place, name in enumerate(self.sets)
            for path in (
                *(
                    f"{self.folder}/{name}/tables/{table}.parquet"
                    for table in self.settings["tables"]
                    if place == 0 or TABLES[table][2] != "nothing"
                ),
                f"{self.folder}/{name}/index/settings.json",
            )
        ]
