"""Result tables."""

from rarefuse.cli.arguments import OPTIONS, Arguments, Commands, needed


def _table(a: Arguments) -> None:
    from rarefuse.evaluation.base import Evaluation
    from rarefuse.evaluation.stage import table_stage

    table_stage(
        name=a.name,
        evaluation=Evaluation(corpus=a.corpus, knowledge=a.knowledge, **a.options),
        output=a.output,
    )


COMMANDS: Commands = {
    "table": (
        _table,
        "compute a result table",
        {
            "name": {"type": str, "help": "table"},
            **needed(corpus="folder", knowledge="folder", output="artifact to write"),
            "--options": OPTIONS,
        },
    ),
}
