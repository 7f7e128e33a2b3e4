"""From the names that language models write to disease ids."""

from rarefuse.cli.arguments import OPTIONS, Arguments, Commands, json_value, needed


def _lexicon(a: Arguments) -> None:
    from rarefuse.naming.lexicon import lexicon_stage

    lexicon_stage(
        diseases=a.diseases,
        mondo=a.mondo,
        mappings=a.mappings,
        orphanet=a.orphanet,
        lexicon=a.lexicon,
        crosswalk=a.crosswalk,
    )


def _map_names(a: Arguments) -> None:
    from rarefuse.naming.stage import mapping_stage

    mapping_stage(
        names=a.names,
        lexicon=a.lexicon,
        crosswalk=a.crosswalk,
        cases=a.cases,
        level=a.level,
        rules=a.rules,
        mapping=a.mapping,
        ranking=a.ranking,
        gold_ranks=a.gold_ranks,
    )


def _audit_sample(a: Arguments) -> None:
    from rarefuse.naming.audit import sample_stage

    sample_stage(arms=a.arm, corpus=a.corpus, options=a.options, items=a.items, key=a.key)


def _precision_sample(a: Arguments) -> None:
    from rarefuse.naming.precision import sample_stage

    sample_stage(
        arms=a.arm, corpus=a.corpus, lexicon=a.lexicon, size=a.size, seed=a.seed, output=a.output
    )


def _precision(a: Arguments) -> None:
    from rarefuse.naming.precision import print_precision

    print_precision(a.verdicts)


COMMANDS: Commands = {
    "lexicon": (
        _lexicon,
        "collect the names of diseases",
        needed(
            diseases="artifact diseases",
            mondo="Mondo names (JSON)",
            mappings="Mondo mappings (SSSOM)",
            orphanet="Orphanet nomenclature (XML)",
            lexicon="artifact to write",
            crosswalk="artifact to write",
        ),
    ),
    "map-names": (
        _map_names,
        "map the disease names of an arm",
        {
            **needed(
                names="artifact names",
                lexicon="artifact lexicon",
                crosswalk="artifact crosswalk",
                cases="artifact cases",
                mapping="artifact to write",
                ranking="artifact to write",
                gold_ranks="artifact to write",
            ),
            "--level": {"type": str, "default": "extended", "help": "exact or extended"},
            "--rules": {
                "type": json_value,
                "help": "rules of 'extended' as a JSON list; all by default",
            },
        },
    ),
    "audit-sample": (
        _audit_sample,
        "draw names without a match for two blinded reviewers",
        {
            "--arm": {"type": str, "action": "append", "required": True, "help": "arm"},
            **needed(
                corpus="folder",
                items="blinded TSV to write",
                key="TSV to write and keep from the reviewers",
            ),
            "--options": OPTIONS,
        },
    ),
    "precision-sample": (
        _precision_sample,
        "draw mapped names to be checked by hand",
        {
            "--arm": {"type": str, "action": "append", "required": True, "help": "arm"},
            **needed(corpus="folder", lexicon="artifact lexicon", output="TSV to write"),
            "--size": {"type": int, "default": 200, "help": "names to draw"},
            "--seed": {"type": int, "default": 4, "help": "seed of the draw"},
        },
    ),
    "precision": (
        _precision,
        "count the verdicts on mapped names that were checked by hand",
        {"verdicts": {"help": "TSV with column 'verdict'"}},
    ),
}
