# Requires: recorded answers, or the names in a model's answers; sources of disease names. Makes:
# 1. under results/knowledge/…, the lexicon of names and the crosswalk of other ids; 2. under
# results/{corpus}/llm/{arm}/, completions and names of arms that were recorded elsewhere; 3. for
# every arm its mapped names, its list, and the place of every gold disease in it; 4. on request,
# the sample of names without a match for two blinded reviewers.


rule lexicon:
    input:
        diseases=rules.annotations.output.diseases,
        mondo=lambda wc: RUN.naming_source("mondo"),
        mappings=lambda wc: RUN.naming_source("mappings"),
        orphanet=lambda wc: RUN.naming_source("orphanet"),
    output:
        lexicon=f"{KNOWLEDGE}/lexicon.parquet",
        crosswalk=f"{KNOWLEDGE}/crosswalk.parquet",
    log:
        "logs/lexicon.log",
    benchmark:
        "logs/benchmarks/lexicon.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        registry=RUN.registry_path,
        code=code_digest("rarefuse.naming.lexicon"),
    shell:
        "python -m rarefuse lexicon --diseases {input.diseases:q} --mondo {input.mondo:q}"
        " --mappings {input.mappings:q} --orphanet {input.orphanet:q}"
        " --lexicon {output.lexicon:q} --crosswalk {output.crosswalk:q} 2>&1 | tee {log:q} >&2"


rule recorded:
    input:
        answers=lambda wc: RUN.llms.recorded_path(wc.arm),
        records=lambda wc: RUN.llms.recorded_keys(wc.arm),
        cases=rules.cases.output.cases,
    output:
        completions=f"{RESULTS}/{{corpus}}/llm/{{arm}}/completions.parquet",
        names=f"{RESULTS}/{{corpus}}/llm/{{arm}}/names.parquet",
        problems=f"{RESULTS}/{{corpus}}/llm/{{arm}}/recorded_problems.parquet",
    log:
        "logs/{corpus}/recorded/{arm}.log",
    wildcard_constraints:
        arm="|".join(map(re.escape, RUN.llms.recorded)) or "(?!)",
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        registry=RUN.registry_path,
        options=lambda wc: RUN.llms.recorded_options(wc.arm),
        key_table=lambda wc, input: f"--keys {quote(str(input.records))}" if input.records else "",
        verify=lambda wc: (
            f"--source-id {CONFIG['llms'][wc.arm]['source']}"
            if "source" in CONFIG["llms"][wc.arm]
            else ""
        ),
        code=code_digest("rarefuse.llm.recorded"),
    shell:
        "python -m rarefuse recorded --answers {input.answers:q} {params.key_table}"
        " --registry {params.registry:q} {params.verify}"
        " --cases {input.cases:q} --options {params.options:q} --completions {output.completions:q}"
        " --names {output.names:q} --problems {output.problems:q} 2>&1 | tee {log:q} >&2"


rule map_names:
    input:
        names=f"{RESULTS}/{{corpus}}/llm/{{arm}}/names.parquet",
        lexicon=rules.lexicon.output.lexicon,
        crosswalk=rules.lexicon.output.crosswalk,
        cases=rules.cases.output.cases,
    output:
        mapping=f"{RESULTS}/{{corpus}}/llm/{{arm}}/mapping.parquet",
        ranking=f"{RESULTS}/{{corpus}}/llm/{{arm}}/ranking.parquet",
        gold_ranks=f"{RESULTS}/{{corpus}}/llm/{{arm}}/gold_ranks.parquet",
    log:
        "logs/{corpus}/map_names/{arm}.log",
    benchmark:
        "logs/benchmarks/{corpus}/map_names/{arm}.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(60),
    params:
        level=CONFIG["naming"]["level"],
        rules=as_json(CONFIG["naming"]["rules"]),
        code=code_digest("rarefuse.naming.stage"),
    shell:
        "python -m rarefuse map-names --names {input.names:q} --lexicon {input.lexicon:q}"
        " --crosswalk {input.crosswalk:q} --cases {input.cases:q} --level {params.level}"
        " --rules {params.rules:q} --mapping {output.mapping:q} --ranking {output.ranking:q}"
        " --gold-ranks {output.gold_ranks:q} 2>&1 | tee {log:q} >&2"


rule audit_sample:
    input:
        lambda wc: RUN.llms.artifacts(wc.corpus, ("completions", "mapping")),
    output:
        blinded=f"{RESULTS}/{{corpus}}/mapping_audit/items.tsv",
        key=f"{RESULTS}/{{corpus}}/mapping_audit/key/key.tsv",
    log:
        "logs/{corpus}/audit_sample.log",
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        arms=" ".join(f"--arm {arm}" for arm in RUN.llms.arms),
        corpus=f"{RESULTS}/{{corpus}}",
        options=as_json({k: v for k, v in CONFIG["mapping_audit"].items() if k != "reviews"}),
        code=code_digest("rarefuse.naming.audit"),
    shell:
        "python -m rarefuse audit-sample {params.arms} --corpus {params.corpus:q}"
        " --options {params.options:q} --items {output.blinded:q} --key {output.key:q}"
        " 2>&1 | tee {log:q} >&2"
