"""Deleting annotations of the diagnosis by where they come from."""

from rarefuse.cli.arguments import RANKER, Arguments, Commands, needed


def _deletions(a: Arguments) -> None:
    from rarefuse.provenance.matching import deletions_stage

    deletions_stage(cases=a.cases, knowledge=a.knowledge, output=a.output)


def _rank_deletions(a: Arguments) -> None:
    from rarefuse.provenance.deletion_ranks import rank_deletions_stage

    rank_deletions_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        deletions=a.deletions,
        method=a.method,
        options=a.options,
        gold_ranks=a.gold_ranks,
        threads=a.threads,
    )


COMMANDS: Commands = {
    "deletions": (
        _deletions,
        "match independent annotations to those that LOPO removes",
        needed(cases="artifact cases", knowledge="folder", output="artifact to write"),
    ),
    "rank-deletions": (
        _rank_deletions,
        "rank with source-exclusive annotations of the diagnosis deleted, or matched ones",
        {
            **needed(
                knowledge="folder",
                corpus="folder",
                deletions="artifact deletions",
                gold_ranks="folder to write into",
            ),
            **RANKER,
        },
    ),
}
