"""One patient's diseases, or those of a folder of patients."""

import os
from pathlib import Path

from rarefuse.cli.arguments import Arguments, Commands, ids, positive, share
from rarefuse.retrieval.notes import DEFAULT_INDEX, LEAST_SIMILARITY


def _diagnose(a: Arguments) -> None:
    from rarefuse.diagnose.clinic import Request
    from rarefuse.diagnose.stage import diagnose_stage

    diagnose_stage(
        Request(
            configs=a.config or [Path("config.yaml")],
            case=a.case,
            text=a.text,
            index=a.index,
            least_similarity=a.least_similarity,
            observed=a.hpo,
            excluded=a.excluded_hpo,
            batch=a.batch,
            publications=a.exclude_publication,
            llm=a.llm,
            answers=a.answers,
            models=a.model,
            formats=list(dict.fromkeys(a.format)) or ["json" if a.batch else "table"],
            output=a.output,
            top=a.top,
            cache=a.cache,
            threads=a.threads,
        )
    )


COMMANDS: Commands = {
    "diagnose": (
        _diagnose,
        "rank the diseases that explain one patient's findings, or a folder of patients. "
        "Research use only",
        {
            "case": {
                "nargs": "?",
                "help": "phenopacket of schema v1 or v2, JSON or YAML, or a free text (.txt)",
            },
            "--text": {"type": str, "help": "findings in words, in place of a file"},
            "--index": {
                "metavar": "FOLDER",
                "help": f"index that free text is grounded with; {DEFAULT_INDEX} by default",
            },
            "--least-similarity": {
                "type": share,
                "default": LEAST_SIMILARITY,
                "metavar": "COSINE",
                "help": f"of words and term, at least; {LEAST_SIMILARITY} by default",
            },
            "--hpo": {
                "type": ids,
                "default": [],
                "metavar": "HP:…,HP:…",
                "help": "observed terms in place of a phenopacket",
            },
            "--excluded-hpo": {
                "type": ids,
                "default": [],
                "metavar": "HP:…,HP:…",
                "help": "terms that were looked for and not found, beside --hpo",
            },
            "--batch": {"metavar": "FOLDER", "help": "rank every phenopacket below a folder"},
            "--exclude-publication": {
                "type": str,
                "action": "append",
                "default": [],
                "metavar": "PMID",
                "help": "rank without the annotations that only this publication supports; may be "
                "repeated; 'own' for those that each phenopacket names",
            },
            "--llm": {
                "type": str,
                "metavar": "ARM",
                "help": "ask this language model of the config",
            },
            "--answers": {
                "metavar": "FILE",
                "help": "a language model's answer: text with numbered lines, or a JSON list; with "
                "--batch a folder of them",
            },
            "--model": {
                "action": "append",
                "default": [],
                "metavar": "CHECKPOINT",
                "help": "fusion gate or evidence reranker of the workflow; one of each at most",
            },
            "--format": {
                "type": str,
                "action": "append",
                "default": [],
                "choices": ["table", "json", "html", "pheval"],
                "help": "may be repeated; 'table', of a folder 'json', if not given",
            },
            "--output": {"help": "file, or folder for several files; the terminal if not given"},
            "--top": {"type": positive, "default": 20, "help": "candidates to show"},
            "--config": {
                "action": "append",
                "default": [],
                "metavar": "FILE",
                "help": "configuration and overlays, as for snakemake; config.yaml if not given",
            },
            "--cache": {"metavar": "FOLDER", "help": "what is kept between runs; the user's cache"},
            "--threads": {
                "type": positive,
                "default": os.cpu_count() or 1,
                "help": "threads to use; all if not given",
            },
        },
    ),
}
