"""Run outside auditors against the messages of protocols with few users.

``python tools/outside_auditors.py [--runs N] [--seed S] [--page]``

An outside auditor runs a protocol on two data sets that differ in the value of user 1. It sees the shuffled messages
and no law of them, and certifies a lower bound on eps. Two auditors run: StatDP (the package pystatdp, for delta 0),
and a classifier written after the papers on DP-Sniper (delta 0) and Delta-Siege (the claimed delta). The exact eps comes
from the enumeration of the project's own audit. Some targets have a planted bug. With --page the table is written into
docs/maintainers.md.
"""

from __future__ import annotations

import argparse
import logging
import math
import resource
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shuffledp.pipeline.audit.auditor import Setting, view_of
from shuffledp.pipeline.audit.message_tests import announced, levels_of
from shuffledp.pipeline.audit.views import Held, View, true_delta
from shuffledp.pipeline.doc_blocks import write_block
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.base import ProtocolBase
from shuffledp.tasks import Budget, Frequency, Public, Sets, Summation, Task

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/maintainers.md"
#: Probability with which a certificate may exceed the exact eps.
LEVEL = 0.001
#: eps that StatDP tests in turn, up to the first that it does not reject.
STEPS = np.arange(5, 51) / 10
#: Runs from which StatDP chooses its event, and the most kinds of messages that it counts.
EVENT_RUNS, EVENT_KINDS = 10_000, 3
#: Largest eps that is told from infinity, and the delta below which the enumeration rounds.
MOST_EPS, LEAST_DELTA = 20.0, 1e-12
TASKS: dict[str, Task] = {"frequency": Frequency(3), "summation": Summation(2), "sets": Sets(3, 1, levels=1)}
CLAIM = Budget(1.0, 0.05)
TEN = (
    *("frequency/grr_blanket", "frequency/pure_dump", "frequency/mix_dump", "frequency/sageo", "frequency/sbin"),
    *("frequency/one_sided_noise", "frequency/fragmented_rappor", "summation/single_message_sum"),
    *("summation/correlated_sum", "sets/segmented"),
)


@dataclass(frozen=True)
class Target:
    """Calibrated protocol with its claim and its number of users; `bug` names a planted one."""

    name: str
    protocol: ProtocolBase
    claim: Budget
    users: int
    bug: str = ""

    def view(self, eps: float) -> View:
        """Return the audit's view of the messages, for a claimed eps."""
        view = view_of(self.protocol, Budget(eps, self.claim.delta))
        assert isinstance(view, View)
        return view.among(self.users)

    def exact(self, delta: float) -> float:
        """Return the least eps at a delta by enumeration, over all data sets; infinite beyond ``MOST_EPS``."""
        low, high = 0.0, MOST_EPS
        law = Fixed(self.users - 1)
        while high - low > 1e-4:
            middle = (low + high) / 2
            found = true_delta(self.view(middle), law)[0][1].bounds.low
            low, high = (low, middle) if found <= max(delta, LEAST_DELTA) else (middle, high)
        return high if low > 0 and high < MOST_EPS else high if low == 0 else math.inf

    def pairs(self) -> Iterator[tuple[Held, Held]]:
        """Yield pairs of data sets: user 1 has the first or the last input, all others have one equal input."""
        last = len(self.view(1.0).inputs) - 1
        for others in sorted({0, 1, last}):
            yield (0, *(others,) * (self.users - 1)), (last, *(others,) * (self.users - 1))

    def runs(self, held: Held, count: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Yield the shuffled messages of independent runs, each message as a number."""
        view = self.view(1.0)
        users, public = view.users(held), Public(np.array([self.users]), levels_of(view, held))
        for _ in range(count):
            sent = self.protocol.shuffle(self.protocol.encode(users, rng), public, rng).payload
            yield sent.reshape(len(sent), -1).astype(np.int64) @ 1009 ** np.arange(sent[:1].size)


def targets(names: tuple[str, ...] = TEN, users: int = 4) -> Iterator[Target]:
    """Yield the targets without a bug, then three with a planted one."""

    def calibrated(name: str, budget: Budget = CLAIM) -> ProtocolBase:
        kind, _, short = name.partition("/")
        protocol = get(kind, short)
        setting = Setting(protocol, protocol.accountings[-1], TASKS[kind], Fixed(users - 1), budget)
        return announced(setting.calibrated(), setting, users)

    yield from (Target(name, calibrated(name), CLAIM, users) for name in names)
    grr: Any = calibrated("frequency/grr_blanket")
    noise: Any = calibrated("frequency/one_sided_noise")
    strict, loose = Budget(1.0, 1e-6), Budget(1.0, 1e-4)
    yield Target("frequency/grr_blanket", replace(grr, eps_local=2 * grr.eps_local), CLAIM, users, "local eps doubled")
    yield Target("frequency/one_sided_noise", replace(noise, shape=noise.shape / 2), CLAIM, users, "noise halved")
    rare = calibrated("frequency/sageo", loose)
    yield Target("frequency/sageo", rare, strict, users, f"calibrated for delta {loose.delta:g}")


def counted(runs: Iterator[NDArray[np.int64]], kinds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of messages of each kind, (runs, kinds): the multiset of a run's messages."""
    return np.array([np.bincount(np.searchsorted(kinds, r[np.isin(r, kinds)]), minlength=len(kinds)) for r in runs])


def certificate(hits: Any, misses: Any, runs: int, delta: float, level: float = LEVEL) -> Any:
    """Return a lower bound on eps from the runs in an event, of two data sets, by Clopper and Pearson."""
    hits, misses = np.asarray(hits, float), np.asarray(misses, float)
    low = np.where(hits > 0, beta.ppf(level / 2, np.maximum(hits, 1), runs - hits + 1), 0.0)
    high = np.where(misses < runs, beta.ppf(1 - level / 2, misses + 1, np.maximum(runs - misses, 1)), 1.0)
    return np.log(np.maximum((low - delta) / high, 1.0))


def classified(one: NDArray[np.int64], two: NDArray[np.int64]) -> Callable[[NDArray[np.int64]], Any]:
    """Return the score of a logistic classifier that separates the runs of two data sets."""

    def features(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.hstack((counts, np.log1p(counts), counts == 0))

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    model.fit(features(np.vstack((one, two))), np.repeat([1, 0], [len(one), len(two)]))
    return lambda counts: model.decision_function(features(counts))


def best_event(one: Any, two: Any, delta: float) -> tuple[float, float, int]:
    """Return certificate, threshold and sign of the event ``sign * score >= threshold`` with the largest certificate."""
    found = []
    for sign in (1, -1):
        first, second = (np.sort(sign * scores) for scores in ((one, two) if sign == 1 else (two, one)))
        at = np.unique(np.quantile(np.concatenate((first, second)), np.linspace(0, 1, 2001), method="lower"))
        hits, misses = (len(scores) - np.searchsorted(scores, at) for scores in (first, second))
        bounds = certificate(hits, misses, len(first), delta)
        found.append((float(bounds.max()), float(at[bounds.argmax()]), sign))
    return max(found)


def with_classifier(
    target: Target, runs: int, rng: np.random.Generator
) -> tuple[float, float, tuple[Held, Held], list[NDArray[np.int64]]]:
    """Return the certified eps at the claimed delta and at delta 0, the pair of data sets, and its counts.

    Data sets, classifier, threshold and certificate have separate runs.
    """
    tried = []
    for pair in target.pairs():
        sent = [list(target.runs(held, runs // 5, rng)) for held in pair]
        kinds, seen = np.unique(np.concatenate(sum(sent, [])), return_counts=True)
        kinds = np.sort(kinds[np.argsort(-seen)[:20]])
        one, two = (counted(iter(s), kinds) for s in sent)
        half = len(one) // 2
        score = classified(one[:half], two[:half])
        value = best_event(score(one[half:]), score(two[half:]), target.claim.delta)[0]
        tried.append((value, len(tried), pair, kinds, score))
    _, _, pair, kinds, score = max(tried, key=lambda t: t[:2])
    chosen = [score(counted(target.runs(held, runs // 2, rng), kinds)) for held in pair]
    last = [counted(target.runs(held, runs, rng), kinds) for held in pair]
    scores = [score(counts) for counts in last]
    found = []
    for delta in (target.claim.delta, 0.0):
        _, threshold, sign = best_event(*chosen, delta)
        inside = [int(np.count_nonzero(sign * s >= threshold)) for s in scores[::sign]]
        found.append(float(certificate(*inside, runs, delta)))
    return found[0], found[1], pair, last


_REPLAYED: dict[tuple[int, ...], Iterator[tuple[int, ...]]] = {}


def replayed(queries: NDArray[np.int64], epsilon: float) -> tuple[int, ...]:
    """Return the counts of the next run on a data set: StatDP calls the audited program one run at a time."""
    return next(_REPLAYED[tuple(queries.tolist())])


def with_statdp(pair: tuple[Held, Held], counts: list[NDArray[np.int64]], seed: int) -> float:
    """Return the largest eps, at delta 0, up to which StatDP rejects every eps of ``STEPS``; 0 if it rejects none."""
    import numba
    from pystatdp import pystatdp

    numba.njit(lambda start: np.random.seed(start))(seed)  # noqa: NPY002  (the package draws from this generator)
    kept = np.sort(np.argsort(-sum(c.sum(axis=0) for c in counts))[:EVENT_KINDS])  # type: ignore[arg-type]
    one, two = (np.array(held) for held in pair)
    certified = 0.0
    for eps in STEPS.tolist():
        for held, table in zip(pair, counts, strict=True):
            _REPLAYED[held] = map(tuple, table[:, kept].tolist())
        (row,) = pystatdp().detect_counterexample(
            replayed,
            eps,
            {"epsilon": eps},
            databases=(one, two),
            event_iterations=EVENT_RUNS,
            detect_iterations=len(counts[0]) - EVENT_RUNS - 2,
            cores=1,
            quiet=True,
            loglevel=logging.WARNING,
        )
        if row[1] >= LEVEL:
            break
        certified = eps
    return certified


def spent() -> float:
    """Return the CPU seconds of this process and of the processes that it started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def row(target: Target, runs: int, seed: int) -> str:
    """Return the line of a target in the page's table."""
    exact = [target.exact(delta) for delta in (target.claim.delta, 0.0)]
    rng = np.random.default_rng([seed, zlib.crc32(f"{target.name} {target.bug}".encode())])
    begin = spent()
    at_delta, at_zero, pair, counts = with_classifier(target, runs, rng)
    middle = spent()
    statdp = with_statdp(pair, counts, seed)
    end = spent()
    shown = [f"{eps:.2f}" for eps in (exact[0], at_delta, exact[1], at_zero, statdp)]
    if at_delta > target.claim.largest_eps:
        shown[1] = f"**{shown[1]}**"
    bug = f", {target.bug}" * bool(target.bug)
    claim = f"{target.claim.largest_eps:g} at {target.claim.delta:g}"
    cells = [f"`{target.name}`{bug}", str(target.users), claim, *shown, f"{middle - begin:.0f}", f"{end - middle:.0f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table; write it into the page with --page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100_000, help="runs per data set behind a certificate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="targets whose name has this word")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    given = parser.parse_args()
    lines = [
        "| protocol | users | claimed eps | exact eps | certified | exact eps at delta 0 | certified | by StatDP "
        "| CPU s | of StatDP |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for target in targets():
        if given.only is None or given.only in target.name:
            lines.append(row(target, given.runs, given.seed))
            print(lines[-1], flush=True)
    lines += [
        "",
        f"{given.runs:,} runs per data set, seed {given.seed}, {spent():.0f} CPU seconds in all. A certificate exceeds "
        f"the exact eps with probability {LEVEL:g} at most. Bold: above the claim.",
    ]
    if given.page:
        write_block(PAGE, "outside auditors", "\n".join(lines))
    print(lines[-1])


if __name__ == "__main__":
    main()
