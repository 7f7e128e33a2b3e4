"""Stage that fits learned methods: every fold and seed of a suite in one checkpoint.

Apart from the stages that only apply a checkpoint, which need no torch.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rarefuse.fusion.data import read_arm, read_corpus
from rarefuse.fusion.features import Features
from rarefuse.fusion.gate import Fits, save_fits
from rarefuse.fusion.lists import fused_score, places_by_score
from rarefuse.fusion.rows import SCALE, Fit, Rows, plan_fits, stack_rows
from rarefuse.fusion.training import Settings, train


def fit_stage(
    *,
    knowledge: Path,
    corpus: Path,
    component: str,
    protocol: str,
    options: Mapping[str, Any],
    tensors: Path,
    description: Path,
) -> None:
    """Fit the methods of a suite for every fold and seed and write a checkpoint.

    Parameters
    ----------
    options : mapping
        ``arms`` to train on, ``methods``, ``seeds``, ``kappa``, ``alphas``, ``rows_per_case``,
        ``optimiser``, and those of `read_corpus`.
    """
    data = read_corpus(corpus, knowledge, component, protocol, options)
    arms = [read_arm(data, arm, options["kappa"]) for arm in options["arms"]]
    rows = stack_rows(arms)
    fits = plan_fits(data, arms, options)
    settings = Settings(**options["optimiser"])
    trained, log = [], {}
    for method in options["methods"]:
        result, own = train(method, rows, fits, settings)
        choose_alpha(result, rows, fits, options["alphas"])
        trained.append(result)
        log[method] = {
            key: {"rows": n, "epoch": epoch, "validation_loss": loss}
            for key, (n, epoch, loss) in own.items()
        }
    meta = {
        "component": component,
        "protocol": protocol,
        "options": dict(options),
        "training": log,
        "sampled": {fit.key: [len(fit.train), len(fit.validation)] for fit in fits},
    }
    save_fits(trained, meta, tensors, description)


def choose_alpha(fits: Fits, rows: Rows, plan: Sequence[Fit], alphas: Sequence[float]) -> None:
    """Choose how far each fit's weights are shrunk toward 1/2, on its validation rows (A.5).

    The best Recall@1 counts, then the least loss, then the strongest shrinkage.
    """
    for m, fit in enumerate(plan):
        chosen, best = alphas[0], (-np.inf, -np.inf)
        own = fit.validation
        features = Features(rows.features.ontology[own], rows.features.llm[own])
        union, gold = rows.union.rows(own), rows.gold[own]
        for alpha in sorted(alphas) if len(alphas) > 1 else []:
            fits.alpha[m] = alpha
            score = fused_score(union, *fits.list_weights(m, features))
            right = float((places_by_score(union, score, gold)[:, 0] == 1).mean())
            logits = np.where(union.disease >= 0, SCALE * score, -np.inf)
            top = logits.max(axis=1)
            loss = np.log(np.exp(logits - top[:, None]).sum(axis=1)) + top
            quality = (right, -float((loss - logits[np.arange(len(own)), gold]).mean()))
            if quality > best:
                chosen, best = alpha, quality
        fits.alpha[m] = chosen
