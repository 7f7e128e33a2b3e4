# Requires: an ontology and an annotation release. Makes: results/knowledge/…, what rankers know:
# 1. terms and aliases of the ontology; 2. candidate diseases, relations and information content;
# 3. what LOPO removes for each publication of a corpus; 4. on request, one publication's
# phenotype.hpoa for outside programs.


rule ontology:
    input:
        obo=RUN.resource(RUN.hpo.id),
    output:
        terms=f"{KNOWLEDGE}/terms.parquet",
        aliases=f"{KNOWLEDGE}/aliases.parquet",
    log:
        "logs/ontology.log",
    benchmark:
        "logs/benchmarks/ontology.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        registry=RUN.registry_path,
        source=RUN.hpo.id,
        code=code_digest("rarefuse.ontology.obo"),
    shell:
        "python -m rarefuse ontology --obo {input.obo:q}"
        " --registry {params.registry:q} --source-id {params.source}"
        " --terms {output.terms:q} --aliases {output.aliases:q} 2>&1 | tee {log:q} >&2"


rule annotations:
    input:
        hpoa=RUN.resource(RUN.hpoa.id),
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
    output:
        annotations=f"{KNOWLEDGE}/annotations.parquet",
        diseases=f"{KNOWLEDGE}/diseases.parquet",
        relations=f"{KNOWLEDGE}/relations.parquet",
        information_content=f"{KNOWLEDGE}/information_content.parquet",
        problems=f"{KNOWLEDGE}/annotation_problems.parquet",
    log:
        "logs/annotations.log",
    benchmark:
        "logs/benchmarks/annotations.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(3000),
        runtime=grows(60),
    params:
        registry=RUN.registry_path,
        source=RUN.hpoa.id,
        options=as_json({"keep_zero_frequency": CONFIG["knowledge"]["keep_zero_frequency"]}),
        code=code_digest("rarefuse.annotations.build"),
    shell:
        "python -m rarefuse annotations --hpoa {input.hpoa:q}"
        " --registry {params.registry:q} --source-id {params.source}"
        " --terms {input.terms:q} --aliases {input.aliases:q} --options {params.options:q}"
        " --annotations {output.annotations:q} --diseases {output.diseases:q}"
        " --relations {output.relations:q} --problems {output.problems:q}"
        " --information-content {output.information_content:q} 2>&1 | tee {log:q} >&2"


rule lopo:
    input:
        cases=f"{RESULTS}/{{corpus}}/cases.parquet",
        relations=rules.annotations.output.relations,
    output:
        f"{RESULTS}/{{corpus}}/lopo.parquet",
    log:
        "logs/{corpus}/lopo.log",
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        code=code_digest("rarefuse.annotations.lopo"),
    shell:
        "python -m rarefuse lopo --cases {input.cases:q} --relations {input.relations:q}"
        " --output {output:q} 2>&1 | tee {log:q} >&2"


rule lopo_hpoa:
    input:
        hpoa=RUN.resource(RUN.hpoa.id),
        annotations=rules.annotations.output.annotations,
        relations=rules.annotations.output.relations,
        cases=f"{RESULTS}/{{corpus}}/cases.parquet",
    output:
        f"{RESULTS}/{{corpus}}/lopo/{{publication}}.hpoa",
    log:
        "logs/{corpus}/lopo/{publication}.log",
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
    params:
        publication=lambda wc: wc.publication.replace("_", ":"),
        code=code_digest("rarefuse.annotations.lopo"),
    shell:
        "python -m rarefuse lopo-hpoa {params.publication} --hpoa {input.hpoa:q}"
        " --annotations {input.annotations:q} --relations {input.relations:q} --cases {input.cases:q}"
        " --output {output:q} 2>&1 | tee {log:q} >&2"
