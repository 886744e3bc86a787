"""CPU times of the accountant: ``python benchmarks/accountant_times.py [--page] [--slowest N]``.

CPU seconds are of one call, with one thread, after all imports and a first call, and without cached results of other
calls. The settings are products of the lists below, including settings without an answer. With ``--page`` the table is
written into docs/benchmarks.md, with a sentence on the settings that exceed the target time.

Every measured time is a line of a file with a digest of the code. An interrupted run is continued, and several with
different ``--only`` may share the file.
"""

import argparse
import contextlib
import math
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean

import times_by_version

from shuffledp.accountant import amplification, budget, smallest_batch
from shuffledp.accounting import (
    GRR,
    AllocationProfile,
    BlanketProfile,
    ClonesProfile,
    Infeasible,
    OtherReports,
    allocation_epsilon,
)
from shuffledp.accounting.baselines.fragmented_rappor import rappor_flip_probability
from shuffledp.accounting.general.grr_blanket import blanket_local_budget, favored_local_budget
from shuffledp.numerics.memoize import forget_all
from shuffledp.pipeline.code_keys import CodeKeys
from shuffledp.pipeline.doc_blocks import write_block
from shuffledp.pipeline.resumable import Lines
from shuffledp.populations import Binomial, Fixed, Poisson
from shuffledp.protocols.frequency.hashed_balls_into_bins import HashFamily, dummies_in_bins
from shuffledp.protocols.frequency.subset_selection import subset_report

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/benchmarks.md"
#: File with the measured times.
LINES = ROOT / "logs/accountant_times.jsonl"
#: Largest CPU seconds of a result.
LIMIT = 0.1

EPS_LOCAL = (1e-3, 0.1, 1.0, 4.0, 8.0, 12.0)
EPS = (1e-3, 0.03, 0.3, 1.0, 4.0)
USERS = (1, 100, 10**5, 10**7, 10**9)
DELTA = (1e-2, 1e-6, 1e-15)
FAMILIES: dict[str, dict[str, object]] = {
    "any": {},
    "binary": {"randomizer": "binary"},
    "grr, 10 values": {"randomizer": "grr", "domain_size": 10},
    "grr, 10^6 values": {"randomizer": "grr", "domain_size": 10**6},
    "subset, 100 values": {"randomizer": "subset", "domain_size": 100},
    "laplace": {"randomizer": "laplace"},
    "rappor, 100 values": {"randomizer": "rappor", "domain_size": 100},
}


@dataclass(frozen=True)
class Measured:
    """CPU seconds of a setting."""

    question: str
    kind: str
    setting: str
    seconds: float


@dataclass(frozen=True)
class Asked:
    """Call of the accountant: its name, kind of randomizer, setting, and function."""

    question: str
    kind: str
    setting: str
    call: Callable[[], object]


def questions() -> Iterator[Asked]:
    """Yield all calls to measure."""
    for kind, options in FAMILIES.items():
        for eps_local, users, delta in product(EPS_LOCAL, USERS, DELTA):
            setting = f"eps_local {eps_local:g}, n {users:g}, delta {delta:g}"
            yield Asked(
                "central eps", kind, setting, partial(amplification, eps_local, users, delta, **options)
            )
        for eps, users, delta in product(EPS, USERS, DELTA):
            setting = f"eps {eps:g}, n {users:g}, delta {delta:g}"
            yield Asked("local budget", kind, setting, partial(budget, eps, users, delta, **options))
        for eps_local, share, delta in product(EPS_LOCAL, (1e-3, 0.1, 0.9), DELTA):
            eps = share * eps_local
            setting = f"eps_local {eps_local:g}, eps {eps:g}, delta {delta:g}"
            yield Asked(
                "smallest batch", kind, setting, partial(smallest_batch, eps_local, eps, delta, **options)
            )
    yield from _populations()
    yield from _profiles()
    yield from _allocation()
    yield from _calibrations()


def _populations() -> Iterator[Asked]:
    laws = {"binomial": Binomial(10**7, 0.1), "poisson": Poisson(1e6)}
    families = {kind: options for kind, options in FAMILIES.items() if not kind.startswith("rappor")}
    for (name, law), (kind, options) in product(laws.items(), families.items()):
        for eps_local, delta in product((0.1, 4.0), (1e-6, 1e-12)):
            setting = f"{name}, eps_local {eps_local:g}, delta {delta:g}"
            call = partial(amplification, eps_local, None, delta, population=law, **options)
            yield Asked("central eps, random number", kind, setting, call)


def _profiles() -> Iterator[Asked]:
    for users, eps_local in product(USERS, (0.1, 1.0, 4.0, 8.0)):
        setting = f"n {users:g}, eps_local {eps_local:g}"
        for share in (0.01, 0.3):
            eps = share * eps_local
            others = Fixed(users - 1)
            clones = ClonesProfile(OtherReports(others), eps_local)
            blanket = BlanketProfile(GRR(eps_local, 100), others)
            yield Asked("delta at an eps", "clones", f"{setting}, eps {eps:g}", partial(clones.delta, eps))
            yield Asked("delta at an eps", "blanket", f"{setting}, eps {eps:g}", partial(blanket.delta, eps))


def _allocation() -> Iterator[Asked]:
    for steps, delta in product((10, 10**3, 10**5), (1e-2, 1e-6, 1e-12)):
        for name, value in (
            ("eps_local", 0.1),
            ("eps_local", 4.0),
            ("sigma", 0.3),
            ("sigma", 1.0),
            ("sigma", 5.0),
        ):
            setting = f"{name} {value:g}, {steps:g} steps, delta {delta:g}"
            call = partial(allocation_epsilon, delta, steps, **{name: value})
            yield Asked("random allocation", "one step", setting, call)
            if (steps, delta) != (10**3, 1e-6):
                continue
            several = AllocationProfile(steps, participations=5, **{name: value})
            yield Asked("random allocation", "five steps", setting, partial(several.epsilon, delta))


def _calibrations() -> Iterator[Asked]:
    for users, eps, delta in product((10**3, 10**5, 10**7, 10**9), (1e-3, 0.1, 1.0), (1e-6, 1e-12)):
        setting = f"n {users:g}, eps {eps:g}, delta {delta:g}"
        for values in (10, 1000):
            call = partial(blanket_local_budget, users, values, eps, delta)
            yield Asked("exact calibration", "grr", f"{values} values, {setting}", call)
        yield Asked(
            "exact calibration", "subset selection", setting, partial(subset_report, users, 100, eps, delta)
        )
        yield Asked(
            "exact calibration", "privunit", setting, partial(favored_local_budget, users, 10.0, eps, delta)
        )
        if users > 10**7 or delta < 1e-6:
            continue
        for how in ("worst_case", "proven", "sound"):
            call = partial(rappor_flip_probability, users, eps, delta, calibration=how)
            yield Asked("exact calibration", f"fragmented rappor, {how}", setting, call)
    for values, eps, delta in product((100, 5000, 10**6), (1e-3, 0.1, 1.0), (1e-6, 1e-12)):
        for users in (10**3, 10**5):
            bins = max(2, math.floor(users / math.log(users)))
            setting = f"{values} values, {bins} bins, eps {eps:g}, delta {delta:g}"
            call = partial(dummies_in_bins, HashFamily(values, bins), eps, delta)
            yield Asked("exact calibration", "hashed balls into bins", setting, call)


def seconds_of(call: Callable[[], object]) -> float:
    """Return the CPU seconds of one call without cached results."""
    forget_all()
    start = time.process_time()
    with contextlib.suppress(Infeasible):
        call()
    return time.process_time() - start


def measured(asked: Sequence[Asked], lines: Path, code: str) -> list[Measured]:
    """Return all times; missing times are measured and appended to the file."""
    known = Lines(lines)
    warm: set[tuple[str, str]] = set()

    def seconds(one: Asked) -> float:
        """Return the time of a call; a time near the limit is measured again, as other programs may disturb it."""
        if (one.question, one.kind) not in warm:  # imports and first calls
            warm.add((one.question, one.kind))
            seconds_of(one.call)
        found = seconds_of(one.call)
        return (
            min(found, *(seconds_of(one.call) for _ in range(2)))
            if 0.7 * LIMIT < found < 3 * LIMIT
            else found
        )

    return [
        Measured(*name, known.of(f"{code} {', '.join(name)}", partial(seconds, one)))
        for one in asked
        for name in [(one.question, one.kind, one.setting)]
    ]


def grouped(found: Sequence[Measured]) -> dict[tuple[str, str], list[Measured]]:
    """Return the times by call and kind of randomizer."""
    groups: dict[tuple[str, str], list[Measured]] = {}
    for one in found:
        groups.setdefault((one.question, one.kind), []).append(one)
    return groups


def above(found: Sequence[Measured]) -> str:
    """Return the number of settings that exceed the target time, and their names."""
    slow = [one for one in found if one.seconds > LIMIT]
    if not slow:
        return f"None of {len(found):,} settings takes more than {LIMIT:g} s."
    parts = [f"{question}, {kind} ({len(rows)})" for (question, kind), rows in grouped(slow).items()]
    return (
        f"{len(slow)} of {len(found):,} settings take more than {LIMIT:g} s, "
        f"{sum(one.seconds > 2 * LIMIT for one in slow)} of them more than {2 * LIMIT:g} s: {'; '.join(parts)}."
    )


def table(found: Sequence[Measured]) -> Iterator[str]:
    """Yield the table in Markdown, a row per call and kind."""
    yield f"| question | for | settings | mean | largest | above {LIMIT:g} s | the slowest |"
    yield "|---|---|---:|---:|---:|---:|---|"
    for (question, kind), rows in grouped(found).items():
        slowest = max(rows, key=lambda one: one.seconds)
        mean = fmean(one.seconds for one in rows)
        above = sum(one.seconds > LIMIT for one in rows)
        yield (
            f"| {question} | {kind} | {len(rows)} | {1e3 * mean:.0f} ms | {1e3 * slowest.seconds:.0f} ms | {above} | "
            f"{slowest.setting} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write the table into docs/benchmarks.md")
    parser.add_argument(
        "--slowest", type=int, default=0, metavar="N", help="print the N slowest settings as well"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="measure only what has this in its name")
    given = parser.parse_args()
    if given.page and given.only:
        parser.error("--page is about all settings: leave out --only")
    asked = [one for one in questions() if given.only in f"{one.question}, {one.kind}, {one.setting}"]
    if not asked:
        raise SystemExit(f"No question has {given.only!r} in its name.")
    code = "".join(
        key[:6] for key in CodeKeys(ROOT).keys("results", "benchmarks/accountant_times.py").values()
    )
    found = measured(asked, LINES, code)
    text = "\n".join(table(found))
    print(text)
    for one in sorted(found, key=lambda one: -one.seconds)[: given.slowest]:
        print(f"{one.seconds:8.3f} s  {one.question}, {one.kind}: {one.setting}")
    if not given.page:
        return
    text += f"\n\n{above(found)}\n\nThe run used Python {platform.python_version()} and one thread."
    write_block(PAGE, "times of the accountant", text)
    means = {", ".join(key): fmean(one.seconds for one in rows) for key, rows in grouped(found).items()}
    times_by_version.keep(means, times_by_version.of_code())


if __name__ == "__main__":
    sys.exit(main())
