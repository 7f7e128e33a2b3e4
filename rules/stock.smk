# Requires: what `rank` requires, the release's annotation file, and a stock program (LIRICAL's jar,
# phenol's jars) or results that another tool left in PhEval's format, as the config names them. Makes what `rank` makes, by running that program, and a list
# of cases that it gave no usable answer for. `rank` leaves these rankers to this rule.


rule stock_rank:
    input:
        hpoa=RUN.resource(RUN.hpoa.id),
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
        diseases=rules.annotations.output.diseases,
        relations=rules.annotations.output.relations,
        information_content=rules.annotations.output.information_content,
        view=rules.view.output,
        cases=rules.cases.output.cases,
        lopo=rules.lopo.output,
        audit=rules.audit.output,
        crosswalk=lambda wc: RUN.rankers.stock_crosswalk(wc.ranker, KNOWLEDGE),
    output:
        rankings=expand(
            f"{RESULTS}/{{{{corpus}}}}/rankings/{{{{ranker}}}}/{{protocol}}.parquet",
            protocol=PROTOCOLS,
        ),
        gold_ranks=expand(
            f"{RESULTS}/{{{{corpus}}}}/gold_ranks/{{{{ranker}}}}/{{protocol}}.parquet",
            protocol=PROTOCOLS,
        ),
        failures=f"{RESULTS}/{{corpus}}/rankings/{{ranker}}/failures.parquet",
    log:
        "logs/{corpus}/stock_rank/{ranker}.log",
    benchmark:
        "logs/benchmarks/{corpus}/stock_rank/{ranker}.tsv"
    wildcard_constraints:
        ranker=RUN.rankers.stock_pattern,
    conda:
        "../envs/java.yaml"
    threads: 8
    resources:
        mem_mb=grows(8000),
        runtime=grows(1440),
    params:
        registry=RUN.registry_path,
        source=RUN.hpoa.id,
        method=lambda wc: RUN.rankers.method(wc.ranker),
        options=lambda wc: RUN.rankers.options(wc.ranker),
        program=lambda wc: RUN.rankers.stock_fingerprint(wc.ranker),
        depth=CONFIG["evaluation"]["depth"],
        crosswalk=lambda wc, input: (
            f"--crosswalk {quote(str(input.crosswalk))}" if input.crosswalk else ""
        ),
        code=lambda wc: RUN.rankers.code(wc.ranker, "rarefuse.rankers.stock.run"),
        # No output: what is finished must outlive a killed job.
        state=lambda wc: f"{RESULTS}/{wc.corpus}/stock/{wc.ranker}",
    shell:
        "python -m rarefuse stock --method {params.method} --options {params.options:q}"
        " --hpoa {input.hpoa:q} --registry {params.registry:q} --source-id {params.source} {params.crosswalk}"
        ' --knowledge "$(dirname {input.terms:q})" --corpus "$(dirname {input.cases:q})"'
        ' --state {params.state:q} --rankings "$(dirname {output.rankings[0]:q})"'
        ' --gold-ranks "$(dirname {output.gold_ranks[0]:q})" --failures {output.failures:q}'
        " --depth {params.depth} --threads {threads} 2>&1 | tee {log:q} >&2"
