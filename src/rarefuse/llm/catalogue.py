"""The back ends there are, and what identifies an arm. Light: imports none of them.

Adding a back end is one class with the interface of `rarefuse.llm.backends.base.Backend`, its
options a dataclass's fields, and one line here. Adding a model is one entry under `llms:`.
"""

from collections.abc import Mapping
from typing import Any

BACKENDS = {
    "vllm": ("rarefuse.llm.backends.vllm", "Vllm"),
    "openai": ("rarefuse.llm.backends.openai", "OpenAI"),
}
"""Back end → module and class."""

DESCRIPTION = frozenset(
    {"family", "backend", "source", "sha256", "max_cases", "shard_size", "gpus", "note"}
)
"""Keys of an arm that its back end does not get."""

IDENTITY = frozenset(
    {
        "backend",
        "model",
        "sha256",
        "revision",
        "dtype",
        "quantization",
        "chat_template_kwargs",
        "base_url",
        "extra_body",
    }
)
"""Keys that make another arm of it: an answer under another value is another model's. How fast,
where and how often it is asked does not count."""


def backend_options(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Options of an arm's back end."""
    return {key: value for key, value in entry.items() if key not in DESCRIPTION}


def identity(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What identifies the model of an arm."""
    return {key: value for key, value in entry.items() if key in IDENTITY}
