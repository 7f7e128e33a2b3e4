"""The merged configuration of a run."""

from rarefuse.cli.arguments import OPTIONS, Arguments, Commands, needed


def _write_config(a: Arguments) -> None:
    import yaml

    from rarefuse.artifacts import write_text

    write_text(yaml.safe_dump(a.options, sort_keys=True, allow_unicode=True), a.output)


COMMANDS: Commands = {
    "write-config": (
        _write_config,
        "write a run's merged configuration",
        {"--options": OPTIONS, **needed(output="file to write")},
    ),
}
