"""The back ends there are, and what identifies an arm. Light: imports none of them.

Adding a back end is one class with the interface of `rarefuse.llm.backends.base.Backend`, its
options a dataclass's fields, and one line here. Adding a model is one entry under `llms:`.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from rarefuse.codedigest import class_fields
from rarefuse.errors import InputError

BACKENDS = {
    "vllm": ("rarefuse.llm.backends.vllm", "Vllm"),
    "openai": ("rarefuse.llm.backends.openai", "OpenAI"),
}
"""Back end that asks a model → module and class."""

RECORDED = "recorded"
"""The back end that asks nobody: answers that were given elsewhere."""

WORDS = frozenset({"family", "developer", "note"})
"""Keys of an arm that say of it what its answers do not depend on."""

DESCRIPTION = WORDS | {"backend", "source", "sha256", "max_cases", "shard_size", "gpus"}
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


PROTOCOL = frozenset(
    {"model", "messages", "temperature", "n", "max_tokens", "max_completion_tokens", "stream"}
)
"""Fields of a request that the protocol and the arm's entry decide, no further field of it."""


def check_arm(arm: str, entry: Mapping[str, Any]) -> None:
    """Refuse an arm that its back end cannot ask, before anything runs.

    Raises
    ------
    InputError
        Naming the arm and the key; never a value that may be secret.
    """
    where = f"config, llms.{arm}"
    backend = entry["backend"]
    known = class_fields(*BACKENDS[backend])
    for option in backend_options(entry):
        if option not in known:
            raise InputError(
                f"the back end '{backend}' has no such option",
                where=where,
                found=option,
                expected=", ".join(known),
                todo="correct the config",
            )
    needed = "'model'" if backend == "openai" else "'model' or 'source'"
    named = [place for place in ("model", "source") if place in entry]
    if len(named) != 1 or (backend == "openai" and named != ["model"]):
        raise InputError(
            "an arm needs one model",
            where=where,
            found=", ".join(named) or "none",
            expected=needed,
            todo="name the model (an id or a folder), or a GGUF file of the source registry",
        )
    if backend == "openai":
        taken = sorted(PROTOCOL & entry.get("extra_body", {}).keys())
        if taken:
            raise InputError(
                "a field of the request is not the arm's to set",
                where=f"{where}.extra_body",
                found=", ".join(taken),
                expected=f"further fields, none of {', '.join(sorted(PROTOCOL))}",
                todo="take it away: prompt and decoding are the protocol's",
            )
        address = urlsplit(entry.get("base_url", ""))
        if address.scheme not in ("http", "https") or not address.hostname:
            found = "no such key" if "base_url" not in entry else "another text (not shown)"
        elif address.username or address.password or address.query or address.fragment:
            found = "an address with a user, a password or a query (not shown)"
        else:
            return
        raise InputError(
            "the address of an endpoint cannot be used",
            where=f"{where}.base_url",
            found=found,
            expected="http:// or https://, a host and a path that ends with the version, as /v1",
            todo="write the plain address; a key goes into the environment variable that "
            "api_key_env names",
        )


def backend_options(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Options of an arm's back end."""
    return {key: value for key, value in entry.items() if key not in DESCRIPTION}


def identity(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What identifies the model of an arm."""
    return {key: value for key, value in entry.items() if key in IDENTITY}


def check_recorded(arm: str, entry: Mapping[str, Any]) -> None:
    """Refuse a recorded arm that names no one place, no columns, or options of other back ends.

    Raises
    ------
    InputError
        Naming the arm and the keys.
    """
    where = f"config, llms.{arm}"
    places = [place for place in ("source", "path") if place in entry]
    if len(places) != 1:
        raise InputError(
            "a recorded arm needs one place to be read from",
            where=where,
            found=", ".join(places) or "none",
            expected="either 'source' (an entry of the source registry) or 'path'",
            todo="add one of them, or take one away",
        )
    _check_pattern(where, entry.get("case_pattern"))
    known = WORDS | {"backend", "source", "path", "columns", "case_pattern", "keys"}
    if "columns" not in entry or entry.keys() - known:
        raise InputError(
            "a recorded arm is not described correctly",
            where=where,
            found=", ".join(sorted(entry.keys() - known)) or "no 'columns'",
            expected=f"'columns', and of other keys only {', '.join(sorted(known))}",
            todo="correct the config",
        )


def _check_pattern(where: str, pattern: str | None) -> None:
    """Refuse a pattern that is no regular expression or has no group to take the key from."""
    if pattern is None:
        return
    try:
        found = "no group" if re.compile(pattern).groups == 0 else None
    except re.error as error:
        found = str(error)
    if found is not None:
        raise InputError(
            "the pattern of a recorded arm's cases cannot be used",
            where=f"{where}.case_pattern",
            found=found,
            expected="a regular expression whose first group is the key",
            todo="correct the pattern",
        )
