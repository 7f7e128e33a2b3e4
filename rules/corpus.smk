# Requires: a corpus (source or path) and the ontology. Makes, under results/{corpus}/:
# 1. cases, what was skipped, and what no system may see; 2. the closed view; 3. splits of whole
# publications; 4. the audit, which everything that ranks waits for.


def corpus_source(wildcards):
    """File or folder of a corpus."""
    entry = CONFIG["corpora"][wildcards.corpus]
    return resource(entry["source"]) if "source" in entry else entry["path"]


SPLIT_OPTIONS = {
    "seed": CONFIG["seed"],
    "fractions": CONFIG["splits"]["fractions"],
    "publications": CONFIG["splits"]["publications"],
    "n_cases": CONFIG["splits"]["cases"],
    "tolerance": CONFIG["splits"]["tolerance"],
}


def corpus_options(wildcards):
    """The reader's own options."""
    entry = CONFIG["corpora"][wildcards.corpus]
    return as_json({k: v for k, v in entry.items() if k not in ("reader", "source", "path")})


rule cases:
    input:
        source=corpus_source,
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
    output:
        cases=f"{RESULTS}/{{corpus}}/cases.parquet",
        skipped=f"{RESULTS}/{{corpus}}/skipped.parquet",
        withheld=f"{RESULTS}/{{corpus}}/withheld.parquet",
    params:
        reader=lambda wc: CONFIG["corpora"][wc.corpus]["reader"],
        options=corpus_options,
        verify=lambda wc: (
            f"--source-id {CONFIG['corpora'][wc.corpus]['source']}"
            if "source" in CONFIG["corpora"][wc.corpus]
            else ""
        ),
        code=code_digest("rarefuse.corpus.readers"),
    log:
        "logs/{corpus}/cases.log",
    benchmark:
        "logs/benchmarks/{corpus}/cases.tsv"
    shell:
        "python -m rarefuse corpus --name {wildcards.corpus} --reader {params.reader}"
        " --source {input.source:q} --options {params.options:q}"
        " --registry {CONFIG[sources][registry]} {params.verify}"
        " --terms {input.terms} --aliases {input.aliases}"
        " --cases {output.cases} --skipped {output.skipped} --withheld {output.withheld}"
        " 2>&1 | tee {log} >&2"


rule view:
    input:
        cases=rules.cases.output.cases,
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
    output:
        f"{RESULTS}/{{corpus}}/view.parquet",
    params:
        code=code_digest("rarefuse.corpus.view"),
    log:
        "logs/{corpus}/view.log",
    shell:
        "python -m rarefuse view --cases {input.cases} --terms {input.terms}"
        " --aliases {input.aliases} --output {output} 2>&1 | tee {log} >&2"


rule splits:
    input:
        cases=rules.cases.output.cases,
    output:
        f"{RESULTS}/{{corpus}}/splits.parquet",
    params:
        options=as_json(SPLIT_OPTIONS),
        code=code_digest("rarefuse.corpus.splits"),
    log:
        "logs/{corpus}/splits.log",
    shell:
        "python -m rarefuse splits --cases {input.cases} --options {params.options:q}"
        " --output {output} 2>&1 | tee {log} >&2"


rule audit:
    input:
        view=rules.view.output,
        cases=rules.cases.output.cases,
        withheld=rules.cases.output.withheld,
        splits=rules.splits.output,
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
    output:
        f"{RESULTS}/{{corpus}}/audit.parquet",
    params:
        code=code_digest("rarefuse.corpus.audit"),
    log:
        "logs/{corpus}/audit.log",
    shell:
        "python -m rarefuse audit --view {input.view} --cases {input.cases}"
        " --withheld {input.withheld} --splits {input.splits}"
        " --terms {input.terms} --aliases {input.aliases} --output {output} 2>&1 | tee {log} >&2"
