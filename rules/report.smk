# Requires: tables. Makes the page that a person reads, and keeps the run's configuration beside it.


rule report:
    input:
        tables=expand(
            f"{RESULTS}/{{{{corpus}}}}/tables/{{table}}.parquet",
            table=RUN.evaluation.tables,
        ),
        skipped=rules.cases.output.skipped,
        problems=rules.annotations.output.problems,
        audit=rules.audit.output,
        template=Path(workflow.basedir) / "src/rarefuse/report/templates/report.html.j2",
    output:
        report(
            f"{RESULTS}/{{corpus}}/report.html",
            caption="../workflow/report/report.rst",
            category="Reports",
        ),
    log:
        "logs/{corpus}/report.log",
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(3000),
        runtime=grows(60),
    params:
        tables=lambda wc, input: " ".join(f"--table {quote(table)}" for table in input.tables),
        provenance=lambda wc: RUN.provenance(wc.corpus),
        code=code_digest("rarefuse.report.stage"),
    shell:
        "python -m rarefuse report --name {wildcards.corpus}"
        " {params.tables}"
        " --skipped {input.skipped:q} --problems {input.problems:q} --audit {input.audit:q}"
        " --provenance {params.provenance:q} --output {output:q} 2>&1 | tee {log:q} >&2"


rule case_explorer:
    input:
        lambda wc: RUN.explorer.inputs(wc.corpus),
        view=rules.view.output,
        cases=rules.cases.output.cases,
        lopo=rules.lopo.output,
        diseases=rules.annotations.output.diseases,
        relations=rules.annotations.output.relations,
        information_content=rules.annotations.output.information_content,
        templates=[
            Path(workflow.basedir) / f"src/rarefuse/{template}"
            for template in (
                "explorer/templates/explorer.html.j2",
                "explorer/templates/explorer.css",
                "explorer/templates/explorer.js",
                "report/templates/page.css",
            )
        ],
    output:
        directory(f"{RESULTS}/{{corpus}}/explorer"),
    log:
        "logs/{corpus}/case_explorer.log",
    benchmark:
        "logs/benchmarks/{corpus}/case_explorer.tsv"
    conda:
        "../envs/base.yaml"
    resources:
        mem_mb=grows(6000),
        runtime=grows(60),
    params:
        options=RUN.explorer.options(),
        code=code_digest("rarefuse.explorer.stage"),
    shell:
        "POLARS_MAX_THREADS={threads} NUMBA_NUM_THREADS={threads}"
        " python -m rarefuse explorer --name {wildcards.corpus} --options {params.options:q}"
        ' --knowledge "$(dirname {input.diseases:q})" --corpus "$(dirname {input.cases:q})"'
        " --output {output:q} 2>&1 | tee {log:q} >&2"


rule run_config:
    output:
        f"{RESULTS}/{{corpus}}/config.yaml",
    log:
        "logs/{corpus}/config.log",
    localrule: True
    conda:
        "../envs/base.yaml"
    params:
        config=as_json(CONFIG),
    shell:
        "python -m rarefuse write-config --options {params.config:q} --output {output:q} 2>&1 | tee {log:q} >&2"


onsuccess:
    made = f"{RESULTS}/{CORPUS}"
    page = Path(made, "report.html")
    # Only if this run made the page: a run for another target leaves an older one alone.
    if page.exists() and page.stat().st_mtime >= STARTED:
        shell(
            "python -m rarefuse summary --name {CORPUS} --report {page:q}"
            " --level {CONFIG[evaluation][level]}"
            " --table {made:q}/tables/cohort.parquet --table {made:q}/tables/recall.parquet"
        )
