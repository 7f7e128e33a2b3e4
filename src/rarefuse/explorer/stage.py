"""The explorer stage: artifacts in, a folder of static pages out."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rarefuse import artifacts
from rarefuse.explorer.data import collect
from rarefuse.report.environment import environment

TEMPLATES = Path(__file__).parent / "templates"


def explorer_stage(
    *, knowledge: Path, corpus: Path, name: str, options: Mapping[str, Any], output: Path
) -> None:
    """Write the explorer of a corpus.

    The page is ``index.html``; its data are scripts below ``data/``, since a page that is opened
    from a folder may load scripts but not fetch files. The page shows text as text: no name or id
    can become markup.

    Parameters
    ----------
    name, options
        See `rarefuse.explorer.data.collect`.
    output : Path
        Folder, replaced as a whole once everything is written.
    """
    made = collect(knowledge, corpus, name, options)
    page = environment(TEMPLATES).get_template("explorer.html.j2").render(corpus=name)
    temporary = output.parent / f".{output.name}.{os.getpid()}.tmp"
    try:
        artifacts.write_text(page, temporary / "index.html")
        artifacts.write_text(_script("index", made.index), temporary / "data/index.js")
        for number, shard in enumerate(made.shards):
            text = _script("shard", {"number": number, "cases": shard})
            artifacts.write_text(text, temporary / f"data/{number}.js")
        if output.exists():
            shutil.rmtree(output)
        os.replace(temporary, output)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _script(function: str, value: Any) -> str:
    """A script that hands a value to a function of the page."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"explorer.{function}({text});\n"
