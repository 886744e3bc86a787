"""Run outside auditors against the messages of protocols with few users: ``make -C tools outside-auditors``.

An outside auditor runs a protocol on two data sets that differ in the value of user 1. It sees the shuffled messages
but no law, and certifies a lower bound on eps. Two auditors run: StatDP (the package pystatdp, for delta 0), and a
classifier after the papers on DP-Sniper (delta 0) and Delta-Siege (the claimed delta). The exact eps comes from the
enumeration of the project's own audit. With --page the table is written into docs/measured/.
"""

from __future__ import annotations

import argparse
import logging
import math
import resource
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shuffledp.pipeline.audit.auditor import AuditSetting, view_of
from shuffledp.pipeline.audit.message_tests import announced, levels_of
from shuffledp.pipeline.audit.views import Held, true_delta
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.conformance.statistics import least_probable, most_probable
from shuffledp.tasks import Budget, Frequency, Public, Sets, Summation

Counts = NDArray[np.int64]
PAGE = Path(__file__).resolve().parents[1] / "docs/measured/outside_auditors.md"
#: Probability that a certificate exceeds the exact eps.
LEVEL = 0.001
#: Number of runs from which StatDP chooses its event, number of kinds of messages that it counts, and values of eps
#: that it tests in turn.
EVENT_RUNS, EVENT_KINDS, STEPS = 10_000, 3, [step / 10 for step in range(5, 51)]
#: Largest finite eps in the table, and the delta below which the enumeration rounds.
MOST_EPS, LEAST_DELTA = 20.0, 1e-12
TASKS = {"frequency": Frequency(3), "summation": Summation(2), "sets": Sets(3, 1, levels=1)}
CLAIM, LOOSE, STRICT = Budget(1.0, 0.05), Budget(1.0, 1e-4), Budget(1.0, 1e-6)
TEN = {
    "frequency": "grr_blanket pure_dump mix_dump sageo sbin one_sided_noise fragmented_rappor",
    "summation": "single_message_sum correlated_sum",
    "sets": "segmented",
}


@dataclass(frozen=True)
class Target:
    """Calibrated protocol with a number of users and its claim; `bug` names a planted fault."""

    name: str
    protocol: Any
    users: int
    claim: Budget = CLAIM
    bug: str = ""

    def view(self, eps: float = 1.0) -> Any:
        """Return the audit's view of the messages, for a claimed eps."""
        return view_of(self.protocol, Budget(eps, self.claim.delta)).among(self.users)  # type: ignore[union-attr]

    def exact(self, delta: float) -> float:
        """Return the least eps at a delta over all data sets, by enumeration; infinite above ``MOST_EPS``."""
        low, high = 0.0, MOST_EPS
        while high - low > 1e-4:
            middle = (low + high) / 2
            found = true_delta(self.view(middle), Fixed(self.users - 1))[0][1].bounds.low
            low, high = (low, middle) if found <= max(delta, LEAST_DELTA) else (middle, high)
        return high if high < MOST_EPS else math.inf

    def pairs(self) -> Iterator[tuple[Held, Held]]:
        """Yield pairs of data sets: user 1 has the first or the last input, and all others have the same input."""
        last = len(self.view().inputs) - 1
        for others in sorted({0, 1, last}):
            yield (0, *(others,) * (self.users - 1)), (last, *(others,) * (self.users - 1))

    def runs(self, held: Held, count: int, rng: np.random.Generator) -> Iterator[Counts]:
        """Yield the shuffled messages of independent runs; a message is a number."""
        view = self.view()
        users, public = view.users(held), Public(np.array([self.users]), levels_of(view, held))
        for _ in range(count):
            sent = self.protocol.shuffle(self.protocol.encode(users, rng), public, rng).payload
            width = math.prod(sent.shape[1:])
            yield sent.reshape(len(sent), width).astype(np.int64) @ 1009 ** np.arange(width)


def calibrated(kind: str, name: str, users: int, budget: Budget = CLAIM) -> Any:
    """Return a protocol for a fixed, announced number of users."""
    protocol = get(kind, name)
    setting = AuditSetting(protocol, protocol.accountings[-1], TASKS[kind], Fixed(users - 1), budget)
    return announced(setting.calibrated(), setting, users)


def targets(n: int = 4) -> Iterator[Target]:
    """Yield ten protocols as the library calibrates them, and then three with a planted fault."""
    for kind, names in TEN.items():
        yield from (Target(f"{kind}/{name}", calibrated(kind, name, n), n) for name in names.split())
    grr, noise = (calibrated("frequency", name, n) for name in ("grr_blanket", "one_sided_noise"))
    wider = replace(grr, eps_local=2 * grr.eps_local)
    yield Target("frequency/grr_blanket", wider, n, bug="local eps doubled")
    yield Target("frequency/one_sided_noise", replace(noise, shape=noise.shape / 2), n, bug="noise halved")
    rare = calibrated("frequency", "sageo", n, LOOSE)
    yield Target("frequency/sageo", rare, n, STRICT, f"calibrated for delta {LOOSE.delta:g}")


def counted(runs: Iterator[Counts], kinds: Counts) -> Counts:
    """Return the number of messages of each kind, (runs, kinds), which is the multiset of a run's messages."""
    places = (np.searchsorted(kinds, sent[np.isin(sent, kinds)]) for sent in runs)
    return np.array([np.bincount(place, minlength=len(kinds)) for place in places])


def certificate(hits: Any, misses: Any, runs: int, delta: float) -> Any:
    """Return a lower bound on eps from the numbers of runs in an event, by Clopper and Pearson."""
    low, high = least_probable(hits, runs, LEVEL / 2), most_probable(misses, runs, LEVEL / 2)
    return np.log(np.maximum((low - delta) / high, 1.0))


def classified(one: Counts, two: Counts) -> Callable[[Counts], Any]:
    """Return the score of a logistic classifier that separates the runs of two data sets."""

    def features(counts: Counts) -> NDArray[np.float64]:
        return np.hstack((counts, np.log1p(counts), counts == 0))

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    model.fit(features(np.vstack((one, two))), np.repeat([1, 0], [len(one), len(two)]))
    return lambda counts: model.decision_function(features(counts))


def best_event(one: Any, two: Any, delta: float) -> tuple[float, float, int]:
    """Return the largest certificate, with the threshold and sign of its event ``sign * score >= threshold``."""
    found = []
    for sign in (1, -1):
        first, second = (np.sort(sign * scores) for scores in (one, two)[::sign])
        at = np.unique(np.quantile(np.append(first, second), np.linspace(0, 1, 2001), method="lower"))
        hits, misses = (len(scores) - np.searchsorted(scores, at) for scores in (first, second))
        bounds = certificate(hits, misses, len(first), delta)
        found.append((float(bounds.max()), float(at[bounds.argmax()]), sign))
    return max(found)


def with_classifier(target: Target, runs: int, rng: np.random.Generator) -> tuple[float, float, Any, Any]:
    """Return the certified eps at the claimed delta and at delta 0, the pair of data sets, and its counts.

    Data sets, classifier, threshold and certificate have separate runs.
    """
    tried = []
    for pair in target.pairs():
        sent = [list(target.runs(held, runs // 5, rng)) for held in pair]
        kinds, seen = np.unique(np.concatenate([*sent[0], *sent[1]]), return_counts=True)
        kinds = np.sort(kinds[np.argsort(-seen)[:20]])
        one, two = (counted(iter(of_one), kinds) for of_one in sent)
        half = len(one) // 2
        score = classified(one[:half], two[:half])
        value = best_event(score(one[half:]), score(two[half:]), target.claim.delta)[0]
        tried.append((value, len(tried), pair, kinds, score))
    *_, pair, kinds, score = max(tried, key=lambda one: one[:2])
    chosen = [score(counted(target.runs(held, runs // 2, rng), kinds)) for held in pair]
    counts = [counted(target.runs(held, runs, rng), kinds) for held in pair]
    found = []
    for delta in (target.claim.delta, 0.0):
        _, threshold, sign = best_event(*chosen, delta)
        inside = [np.count_nonzero(sign * score(c) >= threshold) for c in counts[::sign]]
        found.append(float(certificate(*inside, runs, delta)))
    return found[0], found[1], pair, counts


_REPLAYED: dict[tuple[int, ...], Iterator[tuple[int, ...]]] = {}


def replayed(queries: Counts, epsilon: float) -> tuple[int, ...]:
    """Return the counts of the next run on a data set, because StatDP calls the audited program run by run."""
    return next(_REPLAYED[tuple(queries.tolist())])


def with_statdp(pair: tuple[Held, Held], counts: list[Counts], seed: int) -> float:
    """Return the largest eps of ``STEPS`` up to which StatDP rejects every eps at delta 0; 0 if it rejects none."""
    import numba
    from pystatdp import pystatdp

    numba.njit(lambda start: np.random.seed(start))(seed)  # noqa: NPY002  (the package draws from this generator)
    kept = np.sort(np.argsort(-np.vstack(counts).sum(axis=0))[:EVENT_KINDS])
    detect, certified = len(counts[0]) - EVENT_RUNS - 2, 0.0  # two runs show it the form of an output
    told: dict[str, Any] = {"event_iterations": EVENT_RUNS, "detect_iterations": detect, "cores": 1}
    told |= {"databases": tuple(np.array(held) for held in pair), "quiet": True, "loglevel": logging.WARNING}
    for eps in STEPS:
        _REPLAYED.update(
            (held, map(tuple, c[:, kept].tolist())) for held, c in zip(pair, counts, strict=True)
        )
        if pystatdp().detect_counterexample(replayed, eps, {"epsilon": eps}, **told)[0][1] >= LEVEL:
            break
        certified = eps
    return certified


def spent() -> float:
    """Return the CPU seconds of this process and its child processes."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def row(target: Target, runs: int, seed: int) -> str:
    """Return the row of a target in the page's table."""
    eps, delta = target.claim.largest_eps, target.claim.delta
    at_delta, at_zero = target.exact(delta), target.exact(0.0)
    rng = np.random.default_rng([seed, zlib.crc32(f"{target.name} {target.bug}".encode())])
    times = [spent()]
    found, found_at_zero, pair, counts = with_classifier(target, runs, rng)
    times.append(spent())
    statdp = with_statdp(pair, counts, seed)
    seconds = [f"{after - before:.0f}" for before, after in zip(times, [*times[1:], spent()], strict=True)]
    mark = "**" if found > eps else ""
    bug = f", {target.bug}" if target.bug else ""
    cells = [f"`{target.name}`{bug}", f"{target.users}", f"{eps:g} at {delta:g}", f"{at_delta:.2f}"]
    cells += [f"{mark}{found:.2f}{mark}", f"{at_zero:.2f}", f"{found_at_zero:.2f}", f"{statdp:.1f}", *seconds]
    return f"| {' | '.join(cells)} |"


def section(rows: list[str], runs: int, seed: int) -> str:
    """Return the page's table, with a sentence on the runs."""
    head = "protocol|users|claimed eps|exact|classifier|exact at 0|classifier at 0|StatDP at 0|CPU s, classifier|StatDP"
    seconds = sum(int(cell) for line in rows for cell in line.split("|")[-3:-1])
    about = (
        f"The auditors used {runs:,} runs per data set, seed {seed} and {seconds} CPU seconds. "
        f"A certificate of a correct auditor exceeds the exact eps with probability at most {LEVEL:g}. Bold values "
        f"exceed the claim. *StatDP at 0* is the largest rejected eps among {STEPS[0]}, {STEPS[1]}, .., or 0 if StatDP "
        "rejects none."
    )
    return "\n".join(
        [f"| {head.replace('|', ' | ')} |", f"|{'---|' * (head.count('|') + 1)}", *rows, "", about]
    )


def main() -> None:
    """Print the table; write it into the page with --page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50_000, help="runs per data set behind a certificate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", action="store_true", help="write docs/measured/")
    given = parser.parse_args()
    rows = []
    for target in targets():
        rows.append(row(target, given.runs, given.seed))
        print(rows[-1], flush=True)
    text = section(rows, given.runs, given.seed)
    print(text)
    if given.page:
        PAGE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
