"""What fusion there is, by name, and who is held out of a target's training.

Light: imports no numpy and no torch, since every job of the workflow asks it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rarefuse.errors import InputError

SPLITS, PUBLICATIONS, PROFILES = GROUPINGS = ("splits", "publications", "profiles")
"""How cases are parted; see `rarefuse.fusion.protocol`."""

SUITES = {
    "gate": ("gate",),
    "controls": (
        "linear-shared",
        "asymmetric",
        "logistic-router",
        "mlp-router",
        "without-context",
        "without-shape",
        "without-support",
        "without-cross",
        "support-and-cross",
    ),
    "paired": ("gate", "logistic-router", "mlp-router"),
}
"""Learned methods that are fitted and scored together; `paired` under many seeds."""

BY_DEVELOPER = "gate-by-developer"
"""The suite `gate` of fits that hold out all models of the target's developer."""

SCORED = {**SUITES, BY_DEVELOPER: SUITES["gate"]}
"""Suites that arms are scored with; the fits of `BY_DEVELOPER` are those of ``gate``."""

RULES = "rules"
"""The suite of what needs no training beyond counts: components, rank fusion, a fixed weight."""

FULL = "full"
TOP = re.compile(r"^(?P<ranker>.+?)(\.(top(?P<depth>\d+)|(?P<full>full)))?$")

EVERYBODY = "all"
"""Hold-out that holds nobody out."""


@dataclass(frozen=True)
class Component:
    """An ontology component: a ranker, and how much of its order is seen.

    Parameters
    ----------
    ranker : str
        Ranker id.
    depth : int or None
        Places kept of its list; None for as many as are stored.
    full : bool
        Whether fusion, not training, sees the whole order.
    """

    ranker: str
    depth: int | None
    full: bool


def component_of(name: str) -> Component:
    """Read ``phenomizer``, ``phenomizer.top10`` or ``phenomizer.full``."""
    found = TOP.match(name)
    assert found is not None  # any text that is not empty matches
    depth = found["depth"]
    return Component(found["ranker"], int(depth) if depth else None, bool(found["full"]))


def slug(text: str) -> str:
    """A name as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")


@dataclass(frozen=True)
class HoldOut:
    """What a target's models are trained on.

    Parameters
    ----------
    name : str
        Family held out, or ``all`` where nobody is.
    arms : tuple of str
        Arms to train on, sorted.
    complete : bool
        False where a target's family could not be held out, since there is no other.
    """

    name: str
    arms: tuple[str, ...]
    complete: bool = True


def hold_outs(
    families: Mapping[str, str],
    targets: Sequence[str],
    trained: Sequence[str],
    own_family: bool,
    prefix: str = "without",
) -> dict[str, HoldOut]:
    """What each target's models are trained on.

    Parameters
    ----------
    families : mapping
        Arm → family.
    targets : sequence of str
        Arms to predict for.
    trained : sequence of str
        Arms that may train: those of the config that are not named as test-only.
    own_family : bool
        True trains on all arms, the target's own too (RAMEDIS).
    prefix : str
        First word of the names; another for groups wider than families.

    Returns
    -------
    dict
        Target → hold-out. Targets of a family that nobody trains on share the hold-out ``all``.
    """
    everybody = tuple(sorted(trained))
    if not everybody:
        raise InputError(
            "there is no language model to train fusion on",
            where="config, fusion.test_only",
            found="every arm is named as test-only",
            expected="at least one arm that may train",
            todo="name fewer arms as test-only",
        )
    result = {}
    for target in targets:
        family = families[target]
        kept = tuple(arm for arm in everybody if families[arm] != family)
        if own_family or kept == everybody:
            result[target] = HoldOut(EVERYBODY, everybody)
        elif kept:
            result[target] = HoldOut(f"{prefix}-{slug(family)}", kept)
        else:
            result[target] = HoldOut(EVERYBODY, everybody, complete=False)
    return result
