"""Arrays and a few words about them, as one safetensors file."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from rarefuse.artifacts import replacing
from rarefuse.errors import InputError


def write_tensors(
    arrays: Mapping[str, NDArray[Any]], path: Path, metadata: Mapping[str, str] | None = None
) -> None:
    """Write named arrays, with texts beside them."""
    with replacing(path) as temporary:
        save_file(dict(arrays), temporary, metadata=None if metadata is None else dict(metadata))


@contextmanager
def reading(path: Path, what: str) -> Iterator[Any]:
    """Open what `write_tensors` wrote, for ``get_tensor`` and ``metadata``.

    Parameters
    ----------
    what : str
        What the file holds, for the error.

    Raises
    ------
    InputError
        If the file is missing or damaged, or lacks what is read inside the block.
    """
    try:
        with safe_open(path, "numpy") as file:
            yield file
    except (OSError, SafetensorError, KeyError, TypeError) as error:
        raise InputError(
            f"{what} cannot be read",
            where=str(path),
            found=str(error),
            expected="a file of the workflow",
            todo="run the workflow so that it is made again",
        ) from error
