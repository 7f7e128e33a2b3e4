# Requires: resources/sources.yaml. Makes: one verified file a source under resources/.
# A source comes from the first mirror that serves its pinned bytes. Where that may be does not
# change what it is, so the mirror folders are no parameter: common.smk puts them into the
# environment.


rule fetch:
    output:
        f"{CONFIG['sources']['folder']}/{{file}}",
    log:
        "logs/fetch/{file}.log",
    wildcard_constraints:
        file="|".join(s.file.replace(".", r"\.") for s in RUN.registry.values()),
    localrule: True
    conda:
        "../envs/base.yaml"
    params:
        registry=RUN.registry_path,
        source=lambda wc: RUN.source_of_file(wc.file).id,
        sha256=lambda wc: RUN.source_of_file(wc.file).sha256,
    shell:
        "python -m rarefuse fetch {params.source}"
        " --registry {params.registry:q}"
        " --output {output:q} 2>&1 | tee {log:q} >&2"
