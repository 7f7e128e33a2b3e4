import pytest

ROOT = "HP:0000118"


def stanza(term, name=None, *, is_a=(), **tags):
    """One [Term]; tags with several values are given as tuples."""
    lines = ["[Term]", f"id: {term}", f"name: {name or 'name of ' + term}"]
    lines += [f"is_a: {parent} ! name of {parent}" for parent in is_a]
    for tag, values in tags.items():
        lines += [f"{tag}: {v}" for v in ([values] if isinstance(values, str) else values)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def term():
    return stanza


@pytest.fixture
def obo(tmp_path):
    """Write the stanzas (and HP:0000118, unless told not to) to an OBO file."""

    def write(*stanzas, root=True, name="tiny.obo"):
        head = "format-version: 1.2\ndata-version: tiny\nontology: tiny\n"
        parts = [head, *([stanza(ROOT)] if root else []), *stanzas]
        path = tmp_path / name
        path.write_text("\n".join(parts), encoding="utf-8")
        return path

    return write
