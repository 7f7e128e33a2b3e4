# Requires: gold ranks under both protocols. Makes the tables of the paper's provenance analysis:
# 1. which independent annotations stand in for a case's own; 2. where the gold disease ranks with
# either deleted; 3. any table: who is in the cohort, how much its publications overlap with the
# annotations, what LOPO does to each ranker and to groups of cases. Changing the bootstrap reruns
# rule `table` and the report, no ranker.


rule deletions:
    input:
        cases=rules.cases.output.cases,
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
        diseases=rules.annotations.output.diseases,
        relations=rules.annotations.output.relations,
        information_content=rules.annotations.output.information_content,
    output:
        f"{RESULTS}/{{corpus}}/deletions.parquet",
    log:
        "logs/{corpus}/deletions.log",
    benchmark:
        "logs/benchmarks/{corpus}/deletions.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(3000),
        runtime=grows(120),
    params:
        code=code_digest("rarefuse.provenance.matching"),
    shell:
        "python -m rarefuse deletions --cases {input.cases:q}"
        ' --knowledge "$(dirname {input.terms:q})" --output {output:q} 2>&1 | tee {log:q} >&2'


rule rank_deletions:
    input:
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
        diseases=rules.annotations.output.diseases,
        relations=rules.annotations.output.relations,
        information_content=rules.annotations.output.information_content,
        view=rules.view.output,
        cases=rules.cases.output.cases,
        deletions=rules.deletions.output,
        audit=rules.audit.output,
    output:
        gold_ranks=expand(
            f"{RESULTS}/{{{{corpus}}}}/gold_ranks/{{{{ranker}}}}/{{condition}}.parquet",
            condition=DELETION_CONDITIONS,
        ),
    log:
        "logs/{corpus}/rank_deletions/{ranker}.log",
    benchmark:
        "logs/benchmarks/{corpus}/rank_deletions/{ranker}.tsv"
    wildcard_constraints:
        ranker=RUN.rankers.native_pattern,
    conda:
        "../envs/base.yaml"
    threads: 8
    resources:
        mem_mb=grows(6000),
        runtime=grows(240),
    params:
        method=lambda wc: RUN.rankers.method(wc.ranker),
        options=lambda wc: RUN.rankers.options(wc.ranker),
        code=lambda wc: RUN.rankers.code(wc.ranker, "rarefuse.provenance.deletion_ranks"),
    shell:
        "NUMBA_NUM_THREADS={threads} POLARS_MAX_THREADS={threads}"
        " python -m rarefuse rank-deletions --method {params.method}"
        " --options {params.options:q}"
        ' --knowledge "$(dirname {input.terms:q})" --corpus "$(dirname {input.cases:q})"'
        ' --deletions {input.deletions:q} --gold-ranks "$(dirname {output.gold_ranks[0]:q})"'
        " --threads {threads} 2>&1 | tee {log:q} >&2"


rule table:
    input:
        lambda wc: RUN.evaluation.table_inputs(wc.corpus, wc.table),
        cases=rules.cases.output.cases,
        splits=rules.splits.output,
        diseases=rules.annotations.output.diseases,
        relations=rules.annotations.output.relations,
    output:
        f"{RESULTS}/{{corpus}}/tables/{{table}}.parquet",
    log:
        "logs/{corpus}/tables/{table}.log",
    benchmark:
        "logs/benchmarks/{corpus}/tables/{table}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        options=lambda wc: RUN.evaluation.table_options(wc.table),
        code=lambda wc: RUN.evaluation.table_code(wc.table),
    shell:
        "python -m rarefuse table {wildcards.table}"
        ' --corpus "$(dirname {input.cases:q})" --knowledge "$(dirname {input.diseases:q})"'
        " --options {params.options:q} --output {output:q} 2>&1 | tee {log:q} >&2"
