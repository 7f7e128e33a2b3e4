"""The interface of a back end."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rarefuse.llm.catalogue import BACKENDS
from rarefuse.llm.prompt import Prompt


@dataclass(frozen=True)
class Answer:
    """What came back for one case.

    Parameters
    ----------
    case_id : str
        Case that was asked about.
    text : str or None
        Answer exactly as it came; None if there is none.
    finish_reason : str or None
        Why generation ended, as the back end says.
    reasoning, refused : bool
        Whether the back end says that it kept reasoning apart, or that the model refused.
    prompt_tokens, completion_tokens : int or None
        Lengths, if the back end counts them.
    failure : str or None
        Why no answer came. Never text of a server: that might hold a key.
    final : bool
        A failure that asking again cannot mend.
    """

    case_id: str
    text: str | None = None
    finish_reason: str | None = None
    reasoning: bool = False
    refused: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    failure: str | None = None
    final: bool = False


class Backend(Protocol):
    """Asks one model."""

    def answers(self, prompts: Sequence[Prompt], batch: int) -> Iterator[Answer]:
        """Ask about every case and give each answer once, as it comes, in any order.

        Parameters
        ----------
        prompts : sequence of Prompt
            All to be asked.
        batch : int
            Answers that the caller writes at once: no more may be held back here.

        Raises
        ------
        InputError
            If no case can be answered: no such model, a key that is refused.
        """
        ...


def make_backend(name: str, options: Mapping[str, Any]) -> Backend:
    """Build the back end of an arm.

    Parameters
    ----------
    name : str
        Key of `BACKENDS`.
    options : mapping
        Fields of the back end's class, checked by `rarefuse.llm.catalogue.check_arm`.

    """
    module, kind = BACKENDS[name]
    backend: Backend = getattr(importlib.import_module(module), kind)(**options)
    return backend
