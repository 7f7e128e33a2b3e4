"""Results that go to PhEval and come from it."""

import sys

from rarefuse.cli.arguments import Arguments, Commands, needed


def _pheval_export(a: Arguments) -> None:
    from rarefuse.pheval.export import export_stage

    written = export_stage(
        cases=a.cases, ranking=a.ranking, crosswalk=a.crosswalk, ties=a.ties, output=a.output
    )
    print(f"{written} results in {a.output}", file=sys.stderr)


def _pheval_names(a: Arguments) -> None:
    from rarefuse.pheval.export import names_stage

    cases, strangers = names_stage(results=a.results, cases=a.cases, output=a.output)
    print(f"{cases} cases in {a.output}, {strangers} results of no case", file=sys.stderr)


COMMANDS: Commands = {
    "pheval-export": (
        _pheval_export,
        "write a list of a corpus as PhEval disease results, one file a case",
        {
            **needed(
                cases="artifact cases",
                ranking="any list of the workflow: rankings, llm, reranked or fused",
                output="PhEval's results folder to write into",
            ),
            "--crosswalk": {"help": "artifact crosswalk, for Mondo's ids"},
            "--ties": {
                "type": str,
                "default": "native",
                "choices": ["native", "worst"],
                "help": "rank of equal candidates: our order, or the last place, as PhEval ranks",
            },
        },
    ),
    "pheval-names": (
        _pheval_names,
        "collect another tool's PhEval disease results into a table for a recorded arm",
        needed(
            results="PhEval's results folder", cases="artifact cases", output="artifact to write"
        ),
    ),
}
