"""Pages that show every case."""

from rarefuse.cli.arguments import OPTIONS, Arguments, Commands, needed


def _explorer(a: Arguments) -> None:
    from rarefuse.explorer.stage import explorer_stage

    explorer_stage(
        knowledge=a.knowledge, corpus=a.corpus, name=a.name, options=a.options, output=a.output
    )


COMMANDS: Commands = {
    "explorer": (
        _explorer,
        "write the pages that show every case",
        {
            "--name": {"type": str, "required": True, "help": "corpus"},
            "--options": OPTIONS,
            **needed(
                knowledge="folder of annotations",
                corpus="folder of the corpus's artifacts",
                output="folder to write",
            ),
        },
    ),
}
