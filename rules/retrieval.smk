# Requires: an ontology. Makes, under results/retrieval/{set}/:
# 1. a subset with its queries and their mentions; 2. all text vectors, once; 3. the reference's
# systems and 4. our tables, trained and searched with every seed; 5. the index that
# `rarefuse ground` serves; 6. the tables. Changing the bootstrap reruns step 6 alone.


rule retrieval_set:
    input:
        lambda wc: RUN.retrieval.set_path(wc.set),
    output:
        nodes=f"{RETRIEVAL}/{{set}}/nodes.parquet",
        edges=f"{RETRIEVAL}/{{set}}/edges.parquet",
        queries=f"{RETRIEVAL}/{{set}}/queries.parquet",
        parsed=f"{RETRIEVAL}/{{set}}/parsed.parquet",
        tagger=f"{RETRIEVAL}/{{set}}/tagger.safetensors",
        skipped=f"{RETRIEVAL}/{{set}}/skipped.parquet",
    log:
        "logs/retrieval/{set}/set.log",
    benchmark:
        "logs/benchmarks/retrieval/{set}/set.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(60),
    params:
        options=lambda wc: RUN.retrieval.set_options(wc.set),
        code=code_digest("rarefuse.retrieval.stage"),
    shell:
        "python -m rarefuse retrieval-set --source {input:q} --options {params.options:q}"
        ' --folder "$(dirname {output.nodes:q})" 2>&1 | tee {log:q} >&2'


rule retrieval_encode:
    input:
        nodes=rules.retrieval_set.output.nodes,
        queries=rules.retrieval_set.output.queries,
        parsed=rules.retrieval_set.output.parsed,
    output:
        f"{RETRIEVAL}/{{set}}/vectors.safetensors",
    log:
        "logs/retrieval/{set}/encode.log",
    benchmark:
        "logs/benchmarks/retrieval/{set}/encode.tsv"
    conda:
        "../envs/base.yaml"
    threads: 8
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        options=RUN.retrieval.encode_options(),
        code=code_digest("rarefuse.retrieval.text", "rarefuse.retrieval.intents"),
    shell:
        "OMP_NUM_THREADS={threads} OMP_WAIT_POLICY=PASSIVE"
        " python -m rarefuse retrieval-encode --options {params.options:q}"
        ' --folder "$(dirname {input.nodes:q})" 2>&1 | tee {log:q} >&2'


rule retrieval_reference:
    input:
        nodes=rules.retrieval_set.output.nodes,
        queries=rules.retrieval_set.output.queries,
        vectors=rules.retrieval_encode.output,
    output:
        f"{RETRIEVAL}/{{set}}/lists/reference.seed{{seed}}.parquet",
    log:
        "logs/retrieval/{set}/reference/{seed}.log",
    benchmark:
        "logs/benchmarks/retrieval/{set}/reference/{seed}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        code=code_digest("rarefuse.retrieval.stage"),
    shell:
        "OMP_NUM_THREADS={threads} python -m rarefuse retrieval-reference --seed {wildcards.seed}"
        ' --folder "$(dirname {input.nodes:q})" --output {output:q} 2>&1 | tee {log:q} >&2'


rule retrieval_train:
    input:
        nodes=rules.retrieval_set.output.nodes,
        queries=rules.retrieval_set.output.queries,
        vectors=rules.retrieval_encode.output,
    output:
        f"{RETRIEVAL}/{{set}}/models/seed{{seed}}.safetensors",
    log:
        "logs/retrieval/{set}/train/{seed}.log",
    benchmark:
        "logs/benchmarks/retrieval/{set}/train/{seed}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        options=RUN.retrieval.train_options(),
        code=code_digest("rarefuse.retrieval.stage"),
    shell:
        "OMP_NUM_THREADS={threads} python -m rarefuse retrieval-train --seed {wildcards.seed}"
        ' --options {params.options:q} --folder "$(dirname {input.nodes:q})"'
        " --output {output:q} 2>&1 | tee {log:q} >&2"


rule retrieval_search:
    input:
        nodes=rules.retrieval_set.output.nodes,
        queries=rules.retrieval_set.output.queries,
        parsed=rules.retrieval_set.output.parsed,
        vectors=rules.retrieval_encode.output,
        tables=rules.retrieval_train.output,
    output:
        lists=f"{RETRIEVAL}/{{set}}/lists/centroid.seed{{seed}}.parquet",
        mixing=f"{RETRIEVAL}/{{set}}/models/seed{{seed}}.mixing.json",
    log:
        "logs/retrieval/{set}/search/{seed}.log",
    benchmark:
        "logs/benchmarks/retrieval/{set}/search/{seed}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    params:
        code=code_digest("rarefuse.retrieval.stage"),
    shell:
        "OMP_NUM_THREADS={threads} python -m rarefuse retrieval-search --seed {wildcards.seed}"
        ' --tables {input.tables:q} --folder "$(dirname {input.nodes:q})"'
        " --output {output.lists:q} --mixing {output.mixing:q} 2>&1 | tee {log:q} >&2"


rule retrieval_index:
    input:
        nodes=rules.retrieval_set.output.nodes,
        vectors=rules.retrieval_encode.output,
        parsed=rules.retrieval_set.output.parsed,
        tables=lambda wc: RUN.retrieval.first_model(wc.set),
        mixing=lambda wc: RUN.retrieval.first_model(wc.set, ".mixing.json"),
    output:
        f"{RETRIEVAL}/{{set}}/index/settings.json",
    log:
        "logs/retrieval/{set}/index.log",
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(60),
    params:
        seed=CONFIG["retrieval"]["seeds"][0],
        code=code_digest("rarefuse.retrieval.stage"),
    shell:
        "OMP_NUM_THREADS={threads} python -m rarefuse retrieval-index --seed {params.seed}"
        ' --tables {input.tables:q} --mixing {input.mixing:q} --folder "$(dirname {input.nodes:q})"'
        ' --output "$(dirname {output:q})" 2>&1 | tee {log:q} >&2'


rule retrieval_table:
    input:
        lambda wc: RUN.retrieval.table_inputs(wc.set, wc.table),
        nodes=rules.retrieval_set.output.nodes,
        vectors=rules.retrieval_encode.output,
    output:
        f"{RETRIEVAL}/{{set}}/tables/{{table}}.parquet",
    log:
        "logs/retrieval/{set}/tables/{table}.log",
    benchmark:
        "logs/benchmarks/retrieval/{set}/tables/{table}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(480),
    params:
        read=lambda wc: " ".join(
            f"--input {quote(path)}" for path in RUN.retrieval.table_inputs(wc.set, wc.table)
        ),
        options=lambda wc: RUN.retrieval.table_options(wc.table),
        code=lambda wc: RUN.retrieval.table_code(wc.table),
    shell:
        "OMP_NUM_THREADS={threads} python -m rarefuse retrieval-table {wildcards.table}"
        ' {params.read} --options {params.options:q} --folder "$(dirname {input.nodes:q})"'
        " --output {output:q} 2>&1 | tee {log:q} >&2"
