"""What the Snakefile asks about rankers and stock programs. Light: no numpy, no polars."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rarefuse.codedigest import code_digest
from rarefuse.errors import InputError
from rarefuse.rankers.catalogue import METHODS, STOCK_METHODS, check_options, resolve_options
from rarefuse.rankers.stock.presence import check_present
from rarefuse.slices import as_json, folder_fingerprint

STOCK_FOLDERS = ("data", "jars", "results", "lopo_results")
"""Options of stock programs that name a folder whose files count."""


@dataclass(frozen=True)
class RankersRun:
    """The configured rankers.

    Parameters
    ----------
    config : mapping
        Checked, with defaults.
    """

    config: Mapping[str, Any]

    def method(self, ranker: str) -> str:
        """Method of a ranker id."""
        return resolve_options(ranker, self.config["rankers"])[0]

    def options(self, ranker: str) -> str:
        """Options of a ranker id."""
        return as_json(resolve_options(ranker, self.config["rankers"])[1])

    def code(self, ranker: str, stage: str = "rarefuse.rankers.run") -> str:
        """Digest of the code behind a ranker and of the stage that runs it."""
        return code_digest(stage, METHODS[self.method(ranker)][0])

    @property
    def stock(self) -> list[str]:
        """Rankers that are outside programs, which have a rule of their own."""
        return [
            r for r, entry in self.config["rankers"].items() if entry["method"] in STOCK_METHODS
        ]

    @property
    def stock_pattern(self) -> str:
        """Regular expression of `stock`; it matches nothing where there are none."""
        return "|".join(self.stock) or "(?!)"

    @property
    def native_pattern(self) -> str:
        """Regular expression of every other ranker, variants included."""
        return rf"(?!(?:{self.stock_pattern})/)[A-Za-z0-9_-]+(\.(seed\d+|uncapped))?"

    def stock_fingerprint(self, ranker: str) -> str:
        """Digest of names, sizes and times of the files of a stock program."""
        entry = self.config["rankers"][ranker]
        folders = [entry[key] for key in STOCK_FOLDERS if key in entry]
        return "-".join(folder_fingerprint(Path(folder)) for folder in folders)

    def stock_crosswalk(self, ranker: str, knowledge: str) -> list[str]:
        """Exact matches of ids, for a ranker whose answers have ids of other namespaces."""
        foreign = self.method(ranker) == "pheval"
        return [f"{knowledge}/crosswalk.parquet"] * foreign

    def check(self) -> None:
        """Refuse options that there are not, and stock programs in use that are not there."""
        for ranker in self.config["rankers"]:
            check_options(ranker, *resolve_options(ranker, self.config["rankers"]))
        self._check_stock()

    def _check_stock(self) -> None:
        """Raise `InputError` unless what the stock programs in use need is there."""
        pairs = self.config["stock_comparison"]["pairs"]
        used = {*self.config["evaluation"]["rankers"], *(r for pair in pairs for r in pair)}
        for ranker in self.stock:
            if ranker in self.config["matched_deletion"]["rankers"]:
                raise InputError(
                    "a stock program cannot rank with other deletions than LOPO's",
                    where="config, matched_deletion.rankers",
                    found=ranker,
                    expected="rankers of this package",
                    todo="take it out of the list",
                )
            if ranker in used:
                check_present(ranker, *resolve_options(ranker, self.config["rankers"]))
