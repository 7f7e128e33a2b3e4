# Requires: knowledge and an audited corpus. Makes, for every ranker and both protocols at once
# (so that they share their random queries), the first places of every list and the place of
# every gold disease.


rule rank:
    input:
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
        diseases=rules.annotations.output.diseases,
        relations=rules.annotations.output.relations,
        information_content=rules.annotations.output.information_content,
        view=rules.view.output,
        cases=rules.cases.output.cases,
        lopo=rules.lopo.output,
        audit=rules.audit.output,
    output:
        rankings=expand(
            f"{RESULTS}/{{{{corpus}}}}/rankings/{{{{ranker}}}}/{{protocol}}.parquet",
            protocol=PROTOCOLS,
        ),
        gold_ranks=expand(
            f"{RESULTS}/{{{{corpus}}}}/gold_ranks/{{{{ranker}}}}/{{protocol}}.parquet",
            protocol=PROTOCOLS,
        ),
    log:
        "logs/{corpus}/rank/{ranker}.log",
    benchmark:
        "logs/benchmarks/{corpus}/rank/{ranker}.tsv"
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
        depth=CONFIG["evaluation"]["depth"],
        code=lambda wc: RUN.rankers.code(wc.ranker),
    shell:
        "NUMBA_NUM_THREADS={threads} POLARS_MAX_THREADS={threads}"
        " python -m rarefuse rank --method {params.method} --options {params.options:q}"
        ' --knowledge "$(dirname {input.terms:q})" --corpus "$(dirname {input.cases:q})"'
        ' --rankings "$(dirname {output.rankings[0]:q})"'
        ' --gold-ranks "$(dirname {output.gold_ranks[0]:q})"'
        " --depth {params.depth} --threads {threads} 2>&1 | tee {log:q} >&2"
