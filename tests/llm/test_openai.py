"""The endpoint back end against a real server on loopback that misbehaves."""

import time
from email.utils import formatdate

import pytest

from rarefuse.errors import InputError
from rarefuse.llm.backends.openai import OpenAI, _seconds
from rarefuse.llm.prompt import DECODING, SYSTEM, Prompt

KEY = "sk-planted-0123456789"


def prompts(n):
    return [Prompt(f"case{i:03d}", f"prompt {i}") for i in range(n)]


@pytest.fixture
def backend(server):
    def make(**options):
        quick = {"backoff_s": 0.01, "retries": 3, "timeout_s": 5.0, "concurrency": 4}
        return OpenAI(model="m", base_url=server.base_url, **{**quick, **options})

    return make


def asked(backend, n=1):
    return {answer.case_id: answer for answer in backend.answers(prompts(n))}


def test_an_answer_as_it_came(server, backend):
    seen = []

    def behave(handler, request, nth):
        seen.append(request)
        handler.complete(" 1. Å\n", "length")

    server.behave = behave
    (answer,) = backend(extra_body={"enable_thinking": False}).answers(prompts(1))
    assert (answer.text, answer.finish_reason, answer.failure) == (" 1. Å\n", "length", None)
    assert (answer.prompt_tokens, answer.completion_tokens) == (100, 50)
    (request,) = seen
    assert request == {
        "model": "m",
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": "prompt 0"},
        ],
        "temperature": DECODING["temperature"],
        "max_tokens": 384,
        "enable_thinking": False,
    }
    assert server.keys == [None]


def test_every_case_is_answered_once_and_the_concurrency_is_kept(server, backend):
    running, most = set(), []

    def behave(handler, request, nth):
        running.add(handler.prompt)
        most.append(len(running))
        time.sleep(0.02)
        running.discard(handler.prompt)
        handler.complete()

    server.behave = behave
    answers = asked(backend(concurrency=3), 30)
    assert len(answers) == 30
    assert set(server.answered.values()) == {1}
    assert 2 <= max(most) <= 3


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failure_that_passes(server, backend, status):
    server.behave = lambda handler, request, nth: (
        handler.answer({}, status) if nth < 3 else handler.complete()
    )
    answers = asked(backend(), 5)
    assert all(answer.failure is None for answer in answers.values())
    assert set(server.asked.values()) == {3}


@pytest.mark.parametrize(
    ("behave", "reason", "tries"),
    [
        (lambda h, r, n: h.answer({}, 429), "HTTP 429 Too Many Requests", 4),
        (lambda h, r, n: h.answer({}, 500), "HTTP 500 Internal Server Error", 4),
        (lambda h, r, n: time.sleep(6.0), "no answer within 2 s", 4),
        (lambda h, r, n: h.cut_off(), "the answer was cut off", 4),
        (lambda h, r, n: h.answer(b"<html>busy</html>"), "the answer is not JSON", 4),
        (lambda h, r, n: h.answer(b"[1]"), "the answer is no chat completion", 4),
        (lambda h, r, n: h.answer({"choices": []}), "the answer is no chat completion", 4),
        (lambda h, r, n: h.complete(3), "the answer is no chat completion", 4),
        (lambda h, r, n: h.complete("1. A", ["stop"]), "the answer is no chat completion", 4),
        (lambda h, r, n: h.answer(b"[" * 3_900), "the answer is not JSON", 4),
        (lambda h, r, n: h.complete("x" * 5000), "the answer is longer than 4000 bytes", 1),
        (lambda h, r, n: h.answer({}, 422), "HTTP 422 Unprocessable Entity", 1),
        (lambda h, r, n: h.answer({}, 302, [("Location", "/")]), "HTTP 302 Found", 1),
    ],
)  # fmt: skip
def test_a_failure_that_stays_is_counted_after_bounded_tries(
    server, backend, behave, reason, tries
):
    server.behave = behave
    answers = asked(backend(timeout_s=2.0, max_body_bytes=4000), 3)
    assert [answer.failure for answer in answers.values()] == [reason] * 3
    assert all(answer.text is None for answer in answers.values())
    assert set(server.asked.values()) == {tries}


def test_a_request_that_is_wrong_is_final_and_a_busy_server_is_not(server, backend):
    server.behave = lambda h, r, n: h.answer({}, 400 if h.prompt == "prompt 0" else 500)
    answers = asked(backend(retries=0), 2)
    assert answers["case000"].final
    assert not answers["case001"].final


def test_the_server_says_how_long_to_wait(server, backend):
    server.behave = lambda h, r, n: (
        h.answer({}, 429, [("Retry-After", "0.5")]) if n == 1 else h.complete()
    )
    assert asked(backend())["case000"].failure is None
    first, second = server.times
    assert second - first >= 0.5


def test_a_wait_that_is_too_long_is_left_for_a_later_run(server, backend):
    server.behave = lambda h, r, n: h.answer({}, 429, [("Retry-After", "3600")])
    answer = asked(backend(longest_wait_s=60.0))["case000"]
    assert "asks to wait longer than 60 s" in answer.failure
    assert not answer.final
    assert sum(server.asked.values()) == 1


def test_retry_after_in_all_its_forms():
    assert _seconds(None) == 0.0
    assert _seconds("7") == 7.0
    assert _seconds("-7") == 0.0
    assert _seconds("soon") == 0.0
    assert 50 < _seconds(formatdate(time.time() + 60, usegmt=True)) <= 61
    assert _seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0


def test_the_rate_is_kept(server, backend):
    asked(backend(requests_per_minute=600, concurrency=8), 6)
    gaps = [later - earlier for earlier, later in zip(server.times, server.times[1:], strict=False)]
    assert sum(gaps) >= 0.4  # 600 a minute is one in 0.1 s


def test_cases_that_fail_in_a_row_end_the_run(server, backend):
    server.behave = lambda h, r, n: h.answer({}, 500)
    answers = asked(backend(retries=0, give_up_after=5, concurrency=1), 40)
    reasons = [answer.failure for answer in answers.values()]
    assert len(reasons) == 40
    assert reasons.count("HTTP 500 Internal Server Error") == 5
    assert reasons.count("not tried: 5 cases in a row had failed") == 35
    assert sum(server.asked.values()) == 5


def test_nobody_there(backend, server):
    unused = OpenAI(model="m", base_url="http://127.0.0.1:9/v1", retries=1, backoff_s=0.01)
    assert asked(unused)["case000"].failure == "no connection"


@pytest.mark.parametrize("status", [401, 403, 404])
def test_an_endpoint_that_turns_everything_away_stops_the_run(server, backend, status, monkeypatch):
    monkeypatch.setenv("PLANTED_KEY", KEY)
    server.behave = lambda h, r, n: h.answer({"error": f"bad key {KEY}"}, status)
    with pytest.raises(InputError, match="turns every request away") as caught:
        asked(backend(api_key_env="PLANTED_KEY"), 5)
    assert f"HTTP {status}" in str(caught.value)
    assert KEY not in str(caught.value)


def test_the_key_goes_into_the_header_and_nowhere_else(server, backend, monkeypatch):
    monkeypatch.setenv("PLANTED_KEY", KEY)
    server.behave = lambda h, r, n: (
        h.complete(f"1. {KEY}") if h.prompt == "prompt 0" else h.answer({"error": KEY}, 500)
    )
    keyed = backend(api_key_env="PLANTED_KEY", retries=0)
    answers = asked(keyed, 2)
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert answers["case000"].failure == "the server's answer holds the key"
    nested = '{"x":' * 400 + f'["{KEY}"]' + "}" * 400
    server.behave = lambda h, r, n: h.answer(nested.encode())
    assert asked(keyed)["case000"].failure == "the server's answer holds the key"
    assert KEY not in repr(answers)
    assert KEY not in repr(keyed)


@pytest.mark.parametrize("value", [None, "", "  ", "sk-\n"])
def test_no_key(backend, monkeypatch, value):
    if value is None:
        monkeypatch.delenv("PLANTED_KEY", raising=False)
    else:
        monkeypatch.setenv("PLANTED_KEY", value)
    if value == "sk-\n":
        assert asked(backend(api_key_env="PLANTED_KEY"))["case000"].failure is None
        return
    with pytest.raises(InputError, match="not set") as caught:
        asked(backend(api_key_env="PLANTED_KEY"))
    assert "PLANTED_KEY" in str(caught.value)


def test_refusals_reasoning_and_silence(server, backend):
    messages = {
        "prompt 0": {"text": None, "refusal": "I will not."},
        "prompt 1": {"text": "", "reasoning_content": "Let me see."},
        "prompt 2": {"text": None},
        "prompt 3": {"finish": "something new"},
    }
    server.behave = lambda h, r, n: h.complete(**messages[h.prompt])
    answers = asked(backend(), 4)
    assert answers["case000"].refused
    assert answers["case001"].reasoning
    assert answers["case002"].text is None
    assert answers["case002"].failure is None
    assert answers["case003"].finish_reason == "other"


def test_half_a_character_is_replaced(server, backend):
    # JSON can escape one half of a surrogate pair, as an answer cut inside an emoji has it.
    server.behave = lambda h, r, n: h.complete("1. A \ud83d")
    text = asked(backend())["case000"].text
    assert text == "1. A \ufffd"
    assert text.encode()


def test_what_came_is_given_before_the_error_of_another_case(server, backend):
    def behave(handler, request, nth):
        if handler.prompt == "prompt 3":
            time.sleep(0.2)
            handler.answer({}, 401)
        else:
            handler.complete()

    server.behave = behave
    answers = backend().answers(prompts(4))
    came = [next(answers).case_id for _ in range(3)]
    with pytest.raises(InputError):
        next(answers)
    assert sorted(came) == ["case000", "case001", "case002"]
