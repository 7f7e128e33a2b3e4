"""What the reranker costs and how it grows, and what an opaque net gains on the same evidence.

    PYTHONPATH=src python benchmarks/rerank.py --knowledge results/knowledge/… \\
        --corpus results/pheval-2024

Evidence, fits and scores are linear in the candidates, and fits in the columns too. The opaque net
has two hidden layers and the same evidence, folds and loss: it measures what additivity and
directions cost. What has no directions trains on every candidate: the deep ones that training
leaves out are all wrong but the diagnosis, and a free scorer would learn that deep is right.
The last lines free the directions of one group of columns at a time: what each of them holds back.
Ontology alone, so that no language model is needed.
"""

import argparse
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.optimize

from rarefuse.rerank.candidates import gather_evidence
from rarefuse.rerank.checkpoint import score_candidates
from rarefuse.rerank.columns import EXCLUDED, GROUPS, NAMED
from rarefuse.rerank.model import PIECES
from rarefuse.rerank.stage import ONTOLOGY, read_corpus, read_lists, train_reranker
from rarefuse.rerank.training import Plan, gather_rows, make_folds

RANKERS = ["phenomizer", "lirical", "resnik", "nb-lr", "nb-lr-excluded", "bma"]
PLAN = Plan(5, 0.15, (1,), (300.0, 100.0, 30.0, 10.0), 25, 15)


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start


def recall_at_1(source, lists, score):
    best = np.full(len(source.gold), -np.inf)
    np.maximum.at(best, lists.query, score)
    right = lists.disease == source.gold[lists.query]
    eligible = source.gold >= 0
    hit = np.zeros(len(best), bool)
    hit[lists.query[right & (score >= best[lists.query])]] = True
    return hit[eligible].mean()


def opaque_scores(source, evidence, plan):
    """Out-of-fold scores of a net with 64 and 32 hidden units, stopped on the validation part."""
    import torch

    torch.manual_seed(1)
    total = np.full(len(evidence.values), np.nan)
    for fold in make_folds(source.clusters, plan, 1):
        parts = [
            gather_rows(
                [evidence], source.gold, cases, len(cases), plan.training_depth, 1, fold.name
            )
            for cases in (fold.train, fold.validation)
        ]
        mean, sd = parts[0][0].mean(axis=0), parts[0][0].std(axis=0) + 1e-6

        def prepared(values, mean=mean, sd=sd):
            return torch.tensor((values - mean) / sd, dtype=torch.float32).clamp(-5, 5)

        net = torch.nn.Sequential(
            torch.nn.Linear(len(mean), 64), torch.nn.ReLU(), torch.nn.Linear(64, 32),
            torch.nn.ReLU(), torch.nn.Linear(32, 1),
        )  # fmt: skip
        optimiser = torch.optim.AdamW(net.parameters(), 2e-3, weight_decay=1e-2)

        def loss_of(values, ptr, right, net=net):
            score = net(values)[:, 0]
            case = torch.repeat_interleave(torch.arange(len(right)), torch.tensor(np.diff(ptr)))
            largest = torch.full((len(right),), -torch.inf).scatter_reduce(0, case, score, "amax")
            share = torch.zeros(len(right)).index_add(0, case, (score - largest[case]).exp())
            return (share.log() + largest - score[torch.tensor(right)]).mean()

        data = [(prepared(values), ptr, right) for values, ptr, right in parts]
        best, kept, patience = np.inf, None, 0
        for _ in range(150):
            optimiser.zero_grad()
            loss_of(*data[0]).backward()
            optimiser.step()
            with torch.no_grad():
                loss = float(loss_of(*data[1]))
            patience += 1
            if loss < best:
                best, patience = loss, 0
                kept = {name: value.clone() for name, value in net.state_dict().items()}
            if patience > 15:
                break
        net.load_state_dict(kept)
        rows = np.flatnonzero(np.isin(evidence.lists.query, fold.test))
        with torch.no_grad():
            total[rows] = net(prepared(evidence.values[rows]))[:, 0].numpy()
    return total


@contextmanager
def freed(columns, groups):
    """Fits in which the columns of some groups count in both directions."""
    minimize = scipy.optimize.minimize
    free = np.repeat([column.group in groups for column in columns], PIECES)

    def without(objective, start, *, bounds, **rest):
        kept = [(None, None) if f else b for f, b in zip(free, bounds, strict=True)]
        return minimize(objective, start, bounds=kept, **rest)

    scipy.optimize.minimize = without
    try:
        yield
    finally:
        scipy.optimize.minimize = minimize


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--knowledge", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    arguments = parser.parse_args()
    source = read_corpus(arguments.knowledge, arguments.corpus)
    lists = read_lists(arguments.corpus, source, RANKERS, 100, ONTOLOGY)
    gather_evidence(source.protocol, lists)  # compiles
    evidence, seconds = timed(gather_evidence, source.protocol, lists)
    n = len(lists.disease)
    print(f"evidence: {seconds:.1f} s for {n:,} candidates, {1e6 * seconds / n:.1f} µs each")
    whole = replace(PLAN, training_depth=100)
    for name, plan in (
        ("monotone", PLAN),
        ("monotone, every candidate", whole),
        ("both directions, every candidate", replace(whole, monotone=False)),
    ):
        reranker, seconds = timed(train_reranker, source, {ONTOLOGY: evidence}, plan, 100)
        score, _ = score_candidates(reranker, evidence, source.clusters)
        print(
            f"additive, {name}: Recall@1 {recall_at_1(source, lists, score):.4f}, "
            f"{seconds / plan.folds:.1f} s a fit"
        )
    score, seconds = timed(opaque_scores, source, evidence, whole)
    print(
        f"opaque net, every candidate: Recall@1 {recall_at_1(source, lists, score):.4f}, "
        f"{seconds / whole.folds:.1f} s a fit"
    )
    ours = [group for group in GROUPS if group != NAMED]
    for some in [*([group] for group in ours), [g for g in ours if g != EXCLUDED]]:
        with freed(evidence.columns, some):
            reranker = train_reranker(source, {ONTOLOGY: evidence}, whole, 100)
        score, _ = score_candidates(reranker, evidence, source.clusters)
        print(f"free: {', '.join(some)}: Recall@1 {recall_at_1(source, lists, score):.4f}")


if __name__ == "__main__":
    main()
