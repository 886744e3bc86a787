"""Chi-square tests of simulated messages against the law of a view, to detect views that differ from the protocol."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from shuffledp.accounting.errors import Infeasible
from shuffledp.pipeline.audit.auditor import AuditSetting, view_of
from shuffledp.pipeline.audit.finite_laws import Block, TooLargeError, pooled
from shuffledp.pipeline.audit.views import Held, View
from shuffledp.populations.base import Law
from shuffledp.protocols.base import ProtocolBase
from shuffledp.tasks import Public, Sets, even_sizes

#: Approximate number of cells of the tested table, and the least expected number of runs in each cell.
_CELLS = 60
_LEAST = 5.0
#: Largest number of users of compared messages, least number of runs, and about the number of messages of all runs.
_MOST_USERS, _LEAST_RUNS, _MESSAGES = 100, 60, 400_000
#: Cost of a run in messages.
_RUN = 25


@dataclass(frozen=True)
class Agreement:
    """p-values of tests: of the counts (0 for an impossible count), and of the first message against a random one."""

    counts: float
    order: float


def announced(protocol: ProtocolBase, setting: AuditSetting, n: int) -> ProtocolBase:
    """Return the protocol for an announced number of users, with nearly equal numbers per privacy level."""
    levels = setting.task.levels if isinstance(setting.task, Sets) else 1
    return protocol.refine(Public(np.array([n]), np.array([even_sizes(n, levels)], float)))


def messages_fit(setting: AuditSetting, runs: int, rng: np.random.Generator) -> Agreement | None:
    """Run encoder, dummies and shuffler of a calibrated setting, and compare the messages with the law of the view.

    The number of users is a possible one, and their inputs differ. There are `runs` runs, and fewer if a run has many
    messages. The result is None if there are too many users or messages, or if the law is too large. Raises the errors
    of ``calibrate``.
    """
    protocol, law = setting.calibrated(), setting.population
    try:
        view = view_of(protocol, setting.budget)
        if isinstance(view, str) or not isinstance(law, Law):
            return None
        view = view.of_participants()
        numbers = [3] if view.alone else [n for n, _ in view.numbers(law)]
        if not numbers or (n := numbers[len(numbers) // 2]) > _MOST_USERS:
            return None
        protocol, view = announced(protocol, setting, n), view.among(n)
        case = next(iter(view.cases(n)))
        inputs = (case.first, *case.others[len(case.others) // 2])
        view.blocks(inputs)
    except (Infeasible, TooLargeError):
        return None
    users, public = view.users(inputs), Public(np.array([n]), levels_of(view, inputs))

    def run() -> NDArray[Any]:
        return protocol.shuffle(protocol.encode(users, rng), public, rng).payload

    runs = min(runs, math.ceil(_MESSAGES / (len(run()) + _RUN)))
    return agreement_of((run() for _ in range(runs)), view, inputs, rng) if runs >= _LEAST_RUNS else None


def agreement_of(
    payloads: Iterable[NDArray[Any]], view: View, inputs: Held, rng: np.random.Generator
) -> Agreement:
    """Compare the shuffled messages of independent runs, one payload each, with the law of a view.

    `inputs` has indices into ``view.inputs``; different inputs give the most powerful test. Counts
    are cut into ranges that are about equally likely under the law. Each part of the view has its own test with about
    sixty cells, and one coarser test covers all parts. Cells with fewer than 5 expected runs are merged. p-values are
    asymptotic and corrected for the number of tests.
    """
    tallies, first, anywhere = [], [], []
    for payload in payloads:
        tallies.append([count for part in view.tally(payload) for count in part])
        if len(payload) > 1:
            letters = view.letters(payload[[0, int(rng.integers(len(payload)))]])
            first.append(int(letters[0]))
            anywhere.append(int(letters[1]))
    return Agreement(_counts_fit(view, inputs, np.array(tallies)), _same(np.array(first), np.array(anywhere)))


def levels_of(view: View, inputs: Held) -> NDArray[np.float64] | None:
    """Return the number of users of each privacy level, (1, levels); None if inputs have no levels."""
    if not view.with_levels:
        return None
    levels = [level for level, _ in view.inputs]
    return np.bincount([levels[h] for h in inputs], minlength=max(levels) + 1).astype(float)[None]


def _counts_fit(view: View, inputs: Held, tallies: NDArray[np.int64]) -> float:
    """Return the least p-value of the parts' tests and the joint test, times the number of tests."""
    blocks = view.blocks(inputs)
    columns = np.split(tallies, np.cumsum([b.mass.ndim for b in blocks])[:-1], axis=1)
    tables = []
    for block, counts in zip(blocks, columns, strict=True):
        inside = (counts >= block.start) & (counts < np.add(block.start, block.mass.shape))
        if not np.all(inside):  # laws leave out 1e-16
            return 0.0
        tables.append(_table(block, counts, max(2, int(_CELLS ** (1 / block.mass.ndim)))))
    values = [_chi_square(np.bincount(index, minlength=law.size), law) for index, law in tables]
    if (
        len(blocks) > 1
    ):  # two or three ranges of every count, as long as enough runs are expected in each cell
        together, joint = np.zeros(len(tallies), np.int64), np.ones(1)
        for block, counts in zip(blocks, columns, strict=True):
            index, law = _table(block, counts, 3 if len(blocks) < 4 else 2)
            if joint.size * law.size * 2 * _LEAST > len(tallies):
                break
            together, joint = together * law.size + index, np.multiply.outer(joint, law).ravel()
        values.append(_chi_square(np.bincount(together, minlength=joint.size), joint))
    return min(1.0, min(values) * len(values))


def _table(
    block: Block, counts: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return each run's cell in a coarse table of a law, (runs,), and the cells' probabilities."""
    ends, table = pooled(block, groups)
    cells = [np.searchsorted(end, column, side="right") for end, column in zip(ends, counts.T, strict=True)]
    return np.ravel_multi_index(cells, table.shape), table.ravel()


def _chi_square(counts: NDArray[np.int64], law: NDArray[np.float64]) -> float:
    if np.any((law <= 0) & (counts > 0)):
        return 0.0
    expected = law / law.sum() * counts.sum()
    order = np.argsort(expected)
    counts, expected = counts[order], expected[order]
    few = int(np.count_nonzero(expected < _LEAST))
    while 0 < few < expected.size and expected[:few].sum() < _LEAST:
        few += 1
    if few:
        counts = np.append(counts[:few].sum(), counts[few:])
        expected = np.append(expected[:few].sum(), expected[few:])
    if expected.size < 2:
        return 1.0
    statistic = float(np.sum((counts - expected) ** 2 / expected))
    return float(chi2.sf(statistic, expected.size - 1))


def _same(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Return the p-value of a chi-square test that two samples of kinds have the same law."""
    if not first.size:
        return 1.0
    kinds = np.unique(np.append(first, second))
    table = np.array([[np.count_nonzero(sample == k) for k in kinds] for sample in (first, second)], float)
    common = table.sum(axis=0) >= 2 * _LEAST
    table = np.column_stack((table[:, common], table[:, ~common].sum(axis=1)))
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2:
        return 1.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(chi2.sf(float(np.sum((table - expected) ** 2 / expected)), table.shape[1] - 1))
