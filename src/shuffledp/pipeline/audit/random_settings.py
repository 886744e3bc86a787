"""Random settings of every protocol, accounting, option, task and law, small enough to enumerate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shuffledp.pipeline.audit.auditor import AuditSetting
from shuffledp.populations.base import Fixed, Law
from shuffledp.populations.laws import Binomial, Empirical, Poisson
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.registry import built_ins, get
from shuffledp.tasks import TASK_KINDS, Budget, Frequency, Sets, Summation, Task, TaskKind, Vectors

Draw = Callable[[np.random.Generator, Task], Any]

#: Share of unusual settings, some of which a protocol must reject.
_ODD = 0.04


def _one_of(*choices: Any) -> Draw:
    return lambda rng, task: choices[int(rng.integers(len(choices)))]


def _sometimes(draw: Draw, share: float = 0.5) -> Draw:
    """Return a draw that gives None, the protocol's default, with probability ``1 - share``."""
    return lambda rng, task: draw(rng, task) if rng.random() < share else None


def _between(low: float, high: float) -> Draw:
    return lambda rng, task: float(rng.uniform(low, high))


def _log_between(low: float, high: float) -> Draw:
    return lambda rng, task: float(math.exp(rng.uniform(math.log(low), math.log(high))))


def _first_round(rng: np.random.Generator, task: Task) -> Mapping[str, Any] | None:
    if not isinstance(task, Sets) or task.levels == 1 or rng.random() > 0.3:
        return None
    return {"protocol": "pure_dump", "eps": 0.05, "delta": 1e-5, "accounting": "exact"}


#: Law of each option, with ``eps_star`` as a part of eps; `OWN_OPTIONS` has the options of one protocol.
OPTIONS: Mapping[str, Draw] = {
    "dummies": _sometimes(lambda rng, task: int(rng.integers(0, 7))),
    "stray_factor": lambda rng, task: bool(rng.random() < 0.2),
    "threat": _one_of("conditional", "conditional", "own_coin"),
    "eps_local": _log_between(0.2, 8.0),
    "rate": _sometimes(_between(0.05, 1.0), 0.7),
    "estimator": _one_of("expected", "observed"),
    "bits": _sometimes(lambda rng, task: int(rng.integers(1, 4))),
    "cap_mass": _sometimes(_between(0.05, 0.5), 0.7),
    "cells": _sometimes(lambda rng, task: int(rng.integers(2, 6))),
    "truncate": _one_of(True, False),
    "share": _between(0.05, 0.6),
    "constants": _one_of("corrected", "conference"),
    "entries": _sometimes(lambda rng, task: int(rng.integers(1, 5))),
    "constant": _one_of("theorem", "lemma"),
    "beta": _between(0.05, 0.9),
    "beyond_proof": _one_of(False, False, True),
    "hash_seed": lambda rng, task: int(rng.integers(0, 1000)),
    "share_form": _sometimes(_one_of("any_n", "printed", "balle")),
    "order": _one_of("safe", "printed"),
    "calibration": _one_of("variation_ratio", "numeric", "analytic"),
    "blankets": _sometimes(_log_between(0.2, 30.0), 0.8),
    "objective": _one_of("bound", "error"),
    "first_round": _first_round,
    "selection": _one_of("error", "published_code"),
    "atoms": _one_of("halving", "star", "hub", "best"),
    "hubs": lambda rng, task: (2,),
    "gamma": _between(0.05, 0.45),
    "eps_star": _sometimes(_between(0.3, 0.95), 0.3),
    "zeta": _between(0.1, 0.8),
    "levels": _sometimes(lambda rng, task: int(rng.integers(1, 4)), 0.9),
    "alphabet": _one_of("paper", "used"),
    "law": _one_of("negative_binomial", "jumps"),
    "form": _one_of("figure", "average", "worst_case", "collision", "collision"),
    "group": _one_of("wide", "figure"),
    "together": _one_of(True, True, False),
    "shape": _sometimes(_log_between(3.0, 100.0)),
    "search": _one_of(False, True),
    "colluding": lambda rng, task: int(rng.integers(0, 3)),
    "report_rate": _sometimes(_between(0.05, 1.0), 0.7),
    "kappa": lambda rng, task: int(rng.integers(1, 4)),
    "bins": _one_of("logarithmic", "cubed", "economical", 2, 3, 5),
    "bound": _one_of("blanket", "clones"),
    "other_rows": _one_of("dropped", "blanket"),
    "failure": _log_between(1e-9, 0.1),
    "target": _one_of("average", "frequent"),
    "prime": _sometimes(_one_of(2, 3, 5, 7)),
    "blocks": _sometimes(_one_of(1, 2)),
}

OWN_OPTIONS: Mapping[tuple[TaskKind, str, str], Draw] = {
    ("frequency", "sageo", "beta"): _sometimes(
        _between(0.87, 1.0)
    ),  # at least 1 - e^(-eps / 2) up to eps = 4
    ("frequency", "sbin", "beta"): _sometimes(_between(0.05, 1.0)),
    ("frequency", "fragmented_rappor", "calibration"): _sometimes(_one_of("sound", "worst_case")),
    ("frequency", "mix_dump", "eps_local"): lambda rng, task: (
        "best" if rng.random() < 0.3 else _log_between(0.2, 8.0)(rng, task)
    ),
    ("frequency", "subset_selection", "size"): _sometimes(
        lambda rng, task: int(rng.integers(1, getattr(task, "domain_size", 2)))
    ),
    ("frequency", "unary_rows", "form"): _one_of("best", "symmetric", "optimized"),
    ("summation", "coarse_correlated_sum", "gamma"): _between(0.2, 0.7),
    ("summation", "coarse_correlated_sum", "eps_star"): _sometimes(_between(0.3, 0.8), 0.3),
    ("summation", "fragmented_rappor", "estimator"): _one_of("plain", "centred"),
    ("summation", "fragmented_rappor", "calibration"): _sometimes(_one_of("worst_case")),
}

#: Protocols in which a few users cannot hide each other; the others' inputs do not matter, so any number of users is
#: enumerated.
_MANY = tuple(
    ("frequency", name) for name in ("truncation", "public_coin", "balls_into_bins", "designated_coins")
)


#: Protocols whose messages count for several values, or whose bits depend on the others' inputs: fewer users.
_PAIRED = (
    "fake_users",
    "fragmented_rappor",
    "hashed_balls_into_bins",
    "private_coin",
    "hadamard_response",
    "pgr",
    "pi_rappor",
    "recursive_hadamard",
    "solh",
    "subset_selection",
    "symmetric_rappor",
    "unary_rows",
)
#: Protocols of sums whose inputs only shift the counts, so that the others' inputs do not matter.
_SHIFTS = (
    "central_laplace",
    "central_gaussian",
    "skellam",
    "coarse_correlated_sum",
    "correlated_sum",
    "real_sum",
    "sparse_sum",
    "balls_into_bins",
)

#: Number of other users up to which wide laws are drawn, which give many different numbers some probability.
_MOST_WIDE = 60


def protocols() -> list[type[ProtocolBase]]:
    """Return all protocols of this library."""
    return [get(kind, name) for kind in TASK_KINDS for name in built_ins(kind)]


def option_names(protocol: type[ProtocolBase]) -> list[str]:
    """Return the keywords of ``calibrate`` without the accounting."""
    return [name for name in protocol.options() if name != "accounting"]


def random_setting(protocol: type[ProtocolBase], rng: np.random.Generator) -> AuditSetting:
    """Draw a setting with few users and values for one protocol.

    eps is log-uniform in [0.1, 4] nats and delta in [1e-4, 0.5]. Half of the draws have eps >= 0.5 and delta >= 0.01,
    where a few users' noise has few enough outcomes for enumeration. Most numbers of other users are below 6;
    `_most_others` is the largest.
    """
    task = _task(protocol, rng)
    accounting = str(rng.choice(protocol.accountings))
    coarse = rng.random() < 0.5
    eps = _log_between(0.5 if coarse else 0.1, 4.0)(rng, task)
    delta = _log_between(1e-2 if coarse else 1e-4, 0.5)(rng, task)
    levels = task.levels if isinstance(task, Sets) and protocol.multi_level else 1
    budget = Budget(eps if levels == 1 else tuple(eps * 2**i for i in range(levels)), delta)
    options: dict[str, Any] = {}
    for name in option_names(protocol):
        draw = OWN_OPTIONS.get((protocol.task_kind, protocol.name, name), OPTIONS.get(name))
        if draw is None:
            raise KeyError(f"how the option {name!r} of {protocol.name} is drawn is not written down")
        options[name] = draw(rng, task)
    if options.get("dummies") is not None:
        options.pop("stray_factor", None)
    if protocol.name == "fragmented_rappor" and accounting == "printed":
        options.pop("calibration")  # it has one
    if options.get("eps_star") is not None:
        options["eps_star"] *= eps
    if "atoms" in options:
        size = options.get("levels") or getattr(task, "max_value", 0)
        options |= _atoms(options["atoms"], accounting, size)
    option_values = tuple((name, value) for name, value in options.items() if value is not None)
    return AuditSetting(
        protocol, accounting, task, _population(protocol, task, options, rng), budget, option_values
    )


def _atoms(atoms: str, accounting: str, size: Any) -> dict[str, Any]:
    """Return the noise options for an accounting and a number of levels; hubs need at least 3 levels."""
    if accounting != "exact":
        return {"atoms": "halving", "hubs": None, "law": "negative_binomial"}
    if atoms == "hub" and size < 3:
        return {"atoms": "halving", "hubs": None}
    return {"atoms": atoms, "hubs": (2,) if atoms == "hub" else None}


def _task(protocol: type[ProtocolBase], rng: np.random.Generator) -> Task:
    kind = protocol.task_kind
    if kind == "frequency":
        bits = protocol.name.startswith("multi_") and rng.random() > _ODD
        return Frequency(2 if bits else int(rng.integers(2, 5)))
    if kind == "summation":
        several = protocol.name == "sparse_sum" or (
            protocol.name in ("central_laplace", "central_gaussian") and rng.random() < 0.5
        )
        return Summation(
            int(rng.integers(1, 4)),
            signed=bool(rng.random() < _ODD),
            real=bool(protocol.name == "real_sum" or rng.random() < 0.3),
            coordinates=int(rng.integers(2, 4)) if several else 1,
        )
    if kind == "sets":
        d = int(rng.integers(2, 5))
        s = int(rng.integers(1, min(2, d - 1) + 1))
        levels = int(rng.integers(1, 3)) if protocol.multi_level else 1
        return Sets(d, s, levels=levels, padding_items=int(rng.random() < 0.2))
    if kind != "vectors":
        raise KeyError(f"how a task of kind {kind!r} is drawn is not written down")
    odd = rng.random() < _ODD
    return Vectors(int(rng.integers(1, 3)), float(rng.uniform(0.5, 2.0)), "l2" if odd else "l1")


def _most_others(protocol: type[ProtocolBase], task: Task) -> int:
    """Return the largest number of other users for which enumeration takes about a second."""
    if (protocol.task_kind, protocol.name) in _MANY:
        return 300_000
    if protocol.name in _SHIFTS:
        return 40
    if isinstance(task, Frequency) and protocol.name not in _PAIRED:
        return {2: 20, 3: 8}.get(task.domain_size, 5)
    return 8 if task.kind == "vectors" else 5


def _population(
    protocol: type[ProtocolBase], task: Task, options: Mapping[str, Any], rng: np.random.Generator
) -> Law:
    most = _most_others(protocol, task)
    crowd = (protocol.task_kind, protocol.name) in _MANY
    few = rng.random() < 0.4 and not crowd
    others = int(rng.integers(1, 6)) if few else int(_log_between(20 if crowd else 2, most + 1)(rng, task))
    if protocol.name == "split_and_mix" and rng.random() < 0.5:
        return Fixed(int(rng.integers(1, 6) if options["form"] == "collision" else rng.integers(17, 23)))
    binomial = Binomial(others, float(rng.uniform(0.2, 1.0)))
    if protocol.name == "random_checkin" and rng.random() > _ODD:
        return Binomial(others, float(rng.uniform(0.5, 1.0)))
    weights = rng.dirichlet(np.ones(int(rng.integers(1, 5))))
    laws: tuple[Law, ...] = (
        Fixed(others - int(few)),
        binomial,
        Poisson(others / 3),
        Empirical(tuple(weights.tolist()), max(0, others - len(weights))),
    )
    if others > _MOST_WIDE:  # a law of few numbers: each is enumerated
        laws = (laws[0], laws[3])
    return laws[int(rng.integers(len(laws)))]
