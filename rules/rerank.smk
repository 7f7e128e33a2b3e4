# Requires: LOPO rankings, and the lists of language models where there are any. Makes:
# 1. rerankers, one for the ontology alone and one for each family that is held out;
# 2. every target's candidates in their order, each score in its parts, every case out of fold.


rule train_reranker:
    input:
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
        diseases=rules.annotations.output.diseases,
        relations=rules.annotations.output.relations,
        information_content=rules.annotations.output.information_content,
        view=rules.view.output,
        cases=rules.cases.output.cases,
        lopo=rules.lopo.output,
        lists=lambda wc: RUN.reranker.inputs(wc.corpus, RUN.reranker.trains_on(wc.reranker)),
    output:
        weights=f"{RESULTS}/{{corpus}}/reranker/{{reranker}}/reranker.safetensors",
        description=f"{RESULTS}/{{corpus}}/reranker/{{reranker}}/reranker.json",
    log:
        "logs/{corpus}/train_reranker/{reranker}.log",
    benchmark:
        "logs/benchmarks/{corpus}/train_reranker/{reranker}.tsv"
    conda:
        "../envs/base.yaml"
    threads: 8
    resources:
        mem_mb=grows(8000),
        runtime=grows(480),
    params:
        arms=lambda wc: " ".join(f"--arm {arm}" for arm in RUN.reranker.trains_on(wc.reranker)),
        options=RUN.reranker.options(),
        code=code_digest("rarefuse.rerank.stage"),
    shell:
        "NUMBA_NUM_THREADS={threads} POLARS_MAX_THREADS={threads} OMP_NUM_THREADS={threads}"
        ' python -m rarefuse train-reranker --knowledge "$(dirname {input.terms:q})"'
        ' --corpus "$(dirname {input.cases:q})" {params.arms} --options {params.options:q}'
        ' --output "$(dirname {output.weights:q})" 2>&1 | tee {log:q} >&2'


rule rerank:
    input:
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
        diseases=rules.annotations.output.diseases,
        relations=rules.annotations.output.relations,
        information_content=rules.annotations.output.information_content,
        view=rules.view.output,
        cases=rules.cases.output.cases,
        lopo=rules.lopo.output,
        lists=lambda wc: RUN.reranker.inputs(wc.corpus, [wc.target]),
        weights=lambda wc: f"{RESULTS}/{wc.corpus}/reranker/{RUN.reranker.name_of(wc.target)}/reranker.safetensors",
        description=lambda wc: f"{RESULTS}/{wc.corpus}/reranker/{RUN.reranker.name_of(wc.target)}/reranker.json",
    output:
        ranking=f"{RESULTS}/{{corpus}}/reranked/{{target}}/ranking.parquet",
        gold_ranks=f"{RESULTS}/{{corpus}}/reranked/{{target}}/gold_ranks.parquet",
    log:
        "logs/{corpus}/rerank/{target}.log",
    benchmark:
        "logs/benchmarks/{corpus}/rerank/{target}.tsv"
    conda:
        "../envs/base.yaml"
    threads: 8
    resources:
        mem_mb=grows(6000),
        runtime=grows(120),
    params:
        places=CONFIG["reranker"]["places"],
        code=code_digest("rarefuse.rerank.stage"),
    shell:
        "NUMBA_NUM_THREADS={threads} POLARS_MAX_THREADS={threads}"
        " python -m rarefuse rerank {wildcards.target}"
        ' --knowledge "$(dirname {input.terms:q})" --corpus "$(dirname {input.cases:q})"'
        ' --model "$(dirname {input.weights:q})" --places {params.places}'
        ' --output "$(dirname {output.ranking:q})" 2>&1 | tee {log:q} >&2'
