"""Result tables about fusion: systems side by side, paired differences, controls, transfer.

Values are over the cases that can be evaluated and that no fold trained on. A learned system's
value of a case is its mean over the seeds, so that intervals measure the sampling of cases;
the seeds' standard deviation stands apart. The macro mean of a case is over arms.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse import artifacts
from rarefuse.annotations.lopo import REMOVED
from rarefuse.annotations.relations import RELATIONS
from rarefuse.corpus.cases import CASES
from rarefuse.evaluation.base import Evaluation, Row
from rarefuse.evaluation.bootstrap import ClusterBootstrap
from rarefuse.evaluation.metrics import NATIVE, TIE_POLICIES, recall_at, reciprocal_rank
from rarefuse.fusion.catalogue import BY_DEVELOPER
from rarefuse.fusion.stage import FUSED_RANKS

MACRO = "macro"
GATE, ONTOLOGY, LLM = "gate", "ontology", "llm"
RULE_ORDER = (
    ONTOLOGY, LLM, "equal-weight", "rrf", "borda", "combmnz", "probfuse", "bayes-fuse",
    "fixed-weight",
)  # fmt: skip
CONTROLS = ("logistic-router", "mlp-router", "asymmetric", "linear-shared")
ABLATIONS = (
    "without-context", "without-shape", "without-support", "without-cross", "support-and-cross",
)  # fmt: skip


@dataclass(frozen=True)
class Ranks:
    """Gold ranks of one system on the evaluated cases, one row a seed: shape (S, N) each."""

    rank: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    top_rank: NDArray[np.int64]
    weight: NDArray[np.float64]

    def recall(self, k: int, policy: str = NATIVE) -> NDArray[np.float64]:
        """Recall at k of each seed and case."""
        return recall_at(k, self.rank, self.first, self.last, policy)

    def metric(self, name: str, policy: str = NATIVE) -> NDArray[np.float64]:
        """A metric of each seed and case, by its name."""
        if name == "mrr":
            return reciprocal_rank(self.rank, self.first, self.last, policy)
        return self.recall(int(name.removeprefix("recall@")), policy)


class Study:
    """What the tables share: cases, bootstrap, and ranks read once."""

    def __init__(self, evaluation: Evaluation, table: str) -> None:
        self.evaluation, self.table = evaluation, table
        o = evaluation.options
        self.arms, self.macro = list(o["arms"]), list(o["macro"])
        self.ranker, self.protocol, self.subset = o["ranker"], o["protocol"], o["subset"]
        self._cache: dict[tuple[str, str, str, str], dict[str, Ranks]] = {}

    @cached_property
    def cases(self) -> pl.DataFrame:
        """Evaluated cases: of the test part where the corpus's own parts are used."""
        cases = self.evaluation.eligible()
        return cases if self.subset == "all" else cases.filter(pl.col("split") == self.subset)

    @cached_property
    def resamples(self) -> ClusterBootstrap:
        """Resamples of the evaluated cases."""
        return self.evaluation.bootstrap(self.cases, self.subset)

    def ranks(self, component: str, protocol: str, suite: str, arm: str) -> dict[str, Ranks]:
        """Method → ranks of an arm."""
        key = component, protocol, suite, arm
        if key not in self._cache:
            path = self.evaluation.corpus.joinpath(
                "fused_ranks", component, protocol, suite, f"{arm}.parquet"
            )
            frame = artifacts.read(path, FUSED_RANKS)
            row = pl.DataFrame(
                {"case_id": self.cases["case_id"], "row": np.arange(self.cases.height)}
            )
            kept = frame.join(row, on="case_id").sort("method", "seed", "row")
            self._cache[key] = {
                str(method): _ranks_of(part, self.cases.height)
                for (method,), part in kept.group_by(["method"], maintain_order=True)
            }
        return self._cache[key]

    def main(self, suite: str, arm: str) -> dict[str, Ranks]:
        """Method → ranks of an arm beside the configured component."""
        return self.ranks(self.ranker, self.protocol, suite, arm)

    def systems(self, *suites: str) -> dict[str, dict[str, Ranks]]:
        """Method → arm → ranks, over some suites of the configured component."""
        result: dict[str, dict[str, Ranks]] = {}
        for arm in self.arms:
            for suite in suites:
                for method, ranks in self.main(suite, arm).items():
                    result.setdefault(method, {})[arm] = ranks
        return result

    def rows(
        self,
        values: Sequence[tuple[str, str, str, str, NDArray[np.float64]]],
        cases: pl.DataFrame | None = None,
        subset: str | None = None,
    ) -> Iterator[Row]:
        """Rows of (system, protocol, variant, metric, values of shape (S, N))."""
        if not values:
            return
        if cases is None or subset is None:
            cases, subset, bootstrap = self.cases, self.subset, self.resamples
        else:
            bootstrap = self.evaluation.bootstrap(cases, subset)
        means = np.stack([v.mean(axis=0) for *_, v in values])
        for (system, protocol, variant, metric, v), e in zip(
            values, bootstrap.estimates(means), strict=True
        ):
            sd = float(v.mean(axis=1).std(ddof=1)) if len(v) > 1 else None
            yield Row(
                self.table, system, protocol, variant, subset, metric, e.value, e.low, e.high,
                cases.height, sd,
            )  # fmt: skip

    def share(
        self,
        system: str,
        variant: str,
        metric: str,
        part: NDArray[np.float64],
        whole: NDArray[np.float64],
        subset: str | None = None,
    ) -> Row:
        """Row of a share: the sum of `part` over that of `whole`, both of shape (S, N)."""
        a, b = (x.mean(axis=0) for x in (part, whole))
        sums = self.resamples.resampled_means(np.stack([a, b]))
        value, low, high = None, None, None
        if b.sum() > 0:
            value = float(a.sum() / b.sum())
            with np.errstate(invalid="ignore", divide="ignore"):
                ratio = sums[0] / sums[1]
            tail = (1.0 - self.evaluation.level) / 2.0
            found = ratio[np.isfinite(ratio)]
            low, high = (float(q) for q in np.quantile(found, [tail, 1.0 - tail]))
        return Row(
            self.table, system, self.protocol, variant, subset or self.subset, metric, value, low,
            high, round(float(b.sum())), None,
        )  # fmt: skip

    def metrics(self) -> list[str]:
        """Recall at every cut-off and MRR."""
        return [*(f"recall@{k}" for k in self.evaluation.recall_at), "mrr"]


def _ranks_of(part: pl.DataFrame, n: int) -> Ranks:
    shape = (-1, n)

    def table(name: str) -> NDArray[np.int64]:
        return part[name].fill_null(0).to_numpy().astype(np.int64).reshape(shape)

    weight = part["weight_ontology"].to_numpy().astype(float).reshape(shape)
    return Ranks(table("rank"), table("tie_first"), table("tie_last"), table("top_rank"), weight)


def over_arms(
    study: Study, by_arm: dict[str, Ranks], value: Callable[[Ranks], NDArray[np.float64]]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Variant and values of the macro mean and of each arm."""
    values = {arm: value(ranks) for arm, ranks in by_arm.items()}
    yield MACRO, np.mean([values[arm] for arm in study.macro], axis=0)
    yield from values.items()


def compared(
    study: Study,
    systems: dict[str, dict[str, Ranks]],
    order: Sequence[str],
    metrics: Sequence[str],
    reference: str = GATE,
) -> Iterator[Row]:
    """Rows of every system and of the reference's paired difference to each."""
    values = []
    for metric in metrics:
        found = {
            name: dict(over_arms(study, systems[name], lambda r, m=metric: r.metric(m)))  # type: ignore[misc]
            for name in (*order, reference)
        }
        for name, by_variant in found.items():
            values += [(name, study.protocol, v, metric, x) for v, x in by_variant.items()]
        for name in order:
            for variant, x in found[name].items():
                difference = paired_difference(found[reference][variant], x)
                values.append(
                    (f"{reference} - {name}", study.protocol, variant, metric, difference)
                )
    yield from study.rows(values)


def paired_difference(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Seed by seed where both have the same seeds, else of one with the other's mean."""
    return a - b if a.shape == b.shape else a - b.mean(axis=0, keepdims=True)


def fusion_table(evaluation: Evaluation) -> Iterator[Row]:
    """Components, rules, the fixed weight and the gate (paper, Tables 3 and 4)."""
    study = Study(evaluation, "fusion")
    systems = study.systems("rules", "gate")
    yield from compared(study, systems, RULE_ORDER, study.metrics())
    for arm in study.arms:
        held = 0.0 if arm in evaluation.options["in_family"] else 1.0
        yield Row(
            "fusion", GATE, study.protocol, arm, study.subset, "family_held_out", held, None, None,
            study.cases.height, None,
        )  # fmt: skip


def controls_table(evaluation: Evaluation) -> Iterator[Row]:
    """The gate against learned controls of about its size (paper, Table 5)."""
    study = Study(evaluation, "controls")
    systems = study.systems("rules", "gate", "controls")
    yield from compared(study, systems, CONTROLS, evaluation.short_metrics())


def ablation_table(evaluation: Evaluation) -> Iterator[Row]:
    """The gate without each group of features, and with support and cross-list alone (Table 5)."""
    study = Study(evaluation, "ablation")
    systems = study.systems("rules", "gate", "controls")
    yield from compared(study, systems, ABLATIONS, evaluation.short_metrics())


def rank_fusion_table(evaluation: Evaluation) -> Iterator[Row]:
    """Rank-fusion rules and the gate under every tie policy (paper, Table 16)."""
    study = Study(evaluation, "rank_fusion")
    systems = study.systems("rules", "gate")
    values = []
    for name in (*RULE_ORDER, GATE):
        for policy in TIE_POLICIES:
            for metric in evaluation.short_metrics():
                values += [
                    (name, study.protocol, f"{variant}, {policy}", metric, x)
                    for variant, x in over_arms(
                        study,
                        systems[name],
                        lambda r, m=metric, p=policy: r.metric(m, p),  # type: ignore[misc]
                    )
                ]
    yield from study.rows(values)


def paired_seeds_table(evaluation: Evaluation) -> Iterator[Row]:
    """The gate against both routers under many matched initialisations (paper, Table 14).

    The interval of a difference is over seeds (a normal one of the mean), not over cases.
    """
    study = Study(evaluation, "paired_seeds")
    systems = study.systems("paired")
    macro = {
        name: np.mean([by_arm[arm].recall(1) for arm in study.macro], axis=0).mean(axis=1)
        for name, by_arm in systems.items()
    }
    for name, means in macro.items():
        yield _seed_row(study, name, "recall@1", means)
        if name != GATE:
            difference = macro[GATE] - means
            yield _seed_row(study, f"{GATE} - {name}", "recall@1", difference)
            yield Row(
                study.table, f"{GATE} - {name}", study.protocol, MACRO, study.subset,
                "seeds_above", float((difference > 0).sum()), None, None, len(difference), None,
            )  # fmt: skip


def _seed_row(study: Study, system: str, metric: str, means: NDArray[np.float64]) -> Row:
    sd = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    half = 1.96 * sd / np.sqrt(len(means))
    value = float(means.mean())
    return Row(
        study.table, system, study.protocol, MACRO, study.subset, metric, value, value - half,
        value + half, len(means), sd,
    )  # fmt: skip


def developers_table(evaluation: Evaluation) -> Iterator[Row]:
    """The gate with all models of the target's developer held out, not its family alone.

    Which models are relatives is a matter of judgement (two families of one developer may share
    training data): this is the strictest reading.
    """
    study = Study(evaluation, "developers")
    systems = study.systems("rules", "gate")
    systems[BY_DEVELOPER] = {arm: study.main(BY_DEVELOPER, arm)[GATE] for arm in study.arms}
    order = (ONTOLOGY, LLM, GATE)
    yield from compared(study, systems, order, evaluation.short_metrics(), BY_DEVELOPER)


def depth_table(evaluation: Evaluation) -> Iterator[Row]:
    """Refits at shorter prefixes, and the whole order at inference (paper, section 6.2)."""
    study = Study(evaluation, "depth")
    components = [c for c, _, suite in evaluation.options["needs"] if suite == GATE]
    values = []
    for metric in [m for m in evaluation.short_metrics() if m != "mrr"]:
        found = {}
        for component in components:
            by_arm = {
                arm: study.ranks(component, study.protocol, GATE, arm)[GATE] for arm in study.arms
            }
            found[component] = dict(over_arms(study, by_arm, lambda r, m=metric: r.metric(m)))  # type: ignore[misc]
            for variant, x in found[component].items():
                values.append((component, study.protocol, variant, metric, x))
                if component != study.ranker:
                    difference = paired_difference(x, found[study.ranker][variant])
                    name = f"{component} - {study.ranker}"
                    values.append((name, study.protocol, variant, metric, difference))
    yield from study.rows(values)


def transfer_table(evaluation: Evaluation) -> Iterator[Row]:
    """The same protocol beside other components, without LOPO, and on retained profiles (6.2).

    A system is called by its component: ``nb-lr-excluded: gate``. Arms named as test-only appear
    with the gate that was trained on all others.
    """
    study = Study(evaluation, "transfer")
    pairs = dict.fromkeys((c, p) for c, p, _ in evaluation.options["needs"])
    retained = study.cases.filter(pl.Series(_retains_profile(evaluation, study.cases)))
    kept = np.flatnonzero(study.cases["case_id"].is_in(retained["case_id"].implode()).to_numpy())
    for component, protocol in pairs:
        values = []
        for metric in evaluation.short_metrics():
            found = {}
            for suite, name in (("rules", ONTOLOGY), ("rules", LLM), ("gate", GATE)):
                by_arm = {
                    arm: study.ranks(component, protocol, suite, arm)[name] for arm in study.arms
                }
                found[name] = dict(over_arms(study, by_arm, lambda r, m=metric: r.metric(m)))  # type: ignore[misc]
                values += [
                    (f"{component}: {name}", protocol, v, metric, x) for v, x in found[name].items()
                ]
            for name in (ONTOLOGY, LLM):
                values += [
                    (f"{component}: gate - {name}", protocol, v, metric,
                     paired_difference(found[GATE][v], x))
                    for v, x in found[name].items()
                ]  # fmt: skip
        yield from study.rows(values)
        if component == study.ranker and protocol == study.protocol and len(kept):
            narrow = [(s, p, v, m, x[:, kept]) for s, p, v, m, x in values]
            yield from study.rows(narrow, retained, "retained profile")


def _retains_profile(evaluation: Evaluation, cases: pl.DataFrame) -> list[bool]:
    """Whether LOPO leaves the gold disease of each case an annotation."""
    relations = artifacts.read(evaluation.knowledge / "relations.parquet", RELATIONS)
    removed = artifacts.read(evaluation.corpus / "lopo.parquet", REMOVED)
    total = dict(relations.group_by("disease_id").len().iter_rows())
    gone = {
        (publication, disease): n
        for publication, disease, n in removed.group_by("publication_id", "disease_id")
        .len()
        .iter_rows()
    }
    known = artifacts.read(evaluation.corpus / "cases.parquet", CASES)
    of_case = {
        case: (publication, gold)
        for case, publication, gold in known.select(
            "case_id", "publication_id", "gold_id"
        ).iter_rows()
    }
    return [total.get(of_case[c][1], 0) > gone.get(of_case[c], 0) for c in cases["case_id"]]
