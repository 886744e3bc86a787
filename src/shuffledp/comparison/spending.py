"""Eps that past releases to the same users have spent together, and the number of further releases within an eps.

A file lists past releases as JSON: a list of objects, or one ``parameters.json`` of a client. Each object has
``protocol``, ``task`` (by default frequency), ``users`` (or ``n``), ``domain_size``, the calibrated ``parameters``, and
the ``count`` of such releases (or ``rounds``). Instead of parameters, it may have the ``eps`` and ``delta`` of one
release, for which the protocol is calibrated.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from shuffledp.accountant.batches import MOST_ROUNDS
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.composition import composed_epsilon
from shuffledp.accounting.general.privacy_profile import PrivacyProfile
from shuffledp.comparison.comparing import best_accounting
from shuffledp.comparison.options import Options
from shuffledp.comparison.setting import setting_of
from shuffledp.numerics.argument_ranges import check_budget, check_count, check_number, format_value
from shuffledp.numerics.rounding import number_text
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.registry import get

#: Names of numbers in a file, and the names of the fields or options with these numbers.
_NAMES = {"n": "users", "planned_users": "users", "inputs": "domain_size", "calibrated": "parameters"}
_FIELDS = {"dummies": "dummies_in_all", "users": "n_users", "n": "n_users"}
#: Sizes of the tasks.
_SIZES = ("domain_size", "set_size", "max_value", "dimension")


@dataclass(frozen=True)
class Spent:
    """Eps of past releases, nats, at a delta; `left` is the number of further releases like the last within an eps."""

    eps: float
    delta: float
    releases: int
    until_eps: float | None = None
    left: int | None = None

    def lines(self) -> list[str]:
        """Return sentences."""
        eps, delta = (number_text(number, "up") for number in (self.eps, self.delta))
        number = "1 release" if self.releases == 1 else f"{self.releases:,} releases"
        text = [f"eps = {eps}: {number} to the same users together, delta = {delta}."]
        if self.until_eps is not None:
            text.append(
                f"With {self.left:,} further releases like the last one, eps of all is at most "
                f"{number_text(self.until_eps, 'up')}."
                if self.eps <= self.until_eps
                else f"No further release: eps exceeds {number_text(self.until_eps, 'down')} already."
            )
        return text


def spent_of(file: Path, delta: float, until_eps: float | None = None) -> Spent:
    """Return the eps of the releases in a file, and the number of further releases like the last within an eps.

    Raises
    ------
    ValueError
        If the file does not have this form, or a protocol cannot be made from its numbers.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} is not a JSON file in UTF-8: {error}.") from None
    entries = content if isinstance(content, list) else [content]
    profiles, counts = [], []
    for place, entry in enumerate(entries):
        try:
            profiles.append(_profile(entry))
            counts.append(check_count("count", entry.get("count", entry.get("rounds", 1)), 1))
        except ValueError as error:
            raise ValueError(f"{file}, entry {place + 1}: {str(error).rstrip('.')}.") from None
    if not profiles:
        raise ValueError(f"{file}: the list of releases is empty.")
    eps = composed_epsilon(profiles, delta, rounds=counts)
    further = None if until_eps is None else _left(profiles, counts, delta, until_eps, eps)
    return Spent(eps, delta, sum(counts), until_eps, further)


def _profile(entry: Any) -> PrivacyProfile:
    """Return the profile of one release."""
    if not isinstance(entry, Mapping):
        raise ValueError(f"it must be an object, got {format_value(entry)}")
    release: dict[str, Any] = {_NAMES.get(name) or str(name): value for name, value in entry.items()}
    required = ("protocol", "users", *(() if "parameters" in release else ("eps", "delta")))
    if lacking := [name for name in required if name not in release]:
        raise ValueError(f"it lacks {', '.join(lacking)}")
    check_count("users", release["users"], 2)
    kind = get(str(release.get("task", "frequency")), str(release["protocol"]))
    protocol = _with_numbers(kind, release) if "parameters" in release else _calibrated(kind, release)
    profile = protocol.privacy_profile()
    if profile is None or profile.kind not in ("exact", "upper"):
        raise Infeasible(f"{kind.name} has no profile that bounds its privacy loss.")
    return profile


def _with_numbers(kind: type[ProtocolBase], release: Mapping[str, Any]) -> ProtocolBase:
    """Return the protocol with calibrated numbers."""
    if not isinstance(release["parameters"], Mapping):
        raise ValueError(f"parameters must be an object, got {format_value(release['parameters'])}")
    numbers: dict[str, Any] = {
        "n_users": release["users"],
        **{name: release[name] for name in _SIZES if name in release},
    }
    numbers |= {_FIELDS.get(name) or str(name): value for name, value in release["parameters"].items()}
    numbers.setdefault("eps_local", math.inf)  # values are sent unchanged
    class_fields = {field.name: field for field in fields(kind) if field.init}
    for name in class_fields.keys() & numbers.keys():
        check_number(name, numbers[name])
    needed = (
        name for name, field in class_fields.items() if field.default is field.default_factory is MISSING
    )
    if lacking := [name for name in needed if name not in numbers]:
        raise ValueError(f"its numbers lack {', '.join(lacking)}")
    used: dict[str, Any] = {
        name: int(value)
        if "int" in str(class_fields[name].type) and float(value).is_integer()
        else float(value)
        for name, value in numbers.items()
        if name in class_fields
    }
    return kind(**used)


def _calibrated(kind: type[ProtocolBase], release: Mapping[str, Any]) -> ProtocolBase:
    sizes = {name: release[name] for name in _SIZES if name in release}
    check_budget(release["eps"], release["delta"])
    where = setting_of(Options(users=release["users"], eps=release["eps"], delta=release["delta"], **sizes))
    accounting = release.get("accounting") or best_accounting(kind)
    return kind.calibrate(where.budget, where.population, where.task, accounting=accounting)


def _left(
    profiles: list[PrivacyProfile], counts: list[int], delta: float, until_eps: float, eps: float
) -> int:
    """Return the largest number of further uses of the last profile with at most this eps, by doubling and halving."""
    if eps > until_eps:
        return 0

    def within(further: int) -> bool:
        rounds = [*counts[:-1], counts[-1] + further]
        return composed_epsilon(profiles, delta, rounds=rounds) <= until_eps

    low, high = 0, 1
    while high < MOST_ROUNDS and within(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if within(middle) else (low, middle)
    return low
