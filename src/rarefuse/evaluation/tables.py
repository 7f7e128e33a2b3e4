"""The one schema of every result table."""

import polars as pl

from rarefuse.artifacts import Column, Schema

TABLE = Schema(
    "table",
    (
        Column("table", pl.String, "table name, such as 'recall'"),
        Column("system", pl.String, "ranker, arm or method; 'hpoa' for properties of the data"),
        Column("protocol", pl.String, "'ordinary', 'lopo', or 'lopo - ordinary' for the change"),
        Column("variant", pl.String, "what else tells rows apart: tie policy, seed, query cap"),
        Column("subset", pl.String, "cases counted: 'all', 'train', 'validation', 'test', …"),
        Column("metric", pl.String, "'recall@1', 'mrr', or the statistic's name"),
        Column("value", pl.Float64, "estimate; shares and recalls in 0..1", nullable=True),
        Column("ci_low", pl.Float64, "lower end of the percentile interval", nullable=True),
        Column("ci_high", pl.Float64, "upper end of the percentile interval", nullable=True),
        Column("n", pl.Int64, "cases behind the value"),
        Column(
            "seed_sd", pl.Float64, "standard deviation over seeds, where there are", nullable=True
        ),
    ),
    key=("table", "system", "protocol", "variant", "subset", "metric"),
)
