"""Case corpora: read, closed, split and audited."""

from rarefuse.cli.arguments import FROM_SOURCE, ONTOLOGY, OPTIONS, Arguments, Commands, needed
from rarefuse.cli.sources import verify_again


def _corpus(a: Arguments) -> None:
    from rarefuse.corpus.readers import corpus_stage

    verify_again(a, a.source)
    corpus_stage(
        name=a.name,
        reader=a.reader,
        source=a.source,
        options=a.options,
        terms=a.terms,
        aliases=a.aliases,
        cases=a.cases,
        skipped=a.skipped,
        withheld=a.withheld,
    )


def _view(a: Arguments) -> None:
    from rarefuse.corpus.view import view_stage

    view_stage(cases=a.cases, terms=a.terms, aliases=a.aliases, view=a.output)


def _splits(a: Arguments) -> None:
    from rarefuse.corpus.splits import splits_stage

    splits_stage(cases=a.cases, options=a.options, splits=a.output)


def _audit(a: Arguments) -> None:
    from rarefuse.corpus.audit import audit_stage

    audit_stage(
        view=a.view,
        cases=a.cases,
        withheld=a.withheld,
        splits=a.splits,
        diseases=a.diseases,
        terms=a.terms,
        aliases=a.aliases,
        output=a.output,
    )


COMMANDS: Commands = {
    "corpus": (
        _corpus,
        "read a case corpus",
        {
            "--name": {"type": str, "required": True, "help": "corpus"},
            "--reader": {"type": str, "required": True, "help": "what reads it"},
            **needed(
                source="file or folder",
                cases="artifact to write",
                skipped="artifact to write",
                withheld="artifact to write",
            ),
            **ONTOLOGY,
            "--options": OPTIONS,
            **FROM_SOURCE,
        },
    ),
    "view": (
        _view,
        "close the view",
        {**needed(cases="artifact cases", output="artifact to write"), **ONTOLOGY},
    ),
    "splits": (
        _splits,
        "split whole publications",
        {**needed(cases="artifact cases", output="artifact to write"), "--options": OPTIONS},
    ),
    "audit": (
        _audit,
        "look for answers in the closed view; fails if there are any",
        {
            **needed(
                view="artifact view",
                cases="artifact cases",
                withheld="artifact withheld",
                splits="artifact splits",
                diseases="artifact diseases",
                output="artifact to write",
            ),
            **ONTOLOGY,
        },
    ),
}
