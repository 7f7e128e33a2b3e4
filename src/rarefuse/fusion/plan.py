"""Which fusion artifacts a run has, and the slice of the configuration that each depends on.

Light, as the rest of what the Snakefile asks: no numpy, no torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rarefuse.errors import InputError
from rarefuse.fusion.catalogue import (
    BY_DEVELOPER,
    RULES,
    SPLITS,
    SUITES,
    HoldOut,
    component_of,
    hold_outs,
)

TABLES = (
    "fusion",
    "rank_fusion",
    "coverage",
    "controls",
    "ablation",
    "paired_seeds",
    "developers",
    "depth",
    "transfer",
)
"""Result tables about fusion."""


@dataclass(frozen=True)
class FusionPlan:
    """Fusion in a configured run.

    Parameters
    ----------
    config : mapping
        Checked, with defaults.
    results : str
        Folder for results.
    """

    config: Mapping[str, Any]
    results: str

    @property
    def settings(self) -> dict[str, Any]:
        """The section ``fusion`` of the config."""
        return dict(self.config["fusion"])

    @property
    def arms(self) -> list[str]:
        """Language models that are fused."""
        return list(self.config["evaluation"]["llms"])

    @property
    def trained(self) -> list[str]:
        """Those of them that may train."""
        return [arm for arm in self.arms if arm not in self.settings["test_only"]]

    @property
    def tables(self) -> list[str]:
        """Tables of the report; none without a language model."""
        return list(self.settings["tables"]) if self.arms else []

    @property
    def macro(self) -> list[str]:
        """Arms that the macro mean is over: as configured, or all that may train."""
        return list(self.settings["macro"] or self.trained)

    def check(self) -> None:
        """Refuse a section that names what there is not."""
        for key in ("test_only", "macro"):
            for arm in self.settings[key] or []:
                if arm not in self.arms:
                    raise InputError(
                        "the config names a language model that is not evaluated",
                        where=f"config, fusion.{key}",
                        found=arm,
                        expected=", ".join(self.arms) or "none, as evaluation.llms is empty",
                        todo="correct the name, or add it to evaluation.llms",
                    )
        for ranker in (self.settings["ranker"], *self.settings["transfer"]):
            if component_of(ranker).ranker not in self.config["rankers"]:
                raise InputError(
                    "the config names a ranker that there is not",
                    where="config, fusion",
                    found=ranker,
                    expected=", ".join(sorted(self.config["rankers"])),
                    todo="correct the name, or add an entry under 'rankers:'",
                )

    def hold_outs(self) -> dict[str, HoldOut]:
        """Arm → what its models are trained on."""
        families = {arm: self.config["llms"][arm]["family"] for arm in self.arms}
        return hold_outs(families, self.arms, self.trained, self.settings["own_family"])

    def developer_hold_outs(self) -> dict[str, HoldOut]:
        """The same with all models of the target's developer held out, where that is more.

        A model whose entry names no developer counts by its family.
        """
        loose = self.hold_outs()
        entries = {arm: self.config["llms"][arm] for arm in self.arms}
        developers = {
            arm: entry.get("developer", entry["family"]) for arm, entry in entries.items()
        }
        strict = hold_outs(
            developers, self.arms, self.trained, self.settings["own_family"], "without-all-of"
        )
        return {
            arm: loose[arm] if held.arms == loose[arm].arms else held
            for arm, held in strict.items()
        }

    def check_developers(self) -> None:
        """Refuse to hold out the developer of every model that may train."""
        for arm, held in self.developer_hold_outs().items():
            if not held.complete:
                entry = self.config["llms"][arm]
                raise InputError(
                    "no language model is left to train on without a developer's",
                    where="config, fusion.tables, developers",
                    found=f"all that may train are of {entry.get('developer', entry['family'])!r}",
                    expected="models of at least two developers",
                    todo="evaluate another model, or leave out the table 'developers'",
                )

    def held_out(self, suite: str) -> dict[str, HoldOut]:
        """Arm → what the fits of a suite that it is scored with are trained on."""
        return self.developer_hold_outs() if suite == BY_DEVELOPER else self.hold_outs()

    def hold_out(self, name: str) -> HoldOut:
        """Hold-out of a name."""
        every = (*self.hold_outs().values(), *self.developer_hold_outs().values())
        return next(h for h in every if h.name == name)

    def options(self, arms: list[str] | tuple[str, ...] = ()) -> dict[str, Any]:
        """What reading cases, folds and arms depends on."""
        s = self.settings
        kept = ("grouping", "folds", "validation_share", "kappa", "rows_per_case", "seeds")
        return {
            **{name: s[name] for name in kept},
            "arms": list(arms),
            "depth": self.config["evaluation"]["depth"],
            "seed": self.config["seed"],
        }

    def fit_options(self, holdout: str, suite: str) -> dict[str, Any]:
        """Slice that a suite's fits depend on."""
        s = self.settings
        return {
            **self.options(self.hold_out(holdout).arms),
            "methods": list(SUITES[suite]),
            "seeds": list(range(1, s["paired_seeds"] + 1)) if suite == "paired" else s["seeds"],
            "alphas": s["alphas"],
            "optimiser": s["optimiser"],
        }

    def needs(self, table: str) -> list[tuple[str, str, str]]:
        """Component, protocol and suite of all fused ranks that a table reads."""
        s = self.settings
        ranker, protocol = s["ranker"], s["protocol"]
        main = [(ranker, protocol, RULES), (ranker, protocol, "gate")]
        if table in ("controls", "ablation"):
            return [*main, (ranker, protocol, "controls")]
        if table == "paired_seeds":
            return [(ranker, protocol, "paired")]
        if table == "developers":
            self.check_developers()
            return [*main, (ranker, protocol, BY_DEVELOPER)]
        if table == "depth":
            depths = [f"{ranker}.top{depth}" for depth in s["depths"]]
            return [
                *main,
                *((component, protocol, "gate") for component in [*depths, f"{ranker}.full"]),
            ]
        if table == "transfer":
            others = [(other, protocol) for other in s["transfer"]]
            if protocol != "ordinary":
                others.append((ranker, "ordinary"))
            return [*main, *((c, p, suite) for c, p in others for suite in (RULES, "gate"))]
        return main

    def table_inputs(self, corpus: str, table: str) -> list[str]:
        """Artifacts that a table reads besides cases, splits and annotations."""
        folder = f"{self.results}/{corpus}"
        lopo = [f"{folder}/lopo.parquet"] * (table == "transfer")
        return lopo + [
            f"{folder}/fused_ranks/{component}/{protocol}/{suite}/{arm}.parquet"
            for component, protocol, suite in self.needs(table)
            for arm in self.arms
        ]

    def table_options(self, table: str) -> dict[str, Any]:
        """What a table's function needs to know."""
        s = self.settings
        held = self.hold_outs()
        return {
            "arms": self.arms,
            "macro": self.macro,
            "ranker": s["ranker"],
            "protocol": s["protocol"],
            "needs": [list(need) for need in self.needs(table)],
            "subset": "test" if s["grouping"] == SPLITS else "all",
            "test_only": list(s["test_only"]),
            "in_family": [arm for arm in self.arms if not held[arm].complete or s["own_family"]],
        }

    def fit_inputs(self, corpus: str, component: str, protocol: str, holdout: str) -> list[str]:
        """Lists and vectors of the arms that a hold-out trains on."""
        return self.arm_inputs(corpus, component, protocol, self.hold_out(holdout).arms)

    def arm_inputs(
        self, corpus: str, component: str, protocol: str, arms: list[str] | tuple[str, ...]
    ) -> list[str]:
        """Lists and vectors of some arms beside an ontology component."""
        folder = f"{self.results}/{corpus}"
        seen = component_of(component)
        described = seen.ranker if seen.depth is None else component
        places = [f"{folder}/full_places/{seen.ranker}/{protocol}.parquet"] * seen.full
        return [
            f"{folder}/rankings/{seen.ranker}/{protocol}.parquet",
            *places,
            *(f"{folder}/llm/{arm}/ranking.parquet" for arm in arms),
            *(f"{folder}/features/{described}/{protocol}/{arm}.parquet" for arm in arms),
        ]

    def checkpoint(
        self, corpus: str, component: str, protocol: str, suite: str, arm: str
    ) -> list[str]:
        """Tensors and description of the fits that an arm is scored with."""
        seen = component_of(component)
        trained = seen.ranker if seen.full else component
        stem = f"{self.results}/{corpus}/gates/{trained}/{protocol}"
        fitted = "gate" if suite == BY_DEVELOPER else suite
        stem += f"/{self.held_out(suite)[arm].name}/{fitted}"
        return [f"{stem}.safetensors", f"{stem}.json"]

    def method_checkpoint(self, corpus: str, method: str, arm: str) -> list[str]:
        """The same for a method beside the configured ranker; none for a rule."""
        for suite, methods in SUITES.items():
            if method in methods:
                s = self.settings
                return self.checkpoint(corpus, s["ranker"], s["protocol"], suite, arm)
        return []
