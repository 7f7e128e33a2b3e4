"""What a query costs, and how indexes grow: a front for two tables, readable at once.

Claims measured here, one thread, vectors given:

1. milliseconds a query of text, of the reference's modes and of ours, in the same run on the same
   vectors, with ratios to text and to the reference's soft mix;
2. recall and milliseconds of the Lorentz indexes on synthetic points up to 200,000 nodes.

Run after the target `retrieval`:
python benchmarks/retrieval.py [--folder results/retrieval/hpo-full]
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path

from rarefuse.retrieval.studies import efficiency_table, growth_table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("results/retrieval/hpo-5k"))
    parser.add_argument("--skip-growth", action="store_true")
    a = parser.parse_args()
    rows = list(
        efficiency_table(a.folder, seed=0, tables=a.folder / "models" / "seed0.safetensors")
    )
    spent = {row.system: row.value for row in rows if row.metric == "ms a query"}
    size = {row.system: row.value for row in rows if row.metric == "index MB"}
    print(f"{'system':<16}{'ms a query':>12}{'x text':>9}{'x soft mix':>12}{'index MB':>10}")
    for system, ms in spent.items():
        print(
            f"{system:<16}{ms:>12.3f}{ms / spent['text']:>9.2f}"
            f"{ms / spent['hyem-soft']:>12.2f}{size[system]:>10.2f}"
        )
    if not a.skip_growth:
        for row in growth_table(seed=0):
            print(f"{row.system:<16}{row.variant:<10}{row.metric:<12}{row.value:>10.4f}")


if __name__ == "__main__":
    main()
