"""Distribution of tests to processes: tests with common expensive fixtures stay together, and long ones start first."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

TESTS = Path(__file__).resolve().parent
# JAX compiles each small network once for a handful of steps: compiling well takes longer than what it saves.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)
# Tests read whole lines, at the largest width; tests of narrow lines set their own.
os.environ["COLUMNS"] = "120"
# Random tests have the same examples everywhere, and a slow machine is no failure.
settings.register_profile(
    "anywhere", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("anywhere")
# What is collected stays: the garbage collector would look through it again and again while it grows.
gc.disable()
#: Files whose tests share nothing: one process per protocol, so that no process gets all protocols.
BY_PROTOCOL = {"protocols/conformance/test_package.py"}
#: Files whose tests take seconds, and share what one paper or protocol needs: one process per paper or protocol.
BY_PART = {"golden/test_golden.py", "golden/test_expected_errors.py"}
#: Slowest files, which begin first, and small groups, which fill the remaining time.
FIRST = (
    "pipeline/",
    "workflow/",
    "protocols/client/",
    "protocols/summation/",
    "protocols/test_requests.py",
    "notebooks/",
    "test_wheel.py",
)
LAST = ("protocols/conformance/test_package.py", "golden/test_golden.py")


def group_of(file: str, name: str) -> str:
    """Return the group of a test; tests of a group run one after another in one process."""
    if file in BY_PART and (found := re.search(r"\[(?:.*/)?(.+)\]$", name)):
        return f"golden {found[1]}"
    if file in BY_PROTOCOL and (found := re.search(r"\[(.+?)(-check_.*)?\]$", name)):
        return f"{file} {found[1]}"
    return file


def rank(file: str) -> int:
    """Return the position of a file: in `FIRST`, after all others if it is in `LAST`, else between them."""
    if file in LAST:
        return len(FIRST) + 1
    return next((i for i, start in enumerate(FIRST) if file.startswith(start)), len(FIRST))


class ByGroup(LoadScopeScheduling):
    """Scheduler that sends whole groups; marks (``--dist loadgroup``) have no effect with the pinned versions."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, name = nodeid.partition("::")
        return group_of(file.removeprefix("tests/"), name)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByGroup:
    return ByGroup(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Let every second process begin at the last file, so that each finds half of the tests already compiled."""
    report: Any = yield
    if isinstance(collector, pytest.Directory) and int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 2:
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {item.path: item.path.relative_to(TESTS).as_posix() for item in items}
    items.sort(key=lambda item: (rank(places[item.path]), places[item.path]))


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection, because they stay in memory and are most of all objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Send one report, instead of five messages, for a test that passes."""
    if "PYTEST_XDIST_WORKER" not in os.environ or item.config.option.durations is not None:
        return None
    runner: Any = item.config.pluginmanager.get_plugin("runner")
    for report in runner.runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True
