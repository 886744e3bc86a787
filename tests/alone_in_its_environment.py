"""Checks that test_wheel.py runs in an environment with the wheel and nothing else; prints JSON.

The script does not use pytest, which the environment lacks, and no file of the checkout may be importable.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import json
import pkgutil
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import shuffledp
import shuffledp.accountant
import shuffledp.accounting
import shuffledp.designs
import shuffledp.protocols
import shuffledp.tasks

HERE = Path(shuffledp.__file__).parent
#: Public packages of the library, and the packages that they use.
DOORS = (
    *("accountant", "accounting", "designs", "populations", "protocols", "protocols.calibrations"),
    *("protocols.conformance", "sampling", "tasks"),
)
BEHIND = (
    "accountant",
    "accounting",
    "designs",
    "numerics",
    "populations",
    "protocols",
    "sampling",
    "tasks",
    "userdata",
)


def loaded() -> set[str]:
    """Return the loaded packages outside of the standard library."""
    files = [
        str(getattr(module, "__file__", None)).replace("\\", "/") for module in list(sys.modules.values())
    ]
    places = {file.rpartition("/site-packages/")[2] for file in files if "/site-packages/" in file}
    return {place.partition("/")[0].removesuffix(".py") for place in places} - {"_virtualenv"}


def modules() -> list[str]:
    """Return every module of the packages that need only numpy and scipy."""
    found = []
    for package in BEHIND:
        module = importlib.import_module(f"shuffledp.{package}")
        found.append(module.__name__)
        if hasattr(module, "__path__"):
            found += [one.name for one in pkgutil.walk_packages(module.__path__, f"{module.__name__}.")]
    return [name for name in found if name != "shuffledp.userdata.counts"]  # of the extra `data`


def examples() -> dict[str, str]:
    """Return the last line of each failed example of public objects and their methods, by name."""
    found: dict[str, str] = {}
    finder = doctest.DocTestFinder(exclude_empty=True)
    for door in DOORS:
        module = importlib.import_module(f"shuffledp.{door}")
        names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
        for name in names:
            value = getattr(module, name)
            home = inspect.getmodule(inspect.unwrap(value)) if callable(value) else None
            if home is None or not home.__name__.startswith("shuffledp"):
                continue
            for test in finder.find(inspect.unwrap(value), name, module=False):
                if not test.examples:
                    continue
                said: list[str] = []
                doctest.DocTestRunner(verbose=False).run(test, out=said.append)
                found[f"{door}.{test.name}"] = "".join(said).strip().splitlines()[-1].strip() if said else ""
    return found


def design() -> dict[str, Any]:
    """Return a noise design of a protocol, from the wheel's file."""
    from shuffledp.populations import Fixed
    from shuffledp.protocols import get
    from shuffledp.tasks import Budget, Summation

    found = shuffledp.accounting.shipped_designs()[0].design
    protocol = get("summation", "correlated_sum").calibrate(
        Budget(eps=found.eps, delta=found.delta), Fixed(99), Summation(found.max_value), accounting="exact"
    )
    return {"designs": len(shuffledp.accounting.shipped_designs()), "bits": protocol.cost().bits_per_user}


def conform() -> int:
    """Return the number of cases in which one protocol passes the checks."""
    from shuffledp.protocols import get
    from shuffledp.protocols.conformance import check_protocol, default_cases

    found = get("frequency", "local")
    cases = default_cases(found)
    with contextlib.redirect_stdout(sys.stderr):  # which says what was checked
        check_protocol(found, cases)
    return len(cases)


def needs_more() -> dict[str, str]:
    """Return the errors of public names that need another package."""
    from shuffledp.accounting import (
        ClonesProfile,
        OtherReports,
        central_gaussian_epsilon,
        central_replacement_epsilon as replacement,
    )
    from shuffledp.populations import Fixed

    profile = ClonesProfile(OtherReports(Fixed(99)), 1.0)
    calls = {
        "to_pld": profile.to_pld,
        "to_opendp": profile.to_opendp,
        "gaussian": lambda: central_gaussian_epsilon(rate=0.1, noise_multiplier=1.0, rounds=2, delta=1e-5),
        "replacement": lambda: replacement(n=9, m=3, noise_multiplier=1.0, rounds=2, delta=1e-5),
        "datasets": lambda: importlib.import_module("shuffledp.pipeline.datasets").load,
    }
    said = {}
    for name, call in calls.items():
        try:
            call()
        except ImportError as error:
            said[name] = f"{type(error).__name__}: {error}"
    return said


def main() -> None:
    for door in (shuffledp.accounting, shuffledp.accountant, shuffledp.designs):
        for name in door.__all__:
            getattr(door, name)
    report: dict[str, Any] = {"place": str(HERE), "by the accounting": sorted(loaded())}
    for kind in shuffledp.tasks.TASK_KINDS:
        for protocol in shuffledp.protocols.available(kind):
            shuffledp.protocols.get(kind, protocol)
    report["by protocols"] = sorted(loaded())
    report["examples"] = examples()
    report["design"] = design()
    report["cases"] = conform()
    report["by their use"] = sorted(loaded())
    report["needs more"] = needs_more()
    report["modules"] = len([importlib.import_module(name) for name in modules()])
    report["by every module"] = sorted(loaded())
    report["installed"] = sorted(one.metadata["Name"] for one in distributions())
    print(json.dumps(report))


if __name__ == "__main__":
    main()
