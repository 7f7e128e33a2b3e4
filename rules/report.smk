# Requires: tables. Makes the page that a person reads, and keeps the run's configuration beside it.


def provenance(wildcards):
    """What a reader needs to make the same results again."""
    entry = CONFIG["corpora"][wildcards.corpus]
    used = [HPO, HPOA] + ([REGISTRY[entry["source"]]] if "source" in entry else [])
    return as_json(
        {
            "sources": [
                {"id": s.id, "title": s.title, "release": s.release, "licence": s.licence,
                 "sha256": s.sha256}
                for s in {s.id: s for s in used}.values()
            ],
            "version": VERSION,
            "seed": CONFIG["seed"],
            "resamples": CONFIG["evaluation"]["resamples"],
            "level": CONFIG["evaluation"]["level"],
        }
    )  # fmt: skip


rule report:
    input:
        tables=expand(
            f"{RESULTS}/{{{{corpus}}}}/tables/{{table}}.parquet",
            table=CONFIG["evaluation"]["tables"],
        ),
        skipped=rules.cases.output.skipped,
        problems=rules.annotations.output.problems,
        audit=rules.audit.output,
    output:
        report(
            f"{RESULTS}/{{corpus}}/report.html",
            caption="../workflow/report/report.rst",
            category="Reports",
        ),
    params:
        provenance=provenance,
        code=code_digest("rarefuse.report.stage"),
    log:
        "logs/{corpus}/report.log",
    shell:
        "python -m rarefuse report --name {wildcards.corpus}"
        " $(printf -- '--table %s ' {input.tables})"
        " --skipped {input.skipped} --problems {input.problems} --audit {input.audit}"
        " --provenance {params.provenance:q} --output {output} 2>&1 | tee {log} >&2"


rule run_config:
    output:
        f"{RESULTS}/{{corpus}}/config.yaml",
    params:
        config=as_json(CONFIG),
    log:
        "logs/{corpus}/config.log",
    shell:
        "python -m rarefuse write-config --options {params.config:q} --output {output} 2>&1 | tee {log} >&2"


onsuccess:
    tables = [f"{RESULTS}/{CORPUS}/tables/{t}.parquet" for t in ("cohort", "recall")]
    page = f"{RESULTS}/{CORPUS}/report.html"
    if all(Path(path).exists() for path in (*tables, page)):
        shell(
            "python -m rarefuse summary --name {CORPUS} --report {page}"
            " --level {CONFIG[evaluation][level]} --table {tables[0]} --table {tables[1]}"
        )
