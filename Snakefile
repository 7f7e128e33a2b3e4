"""Includes, in the order data flows, and targets."""

from snakemake.utils import min_version

min_version("9.10")


configfile: "config.yaml"


include: "rules/common.smk"
include: "rules/sources.smk"
include: "rules/annotations.smk"
include: "rules/corpus.smk"
include: "rules/rankers.smk"
include: "rules/stock.smk"
include: "rules/llm.smk"
include: "rules/naming.smk"
include: "rules/fusion.smk"
include: "rules/rerank.smk"
include: "rules/provenance.smk"
include: "rules/retrieval.smk"
include: "rules/report.smk"


rule all:
    default_target: True
    input:
        f"{RESULTS}/{CORPUS}/report.html",
        f"{RESULTS}/{CORPUS}/config.yaml",
        # Also what the report is made of, so that a deleted artifact is made again.
        RUN.evaluation.kept(CORPUS),
    localrule: True


rule retrieval:
    input:
        RUN.retrieval.targets(),
    localrule: True


rule explorer:
    input:
        f"{RESULTS}/{CORPUS}/explorer",
    localrule: True


# Any table by its name, also one that is not in the report: `snakemake matched_deletion`.
for TABLE in TABLES:

    rule:
        name:
            TABLE
        input:
            f"{RESULTS}/{CORPUS}/tables/{TABLE}.parquet",
        localrule: True
