"""Any server with OpenAI's chat completions: a commercial endpoint, or vLLM on another machine.

The key comes from the environment variable that the config names. It goes into one header and
nowhere else: failures are worded here, never with text that the server sent, and an answer that
echoes the key is not kept.
"""

import asyncio
import json
import os
import random
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from itertools import islice
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiolimiter import AsyncLimiter
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from rarefuse.errors import InputError
from rarefuse.llm.backends.base import Answer
from rarefuse.llm.prompt import DECODING, Prompt

_AGAIN = {408, 409, 425, 429, *range(500, 600)}
"""HTTP statuses that are worth another try."""
_HOPELESS = {401, 402, 403, 404, 405}
"""HTTP statuses that no case will escape."""
_FINISH = {"stop", "length", "content_filter", "tool_calls", "function_call", "eos", "abort"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which JSON can escape and no file can hold."""
_HOSTS_HERE = ("localhost", "127.0.0.1", "::1")


class _Failed(Exception):
    """A case that got no answer; the text says why."""


class _TryAgain(_Failed):
    """A failure that may pass; `after` is how long the server asks to be left alone."""

    def __init__(self, why: str, after: float = 0.0) -> None:
        super().__init__(why)
        self.after = after


class _NotNow(_Failed):
    """A failure that may pass, but not in this run."""


@dataclass(frozen=True)
class OpenAI:
    """A model behind a chat completions endpoint.

    Parameters
    ----------
    model : str
        Name of the model at the server.
    base_url : str
        Address up to and with ``/v1``.
    api_key_env : str, optional
        Name of the environment variable that holds the key; none for a server without keys.
    concurrency : int
        Requests in flight at once.
    requests_per_minute : float, optional
        Requests begun in a minute at most, retries included.
    retries : int
        Further tries of a case after the first.
    backoff_s, longest_wait_s : float
        Wait before the first further try, doubled each time and drawn at random below that;
        and the longest wait, also where the server asks for a longer one: the case fails then.
    timeout_s : float
        Time for one answer, from the connection to the last byte.
    max_body_bytes : int
        Longest answer that is read.
    give_up_after : int
        Cases failed in a row after which the rest is left for a later run.
    extra_body : mapping
        Further fields of the request, such as a server's switch for thinking.
    """

    model: str
    base_url: str
    api_key_env: str | None = None
    concurrency: int = 8
    requests_per_minute: float | None = None
    retries: int = 5
    backoff_s: float = 1.0
    longest_wait_s: float = 120.0
    timeout_s: float = 300.0
    max_body_bytes: int = 1 << 20
    give_up_after: int = 20
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    def answers(self, prompts: Sequence[Prompt], batch: int = 1) -> Iterator[Answer]:
        """Ask `concurrency` cases at a time, and hold nothing back; see `Backend`."""
        stream = self._stream(prompts, self._key())

        async def following() -> Answer | None:
            return await anext(stream, None)

        with asyncio.Runner() as runner:
            try:
                while (answer := runner.run(following())) is not None:
                    yield answer
            finally:
                runner.run(stream.aclose())

    def _key(self) -> str | None:
        if self.api_key_env is None:
            return None
        key = os.environ.get(self.api_key_env, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise InputError(
                "the key of the endpoint is not set" if not key else "the key cannot be sent",
                where=f"environment variable {self.api_key_env}",
                found="nothing" if not key else "characters that no header can hold (not shown)",
                expected="the key",
                todo="set the variable before the run; never write the key into the config",
            )
        return key

    async def _stream(self, prompts: Sequence[Prompt], key: str | None) -> AsyncGenerator[Answer]:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        limiter = AsyncLimiter(
            1, 60.0 / self.requests_per_minute if self.requests_per_minute else 1
        )
        waiting = iter(prompts)
        failed_in_a_row = 0
        async with aiohttp.ClientSession(
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=self.timeout_s),
            connector=aiohttp.TCPConnector(limit=self.concurrency),
            cookie_jar=aiohttp.DummyCookieJar(),
        ) as session:

            def begin(prompt: Prompt) -> asyncio.Task[Answer]:
                return asyncio.create_task(self._answer(session, limiter, prompt, key))

            running = {begin(prompt) for prompt in islice(waiting, self.concurrency)}
            try:
                while running:
                    done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    # Answers first: what came is kept even if another case stops the run.
                    for task in sorted(done, key=lambda task: task.exception() is not None):
                        answer = task.result()
                        failed_in_a_row = failed_in_a_row + 1 if answer.failure else 0
                        yield answer
                    if failed_in_a_row < self.give_up_after:
                        running |= {begin(prompt) for prompt in islice(waiting, len(done))}
            finally:
                for task in running:
                    task.cancel()
                await asyncio.gather(*running, return_exceptions=True)
        for prompt in waiting:
            reason = f"not tried: {self.give_up_after} cases in a row had failed"
            yield Answer(prompt.case_id, failure=reason)

    async def _answer(
        self,
        session: aiohttp.ClientSession,
        limiter: AsyncLimiter,
        prompt: Prompt,
        key: str | None,
    ) -> Answer:
        """Answer or failure of one case, after as many tries as there may be."""
        try:
            async for attempt in AsyncRetrying(
                stop=stop_after_attempt(1 + self.retries),
                wait=self._wait,
                retry=retry_if_exception_type(_TryAgain),
                reraise=True,
            ):
                with attempt:
                    if self.requests_per_minute:
                        await limiter.acquire()
                    body = await self._ask(session, prompt)
                    if key is not None and _holds(body, key):
                        raise _Failed("the server's answer holds the key")
                    return _read(prompt.case_id, body)
        except (_TryAgain, _NotNow) as error:
            return Answer(prompt.case_id, failure=str(error))
        except _Failed as error:
            return Answer(prompt.case_id, failure=str(error), final=True)
        raise AssertionError("unreachable")

    def _wait(self, state: RetryCallState) -> float:
        """Seconds before the next try: full jitter, and never less than the server asks for."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.after if isinstance(error, _TryAgain) else 0.0
        ceiling = min(self.longest_wait_s, self.backoff_s * 2 ** (state.attempt_number - 1))
        # When a request goes out is no part of any result.
        return asked + random.uniform(0.0, ceiling)

    async def _ask(self, session: aiohttp.ClientSession, prompt: Prompt) -> Any:
        """Body of one request's answer, as JSON."""
        url = f"{self.base_url.rstrip('/')}/chat/completions"
        request = {
            "model": self.model,
            "messages": prompt.messages,
            "temperature": DECODING["temperature"],
            "max_tokens": DECODING["max_tokens"],
            **self.extra_body,
        }
        try:
            async with session.post(
                url, json=request, allow_redirects=False, proxy=_proxy(url)
            ) as response:
                if response.status != 200:
                    self._refuse(response.status, response.headers.get("Retry-After"))
                text = await self._body(response)
        except TimeoutError:
            raise _TryAgain(f"no answer within {self.timeout_s:g} s") from None
        except aiohttp.ClientPayloadError:
            raise _TryAgain("the answer was cut off") from None
        except aiohttp.ClientConnectorError:
            raise _TryAgain("no connection") from None
        except (aiohttp.ClientError, OSError):
            raise _TryAgain("the connection broke") from None
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise _TryAgain("the answer is not JSON") from None

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        parts, size = [], 0
        async for part in response.content.iter_chunked(1 << 14):
            size += len(part)
            if size > self.max_body_bytes:
                raise _NotNow(f"the answer is longer than {self.max_body_bytes} bytes")
            parts.append(part)
        return b"".join(parts)

    def _refuse(self, status: int, retry_after: str | None) -> None:
        """Raise what an HTTP status other than 200 means."""
        reason = f"HTTP {status}{_phrase(status)}"
        if status in _HOPELESS:
            raise InputError(
                "the endpoint turns every request away",
                where=f"{_place(self.base_url)}, model {self.model}",
                found=reason,
                expected="200",
                todo="check base_url and model in the config, and the key in the environment "
                f"variable {self.api_key_env}"
                if self.api_key_env
                else "check base_url and model; if the server wants a key, name its environment "
                "variable as api_key_env",
            )
        if status not in _AGAIN:
            raise _Failed(reason)  # the request itself: asking again changes nothing
        after = _seconds(retry_after)
        if after > self.longest_wait_s:
            raise _NotNow(
                f"{reason}; the server asks to wait longer than {self.longest_wait_s:g} s"
            )
        raise _TryAgain(reason, after)


def _read(case_id: str, body: Any) -> Answer:
    """Answer in a chat completion.

    Raises
    ------
    _TryAgain
        If the JSON is no chat completion.
    """
    try:
        choice = body["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
        thoughts = message.get("reasoning_content") or message.get("reasoning")
        finish = choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise _TryAgain("the answer is no chat completion") from None
    if not isinstance(text, str | None) or not isinstance(finish, str | None):
        raise _TryAgain("the answer is no chat completion")
    usage = body.get("usage") if isinstance(body.get("usage"), dict) else {}
    return Answer(
        case_id,
        text=text and _LONE_SURROGATE.sub("\ufffd", text),
        finish_reason=finish if finish in _FINISH or finish is None else "other",
        reasoning=bool(thoughts),
        refused=bool(refusal),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
    )


def _holds(value: Any, key: str) -> bool:
    """Whether a text anywhere in JSON, however deep, holds the key."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str) and key in part:
            return True
        if isinstance(part, dict):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list):
            waiting += part
    return False


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 32 else None


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""


def _seconds(retry_after: str | None) -> float:
    """Seconds that a Retry-After header asks for, as a number or a date; 0 if it says neither."""
    if retry_after is None:
        return 0.0
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0.0
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _place(url: str) -> str:
    """Scheme, host and path of an address, without anything that may be secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _proxy(url: str) -> str | None:
    """Proxy that the environment names for an address; none for this machine."""
    parts = urlsplit(url)
    if parts.hostname in _HOSTS_HERE or proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get(parts.scheme)
