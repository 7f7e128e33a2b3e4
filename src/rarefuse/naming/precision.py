"""How often a mapped name is mapped rightly: a sample to be read by hand, and its count."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from rarefuse import artifacts, seeds
from rarefuse.errors import InputError
from rarefuse.naming.lexicon import LEXICON
from rarefuse.naming.normalise import fold
from rarefuse.naming.stage import MAPPING

VERDICTS = {
    "same": "the id is the disease that the name names",
    "first type": "an unnumbered name stands for the first numbered type of the same name",
    "granularity": "the id is broader or narrower than the name in another way",
    "wrong": "the id is another disease",
}
COLUMNS = (
    "name", "occurrences", "disease_id", "known_as", "matched_form", "source", "rule", "verdict",
    "note",
)  # fmt: skip


def mapped_forms(mappings: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Distinct folded names with a match, one row each, sorted; first spelling and occurrences."""
    mapped = pl.concat(mappings).filter(
        pl.col("name").is_not_null(), pl.col("source").is_not_null(), pl.col("reason").is_null()
    )
    return (
        mapped.with_columns(form=pl.col("name").map_elements(fold, pl.String))
        .sort("form", "name")
        .group_by("form", maintain_order=True)
        .agg(
            pl.col("name", "disease_id", "matched_form", "source", "rule").first(),
            occurrences=pl.len(),
        )
    )


def sample_stage(
    *, arms: Sequence[str], corpus: Path, lexicon: Path, size: int, seed: int, output: Path
) -> None:
    """Draw distinct mapped names of all arms and write them with the names that their ids have.

    Every folded name has a random number of its own and the smallest are drawn, so that a change
    of the mapper changes the sample by no more names than it maps otherwise.
    """
    forms = mapped_forms(
        [artifacts.read(corpus / "llm" / arm / "mapping.parquet", MAPPING) for arm in arms]
    )
    numbers = [seeds.generator(seed, "precision", form).random() for form in forms["form"]]
    known = (
        artifacts.read(lexicon, LEXICON)
        .filter(pl.col("candidate"), pl.col("source").is_in(["hpoa name", "mondo name"]))
        .group_by("disease_id")
        .agg(known_as=pl.col("form").unique().sort().str.join(" | "))
    )
    sample = (
        forms.with_columns(number=pl.Series(numbers))
        .sort("number")
        .head(size)
        .sort("form")
        .join(known, on="disease_id", how="left", maintain_order="left")
        .with_columns(verdict=pl.lit(""), note=pl.lit(""))
        .select(COLUMNS)
        .with_columns(pl.col("name", "matched_form").str.replace_all(r"\s+", " "))
    )
    artifacts.write_text(sample.write_csv(separator="\t", quote_style="never"), output)


def read_verdicts(path: Path) -> pl.DataFrame:
    """Read a sample with its verdicts.

    Raises
    ------
    InputError
        If the file lacks a column or a verdict is none of `VERDICTS`.
    """
    try:
        frame = pl.read_csv(path, separator="\t", quote_char=None, infer_schema=False)
        frame = frame.with_columns(pl.col("verdict").fill_null(""))
        unknown = frame.filter(~pl.col("verdict").is_in(list(VERDICTS)))["verdict"]
        frame = frame.with_columns(pl.col("occurrences").cast(pl.Int64))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(
            "verdicts cannot be read",
            where=str(path),
            found=str(error).splitlines()[0],
            expected=f"a TSV with columns {', '.join(COLUMNS)}",
        ) from error
    if unknown.len():
        raise InputError(
            "a verdict is missing or unknown",
            where=f"{path}, column 'verdict'",
            found=repr(unknown[0]),
            expected=", ".join(VERDICTS),
            todo="read the pair and give a verdict",
        )
    return frame


def print_precision(path: Path) -> None:
    """Print shares of verdicts, over names and over their occurrences, and by rule."""
    frame = read_verdicts(path)
    counts = Counter(frame["verdict"].to_list())
    weight = dict(frame.group_by("verdict").agg(pl.col("occurrences").sum()).iter_rows())
    total = sum(weight.values())
    print(f"{frame.height} names, {total} occurrences")
    for verdict in VERDICTS:
        n, w = counts[verdict], weight.get(verdict, 0)
        print(f"{verdict:<12} {n:>4} {n / frame.height:.3f}   occurrences {w / total:.3f}")
    by_rule = frame.group_by("rule").agg(
        n=pl.len(), **{v: (pl.col("verdict") == v).sum() for v in VERDICTS}
    )
    for row in by_rule.sort("n", "rule", descending=[True, False]).iter_rows():
        print("\t".join(map(str, row)))
