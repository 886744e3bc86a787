"""Settings for the calibration of every protocol: populations, sizes, budgets, options and rejected requests."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shuffledp.populations import Binomial, Fixed, Poisson, Population, SubGaussian
from shuffledp.protocols import ProtocolBase
from shuffledp.tasks import Budget, Frequency, Sets, Summation, Task, Vectors


@dataclass(frozen=True)
class Setting:
    """Arguments of a calibration, except the accounting."""

    name: str
    population: Population
    task: Task
    budget: Budget
    options: Mapping[str, Any] = field(default_factory=dict)


#: Populations and budgets of settings for several kinds of tasks.
SHARED = {
    "usual": (Fixed(999), Budget(1.0, 1e-6)),
    "many users": (Fixed(499_999), Budget(0.5, 1e-6)),
    "binomial": (Binomial(1_000, 0.5), Budget(0.3, 1e-5)),
    "poisson": (Poisson(200.0), Budget(2.0, 1e-4)),
    "strict": (Fixed(49_999), Budget(0.1, 1e-10)),
    "loose": (Binomial(300, 0.25), Budget(4.0, 1e-3)),
    "add or remove": (Fixed(999), Budget(1.0, 1e-6, "add_remove")),
    "alone": (Fixed(0), Budget(1.0, 1e-3)),
}


def _settings(shared: Mapping[str, Task], *own: Setting) -> tuple[Setting, ...]:
    """Return the usual setting, then the kind's own, then further shared settings, given by their tasks."""
    usual, *others = (Setting(name, SHARED[name][0], task, SHARED[name][1]) for name, task in shared.items())
    return usual, *own, *others


BY_KIND = {
    "frequency": _settings(
        {
            "usual": Frequency(4),
            "many users": Frequency(50),
            "binomial": Frequency(5),
            "poisson": Frequency(10),
            "strict": Frequency(3),
            "loose": Frequency(6),
            "add or remove": Frequency(4),
            "alone": Frequency(4),
        },
        Setting("two values", Fixed(9_999), Frequency(2), Budget(0.5, 1e-5)),
        Setting("many values", Fixed(99_999), Frequency(500), Budget(1.0, 1e-9)),
    ),
    "summation": _settings(
        {
            "usual": Summation(3),
            "many users": Summation(4),
            "binomial": Summation(2, real=True),
            "poisson": Summation(5, real=True),
            "strict": Summation(2),
            "loose": Summation(3),
            "add or remove": Summation(3),
            "alone": Summation(2),
        },
        Setting("bits", Fixed(9_999), Summation(1), Budget(0.5, 1e-5)),
        Setting("many values", Fixed(9_999), Summation(50), Budget(2.0, 1e-4)),
        Setting("coordinates", Fixed(999), Summation(3, real=True, coordinates=4), Budget(1.0, 1e-4)),
        Setting("signed", Fixed(999), Summation(2, signed=True), Budget(1.0, 1e-6)),
    ),
    "sets": _settings(
        {
            "usual": Sets(8, 2),
            "binomial": Sets(5, 1),
            "poisson": Sets(10, 3, padding_items=2),
            "alone": Sets(4, 2),
        },
        Setting("two levels", Fixed(1_999), Sets(8, 2, levels=2), Budget((0.5, 1.0), 1e-5)),
        Setting("three levels", Fixed(4_999), Sets(17, 3, 3, 3), Budget((0.8, 1.0, 1.2), 1e-8)),
        Setting("many users", Fixed(99_999), Sets(32, 4), Budget(0.5, 1e-8)),
        Setting("many items", Fixed(9_999), Sets(128, 4), Budget(2.0, 1e-4)),
        Setting("strict", Fixed(19_999), Sets(6, 2), Budget(0.1, 1e-10)),
        Setting("loose", Fixed(99), Sets(4, 1), Budget(4.0, 1e-3)),
        Setting("whole", Fixed(999), Sets(3, 3), Budget(1.0, 1e-6)),
    ),
    "vectors": _settings(
        {
            "usual": Vectors(5, 1.0, "l2"),
            "many users": Vectors(10, 1.0),
            "binomial": Vectors(3, 5.0),
            "poisson": Vectors(4, 1.0),
            "strict": Vectors(2, 1.0, "l2"),
            "loose": Vectors(3, 1.0),
            "alone": Vectors(2, 1.0),
        },
        Setting("l1", Fixed(999), Vectors(5, 2.0, "l1"), Budget(1.0, 1e-6)),
        Setting("one number", Fixed(9_999), Vectors(1, 1.0), Budget(0.5, 1e-5)),
        Setting("many numbers", Fixed(9_999), Vectors(1_000, 1.0, "l2"), Budget(2.0, 1e-8)),
    ),
}
CROWD = Setting("crowd", Fixed(9_999_999), Frequency(16), Budget(1.0, 1e-6))
#: Further settings for protocols that need many users, or shipped noise designs.
OWN: Mapping[str, tuple[Setting, ...]] = {
    "frequency.public_coin": (
        CROWD,
        Setting("crowd of many values", Fixed(99_999_999), Frequency(100), Budget(0.5, 1e-5)),
        Setting("few values in the crowd", Fixed(9_999_999), Frequency(3), Budget(0.8, 1e-6)),
    ),
    "frequency.truncation": (
        CROWD,
        replace(CROWD, name="two values in the crowd", task=Frequency(2), budget=Budget(0.1, 1e-8)),
    ),
    "summation.coarse_correlated_sum": (
        Setting("shipped bits", Fixed(99_999), Summation(1), Budget(2.0, 1e-8)),
        Setting("shipped numbers", Fixed(99_999), Summation(10), Budget(1.0, 1e-6)),
    ),
}
#: Protocols of two values; one setting keeps its larger domain, which must be rejected.
BITS = ("multi_exact", "multi_expected", "multi_union")
#: Values that replace an option in turn, of which some are rejected; the setting is otherwise the usual setting.
OPTIONS: Mapping[str, tuple[Any, ...]] = {
    "dummies": (0, 7, -1),
    "stray_factor": (True,),
    "threat": ("own_coin",),
    "eps_local": (2.0, "best", -1.0),
    "rate": (0.05, 0.5, 1.5),
    "estimator": ("observed", "centred"),
    "bits": (1, 3, 0),
    "cap_mass": (0.1, 0.5, 1.5),
    "cells": (2, 3, 1),
    "truncate": (False,),
    "share": (0.3, 1.0),
    "constants": ("conference",),
    "together": (False,),
    "entries": (4, 0),
    "constant": ("lemma",),
    "beta": (0.6, 0.9, 2.0),
    "beyond_proof": (True,),
    "hash_seed": (5,),
    "share_form": ("printed", "balle", "any_n"),
    "order": ("printed",),
    "calibration": ("numeric", "analytic", "sound", "worst_case"),
    "blankets": (0.5, 10.0, -1.0),
    "objective": ("error",),
    "first_round": ({"protocol": "pure_dump", "eps": 0.2, "delta": 1e-7},),
    "selection": ("published_code",),
    "atoms": ("star", "hub", "best"),
    "hubs": ((2,),),
    "gamma": (0.3, 1.0),
    "eps_star": (0.5, 5.0),
    "zeta": (0.5, 1.0),
    "levels": (1, 2, 0),
    "alphabet": ("used",),
    "law": ("jumps",),
    "form": ("figure", "average", "collision", "symmetric", "optimized"),
    "group": ("figure",),
    "shape": (5.0, -1.0),
    "search": (True,),
    "colluding": (2, -1),
    "report_rate": (0.5, 2.0),
    "kappa": (1, 0),
    "bins": ("cubed", "economical", 3),
    "bound": ("clones",),
    "other_rows": ("blanket",),
    "failure": (1e-3, 0.0),
    "size": (1, 3, 9),
    "target": ("frequent",),
    "prime": (3, 6),
    "blocks": (1, 2, 3),
}
#: Options that interact.
TOGETHER: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "summation.correlated_sum": (
        {"atoms": "hub", "hubs": (2,)},
        {"atoms": "hub", "hubs": (2,), "law": "jumps"},
    ),
    "summation.split_and_mix": ({"form": "figure", "group": "figure"},),
    "summation.fragmented_rappor": ({"estimator": "centred", "calibration": "worst_case"},),
    "frequency.flexible_pure_dump": ({"rate": 0.1, "estimator": "observed"},),
    "frequency.flexible_mix_dump": ({"rate": 0.1, "estimator": "observed"},),
    "frequency.multi_expected": ({"order": "printed", "share_form": "printed"},),
}
#: Cases that take a fifth of a second or longer, if the protocol has other cases with their accounting.
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "frequency.flexible_mix_dump": ("binomial; exact", "poisson; exact"),
    "frequency.flexible_pure_dump": (
        "poisson; exact",
        "binomial; exact",
    ),
    "frequency.grr_blanket": (
        "strict; exact",
        "binomial; exact",
    ),
    "frequency.hadamard_response": ("poisson; exact", "loose; exact"),
    "frequency.jump_counts": ("strict; exact", "binomial; exact"),
    "frequency.multi_expected": ("poisson; exact",),
    "frequency.pgr": ("poisson; exact", "loose; exact"),
    "frequency.pi_rappor": ("poisson; exact", "loose; exact"),
    "frequency.public_coin": ("poisson; exact", "loose; exact"),
    "frequency.recursive_hadamard": ("poisson; exact", "loose; exact"),
    "frequency.solh": ("poisson; exact", "strict; exact", "binomial; exact"),
    "frequency.subset_selection": ("strict; exact",),
    "frequency.symmetric_rappor": ("strict; exact",),
    "frequency.unary_rows": (
        "strict; exact",
        "poisson; exact",
        "binomial; exact",
    ),
    "sets.balls_into_bins": ("binomial; exact", "poisson; exact", "loose; exact"),
    "sets.segmented": (
        "two levels; exact",
        "three levels; printed",
        "three levels; exact",
        "loose; exact",
        "two levels, first_round=pure_dump; exact",
    ),
    "summation.coarse_correlated_sum": (
        "bits; exact",
        "alone; exact",
        "usual, eps_star=0.5; exact",
        "usual, gamma=0.3; exact",
    ),
    "summation.fragmented_rappor": ("binomial; exact", "poisson; exact", "loose; exact"),
    "summation.correlated_sum": (
        "many values; corrected",
        "many values; exact",
        "poisson; corrected",
        "poisson; exact",
    ),
    "summation.real_sum": (
        "usual, zeta=0.5; exact",
        "many users; corrected",
        "many values; corrected",
        "bounds; corrected",
        "strict; exact",
        "poisson; corrected",
        "loose; corrected",
        "binomial; exact",
        "poisson; exact",
        "usual, atoms=star; exact",
        "usual, law=jumps; exact",
        "loose; exact",
        "bounds; exact",
        "many users; exact",
        "many values; exact",
        "strict; corrected",
    ),
    "summation.single_message_sum": (
        "poisson; exact",
        "strict; exact",
        "binomial; exact",
        "loose; exact",
    ),
    "summation.sparse_sum": (
        "coordinates; exact",
        "many users; corrected",
        "many values; corrected",
        "bounds; corrected",
        "poisson; exact",
        "bounds; exact",
        "strict; exact",
        "usual, law=jumps; exact",
        "many users; exact",
        "many values; exact",
        "poisson; corrected",
        "usual, atoms=hub; exact",
    ),
    "summation.unary_bits": ("binomial; exact", "poisson; exact", "bounds; exact"),
    "vectors.privunit": ("loose; exact", "poisson; exact", "binomial; exact", "strict; exact"),
    "sets.separate_inverse_variance": ("loose; exact",),
    "sets.separate": (
        "loose; exact",
        "three levels; exact",
    ),
    "frequency.private_coin": ("binomial; printed",),
    "frequency.fragmented_rappor": ("strict; exact",),
}
#: Cases in which a profile is evaluated, for protocols with slow profiles; for all others, the cases without options.
PROFILES: Mapping[str, tuple[str, ...]] = {
    "frequency.flexible_mix_dump": ("usual; printed", "usual; exact"),
    "frequency.flexible_pure_dump": ("usual; exact", "two values; corrected"),
    "frequency.grr_blanket": ("usual; printed", "usual; exact", "loose; exact"),
    "frequency.jump_counts": ("usual; exact", "poisson; exact"),
    "frequency.mix_dump": ("usual; printed", "usual; exact", "poisson; exact"),
    "frequency.public_coin": ("many users; exact",),
    "frequency.solh": ("usual; exact", "loose; exact"),
    "frequency.unary_rows": ("usual; exact", "loose; exact"),
    "summation.bit_sum": ("usual; exact", "usual; printed", "loose; exact"),
    "summation.coarse_correlated_sum": (),
    "summation.correlated_sum": ("usual; exact", "usual; corrected"),
    "summation.real_sum": (),
    "summation.sparse_sum": (),
}
#: Population of which only moments are known.
BOUNDED = SubGaussian(mean=5_000.0, scale=30.0, convention="variance_proxy")


def _full_name(protocol: type[ProtocolBase]) -> str:
    return f"{protocol.task_kind}.{protocol.name}"


def _fitted(protocol: type[ProtocolBase], setting: Setting) -> Setting:
    """Return the setting with a task that the protocol accepts, unless the setting is to be rejected."""
    task = setting.task
    if protocol.name in BITS and setting.name != "loose":
        task = Frequency(2)
    known = isinstance(setting.population, Fixed) and setting.name not in ("two values", "l1", "alone")
    if protocol.name == "random_checkin" and known:
        setting = replace(setting, population=Binomial(2 * int(setting.population.mean), 0.5))
    if isinstance(task, Summation):
        if protocol.name == "bit_sum" and setting.name != "many values":
            task = replace(task, max_value=1)
        if protocol.name in ("real_sum", "sparse_sum") and setting.name != "bits":
            task = replace(task, real=True)
        if protocol.name == "sparse_sum" and task.coordinates == 1 and setting.name != "loose":
            task = replace(task, coordinates=2)
    return replace(setting, task=task)


def cases_of(protocol: type[ProtocolBase]) -> Iterator[tuple[str, Setting, str]]:
    """Yield the cases of a protocol by name: settings with all accountings, single options with the last accounting."""
    left_out = LEFT_OUT.get(_full_name(protocol), ())
    for setting in settings_of(protocol):
        for accounting in protocol.accountings[-1:] if len(setting.options) == 1 else protocol.accountings:
            if (name := f"{setting.name}; {accounting}") not in left_out:
                yield name, setting, accounting


def has_profile(protocol: type[ProtocolBase], case: str, setting: Setting) -> bool:
    """Return whether the table has deltas of the profile for a case."""
    known = PROFILES.get(_full_name(protocol))
    return case in known if known is not None else not setting.options and setting.population != BOUNDED


def settings_of(protocol: type[ProtocolBase]) -> Iterator[Setting]:
    """Yield the settings of a protocol: first settings of its task, then one option at a time."""
    own = OWN.get(_full_name(protocol), ())
    every = [_fitted(protocol, one) for one in (*BY_KIND[protocol.task_kind], *own)]
    yield from every
    usual = every[0]
    yield replace(usual, name="bounds", population=BOUNDED)
    parameters = protocol.options()
    chosen: list[Mapping[str, Any]] = [
        {name: value} for name in sorted(parameters) for value in OPTIONS.get(name, ())
    ]
    for options in (*chosen, *TOGETHER.get(_full_name(protocol), ())):
        told = ", ".join(f"{name}={_told(value)}" for name, value in options.items())
        base = every[1] if "first_round" in options else usual
        yield replace(base, name=f"{base.name}, {told}", options=options)


def _told(value: Any) -> str:
    return str(value["protocol"]) if isinstance(value, Mapping) else str(value)
