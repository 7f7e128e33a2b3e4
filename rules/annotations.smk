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
    params:
        registry=RUN.registry_path,
        source=RUN.hpo.id,
        code=code_digest("rarefuse.ontology.obo"),
    shell:
        "python -m rarefuse ontology --obo {input.obo}"
        " --registry {params.registry} --source-id {params.source}"
        " --terms {output.terms} --aliases {output.aliases} 2>&1 | tee {log} >&2"


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
    params:
        registry=RUN.registry_path,
        source=RUN.hpoa.id,
        options=as_json({"keep_zero_frequency": CONFIG["knowledge"]["keep_zero_frequency"]}),
        code=code_digest("rarefuse.annotations.build"),
    shell:
        "python -m rarefuse annotations --hpoa {input.hpoa}"
        " --registry {params.registry} --source-id {params.source}"
        " --terms {input.terms} --aliases {input.aliases} --options {params.options:q}"
        " --annotations {output.annotations} --diseases {output.diseases}"
        " --relations {output.relations} --problems {output.problems}"
        " --information-content {output.information_content} 2>&1 | tee {log} >&2"


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
    params:
        code=code_digest("rarefuse.annotations.lopo"),
    shell:
        "python -m rarefuse lopo --cases {input.cases} --relations {input.relations}"
        " --output {output} 2>&1 | tee {log} >&2"


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
    params:
        publication=lambda wc: wc.publication.replace("_", ":"),
        code=code_digest("rarefuse.annotations.lopo"),
    shell:
        "python -m rarefuse lopo-hpoa {params.publication} --hpoa {input.hpoa}"
        " --annotations {input.annotations} --relations {input.relations} --cases {input.cases}"
        " --output {output} 2>&1 | tee {log} >&2"
