# Requires: a corpus (source or path) and the ontology. Makes, under results/{corpus}/:
# 1. cases, what was skipped, and what no system may see; 2. the closed view; 3. splits of whole
# publications; 4. the audit, which everything that ranks waits for.


rule cases:
    input:
        source=lambda wc: RUN.corpora.path(wc.corpus),
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
    output:
        cases=f"{RESULTS}/{{corpus}}/cases.parquet",
        skipped=f"{RESULTS}/{{corpus}}/skipped.parquet",
        withheld=f"{RESULTS}/{{corpus}}/withheld.parquet",
    log:
        "logs/{corpus}/cases.log",
    benchmark:
        "logs/benchmarks/{corpus}/cases.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(3000),
        runtime=grows(60),
    params:
        registry=RUN.registry_path,
        reader=lambda wc: CONFIG["corpora"][wc.corpus]["reader"],
        options=lambda wc: RUN.corpora.options(wc.corpus),
        content=lambda wc: RUN.corpora.fingerprint(wc.corpus),
        verify=lambda wc: (
            f"--source-id {CONFIG['corpora'][wc.corpus]['source']}"
            if "source" in CONFIG["corpora"][wc.corpus]
            else ""
        ),
        code=code_digest("rarefuse.corpus.readers"),
    shell:
        "python -m rarefuse corpus --name {wildcards.corpus} --reader {params.reader}"
        " --source {input.source:q} --options {params.options:q}"
        " --registry {params.registry:q} {params.verify}"
        " --terms {input.terms:q} --aliases {input.aliases:q}"
        " --cases {output.cases:q} --skipped {output.skipped:q} --withheld {output.withheld:q}"
        " 2>&1 | tee {log:q} >&2"


rule view:
    input:
        cases=rules.cases.output.cases,
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
    output:
        f"{RESULTS}/{{corpus}}/view.parquet",
    log:
        "logs/{corpus}/view.log",
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        code=code_digest("rarefuse.corpus.view"),
    shell:
        "python -m rarefuse view --cases {input.cases:q} --terms {input.terms:q}"
        " --aliases {input.aliases:q} --output {output:q} 2>&1 | tee {log:q} >&2"


rule splits:
    input:
        cases=rules.cases.output.cases,
    output:
        f"{RESULTS}/{{corpus}}/splits.parquet",
    log:
        "logs/{corpus}/splits.log",
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(60),
    params:
        options=as_json(RUN.corpora.split_options()),
        code=code_digest("rarefuse.corpus.splits"),
    shell:
        "python -m rarefuse splits --cases {input.cases:q} --options {params.options:q}"
        " --output {output:q} 2>&1 | tee {log:q} >&2"


rule audit:
    input:
        view=rules.view.output,
        cases=rules.cases.output.cases,
        withheld=rules.cases.output.withheld,
        splits=rules.splits.output,
        diseases=rules.annotations.output.diseases,
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
    output:
        f"{RESULTS}/{{corpus}}/audit.parquet",
    log:
        "logs/{corpus}/audit.log",
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        code=code_digest("rarefuse.corpus.audit"),
    shell:
        "python -m rarefuse audit --view {input.view:q} --cases {input.cases:q}"
        " --withheld {input.withheld:q} --splits {input.splits:q} --diseases {input.diseases:q}"
        " --terms {input.terms:q} --aliases {input.aliases:q} --output {output:q} 2>&1 | tee {log:q} >&2"
