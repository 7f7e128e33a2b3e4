"""The stage that asks a model about a corpus: guarded prompts out, every answer kept."""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from tqdm import tqdm

from rarefuse import artifacts
from rarefuse.annotations.relations import DISEASES
from rarefuse.corpus.audit import AUDIT, refuse_failures
from rarefuse.corpus.cases import CASES, WITHHELD
from rarefuse.corpus.view import VIEW
from rarefuse.llm.answers import (
    COMPLETIONS,
    EMPTY,
    FAILED,
    NOT_ASKED,
    OK,
    REFUSED,
    TRUNCATED,
)
from rarefuse.llm.backends.base import Answer, make_backend
from rarefuse.llm.catalogue import backend_options, identity
from rarefuse.llm.guard import check_prompts
from rarefuse.llm.parser import parse, without_reasoning
from rarefuse.llm.prompt import DECODING, Prompt, digest, render_prompt, template_digest
from rarefuse.llm.shards import Shards
from rarefuse.ontology import read_ontology

_REFUSAL = re.compile(
    r"\W*(?:i['’]?m (?:very |so )?sorry|i am (?:very |so )?sorry|sorry|apologies|i apologi[sz]e|"
    r"unfortunately|i can(?:not|['’]?t| ?not)|i (?:am|['’]m) (?:unable|not able)|i won['’]?t|"
    r"as an ai|i (?:must|have to) decline)\b",
    re.IGNORECASE,
)
"""How an answer without a name begins that is taken as a refusal."""


def arm_digest(entry: Mapping[str, Any]) -> str:
    """Digest of prompt template, decoding and model: what answers of an arm are answers to.

    Parameters
    ----------
    entry : mapping
        The arm's entry in the config.
    """
    return digest({"prompt": template_digest(), "decoding": DECODING, "model": identity(entry)})


def status_of(answer: Answer) -> str:
    """What an answer is: empty, refused, truncated or ok, the first that holds.

    Empty: nothing but white space. Refused: the back end says so, or there is no name in it and it
    begins as refusals do. Truncated: generation ended at its limit.
    """
    if answer.failure is not None:
        return FAILED
    if answer.refused or answer.finish_reason == "content_filter":
        return REFUSED
    if not (answer.text or "").strip():
        return EMPTY
    rest = without_reasoning(answer.text or "")[0]
    if _REFUSAL.match(rest.strip()) and not parse(answer.text):
        return REFUSED
    return TRUNCATED if answer.finish_reason == "length" else OK


def completions(case_ids: Sequence[str], answers: Mapping[str, Answer]) -> pl.DataFrame:
    """`COMPLETIONS` of all cases of a corpus; those without an answer were not asked."""
    rows = []
    for case_id in case_ids:
        answer = answers.get(case_id)
        rows.append(
            {
                "case_id": case_id,
                "status": NOT_ASKED if answer is None else status_of(answer),
                "reason": answer and answer.failure,
                "finish_reason": answer and answer.finish_reason,
                "reasoning": answer is not None
                and (answer.reasoning or without_reasoning(answer.text or "")[1]),
                "text": answer and answer.text,
                "prompt_tokens": answer and answer.prompt_tokens,
                "completion_tokens": answer and answer.completion_tokens,
            }
        )
    return pl.DataFrame(rows, schema=COMPLETIONS.dtypes).sort("case_id")


def ask(
    prompts: Sequence[Prompt],
    arm: str,
    entry: Mapping[str, Any],
    shards: Shards,
    folder: Path | None = None,
) -> dict[str, Answer]:
    """Ask about every case that has no answer yet.

    Parameters
    ----------
    prompts : sequence of Prompt
        Guarded prompts.
    arm : str
        The arm's id, for messages.
    entry : mapping
        Its entry in the config.
    shards : Shards
        Answers of earlier runs; new ones are added.
    folder : Path, optional
        The prepared model, where the entry names a source and no model.

    Returns
    -------
    dict of str to Answer
        Answer or failure of every case.
    """
    answers = shards.answered(prompts)
    todo = {prompt.case_id: prompt for prompt in prompts if prompt.case_id not in answers}
    print(
        f"{arm}: {len(answers)} of {len(prompts)} cases answered before, {len(todo)} to ask",
        file=sys.stderr,
    )
    if not todo:
        return answers
    options = backend_options(entry)
    if folder is not None:
        options["model"] = str(folder)
    backend = make_backend(entry["backend"], options)
    # The bar shows rate and remaining time; a log gets a line every ten seconds at most.
    bar = tqdm(total=len(todo), desc=arm, unit="case", file=sys.stderr, mininterval=10.0)
    with shards, bar:
        for answer in backend.answers(list(todo.values()), shards.size):
            prompt = todo.pop(answer.case_id)
            answers[answer.case_id] = answer
            if answer.failure is None:
                shards.add(answer, prompt)
            bar.update()
    assert not todo, "a back end left cases out"
    return answers


def note_attempt(path: Path, answers: Iterable[Answer]) -> None:
    """Count the runs that left failures behind, so that the workflow knows to run again.

    The number is a parameter of the rule: it goes up when a failure is left that asking again may
    mend, and stays as it is when none is.
    """
    if any(answer.failure is not None and not answer.final for answer in answers):
        before = int(path.read_text()) if path.exists() else 0
        artifacts.write_text(f"{before + 1}\n", path)


def ask_stage(
    *,
    view: Path,
    audit: Path,
    cases: Path,
    withheld: Path,
    diseases: Path,
    terms: Path,
    aliases: Path,
    arm: str,
    entry: Mapping[str, Any],
    model: Path | None = None,
    output: Path,
) -> None:
    """Ask an arm's model about the first `max_cases` cases and write `COMPLETIONS`.

    Shards are kept in ``shards/`` beside `output`.
    """
    refuse_failures(artifacts.read(audit, AUDIT), str(audit))
    seen = artifacts.read(view, VIEW).sort("case_id")
    asked = list(seen.head(entry.get("max_cases") or seen.height).iter_rows(named=True))
    prompts = [render_prompt(case) for case in asked]
    check_prompts(
        prompts,
        asked,
        artifacts.read(cases, CASES),
        artifacts.read(withheld, WITHHELD),
        dict(artifacts.read(diseases, DISEASES).select("disease_id", "name").iter_rows()),
        read_ontology(terms, aliases),
    )
    folder = output.parent
    shards = Shards(folder / "shards", arm_digest(entry), entry.get("shard_size", 64))
    if shards.stale:
        print(
            f"{arm}: {len(shards.stale)} shards of another prompt or model stay unused in "
            f"{folder / 'shards'}",
            file=sys.stderr,
        )
    answers = ask(prompts, arm, entry, shards, model)
    result = completions(seen["case_id"].to_list(), answers)
    counts = Counter(result["status"].to_list())
    print(f"{arm}: " + ", ".join(f"{k} {n}" for k, n in sorted(counts.items())), file=sys.stderr)
    for reason, n in Counter(result["reason"].drop_nulls().to_list()).most_common():
        print(f"{arm}: failed {n}: {reason}", file=sys.stderr)
    note_attempt(folder / "attempts", answers.values())
    artifacts.write(result, COMPLETIONS, output)
