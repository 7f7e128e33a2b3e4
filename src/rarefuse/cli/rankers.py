"""Ranking a corpus, with methods of this package or stock programs."""

from rarefuse.cli.arguments import FROM_SOURCE, RANKER, Arguments, Commands, needed
from rarefuse.cli.sources import verify_again


def _rank(a: Arguments) -> None:
    from rarefuse.rankers.run import rank_stage

    rank_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        method=a.method,
        options=a.options,
        depth=a.depth,
        rankings=a.rankings,
        gold_ranks=a.gold_ranks,
        threads=a.threads,
    )


def _stock(a: Arguments) -> None:
    from rarefuse.rankers.stock.run import stock_stage

    verify_again(a, a.hpoa)
    stock_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        hpoa=a.hpoa,
        crosswalk=a.crosswalk,
        method=a.method,
        options=a.options,
        depth=a.depth,
        state=a.state,
        rankings=a.rankings,
        gold_ranks=a.gold_ranks,
        failures=a.failures,
        threads=a.threads,
    )


COMMANDS: Commands = {
    "rank": (
        _rank,
        "rank a corpus under both protocols",
        {
            **needed(
                knowledge="folder",
                corpus="folder",
                rankings="folder to write into",
                gold_ranks="folder to write into",
            ),
            **RANKER,
            "--depth": {"type": int, "default": 100, "help": "places to keep"},
        },
    ),
    "stock": (
        _stock,
        "rank a corpus under both protocols with a stock program",
        {
            **needed(
                knowledge="folder",
                corpus="folder",
                hpoa="phenotype.hpoa",
                state="folder for finished answers",
                rankings="folder to write into",
                gold_ranks="folder to write into",
                failures="artifact to write",
            ),
            "--crosswalk": {"help": "artifact crosswalk, for ids of other namespaces"},
            **RANKER,
            "--depth": {"type": int, "default": 100, "help": "places to keep"},
            **FROM_SOURCE,
        },
    ),
}
