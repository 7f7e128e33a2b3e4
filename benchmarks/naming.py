"""Processor seconds that mapping a million names takes, and how they grow.

Claims measured here, all in one run on one machine, on one thread:

1. a million names, all of them different, at the level `extended`;
2. a million names as models write them, few of them different;
3. the same against a plain loop, which folds every name and looks it up in the lexicon (the level
   `exact` without a guard or an explanation), so that the ratio says what the rest costs;
4. growth from 250,000 to a million.

Run after a run with language models:  python benchmarks/naming.py [--lexicon results/knowledge/…]
"""

import argparse
import time
from pathlib import Path

import polars as pl

from rarefuse import seeds
from rarefuse.naming.mapper import EXTENDED, Mapper
from rarefuse.naming.normalise import fold
from rarefuse.naming.stage import map_names

SIZE = 1_000_000
SHAPES = (
    "{}", "{} ({}-like)", "{} type II", "familial {}", "{}, severe", "{} (e.g., other)", "{} {}"
)  # fmt: skip


def different_names(forms, n):
    """Names made of the lexicon's forms, matches and misses, no two alike."""
    random = seeds.generator(1, "benchmark", "naming")
    chosen = random.integers(len(forms), size=(n, 2))
    shapes = random.integers(len(SHAPES), size=n)
    return [
        f"{SHAPES[shape].format(forms[one], forms[other])} {number if number % 3 else ''}"
        for number, ((one, other), shape) in enumerate(zip(chosen, shapes, strict=True))
    ]


def as_frame(names):
    n = len(names)
    return pl.DataFrame(
        {"case_id": ["case"] * n, "rank": range(1, n + 1), "name": names},
        schema_overrides={"rank": pl.Int64},
    ).with_columns(disease_id=pl.lit(None, pl.String))


def seconds(work):
    """Processor seconds of all threads: other jobs on the machine do not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lexicon", type=Path)
    found = sorted(Path("results/knowledge").glob("*/lexicon.parquet"))
    lexicon = pl.read_parquet(parser.parse_args().lexicon or found[0])
    built = seconds(lambda: Mapper(lexicon, EXTENDED))
    mapper = Mapper(lexicon, EXTENDED)
    forms = lexicon.filter(pl.col("candidate"))["form"].to_list()
    none = pl.DataFrame(schema={"class_id": pl.String, "disease_id": pl.String})
    plain = {fold(form): disease for form, disease in zip(forms, forms, strict=True)}
    names = different_names(forms, SIZE)
    repeated = (names[:20_000] * (SIZE // 20_000 + 1))[:SIZE]

    def ours(sample):
        frame = as_frame(sample)
        return lambda: map_names(frame, mapper, none, [])

    print(f"lexicon of {lexicon.height} rows, made ready in {built:.1f} s")
    small, whole = seconds(ours(names[: SIZE // 4])), seconds(ours(names))
    few, loop = seconds(ours(repeated)), seconds(lambda: [plain.get(fold(name)) for name in names])
    print(f"{SIZE} different names: {whole:.1f} s; a quarter of them: {small:.1f} s")
    print(f"growth from a quarter to the whole: {whole / small:.2f} times")
    print(f"{SIZE} names, 20,000 of them different: {few:.1f} s")
    print(f"plain loop: {loop:.1f} s; different names take {whole / loop:.1f} times as long,")
    print(f"names as models repeat them {few / loop:.2f} times")


if __name__ == "__main__":
    main()
