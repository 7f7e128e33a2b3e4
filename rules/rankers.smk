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
            protocol=["ordinary", "lopo"],
        ),
        gold_ranks=expand(
            f"{RESULTS}/{{{{corpus}}}}/gold_ranks/{{{{ranker}}}}/{{protocol}}.parquet",
            protocol=["ordinary", "lopo"],
        ),
    params:
        method=lambda wc: ranker_spec(wc.ranker)[0],
        options=lambda wc: as_json(ranker_spec(wc.ranker)[1]),
        depth=CONFIG["evaluation"]["depth"],
        code=lambda wc: code_digest(
            "rarefuse.rankers.run", METHODS[ranker_spec(wc.ranker)[0]][0]
        ),
        folders=lambda wc, input, output: " ".join(
            f"--{name} {shlex.quote(str(Path(path).parent))}"
            for name, path in (
                ("knowledge", input.terms),
                ("corpus", input.cases),
                ("rankings", output.rankings[0]),
                ("gold-ranks", output.gold_ranks[0]),
            )
        ),
    threads: 8
    resources:
        mem_mb=6000,
    log:
        "logs/{corpus}/rank/{ranker}.log",
    benchmark:
        "logs/benchmarks/{corpus}/rank/{ranker}.tsv"
    shell:
        "NUMBA_NUM_THREADS={threads} POLARS_MAX_THREADS={threads}"
        " python -m rarefuse rank {params.folders}"
        " --method {params.method} --options {params.options:q}"
        " --depth {params.depth} --threads {threads} 2>&1 | tee {log} >&2"
