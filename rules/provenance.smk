# Requires: gold ranks under both protocols. Makes the tables of the paper's provenance analysis:
# who is in the cohort, how much its publications overlap with the annotations, and what LOPO
# does to each ranker. Changing the bootstrap reruns this file's rule and the report, no ranker.


def table_rankers(table):
    """Rankers that a table is about."""
    if table in ("recall", "ties", "split_sensitivity"):
        return CONFIG["evaluation"]["rankers"]
    if table == "monte_carlo":
        ranker, seeds = CONFIG["monte_carlo"]["ranker"], CONFIG["monte_carlo"]["seeds"]
        return [f"{ranker}.seed{seed}" for seed in seeds]
    if table == "query_cap":
        return [CONFIG["query_cap"]["ranker"], CONFIG["query_cap"]["ranker"] + ".uncapped"]
    if table == "null_models":
        return CONFIG["null_models"]["rankers"]
    return []


def table_rankings(wildcards):
    """What a table reads of every ranker."""
    kinds = ["gold_ranks"] + ["rankings"] * (wildcards.table == "ties")
    return expand(
        f"{RESULTS}/{wildcards.corpus}/{{kind}}/{{ranker}}/{{protocol}}.parquet",
        kind=kinds,
        ranker=table_rankers(wildcards.table),
        protocol=["ordinary", "lopo"],
    )


rule table:
    input:
        table_rankings,
        cases=rules.cases.output.cases,
        splits=rules.splits.output,
        diseases=rules.annotations.output.diseases,
        relations=rules.annotations.output.relations,
    output:
        f"{RESULTS}/{{corpus}}/tables/{{table}}.parquet",
    params:
        options=lambda wc: as_json(
            {
                "rankers": table_rankers(wc.table),
                "recall_at": CONFIG["evaluation"]["recall_at"],
                "resamples": CONFIG["evaluation"]["resamples"],
                "level": CONFIG["evaluation"]["level"],
                "seed": CONFIG["seed"],
                **({"splits": SPLIT_OPTIONS} if wc.table == "split_sensitivity" else {}),
            }
        ),
        code=code_digest("rarefuse.evaluation.stages"),
    log:
        "logs/{corpus}/tables/{table}.log",
    benchmark:
        "logs/benchmarks/{corpus}/tables/{table}.tsv"
    shell:
        "python -m rarefuse table {wildcards.table}"
        " --corpus $(dirname {input.cases}) --knowledge $(dirname {input.diseases})"
        " --options {params.options:q} --output {output} 2>&1 | tee {log} >&2"
