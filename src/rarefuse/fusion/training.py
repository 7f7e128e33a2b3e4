"""Train many small models at once (paper, section 4.3 and A.4).

Listwise cross-entropy on 8 s(d) over each row's candidate union; AdamW 2e-3 with weight decay
1e-4, batches of 512, at most 100 epochs, stopping after 12 without a better validation loss, whose
best epoch is kept. Fits with as many batches an epoch run stacked: the tensors of M fits are one
tensor, and a fit that has stopped leaves it. Every fit has random numbers of its own, named by its
seed and fold, so that it does not matter what it is stacked with.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rarefuse import seeds
from rarefuse.fusion.gate import CONCATENATED, METHODS, ROUTER, Fits, Method
from rarefuse.fusion.lists import Union
from rarefuse.fusion.rows import SCALE, Fit, Rows


@dataclass(frozen=True)
class Settings:
    """Of the optimiser (paper, A.4)."""

    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    batch: int = 512
    epochs: int = 100
    patience: int = 12


class _Listwise(torch.autograd.Function):
    """Cross-entropy of the gold candidate; its gradient by the weight is known in closed form.

    A candidate's logit is ``slope * w_T + offset``. Candidates that are near 0 and that the
    language model lacks (most of a union) are not stored one by one: the sum of their
    exponentials is a polynomial in w_T, see `split_tail`.
    """

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        weight: Tensor,
        slope: Tensor,
        offset: Tensor,
        tail: Tensor,
        gold_slope: Tensor,
        gold_offset: Tensor,
    ) -> Tensor:
        """Losses of shape (M, B) of ontology weights (M, B).

        `slope` and `offset` are of shape (M, B, H), minus infinity is padding; `tail` (M, B, T).
        """
        # Logits are at most 8: exponentials need no shift.
        head = torch.addcmul(offset, slope, weight.unsqueeze(-1)).exp_()
        total, rate = head.sum(dim=-1), (head * slope).sum(dim=-1)
        value, derivative = torch.zeros_like(weight), torch.zeros_like(weight)
        for m in range(tail.shape[-1] - 1, -1, -1):
            derivative = derivative * weight + value
            value = value * weight + tail[..., m]
        total, rate = total + value, rate + derivative
        ctx.save_for_backward(rate / total - gold_slope)
        return total.log() - (weight * gold_slope + gold_offset)

    @staticmethod
    def backward(ctx: object, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Pass the gradient on to the weight."""
        (slope,) = ctx.saved_tensors  # type: ignore[attr-defined]
        return grad * slope, None, None, None, None, None


TAIL_TERMS = 13
"""Terms of the exponential series of tail candidates, whose logits are at most 1: the rest is
below 2e-10, less than single precision keeps."""


def split_tail(
    union: Union,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Part candidates into stored ones and those that a polynomial in w_T stands for.

    Returns
    -------
    slope, offset : ndarray of float64, shape (R, H)
        Of stored candidates; an offset of minus infinity is padding.
    tail : ndarray of float64, shape (R, TAIL_TERMS)
        Coefficients: the sum over tail candidates of (8 r_T)^m / m!.
    """
    there = union.disease >= 0
    slope, offset = SCALE * (union.ontology - union.llm), SCALE * union.llm
    in_tail = there & (offset == 0) & (slope <= 1)
    stored = there & ~in_tail
    width = max(1, int(stored.sum(axis=1).max(initial=0)))
    first = np.argsort(~stored, axis=1, kind="stable")[:, :width]
    kept = np.take_along_axis(stored, first, axis=1)
    tail = np.empty((len(there), TAIL_TERMS))
    power = in_tail.astype(float)
    for m in range(TAIL_TERMS):
        tail[:, m] = power.sum(axis=1)
        power = power * slope / (m + 1)
    return (
        np.where(kept, np.take_along_axis(slope, first, axis=1), 0.0),
        np.where(kept, np.take_along_axis(offset, first, axis=1), -np.inf),
        tail,
    )


class _Data:
    """Rows as tensors."""

    def __init__(self, rows: Rows, method: Method) -> None:
        columns = list(method.columns)
        self.method = method
        self.t, self.l = (
            torch.from_numpy(np.ascontiguousarray(x[:, columns], np.float32))
            for x in (rows.features.ontology, rows.features.llm)
        )
        r_t, r_l = rows.union.ontology, rows.union.llm
        place = np.arange(len(rows.gold)), np.maximum(rows.gold, 0)
        self.route = torch.from_numpy(rows.route)
        self.listwise = [
            torch.from_numpy(np.ascontiguousarray(a, np.float32))
            for a in (
                *split_tail(rows.union),
                (SCALE * (r_t - r_l))[place],
                (SCALE * r_l)[place],
            )
        ]

    def losses(self, layers: Sequence[Tensor], mean: Tensor, sd: Tensor, index: Tensor) -> Tensor:
        """Loss of every row of ``index``, shape (M, B), under its fit's parameters."""
        both = [(x[index] - mean) / sd for x in (self.t, self.l)]
        if self.method.inputs == CONCATENATED:
            out = _forward(layers, torch.cat(both, dim=-1))
        else:
            out = _forward(layers, both[0]) - _forward(layers, both[1])
        if self.method.loss == ROUTER:
            return torch.nn.functional.binary_cross_entropy_with_logits(
                out, self.route[index], reduction="none"
            )
        loss: Tensor = _Listwise.apply(torch.sigmoid(out), *(a[index] for a in self.listwise))
        return loss


def _forward(layers: Sequence[Tensor], x: Tensor) -> Tensor:
    """Outputs of shape (M, B) of inputs (M, B, F); weights (M, in, out) and biases (M, 1, out)."""
    for i in range(0, len(layers), 2):
        x = torch.baddbmm(layers[i + 1], x, layers[i])
        if i + 2 < len(layers):
            x = torch.relu(x)
    return x.squeeze(-1)


def usable_rows(method: str, rows: Rows) -> NDArray[np.bool_]:
    """Which rows a method can learn from: gold in the union; for routers exactly one list right."""
    if METHODS[method].loss == ROUTER:
        return rows.route >= 0
    return rows.gold >= 0


def train(method: str, rows: Rows, fits: Sequence[Fit], settings: Settings) -> tuple[Fits, dict]:
    """Train a method's fits.

    Parameters
    ----------
    method : str
        Key of `METHODS`.
    rows : Rows
        All rows that any fit uses.
    fits : sequence of Fit
        M fits. Rows that the method cannot learn from are left out of theirs.

    Returns
    -------
    fits : Fits
        In the order given.
    log : dict
        Name of a fit → rows used, best epoch (0 is the initial state), its validation loss.
    """
    torch.set_num_threads(1)  # bits must not depend on the machine; runs are parallel, fits stacked
    torch.use_deterministic_algorithms(True)
    architecture, usable = METHODS[method], usable_rows(method, rows)
    data = _Data(rows, architecture)
    columns = list(architecture.columns)
    train_rows = [fit.train[usable[fit.train]] for fit in fits]
    stop_rows = [fit.validation[usable[fit.validation]] for fit in fits]
    mean, sd = (np.empty((len(fits), len(columns))) for _ in range(2))
    for m, own in enumerate(train_rows):
        both = np.concatenate(
            [rows.features.ontology[own][:, columns], rows.features.llm[own][:, columns]]
        )
        # A fit without rows stays as it was made: its weights say nothing, its inputs are 0.
        mean[m], sd[m] = (both.mean(axis=0), both.std(axis=0)) if len(own) else (0.0, 0.0)
    layers = _initial(architecture, fits)
    best = [layer.clone() for layer in layers]
    log = {fit.key: (len(own), 0, float("nan")) for fit, own in zip(fits, train_rows, strict=True)}
    batches = [-(-len(own) // settings.batch) for own in train_rows]
    for n_batches in sorted({b for b in batches if b}):
        group = [m for m, b in enumerate(batches) if b == n_batches]
        _run(data, fits, group, train_rows, stop_rows, mean, sd, layers, best, log, settings)
    result = Fits(
        method,
        [fit.key for fit in fits],
        mean,
        sd,
        [layer.numpy() for layer in best[::2]],
        [layer[:, 0].numpy() for layer in best[1::2]],
        np.ones(len(fits)),
    )
    return result, log


def _initial(method: Method, fits: Sequence[Fit]) -> list[Tensor]:
    """Uniform in ±1/sqrt(inputs), for weights and biases, as `torch.nn.Linear` does."""
    layers: list[Tensor] = []
    for i, (n_in, n_out) in enumerate(pairwise(method.sizes)):
        drawn = [
            seeds.generator(fit.seed, "fusion", "layer", i, fit.fold).uniform(
                -1.0, 1.0, (n_in + 1, n_out)
            )
            / np.sqrt(n_in)
            for fit in fits
        ]
        both = torch.from_numpy(np.stack(drawn).astype(np.float32))
        layers += [both[:, :n_in].contiguous(), both[:, n_in:].contiguous()]
    return layers


def _padded(rows: Sequence[NDArray[np.int64]], width: int) -> tuple[Tensor, Tensor]:
    """Row numbers of several fits as one table, and the weight 1/n of each fit's n rows.

    Short fits are padded with their first row, which then weighs nothing.
    """
    index = np.zeros((len(rows), width), np.int64)
    weight = np.zeros((len(rows), width), np.float32)
    for m, own in enumerate(rows):
        index[m] = own[0] if len(own) else 0
        index[m, : len(own)] = own
        weight[m, : len(own)] = 1.0 / max(1, len(own))
    return torch.from_numpy(index), torch.from_numpy(weight)


def _run(
    data: _Data,
    fits: Sequence[Fit],
    group: list[int],
    train_rows: list[NDArray[np.int64]],
    stop_rows: list[NDArray[np.int64]],
    mean: NDArray[np.float64],
    sd: NDArray[np.float64],
    layers: list[Tensor],
    best: list[Tensor],
    log: dict,
    settings: Settings,
) -> None:
    """Train the fits `group`, which have as many batches an epoch, and write `best` and `log`."""
    active = list(group)
    orders = [seeds.generator(fits[m].seed, "fusion", "order", fits[m].fold) for m in group]
    order_of = dict(zip(group, orders, strict=True))
    least = dict.fromkeys(group, float("inf"))
    waited = dict.fromkeys(group, 0)
    parameters = [layer[group].clone().requires_grad_() for layer in layers]
    optimiser = _optimiser(parameters, settings)
    for epoch in range(1, settings.epochs + 1):
        means, sds = (
            torch.from_numpy(a[active].astype(np.float32))[:, None] for a in (mean, sd + 1e-6)
        )
        shuffled = [order_of[m].permutation(train_rows[m]) for m in active]
        longest = max(len(own) for own in shuffled)
        for begin in range(0, longest, settings.batch):
            part = [own[begin : begin + settings.batch] for own in shuffled]
            index, weight = _padded(part, max(len(own) for own in part))
            optimiser.zero_grad()
            (data.losses(parameters, means, sds, index) * weight).sum().backward()
            optimiser.step()
        with torch.no_grad():
            index, weight = _padded(
                [stop_rows[m] for m in active], max(1, *(len(stop_rows[m]) for m in active))
            )
            losses = (data.losses(parameters, means, sds, index) * weight).sum(dim=1).tolist()
        for i, (m, loss) in enumerate(zip(active, losses, strict=True)):
            waited[m] += 1
            if loss < least[m]:
                least[m], waited[m] = loss, 0
                log[fits[m].key] = (len(train_rows[m]), epoch, loss)
                for kept, parameter in zip(best, parameters, strict=True):
                    kept[m] = parameter.detach()[i]
        going = [i for i, m in enumerate(active) if waited[m] < settings.patience]
        if not going:
            return
        if len(going) < len(active):
            active = [active[i] for i in going]
            parameters, optimiser = _narrowed(parameters, optimiser, going, settings)


def _optimiser(parameters: list[Tensor], settings: Settings) -> torch.optim.AdamW:
    return torch.optim.AdamW(
        parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay
    )


def _narrowed(
    parameters: list[Tensor], optimiser: torch.optim.AdamW, kept: list[int], settings: Settings
) -> tuple[list[Tensor], torch.optim.AdamW]:
    """Parameters and optimiser of the fits that go on, with what it remembers of them."""
    fewer = [parameter.detach()[kept].clone().requires_grad_() for parameter in parameters]
    other = _optimiser(fewer, settings)
    for old, new in zip(parameters, fewer, strict=True):
        other.state[new] = {
            name: value[kept].clone() if value.ndim == old.ndim else value.clone()
            for name, value in optimiser.state[old].items()
        }
    return fewer, other
