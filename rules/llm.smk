# Requires: an audited corpus. Makes, under results/{corpus}/llm/{arm}/:
# 1. a model folder for vLLM from a pinned GGUF file; 2. the answers of an arm's model;
# 3. the names in them. Answers come in shards beside the output that are not declared, so that
# Snakemake leaves them alone when a job is killed, and the next one goes on from them.


rule prepare_model:
    input:
        lambda wc: RUN.resource(wc.source),
    output:
        directory(f"{RESULTS}/models/{{source}}"),
    log:
        "logs/models/{source}.log",
    conda:
        "../envs/vllm.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(60),
    params:
        registry=RUN.registry_path,
        code=code_digest("rarefuse.llm.prepare"),
    shell:
        "OMP_WAIT_POLICY=PASSIVE python -m rarefuse prepare-model --gguf {input:q} --source-id {wildcards.source}"
        " --registry {params.registry:q} --output {output:q} 2>&1 | tee {log:q} >&2"


rule ask:
    input:
        view=rules.view.output,
        audit=rules.audit.output,
        cases=rules.cases.output.cases,
        withheld=rules.cases.output.withheld,
        diseases=rules.annotations.output.diseases,
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
        model=lambda wc: RUN.llms.model(wc.arm),
    output:
        f"{RESULTS}/{{corpus}}/llm/{{arm}}/completions.parquet",
    log:
        "logs/{corpus}/ask/{arm}.log",
    benchmark:
        "logs/benchmarks/{corpus}/ask/{arm}.tsv"
    wildcard_constraints:
        arm="|".join(map(re.escape, RUN.llms.asked)) or "(?!)",
    conda:
        "../envs/vllm.yaml"
    threads: lambda wc: RUN.llms.threads(wc.arm)
    resources:
        mem_mb=grows(lambda wc: RUN.llms.memory(wc.arm)),
        runtime=grows(1440),
        gpu=lambda wc: RUN.llms.gpus(wc.arm),
    params:
        options=lambda wc: RUN.llms.options(wc.arm),
        # Goes up when a run leaves cases without an answer, so that the next one asks again.
        attempts=lambda wc: RUN.llms.attempts(wc.corpus, wc.arm),
        model=lambda wc, input: f"--model {quote(str(input.model))}" if input.model else "",
        code=lambda wc: RUN.llms.code(wc.arm),
    shell:
        # Threads that wait let others run: spinning ones halt each other on a busy machine.
        "OMP_NUM_THREADS={threads} OMP_WAIT_POLICY=PASSIVE POLARS_MAX_THREADS={threads}"
        " python -m rarefuse ask {wildcards.arm} --options {params.options:q} {params.model}"
        " --view {input.view:q} --audit {input.audit:q} --cases {input.cases:q}"
        " --withheld {input.withheld:q} --diseases {input.diseases:q}"
        " --terms {input.terms:q} --aliases {input.aliases:q}"
        " --output {output:q} 2>&1 | tee {log:q} >&2"


rule parse_answers:
    input:
        rules.ask.output,
    output:
        f"{RESULTS}/{{corpus}}/llm/{{arm}}/names.parquet",
    log:
        "logs/{corpus}/parse_answers/{arm}.log",
    wildcard_constraints:
        arm="|".join(map(re.escape, RUN.llms.asked)) or "(?!)",
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        code=code_digest("rarefuse.llm.names"),
    shell:
        "python -m rarefuse parse --completions {input:q} --output {output:q} 2>&1 | tee {log:q} >&2"
