"""Trials of the first steps of jobs, to find invalid arguments before any job runs.

The grammar checks types and names, while functions and protocols first check the ranges of their arguments. Each
function and protocol is therefore called and stopped after a number of calls, or at a call of another package's
accountant. The limit is a number of calls, not a time, so that the same values raise errors on every machine.

The thread's profiling hook counts the calls. Debuggers and coverage measurements use the tracing hook, and an active
profiler is restored.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from shuffledp.accounting.configurable_functions import NAMED_FUNCTIONS
from shuffledp.accounting.errors import Infeasible
from shuffledp.pipeline.config.config_errors import ConfigurationError, merged_in, shown
from shuffledp.pipeline.config.experiments import with_some_domain
from shuffledp.pipeline.config.settings import Experiment, Method, Settings
from shuffledp.pipeline.experiments.job_parts import Job, budget_from, parts_at, population_from, task_from
from shuffledp.protocols.registry import get

CALLS = 150
"""Number of calls of the library's functions after which a trial ends."""
ACCOUNTANT = "dp_accounting"
"""Package with other accountants; a function that calls this package has already checked its arguments."""
_SEARCHES, _STEP = "shuffledp.numerics.roots", 10
"""Module that searches for roots, and the number of calls that one of its steps counts as, because each step repeats
the same checks."""
_UNCOUNTED = frozenset(("shuffledp.numerics.argument_guards", "shuffledp.numerics.argument_types"))
"""Modules that check the types of arguments in many small calls, before a function receives them."""


def try_methods(settings: Settings, root: Path) -> None:
    """Run the first step of every method except plug-ins, at its first cell and at the ends of each grid variable."""
    done: set[str] = set()
    for paper in settings.papers.values():
        for experiment in paper.experiments.values():
            for method in experiment.methods.values():
                if method.protocol is not None and ":" in method.protocol:
                    continue
                place = f"{paper.file}: experiments.{experiment.id}.methods.{method.id}"
                with merged_in(experiment.override):
                    _try(experiment, method, place, root, done)


def _try(experiment: Experiment, method: Method, place: str, root: Path, done: set[str]) -> None:
    job = experiment.job(method.id, 0)
    for point, accounting in _cells(job):
        resolved = parts_at(job, point)
        asked = repr((job["protocol"], job["function"], accounting, {**resolved, "data": None}))
        if asked in done:
            continue
        done.add(asked)
        try:
            with _first_calls():
                _begin(job, accounting, resolved, root)
        except (_Enough, Infeasible):
            continue
        except Exception as error:
            at = ", ".join(f"{name} = {shown(value)}" for name, value in point.items())
            what = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            raise ConfigurationError(f"{place}: {what}{f' (at {at})' if at else ''}") from None


def _cells(job: Job) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the first point under all accountings, and points where one variable is a text or an end of its grid."""
    first = {name: values[0] for name, values in job["grid"].items()}
    for accounting in job["accounting"]:
        yield first, accounting
    for name, values in job["grid"].items():
        for value in _ends(values):
            yield {**first, name: value}, job["accounting"][0]


def _ends(values: list[Any]) -> list[Any]:
    numbers = [v for v in values if isinstance(v, int | float)]
    return [
        *([min(numbers), max(numbers)] if numbers else []),
        *(v for v in values if not isinstance(v, int | float)),
    ]


def _begin(job: Job, accounting: str, resolved: Mapping[str, Any], root: Path) -> None:
    if job["protocol"] is None:
        arguments = dict(resolved["arguments"])
        if "population" in arguments:
            arguments["population"] = population_from(arguments["population"])
        named = NAMED_FUNCTIONS[str(job["function"])]
        if "accounting" in inspect.signature(named.function).parameters:
            arguments["accounting"] = accounting
        named.function(**arguments)
        return
    law = population_from(resolved["population"])
    task = task_from(with_some_domain(resolved["task"], resolved["data"]))
    found = get(task.kind, job["protocol"], root=root)
    if accounting in found.accountings:
        found.calibrate(
            budget_from(resolved["budget"], law), law, task, accounting=accounting, **resolved["options"]
        )


class _Enough(BaseException):
    """Signal that ends a trial; it is not an ``Exception``, so that methods do not catch it."""


@contextmanager
def _first_calls() -> Iterator[None]:
    """Stop the body after `CALLS` calls of library functions, or at the first call of `ACCOUNTANT`."""
    left = CALLS

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal left
        if event != "call":
            return
        module = frame.f_globals.get("__name__", "")
        package = module.partition(".")[0]
        if package == ACCOUNTANT:
            raise _Enough
        if package != "shuffledp" or module in _UNCOUNTED:
            return
        back = frame.f_back
        searched = back is not None and back.f_globals.get("__name__") == _SEARCHES
        left -= _STEP if searched else 1
        if left < 0 and not _importing(frame):
            raise _Enough

    before = sys.getprofile()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a job warns of, it will
            sys.setprofile(count)
            yield
    finally:
        sys.setprofile(None)
        _go_on(before)


def _importing(frame: FrameType | None) -> bool:
    """Return whether a module is being imported; an import must finish, although its calls count."""
    while frame is not None and frame.f_code is not _begin.__code__:
        if frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back
    return False


def _go_on(profiler: Any) -> None:
    """Restore a profiling hook, a function or a C profiler, which sets its hook itself before Python 3.12."""
    if callable(profiler):
        sys.setprofile(profiler)
    elif profiler is not None:
        profiler.enable()
