"""Retrieval of ontology terms, from the sets to the index that grounds a text."""

import json
from typing import Any

from rarefuse.cli.arguments import OPTIONS, Arguments, Commands, needed
from rarefuse.retrieval.notes import DEFAULT_INDEX


def _retrieval_set(a: Arguments) -> None:
    from rarefuse.retrieval.stage import subset_stage

    subset_stage(source=a.source, folder=a.folder, options=a.options)


def _retrieval_encode(a: Arguments) -> None:
    from rarefuse.retrieval.stage import encode_stage

    encode_stage(folder=a.folder, options=a.options, known=a.known)


def _retrieval_reference(a: Arguments) -> None:
    from rarefuse.retrieval.stage import reference_stage

    reference_stage(folder=a.folder, seed=a.seed, output=a.output)


def _retrieval_train(a: Arguments) -> None:
    from rarefuse.retrieval.stage import train_stage

    train_stage(folder=a.folder, seed=a.seed, options=a.options, output=a.output)


def _retrieval_search(a: Arguments) -> None:
    from rarefuse.retrieval.stage import search_stage

    search_stage(folder=a.folder, seed=a.seed, tables=a.tables, output=a.output, mixing=a.mixing)


def _retrieval_index(a: Arguments) -> None:
    from rarefuse.retrieval.stage import index_stage

    index_stage(folder=a.folder, seed=a.seed, tables=a.tables, mixing=a.mixing, output=a.output)


def _retrieval_table(a: Arguments) -> None:
    from rarefuse.retrieval.table_stage import retrieval_table_stage

    retrieval_table_stage(
        name=a.name, folder=a.folder, inputs=a.input, options=a.options, output=a.output
    )


def _ground(a: Arguments) -> None:
    from rarefuse.retrieval.ground import read_grounder

    answer = read_grounder(a.index, a.encoder).ground(a.text, k=a.k, want=a.want)
    if a.json:
        print(json.dumps(answer.as_dict(), ensure_ascii=False))
        return
    print(f"{answer.mention} -> {answer.linked.term_id} {answer.linked.label}")
    for hit in answer.hits:
        print(f"{hit.rank:>3}  {hit.term_id}  {hit.label}")


_SEED: dict[str, Any] = {"type": int, "default": 0, "help": "seed of the training"}


COMMANDS: Commands = {
    "retrieval-set": (
        _retrieval_set,
        "sample a subset of an ontology and make its queries",
        {**needed(source="ontology", folder="set's folder"), "--options": OPTIONS},
    ),
    "retrieval-encode": (
        _retrieval_encode,
        "encode every text of a set",
        {
            **needed(folder="set's folder"),
            "--options": OPTIONS,
            "--known": {"action": "append", "default": [], "help": "vectors to take over"},
        },
    ),
    "retrieval-reference": (
        _retrieval_reference,
        "train and search the reference's systems",
        {**needed(folder="set's folder", output="artifact to write"), "--seed": _SEED},
    ),
    "retrieval-train": (
        _retrieval_train,
        "train the hyperbolic tables",
        {
            **needed(folder="set's folder", output="file to write"),
            "--seed": _SEED,
            "--options": OPTIONS,
        },
    ),
    "retrieval-search": (
        _retrieval_search,
        "search every test query",
        {
            **needed(
                folder="set's folder",
                tables="trained tables",
                output="artifact to write",
                mixing="file to write",
            ),
            "--seed": _SEED,
        },
    ),
    "retrieval-index": (
        _retrieval_index,
        "write the index that 'ground' serves",
        {
            **needed(
                folder="set's folder",
                tables="trained tables",
                mixing="chosen mixing",
                output="folder to write into",
            ),
            "--seed": _SEED,
        },
    ),
    "retrieval-table": (
        _retrieval_table,
        "compute a table of the retrieval part",
        {
            "name": {"type": str, "help": "table"},
            "--input": {"action": "append", "default": [], "help": "artifact that it reads"},
            **needed(folder="set's folder", output="artifact to write"),
            "--options": OPTIONS,
        },
    ),
    "ground": (
        _ground,
        "ground a text to ontology terms",
        {
            "text": {"type": str, "help": "a mention, or a question about one"},
            "--index": {
                "default": DEFAULT_INDEX,
                "help": f"folder of a set; {DEFAULT_INDEX} by default",
            },
            "--want": {
                "type": str,
                "default": "auto",
                "help": "term, parents, ancestors, siblings, or auto: what the text asks",
            },
            "--k": {"type": int, "default": 10, "help": "terms to print"},
            "--encoder": {"type": str, "default": "all-MiniLM-L6-v2", "help": "sentence encoder"},
            "--json": {"action": "store_true", "help": "print JSON"},
        },
    ),
}
