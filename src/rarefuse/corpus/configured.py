"""What the Snakefile asks about corpora. Light: no numpy, no polars."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rarefuse.slices import as_json, entry_path, folder_fingerprint


@dataclass(frozen=True)
class CorporaRun:
    """The configured corpora.

    Parameters
    ----------
    config : mapping
        Checked, with defaults.
    resource : callable
        Path of a source of the registry.
    """

    config: Mapping[str, Any]
    resource: Callable[[str], str]

    def path(self, corpus: str) -> str:
        """File or folder that a corpus is read from."""
        return entry_path(
            self.config["corpora"][corpus],
            self.resource,
            f"corpora.{corpus}",
            "a corpus",
            "a file or folder of cases",
        )

    def fingerprint(self, corpus: str) -> str:
        """Digest of names, sizes and times of the files below a folder of one's own.

        Snakemake looks at a folder's own time, which an edit of a file in it does not change.
        A single file or a verified source needs none.
        """
        folder = Path(self.path(corpus))
        if not folder.is_dir():
            return ""
        return folder_fingerprint(folder)

    def options(self, corpus: str) -> str:
        """The reader's own options."""
        entry = self.config["corpora"][corpus]
        return as_json({k: v for k, v in entry.items() if k not in ("reader", "source", "path")})

    def split_options(self) -> dict[str, Any]:
        """Options of the splits."""
        splits = self.config["splits"]
        return {
            "seed": self.config["seed"],
            "fractions": splits["fractions"],
            "publications": splits["publications"],
            "n_cases": splits["cases"],
            "tolerance": splits["tolerance"],
        }
