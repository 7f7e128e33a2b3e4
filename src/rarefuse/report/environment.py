"""Where the pages' templates are. Light: a page without figures loads no plotting library."""

from functools import cache
from pathlib import Path

import jinja2

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment(*folders: Path) -> jinja2.Environment:
    """Templates of the pages, in some folders and in this one; what they are given is escaped.

    Kept, since compiling a template takes longer than filling it.
    """
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
