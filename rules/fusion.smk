# Requires: ontology rankings and language models' lists. Makes, under results/{corpus}/:
# 1. features/{component}/{protocol}/{arm}: both lists described; 2. on request, where named
# diseases stand in a ranker's whole order; 3. gates/{component}/{protocol}/{holdout}/{suite}: fits
# of every fold and seed, trained on the arms outside a family; 4. fused_ranks/…/{suite}/{arm}: the
# places of the gold diseases by those fits, or by the rules that need none; 5. on request,
# fused/{method}/{arm}: the fused lists. An arm that is named as test-only is no input of any fit.


rule fusion_features:
    input:
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
        diseases=rules.annotations.output.diseases,
        relations=rules.annotations.output.relations,
        information_content=rules.annotations.output.information_content,
        view=rules.view.output,
        cases=rules.cases.output.cases,
        lopo=rules.lopo.output,
        ranking=lambda wc: (
            f"{RESULTS}/{wc.corpus}/rankings/{component_of(wc.component).ranker}/{wc.protocol}.parquet"
        ),
        listed=f"{RESULTS}/{{corpus}}/llm/{{arm}}/ranking.parquet",
    output:
        f"{RESULTS}/{{corpus}}/features/{{component}}/{{protocol}}/{{arm}}.parquet",
    log:
        "logs/{corpus}/fusion_features/{component}/{protocol}/{arm}.log",
    benchmark:
        "logs/benchmarks/{corpus}/fusion_features/{component}/{protocol}/{arm}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(3000),
        runtime=grows(120),
    params:
        depth=CONFIG["evaluation"]["depth"],
        code=code_digest("rarefuse.fusion.features"),
    shell:
        "NUMBA_NUM_THREADS={threads} POLARS_MAX_THREADS={threads}"
        " python -m rarefuse fusion-features --component {wildcards.component}"
        " --protocol {wildcards.protocol} --arm {wildcards.arm:q} --depth {params.depth}"
        ' --knowledge "$(dirname {input.terms:q})" --corpus "$(dirname {input.cases:q})"'
        " --output {output:q} --threads {threads} 2>&1 | tee {log:q} >&2"


rule full_places:
    input:
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
        diseases=rules.annotations.output.diseases,
        relations=rules.annotations.output.relations,
        information_content=rules.annotations.output.information_content,
        view=rules.view.output,
        cases=rules.cases.output.cases,
        lopo=rules.lopo.output,
        listed=lambda wc: RUN.llms.artifacts(wc.corpus, ("ranking",)),
    output:
        places=expand(
            f"{RESULTS}/{{{{corpus}}}}/full_places/{{{{ranker}}}}/{{protocol}}.parquet",
            protocol=PROTOCOLS,
        ),
    log:
        "logs/{corpus}/full_places/{ranker}.log",
    benchmark:
        "logs/benchmarks/{corpus}/full_places/{ranker}.tsv"
    conda:
        "../envs/base.yaml"
    threads: 8
    resources:
        mem_mb=grows(6000),
        runtime=grows(240),
    params:
        arms=" ".join(f"--arm {arm}" for arm in RUN.fusion.arms),
        method=lambda wc: RUN.rankers.method(wc.ranker),
        options=lambda wc: RUN.rankers.options(wc.ranker),
        code=lambda wc: RUN.rankers.code(wc.ranker, "rarefuse.fusion.full"),
    shell:
        "NUMBA_NUM_THREADS={threads} POLARS_MAX_THREADS={threads}"
        " python -m rarefuse full-places {params.arms} --method {params.method}"
        " --options {params.options:q}"
        ' --knowledge "$(dirname {input.terms:q})" --corpus "$(dirname {input.cases:q})"'
        ' --output "$(dirname {output.places[0]:q})" --threads {threads} 2>&1 | tee {log:q} >&2'


rule fusion_fit:
    input:
        lambda wc: RUN.fusion.fit_inputs(wc.corpus, wc.component, wc.protocol, wc.holdout),
        cases=rules.cases.output.cases,
        splits=rules.splits.output,
        diseases=rules.annotations.output.diseases,
    output:
        tensors=f"{RESULTS}/{{corpus}}/gates/{{component}}/{{protocol}}/{{holdout}}/{{suite}}.safetensors",
        description=f"{RESULTS}/{{corpus}}/gates/{{component}}/{{protocol}}/{{holdout}}/{{suite}}.json",
    log:
        "logs/{corpus}/fusion_fit/{component}/{protocol}/{holdout}/{suite}.log",
    benchmark:
        "logs/benchmarks/{corpus}/fusion_fit/{component}/{protocol}/{holdout}/{suite}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(3000),
        runtime=grows(240),
    params:
        options=lambda wc: as_json(RUN.fusion.fit_options(wc.holdout, wc.suite)),
        code=code_digest("rarefuse.fusion.fit"),
    shell:
        # One thread: the bits of a fit must not depend on the machine.
        "OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 POLARS_MAX_THREADS=1"
        " python -m rarefuse fusion-fit --component {wildcards.component}"
        " --protocol {wildcards.protocol} --options {params.options:q}"
        ' --knowledge "$(dirname {input.diseases:q})" --corpus "$(dirname {input.cases:q})"'
        " --tensors {output.tensors:q} --description {output.description:q} 2>&1 | tee {log:q} >&2"


rule fusion_score:
    input:
        lambda wc: RUN.fusion.arm_inputs(wc.corpus, wc.component, wc.protocol, [wc.arm]),
        fits=lambda wc: RUN.fusion.checkpoint(
            wc.corpus, wc.component, wc.protocol, wc.suite, wc.arm
        ),
        cases=rules.cases.output.cases,
        splits=rules.splits.output,
        diseases=rules.annotations.output.diseases,
    output:
        f"{RESULTS}/{{corpus}}/fused_ranks/{{component}}/{{protocol}}/{{suite}}/{{arm}}.parquet",
    log:
        "logs/{corpus}/fusion_score/{component}/{protocol}/{suite}/{arm}.log",
    benchmark:
        "logs/benchmarks/{corpus}/fusion_score/{component}/{protocol}/{suite}/{arm}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(3000),
        runtime=grows(120),
    params:
        options=as_json(RUN.fusion.options()),
        code=code_digest("rarefuse.fusion.stage"),
    shell:
        "OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 POLARS_MAX_THREADS=1"
        " python -m rarefuse fusion-score --component {wildcards.component}"
        " --protocol {wildcards.protocol} --arm {wildcards.arm:q} --options {params.options:q}"
        ' --knowledge "$(dirname {input.diseases:q})" --corpus "$(dirname {input.cases:q})"'
        " --tensors {input.fits[0]:q} --output {output:q} 2>&1 | tee {log:q} >&2"


rule fusion_rules:
    input:
        lambda wc: RUN.fusion.arm_inputs(
            wc.corpus,
            wc.component,
            wc.protocol,
            sorted({wc.arm, *RUN.fusion.hold_outs()[wc.arm].arms}),
        ),
        cases=rules.cases.output.cases,
        splits=rules.splits.output,
        diseases=rules.annotations.output.diseases,
    output:
        f"{RESULTS}/{{corpus}}/fused_ranks/{{component}}/{{protocol}}/rules/{{arm}}.parquet",
    log:
        "logs/{corpus}/fusion_rules/{component}/{protocol}/{arm}.log",
    benchmark:
        "logs/benchmarks/{corpus}/fusion_rules/{component}/{protocol}/{arm}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(3000),
        runtime=grows(120),
    params:
        options=lambda wc: as_json(RUN.fusion.options(RUN.fusion.hold_outs()[wc.arm].arms)),
        code=code_digest("rarefuse.fusion.stage"),
    shell:
        "OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 POLARS_MAX_THREADS=1"
        " python -m rarefuse fusion-score --component {wildcards.component}"
        " --protocol {wildcards.protocol} --arm {wildcards.arm:q} --options {params.options:q}"
        ' --knowledge "$(dirname {input.diseases:q})" --corpus "$(dirname {input.cases:q})"'
        " --output {output:q} 2>&1 | tee {log:q} >&2"


rule fuse:
    input:
        lambda wc: RUN.fusion.arm_inputs(
            wc.corpus,
            CONFIG["fusion"]["ranker"],
            CONFIG["fusion"]["protocol"],
            sorted({wc.arm, *RUN.fusion.hold_outs()[wc.arm].arms}),
        ),
        fits=lambda wc: RUN.fusion.method_checkpoint(wc.corpus, wc.method, wc.arm),
        cases=rules.cases.output.cases,
        splits=rules.splits.output,
        diseases=rules.annotations.output.diseases,
    output:
        f"{RESULTS}/{{corpus}}/fused/{{method}}/{{arm}}.parquet",
    log:
        "logs/{corpus}/fuse/{method}/{arm}.log",
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(3000),
        runtime=grows(120),
    params:
        component=CONFIG["fusion"]["ranker"],
        protocol=CONFIG["fusion"]["protocol"],
        options=lambda wc: as_json(RUN.fusion.options(RUN.fusion.hold_outs()[wc.arm].arms)),
        tensors=lambda wc, input: f"--tensors {quote(input.fits[0])}" if input.fits else "",
        code=code_digest("rarefuse.fusion.fused"),
    shell:
        "OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 POLARS_MAX_THREADS=1"
        " python -m rarefuse fuse --component {params.component} --protocol {params.protocol}"
        " --arm {wildcards.arm:q} --method {wildcards.method} --options {params.options:q}"
        ' --knowledge "$(dirname {input.diseases:q})" --corpus "$(dirname {input.cases:q})"'
        " {params.tensors} --output {output:q} 2>&1 | tee {log:q} >&2"
