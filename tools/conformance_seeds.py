"""Frequency with which the statistical checks reject built-in protocols, for many seeds.

The checks reject about one correct comparison in a million. A seed draws every setting of a protocol once, with the
accountings in turn from seed to seed. All seeds of all protocols take hours, so that a run may end at any time. Every
finished pair of a protocol and a seed is a line of a file, and the next run computes the missing pairs, seed by seed. A
line has a digest of the code that the protocol and the checks reach; after a change the pair is computed again. With
--page the counts are written into docs/measured/.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import product
from pathlib import Path

from shuffledp.pipeline.code_keys import CodeKeys
from shuffledp.pipeline.resumable import Lines
from shuffledp.protocols import available, conformance, get
from shuffledp.protocols.conformance import Check, running, statistics
from shuffledp.protocols.conformance.cases import Case, Protocol
from shuffledp.tasks import TASK_KINDS

ROOT = Path(__file__).resolve().parents[1]
#: File with the finished pairs.
LINES = ROOT / "logs" / "conformance_seeds.jsonl"
PAGE = ROOT / "docs/measured/conformance_seeds.md"
CHECKS: tuple[Check, ...] = (
    conformance.check_cost,
    conformance.check_one_law,
    conformance.check_unbiased,
    conformance.check_variance,
    conformance.check_encoder,
    conformance.check_claim,
)
#: Checks that simulate, and the settings for which they can.
OF_LAWS: dict[Check, running.Running] = {
    conformance.check_cost: running.sending,
    conformance.check_one_law: running.sending,
    conformance.check_unbiased: running.simulated,
    conformance.check_variance: running.simulated,
}
#: Modules that determine the checks.
MACHINERY = tuple(f"shuffledp.protocols.conformance.{name}" for name in ("checks", "cases", "running"))


@cache
def cases(kind: str, name: str) -> tuple[Case, ...]:
    """Return the settings of a protocol, which is calibrated once and drawn anew for each seed."""
    return conformance.default_cases(get(kind, name))


def rejected(
    protocol: Protocol, settings: tuple[Case, ...], seed: int, checks: Iterable[Check]
) -> Iterator[str]:
    """Yield the rejections of a protocol with one seed."""
    statistics.SEED = seed
    running.estimates.cache_clear()
    for check in checks:
        try:
            check(protocol, chosen(check, protocol, settings, seed))
        except AssertionError as error:
            yield f"{check.__name__}: {' '.join(str(error).split())}"


def chosen(check: Check, protocol: Protocol, settings: tuple[Case, ...], seed: int) -> tuple[Case, ...]:
    """Return the settings of a check with one seed; the accounting changes from seed to seed.

    Messages depend on the calibrated numbers but not on the accounting, so that each seed draws every setting once.
    With as many seeds as accountings, every setting is drawn under each accounting.
    """
    if check in OF_LAWS:
        return tuple(running.in_turn(protocol, settings, OF_LAWS[check], seed))
    known = protocol.accountings
    return tuple(case for case in settings if case.accounting == known[seed % len(known)])


def one(name: str, seed: int, checks: Iterable[Check] = CHECKS) -> list[str]:
    """Return the rejections of a protocol, ``task/name``, with one seed."""
    kind, _, short = name.partition("/")
    return list(rejected(get(kind, short), cases(kind, short), seed, checks))


def page_table(found: Mapping[str, Mapping[int, list[str]]]) -> str:
    """Return Markdown with the seeds and rejections of each task's protocols."""
    by_task: dict[str, list[str]] = {}
    for name in found:
        by_task.setdefault(name.partition("/")[0], []).append(name)
    lines = [
        "| task | protocols | seeds of each | settings of all | rejected |",
        "| --- | --- | --- | --- | --- |",
    ]
    total = [0, 0, 0]
    for task, own in by_task.items():
        seeds = [len(found[name]) for name in own]
        settings = sum(len(cases(*name.split("/"))) for name in own)
        bad = sum(bool(what) for name in own for what in found[name].values())
        total = [a + b for a, b in zip(total, (len(own), sum(seeds), bad), strict=True)]
        lines.append(f"| {task} | {len(own)} | {_range(seeds)} | {settings:,} | {bad:,} |")
    told = "rejection" if total[2] == 1 else "rejections"
    covered = f"{total[0]} protocols and {total[1]:,} pairs of a protocol and a seed"
    lines += ["", f"The run covered {covered}, with {total[2]:,} {told}."]
    rejections = [
        f"- `{name}`, seed {seed}: `{'; '.join(what)}`"
        for name, seeds in found.items()
        for seed, what in seeds.items()
        if what
    ]
    return "\n".join([*lines, *([""] if rejections else []), *rejections])


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def main() -> None:
    """Compute missing pairs seed by seed; print rejections and counts; exit with 1 after any rejection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="of the processor, after which the run ends"
    )
    parser.add_argument("--page", action="store_true", help=f"write the counts into {PAGE.relative_to(ROOT)}")
    given = parser.parse_args()
    names = [f"{kind}/{name}" for kind in TASK_KINDS for name in available(kind)]
    code, lines = CodeKeys(ROOT).keys("results")["results"][:12], Lines(LINES)
    found: dict[str, dict[int, list[str]]] = {name: {} for name in names}
    for seed, name in product(range(given.seeds), names):
        key = f"{code} {name} {seed}"
        if key in lines.known or time.process_time() < 60 * given.minutes:
            found[name][seed] = lines.read_or_compute(key, partial(one, name, seed))
            for what in found[name][seed]:
                print(f"{name}, seed {seed}: {what}", flush=True)
    text = page_table(found)
    print(text)
    if given.page:
        PAGE.write_text(text + "\n", encoding="utf-8")
    raise SystemExit(any(what for seeds in found.values() for what in seeds.values()))


if __name__ == "__main__":
    main()
