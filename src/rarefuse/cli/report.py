"""The report of a run, its summary, and the overlap audit of anybody's cases."""

from collections.abc import Sequence
from pathlib import Path

from rarefuse.cli.arguments import (
    Arguments,
    Commands,
    columns,
    json_value,
    needed,
    resamples,
    seed,
    share,
)


def _report(a: Arguments) -> None:
    from rarefuse.report.stage import write_report

    write_report(a.name, _tables(a.table), a.skipped, a.problems, a.audit, a.provenance, a.output)


def _summary(a: Arguments) -> None:
    from rarefuse.report.stage import write_summary

    write_summary(a.name, _tables(a.table), a.report, level=a.level)


def _tables(paths: Sequence[Path]) -> dict[str, Path]:
    return {path.stem: path for path in paths}


def _audit_overlap(a: Arguments) -> int:
    from rarefuse.report.overlap_stage import overlap_stage

    return overlap_stage(
        hpoa=a.hpoa,
        cases=a.cases,
        hpo=a.hpo,
        disease_map=a.disease_map,
        reader=a.reader,
        options={
            name: value
            for name, value in (("publication", a.publication), ("columns", a.columns))
            if value is not None
        },
        output=a.output,
        fail_above=a.fail_above,
        write_hpoa=a.write_hpoa,
        publication_files=a.publication_file,
        resamples=a.resamples,
        level=a.level,
        seed=a.seed,
    )


COMMANDS: Commands = {
    "report": (
        _report,
        "write the report page",
        {
            "--name": {"type": str, "required": True, "help": "corpus"},
            "--table": {"action": "append", "default": [], "help": "table artifact"},
            **needed(
                skipped="artifact skipped",
                problems="artifact annotation_problems",
                audit="artifact audit",
                output="page to write",
            ),
            "--provenance": {"type": json_value, "default": {}, "help": "JSON object"},
        },
    ),
    "summary": (
        _summary,
        "print a run's summary",
        {
            "--name": {"type": str, "required": True, "help": "corpus"},
            "--table": {"action": "append", "default": [], "help": "table artifact"},
            **needed(report="report page"),
            "--level": {"type": float, "default": 0.95, "help": "coverage of the intervals"},
        },
    ),
    "audit-overlap": (
        _audit_overlap,
        "audit cases against an annotation release: publication overlap and what LOPO removes",
        {
            **needed(
                hpoa="phenotype.hpoa of any release, gzipped or not",
                cases="phenopackets (file, folder, zip), PhEval Parquet, RareBench JSON lines, or "
                "a table with columns case_id, publication, disease, observed, excluded",
            ),
            "--hpo": {"help": "hp.obo, to map alternative and replaced term ids"},
            "--disease-map": {"help": "table of OMIM and ORPHA ids, for ORPHA diagnoses"},
            "--reader": {"type": str, "help": "reader of the cases; by their content if not given"},
            "--publication": {
                "type": str,
                "help": "phenopackets: where the PMID stands: external-references or id",
            },
            "--columns": {
                "type": columns,
                "help": 'tables: which column holds what, as JSON: {"disease": "final diagnosis"}',
            },
            "--output": {"default": Path("overlap-audit"), "help": "folder to write into"},
            "--fail-above": {
                "type": share,
                "metavar": "SHARE",
                "help": "exit with 1 when the share of cases with overlap is above this (0..1), or "
                "cannot be told",
            },
            "--write-hpoa": {
                "metavar": "FOLDER",
                "help": "also write phenotype.hpoa without each publication's own annotations",
            },
            "--publication-file": {
                "type": str,
                "action": "append",
                "default": [],
                "metavar": "PMID",
                "help": "with --write-hpoa: only this publication's file; may be repeated",
            },
            "--resamples": {"type": resamples, "default": 2000, "help": "of whole publications"},
            "--level": {"type": share, "default": 0.95, "help": "coverage of the intervals"},
            "--seed": {"type": seed, "default": 20260902, "help": "of the resamples"},
        },
    ),
}
