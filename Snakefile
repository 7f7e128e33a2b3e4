"""Includes, in the order data flows, and targets."""

from snakemake.utils import min_version

min_version("9.10")


configfile: "config.yaml"


include: "rules/common.smk"
include: "rules/sources.smk"
include: "rules/annotations.smk"
include: "rules/corpus.smk"
include: "rules/rankers.smk"
include: "rules/provenance.smk"
include: "rules/report.smk"


localrules:
    all,
    monte_carlo,
    query_cap,
    null_models,
    split_sensitivity,


rule all:
    default_target: True
    input:
        f"{RESULTS}/{CORPUS}/report.html",
        f"{RESULTS}/{CORPUS}/config.yaml",
        # Also what the report is made of, so that a deleted artifact is made again.
        RUN.kept(CORPUS),


rule monte_carlo:
    input:
        f"{RESULTS}/{CORPUS}/tables/monte_carlo.parquet",


rule query_cap:
    input:
        f"{RESULTS}/{CORPUS}/tables/query_cap.parquet",


rule null_models:
    input:
        f"{RESULTS}/{CORPUS}/tables/null_models.parquet",


rule split_sensitivity:
    input:
        f"{RESULTS}/{CORPUS}/tables/split_sensitivity.parquet",
