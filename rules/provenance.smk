# Requires: gold ranks under both protocols. Makes the tables of the paper's provenance analysis:
# who is in the cohort, how much its publications overlap with the annotations, and what LOPO
# does to each ranker. Changing the bootstrap reruns this file's rule and the report, no ranker.


rule table:
    input:
        lambda wc: RUN.table_inputs(wc.corpus, wc.table),
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
    params:
        options=lambda wc: RUN.table_options(wc.table),
        code=lambda wc: RUN.table_code(wc.table),
    shell:
        "python -m rarefuse table {wildcards.table}"
        ' --corpus "$(dirname {input.cases:q})" --knowledge "$(dirname {input.diseases:q})"'
        " --options {params.options:q} --output {output} 2>&1 | tee {log} >&2"
