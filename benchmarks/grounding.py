"""How often words that the index does not know are mapped to their term, by similarity.

Synonyms stand for such words: each is left out of the text index while it is looked up, so that
the nearest of the other texts decides. Given are, for each threshold of the cosine, the share that
is mapped, and of the mapped the share on the term itself, and on it or a more general one. It is a
hard case: near texts are often siblings' names, which differ in a number or in one word.

Run after the index is made:  python benchmarks/grounding.py [--index results/retrieval/hpo-full]
"""

import argparse
from pathlib import Path

import numpy as np

from rarefuse import seeds
from rarefuse.retrieval.ground import read_grounder
from rarefuse.retrieval.linker import EXACT
from rarefuse.retrieval.notes import DEFAULT_INDEX, LEAST_SIMILARITY, SURE

NEAR = 50


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--index", type=Path, default=DEFAULT_INDEX)
    parser.add_argument("--synonyms", type=int, default=4000)
    arguments = parser.parse_args()
    grounder = read_grounder(arguments.index)
    linker = grounder.linker
    synonyms = np.arange(2 * linker.size, len(linker.owner))
    draw = seeds.generator(1, "benchmark", "grounding")
    asked = draw.choice(synonyms, min(arguments.synonyms, len(synonyms)), replace=False)
    cosines, rows = linker.text.search(linker.vectors[asked], NEAR)
    results = []
    for own, near, found in zip(asked, cosines, rows, strict=True):
        # The same words may be another term's synonym, too: that is no mapping by similarity.
        kept = (found >= 0) & (found != own) & (near < EXACT)
        term, best = int(linker.owner[own]), int(linker.owner[found[kept][0]])
        general = best == term or best in grounder.subset.ancestors[term]
        results.append((near[kept][0], best == term, general))
    values = np.array(results, np.float64)
    print(f"{len(values)} synonyms of {arguments.index}")
    print("threshold  mapped  the term  it or a more general one")
    for threshold in (0.0, 0.7, LEAST_SIMILARITY, SURE, 0.95):
        mapped = values[values[:, 0] >= threshold]
        print(
            f"{threshold:>9.2f}  {len(mapped) / len(values):>6.1%}  {mapped[:, 1].mean():>8.1%}"
            f"  {mapped[:, 2].mean():>6.1%}"
        )


if __name__ == "__main__":
    main()
