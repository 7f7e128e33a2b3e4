# Requires: resources/sources.yaml. Makes: one verified file a source under resources/.
# A source comes from the first mirror that serves its pinned bytes.


rule fetch:
    output:
        f"{RESOURCES}/{{file}}",
    wildcard_constraints:
        file="|".join(source.file.replace(".", r"\.") for source in REGISTRY.values()),
    params:
        source=lambda wc: next(s.id for s in REGISTRY.values() if s.file == wc.file),
        sha256=lambda wc: next(s.sha256 for s in REGISTRY.values() if s.file == wc.file),
    log:
        "logs/fetch/{file}.log",
    # Where a file may come from does not change what it is: the folders are no parameter.
    shell:
        "python -m rarefuse fetch {params.source}"
        " --registry {CONFIG[sources][registry]}"
        " {MIRROR_OPTIONS}"
        " --output {output} 2>&1 | tee {log} >&2"


MIRROR_OPTIONS = " ".join(
    [f"--mirror-dir {shlex.quote(folder)}" for folder in CONFIG["sources"]["mirror_dirs"]]
    + ["--offline"] * CONFIG["sources"]["offline"]
)
