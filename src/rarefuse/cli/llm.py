"""Language models: answers that were recorded elsewhere, and those that are asked for."""

from rarefuse.cli.arguments import FROM_SOURCE, ONTOLOGY, OPTIONS, Arguments, Commands, needed
from rarefuse.cli.sources import verify_again


def _recorded(a: Arguments) -> None:
    from rarefuse.llm.recorded import recorded_stage

    verify_again(a, a.answers)
    recorded_stage(
        answers=a.answers,
        cases=a.cases,
        keys=a.keys,
        options=a.options,
        completions=a.completions,
        names=a.names,
        problems=a.problems,
    )


def _prepare_model(a: Arguments) -> None:
    from rarefuse.llm.prepare import prepare_model

    verify_again(a, a.gguf)
    prepare_model(a.gguf, a.output)


def _ask(a: Arguments) -> None:
    from rarefuse.llm.ask import ask_stage

    ask_stage(
        view=a.view,
        audit=a.audit,
        cases=a.cases,
        withheld=a.withheld,
        diseases=a.diseases,
        terms=a.terms,
        aliases=a.aliases,
        arm=a.arm,
        entry=a.options,
        model=a.model,
        output=a.output,
    )


def _parse_answers(a: Arguments) -> None:
    from rarefuse.llm.names import names_stage

    names_stage(completions=a.completions, output=a.output)


RECORDED: Commands = {
    "recorded": (
        _recorded,
        "read answers that were recorded elsewhere",
        {
            **needed(
                answers="table of answers: .parquet, .jsonl or .tsv",
                cases="artifact cases",
                completions="artifact to write",
                names="artifact to write",
                problems="artifact to write",
            ),
            "--keys": {"help": "table that leads keys to records"},
            "--options": OPTIONS,
            **FROM_SOURCE,
        },
    ),
}


ASKED: Commands = {
    "prepare-model": (
        _prepare_model,
        "unpack a GGUF model into a folder that vLLM loads",
        {**needed(gguf="GGUF file", output="folder to write"), **FROM_SOURCE},
    ),
    "ask": (
        _ask,
        "ask a language model about a corpus",
        {
            "arm": {"type": str, "help": "arm"},
            **needed(
                view="artifact view",
                audit="artifact audit",
                cases="artifact cases",
                withheld="artifact withheld",
                diseases="artifact diseases",
                output="artifact to write; shards are kept beside it",
            ),
            **ONTOLOGY,
            "--model": {"help": "folder of a prepared model"},
            "--options": OPTIONS,
        },
    ),
    "parse": (
        _parse_answers,
        "read the names in an arm's answers",
        needed(completions="artifact completions", output="artifact to write"),
    ),
}
