"""Reranking candidates by their evidence."""

from rarefuse.cli.arguments import OPTIONS, Arguments, Commands, needed


def _train_reranker(a: Arguments) -> None:
    from rarefuse.rerank.stage import train_stage

    train_stage(
        knowledge=a.knowledge, corpus=a.corpus, arms=a.arm, options=a.options, output=a.output
    )


def _rerank(a: Arguments) -> None:
    from rarefuse.rerank.stage import rerank_stage

    rerank_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        target=a.target,
        model=a.model,
        n_places=a.places,
        output=a.output,
    )


COMMANDS: Commands = {
    "train-reranker": (
        _train_reranker,
        "train an evidence reranker",
        {
            **needed(knowledge="folder", corpus="folder", output="folder to write into"),
            "--arm": {
                "type": str,
                "action": "append",
                "default": [],
                "help": "language model that trains; none for the ontology alone",
            },
            "--options": OPTIONS,
        },
    ),
    "rerank": (
        _rerank,
        "rerank a corpus out of fold",
        {
            "target": {"type": str, "help": "language model, or 'ontology'"},
            **needed(
                knowledge="folder",
                corpus="folder",
                model="folder of a trained reranker",
                output="folder to write into",
            ),
            "--places": {"type": int, "default": 20, "help": "places to keep"},
        },
    ),
}
