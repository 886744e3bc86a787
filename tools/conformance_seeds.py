"""How often the statistical checks reject a built-in protocol: every protocol with many seeds.

The checks promise about one rejection in a million comparisons. Cases are calibrated once and drawn anew for each seed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from shuffledp.protocols import available, conformance, get
from shuffledp.protocols.conformance import running, statistics
from shuffledp.protocols.conformance.cases import Case, Protocol
from shuffledp.tasks import TASK_KINDS

CHECKS = (
    conformance.check_cost,
    conformance.check_one_law,
    conformance.check_unbiased,
    conformance.check_variance,
    conformance.check_encoder,
    conformance.check_claim,
)


def rejected(protocol: Protocol, cases: tuple[Case, ...], seed: int) -> Iterator[str]:
    """What the checks find against a protocol with one seed."""
    statistics.SEED = seed
    running.estimates.cache_clear()
    for check in CHECKS:
        try:
            check(protocol, cases)
        except AssertionError as error:
            yield f"seed {seed}, {check.__name__}: {error}"


def main() -> None:
    """Print every rejection; exit with 1 if there was one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--protocol", help="only this one, as task/name")
    arguments = parser.parse_args()
    every = [(kind, name) for kind in TASK_KINDS for name in available(kind)]
    found = 0
    for kind, name in every:
        if arguments.protocol not in (None, f"{kind}/{name}"):
            continue
        started, protocol = time.process_time(), get(kind, name)
        cases = conformance.default_cases(protocol)
        lines = [line for seed in range(arguments.seeds) for line in rejected(protocol, cases, seed)]
        found += len(lines)
        spent = time.process_time() - started
        print(f"{kind}/{name}: {len(lines)} rejections, {arguments.seeds} seeds, {spent:.0f} s", flush=True)
        for line in lines:
            print(f"  {line}")
    raise SystemExit(min(found, 1))


if __name__ == "__main__":
    main()
