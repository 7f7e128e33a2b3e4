"""Fusing a language model's lists with the ontology's."""

from typing import Any

from rarefuse.cli.arguments import OPTIONS, RANKER, Arguments, Commands, needed


def _fusion_features(a: Arguments) -> None:
    from rarefuse.fusion.stage import features_stage

    features_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        component=a.component,
        protocol=a.protocol,
        arm=a.arm,
        depth=a.depth,
        output=a.output,
        threads=a.threads,
    )


def _full_places(a: Arguments) -> None:
    from rarefuse.fusion.full import full_places_stage

    full_places_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        arms=a.arm,
        method=a.method,
        options=a.options,
        output=a.output,
        threads=a.threads,
    )


def _fusion_fit(a: Arguments) -> None:
    from rarefuse.fusion.fit import fit_stage

    fit_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        component=a.component,
        protocol=a.protocol,
        options=a.options,
        tensors=a.tensors,
        description=a.description,
    )


def _fusion_score(a: Arguments) -> None:
    from rarefuse.fusion.stage import rules_stage, score_stage

    shared = {
        "knowledge": a.knowledge,
        "corpus": a.corpus,
        "component": a.component,
        "protocol": a.protocol,
        "arm": a.arm,
        "options": a.options,
        "output": a.output,
    }
    if a.tensors is None:
        rules_stage(**shared)
    else:
        score_stage(**shared, tensors=a.tensors, description=a.tensors.with_suffix(".json"))


def _fuse(a: Arguments) -> None:
    from rarefuse.fusion.fused import fuse_stage

    fuse_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        component=a.component,
        protocol=a.protocol,
        arm=a.arm,
        method=a.method,
        options=a.options,
        tensors=a.tensors,
        description=None if a.tensors is None else a.tensors.with_suffix(".json"),
        output=a.output,
    )


_FUSION: dict[str, dict[str, Any]] = {
    **needed(knowledge="folder", corpus="folder"),
    "--component": {
        "type": str,
        "required": True,
        "help": "ranker, also with .topK (its first K places) or .full (its whole order)",
    },
    "--protocol": {"type": str, "required": True, "help": "ordinary or lopo"},
}
_ARM: dict[str, dict[str, Any]] = {
    "--arm": {"type": str, "required": True, "help": "language model"}
}


COMMANDS: Commands = {
    "fusion-features": (
        _fusion_features,
        "describe an arm's and the ontology's lists by their 39 features",
        {
            **_FUSION,
            **_ARM,
            "--depth": {"type": int, "default": 100, "help": "places that are stored"},
            **needed(output="artifact to write"),
            "--threads": {"type": int, "default": 1, "help": "threads to use"},
        },
    ),
    "full-places": (
        _full_places,
        "find where the diseases that language models name stand in a ranker's whole order",
        {
            **needed(knowledge="folder", corpus="folder", output="folder to write into"),
            "--arm": {"type": str, "action": "append", "required": True, "help": "language model"},
            **RANKER,
        },
    ),
    "fusion-fit": (
        _fusion_fit,
        "fit gates or their controls for every fold and seed",
        {
            **_FUSION,
            "--options": OPTIONS,
            **needed(tensors="safetensors to write", description="JSON to write"),
        },
    ),
    "fusion-score": (
        _fusion_score,
        "fuse an arm by fits, or without any by the rules, and look the diagnoses up",
        {
            **_FUSION,
            **_ARM,
            "--options": OPTIONS,
            "--tensors": {"help": "safetensors of fits, its JSON beside it"},
            **needed(output="artifact to write"),
        },
    ),
    "fuse": (
        _fuse,
        "write the fused lists of an arm by one method",
        {
            **_FUSION,
            **_ARM,
            "--method": {"type": str, "required": True, "help": "rule or learned method"},
            "--options": OPTIONS,
            "--tensors": {"help": "safetensors of a learned method's fits, its JSON beside it"},
            **needed(output="artifact to write"),
        },
    ),
}
