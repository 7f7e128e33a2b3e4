# Requires: an ontology and an annotation release. Makes: results/knowledge/…, what rankers know:
# 1. terms and aliases of the ontology; 2. candidate diseases, relations and information content;
# 3. what LOPO removes for each publication of a corpus; 4. on request, one publication's
# phenotype.hpoa for outside programs.


rule ontology:
    input:
        obo=resource(HPO.id),
    output:
        terms=f"{KNOWLEDGE}/terms.parquet",
        aliases=f"{KNOWLEDGE}/aliases.parquet",
    params:
        source=HPO.id,
        code=code_digest("rarefuse.ontology.obo"),
    log:
        "logs/ontology.log",
    benchmark:
        "logs/benchmarks/ontology.tsv"
    shell:
        "python -m rarefuse ontology --obo {input.obo}"
        " --registry {CONFIG[sources][registry]} --source-id {params.source}"
        " --terms {output.terms} --aliases {output.aliases} 2>&1 | tee {log} >&2"


rule annotations:
    input:
        hpoa=resource(HPOA.id),
        terms=rules.ontology.output.terms,
        aliases=rules.ontology.output.aliases,
    output:
        annotations=f"{KNOWLEDGE}/annotations.parquet",
        diseases=f"{KNOWLEDGE}/diseases.parquet",
        relations=f"{KNOWLEDGE}/relations.parquet",
        information_content=f"{KNOWLEDGE}/information_content.parquet",
        problems=f"{KNOWLEDGE}/annotation_problems.parquet",
    params:
        source=HPOA.id,
        options=as_json({"keep_zero_frequency": CONFIG["knowledge"]["keep_zero_frequency"]}),
        code=code_digest("rarefuse.annotations.build"),
    log:
        "logs/annotations.log",
    benchmark:
        "logs/benchmarks/annotations.tsv"
    shell:
        "python -m rarefuse annotations --hpoa {input.hpoa}"
        " --registry {CONFIG[sources][registry]} --source-id {params.source}"
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
    params:
        code=code_digest("rarefuse.annotations.lopo"),
    log:
        "logs/{corpus}/lopo.log",
    shell:
        "python -m rarefuse lopo --cases {input.cases} --relations {input.relations}"
        " --output {output} 2>&1 | tee {log} >&2"


rule lopo_hpoa:
    input:
        hpoa=resource(HPOA.id),
        annotations=rules.annotations.output.annotations,
        relations=rules.annotations.output.relations,
    output:
        f"{RESULTS}/{{corpus}}/lopo/{{publication}}.hpoa",
    params:
        publication=lambda wc: wc.publication.replace("_", ":"),
        code=code_digest("rarefuse.annotations.lopo"),
    log:
        "logs/{corpus}/lopo/{publication}.log",
    shell:
        "python -m rarefuse lopo-hpoa {params.publication} --hpoa {input.hpoa}"
        " --annotations {input.annotations} --relations {input.relations}"
        " --output {output} 2>&1 | tee {log} >&2"
