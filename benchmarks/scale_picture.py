"""Results of `benchmarks/scale.py` as tables and as a picture: cost by numbers of users and values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scale import USERS, VALUES, Axis, Measured

from shuffledp.pipeline.figures.style import figure_style, rendered
from shuffledp.protocols import get
from shuffledp.tasks import TaskKind

Found = Mapping[tuple[TaskKind, str, Axis], Sequence[Measured]]

LEAST_SECONDS, LEAST_MEMORY = 0.02, 8 << 20
"""Smaller costs count as this much: they are due to the clock, the first call of a function or the memory of a few
windows."""
FLAT = 0.15
"""Largest slope that counts as constant: less than a factor of 1.5 for a factor of ten."""
TAIL = 3
"""Number of the largest cases, a factor of ten apart, whose slope is fitted."""

K_NUMBERS = "k counts are drawn"
ROOT_N = "the law of the reports that hide is as wide as the root of n"
GRID = "a grid of root-n numbers of dummies, each with a local budget of its own"
REASONS: Mapping[tuple[TaskKind, str, Axis], str] = {
    ("frequency", "non_adaptive", "users"): GRID,
    ("frequency", "adaptive", "users"): GRID,
    ("frequency", "random_checkin", "users"): "every user draws a slot",
    ("vectors", "non_adaptive", "users"): GRID,
    ("vectors", "adaptive", "users"): GRID,
    ("vectors", "random_checkin", "users"): "every user draws a slot",
    ("vectors", "privunit", "users"): "no sufficient statistic: every user's vector is drawn",
    ("sets", "subset_local", "users"): "no sufficient statistic: every user's subset is drawn",
    ("sets", "subset_shuffled", "users"): "no sufficient statistic: every user's subset is drawn",
    ("sets", "subset_local", "values"): "subsets of a share of all items, of every user",
    ("sets", "subset_shuffled", "values"): "subsets of a share of all items, of every user",
    ("vectors", "privunit", "values"): "every user draws a vector: n k numbers",
    ("frequency", "private_coin", "values"): "every tuple whose kernel is not zero is drawn; k counts",
    ("frequency", "public_coin", "values"): "tuples of log k rows are drawn; k counts",
    ("frequency", "private_coin", "users"): "tuples whose kernel is not zero are drawn",
    ("summation", "correlated_sum", "values"): "the exact accounting of noise for so many levels",
    ("frequency", "multi_expected", "users"): "a sum of so many terms, up to four million",
}
"""Reasons why a cost increases, other than the two usual reasons."""


def slope_of(sizes: Sequence[float], costs: Sequence[float], least: float) -> float:
    """Return the slope of the logarithms over the last `TAIL` cases; nan for fewer than two cases."""
    x, y = np.log(sizes[-TAIL:]), np.log(np.maximum(costs[-TAIL:], least))
    return float(np.polyfit(x, y, 1)[0]) if len(x) > 1 else math.nan


def seconds(one: Measured) -> float:
    """Return the total CPU seconds of a case."""
    return one.calibrating + one.simulating


def sizes_of(axis: Axis) -> tuple[int, ...]:
    """Return the sizes along an axis."""
    return USERS if axis == "users" else VALUES


def slopes(rows: Sequence[Measured], axis: Axis) -> tuple[float, float]:
    """Return the slopes of time and memory along an axis."""
    done = [(size, one) for size, one in zip(sizes_of(axis), rows, strict=True) if one.outcome == "done"]
    sizes = [float(size) for size, _ in done]
    return (
        slope_of(sizes, [seconds(one) for _, one in done], LEAST_SECONDS),
        slope_of(sizes, [float(one.memory) for _, one in done], LEAST_MEMORY),
    )


def in_words(rows: Sequence[Measured] | None, axis: Axis) -> str:
    """Return the slope of the time as text, or that the time is constant."""
    if rows is None:
        return "bits only"
    slope = slopes(rows, axis)[0]
    if math.isnan(slope):
        return "infeasible"
    stopped = next((one for one in rows if one.outcome in ("too long", "too much memory")), None)
    if stopped is not None:
        size = stopped.case.users if axis == "users" else stopped.case.values
        return f"{slope:.2f}, {stopped.outcome} at {power(size)}"
    return "flat" if slope < FLAT else f"{slope:.2f}"


def power(size: int) -> str:
    """Return a power of ten as text, or the number."""
    exponent = round(math.log10(size))
    return f"10^{exponent}" if 10**exponent == size and exponent > 1 else f"{size:,}"


def reason(key: tuple[TaskKind, str, Axis], rows: Sequence[Measured] | None) -> str:
    """Return the reason why the time increases along an axis; empty if it does not increase."""
    if rows is None or in_words(rows, key[2]) in ("flat", "infeasible"):
        return ""
    usual = ROOT_N if key[2] == "users" else K_NUMBERS
    return REASONS.get(key, usual)


def protocols(found: Found) -> list[tuple[TaskKind, str]]:
    """Return the protocols in the order of their measurement."""
    return list(dict.fromkeys((kind, name) for kind, name, _ in found))


def table(found: Found) -> Iterator[str]:
    """Yield the cost by protocol in Markdown, and its summary."""
    yield (
        "| task | protocol | time at most | memory at most | slope in n | slope in k | why not flat "
        "| infeasible |"
    )
    yield "|---|---|---:|---:|---|---|---|---|"
    flat = 0
    for kind, name in protocols(found):
        by_users, by_values = found[kind, name, "users"], found.get((kind, name, "values"))
        done = [one for one in (*by_users, *(by_values or ())) if one.outcome == "done"]
        why = {
            "n": reason((kind, name, "users"), by_users),
            "k": reason((kind, name, "values"), by_values),
        }
        flat += in_words(by_users, "users") == "flat"
        most = f"{max(map(seconds, done)):.2f} s" if done else ""
        memory = f"{max(one.memory for one in done) >> 20} MiB" if done else ""
        yield (
            f"| {kind} | {get(kind, name).label} | {most} | {memory} | {in_words(by_users, 'users')} "
            f"| {in_words(by_values, 'values')} "
            f"| {'; '.join(f'{axis}: {text}' for axis, text in why.items() if text)} "
            f"| {no_parameters(by_users, by_values or ())} |"
        )
    every = [one for rows in found.values() for one in rows if one.outcome == "done"]
    largest = max(every, key=lambda one: one.memory)
    yield ""
    yield (
        f"{flat} of {len(protocols(found))} protocols are flat in n. {len(every)} cases took "
        f"{sum(map(seconds, every)):.0f} CPU s in all. {get(largest.case.kind, largest.case.protocol).label} "
        f"({largest.case.kind}) needed the most memory, {largest.memory >> 20} MiB, with "
        f"{largest.case.users:,} users and {largest.case.values:,} values."
    )
    failed = [one for rows in found.values() for one in rows if one.outcome == "failed"]
    if failed:
        yield ""
        yield "Failed: " + "; ".join(f"{one.case}: {one.note}" for one in failed)


def no_parameters(by_users: Sequence[Measured], by_values: Sequence[Measured]) -> str:
    """Return the sizes for which no calibration exists, by axis."""
    parts = []
    for axis, rows in (("n", by_users), ("k", by_values)):
        sizes = [
            one.case.users if axis == "n" else one.case.values for one in rows if one.outcome == "infeasible"
        ]
        if len(sizes) > 1:
            parts.append(f"{axis} = {power(sizes[0])} to {power(sizes[-1])}")
        elif sizes:
            parts.append(f"{axis} = {power(sizes[0])}")
    return ", ".join(parts)


def message_table(found: Sequence[Measured]) -> Iterator[str]:
    """Yield the results at message level in Markdown."""
    yield "| task | protocol | users | values | messages per user | CPU time | users per second | memory |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for one in found:
        case, protocol = one.case, get(one.case.kind, one.case.protocol)
        sent = protocol.calibrate(case.budget, case.law, case.task).cost().messages_per_user
        if one.outcome != "done":
            raise SystemExit(f"{case}: {one.outcome}, {one.note}")
        yield (
            f"| {case.kind} | {protocol.label} | {case.users:,} | {case.values} | {sent:.4g} "
            f"| {one.simulating:.0f} s | {case.users / one.simulating:.2g} | {one.memory >> 20} MiB |"
        )


# -- the picture -----------------------------------------------------------------------------------------------------


def drawn(found: Found) -> bytes:
    """Return a PNG with a row per protocol and a cell per size, for time and memory along both axes."""
    names = protocols(found)
    panels: list[tuple[str, Axis, bool]] = [
        ("CPU time by users", "users", False),
        ("CPU time by values", "values", False),
        ("memory by users", "users", True),
        ("memory by values", "values", True),
    ]
    with figure_style():
        figure = Figure(figsize=(12.0, 1.5 + 0.185 * len(names)))
        axes = figure.subplots(1, 4, sharey=True, gridspec_kw={"wspace": 0.26})
        figure.subplots_adjust(left=0.205, right=0.945, top=0.945, bottom=0.11)
        for ax, (title, axis, memory) in zip(axes, panels, strict=True):
            _panel(ax, title, axis, memory, [found.get((*name, axis)) for name in names])
        axes[0].set_yticks(range(len(names)), [get(*name).label for name in names])
        _tasks(axes[0], [kind for kind, _ in names])
        for ax, place, label in (
            (axes[0], 0.205, "CPU seconds of one calibration and one repeat"),
            (axes[2], 0.6, "memory beyond an idle process, MiB"),
        ):
            bar = figure.add_axes((place, 0.042, 0.33, 0.008))
            figure.colorbar(ax.images[0], cax=bar, orientation="horizontal", label=label)
        return rendered(figure, "png")


def _panel(ax: Axes, title: str, axis: Axis, memory: bool, rows: Sequence[Sequence[Measured] | None]) -> None:
    sizes = sizes_of(axis)
    values: NDArray[np.float64] = np.full((len(rows), len(sizes)), np.nan)
    marks = {"infeasible": "·", "too long": ">", "too much memory": ">", "failed": "!"}
    for y, row in enumerate(rows):
        for x, one in enumerate(row or ()):
            if one.outcome == "done":
                values[y, x] = max(one.memory / 2**20, 1.0) if memory else max(seconds(one), 1e-3)
            else:
                ax.text(x, y, marks[one.outcome], ha="center", va="center", fontsize=8, color="#7a1f1f")
        text = "" if row is None else _slope_text(slopes(row, axis)[int(memory)])
        ax.text(len(sizes) - 0.4, y, text, va="center", fontsize=7, color="#404040")
    norm = LogNorm(1, 1000) if memory else LogNorm(1e-3, 10)
    ax.imshow(values, norm=norm, cmap="YlGnBu", aspect="auto", interpolation="nearest")
    ax.set_title(title)
    ax.set_xticks(range(len(sizes)), [power(size) for size in sizes], rotation=45)
    ax.set_xlabel("users" if axis == "users" else "values")
    ax.grid(visible=False)
    ax.tick_params(length=0)


def _slope_text(slope: float) -> str:
    if math.isnan(slope):
        return ""
    return "flat" if slope < FLAT else f"{slope:.2f}"


def _tasks(ax: Axes, kinds: Sequence[TaskKind]) -> None:
    """Write the tasks' names beside their rows, and draw lines between tasks."""
    for kind in dict.fromkeys(kinds):
        places = [y for y, found in enumerate(kinds) if found == kind]
        middle = (places[0] + places[-1]) / 2
        ax.text(
            -1.22, middle, kind, transform=ax.get_yaxis_transform(), rotation=90, va="center", fontsize=10
        )
