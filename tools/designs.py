"""Search for the shipped noise designs again, or certify them again.

``python tools/designs.py search [--only D]``
    Runs the search for every goal below, one after another. The state of each search is kept in results/designs/ after
    every step, so that an interrupted run goes on where it was; remove them to start anew. A design with clearly fewer
    messages than the shipped one replaces it in the package.
``python tools/designs.py check``
    Certifies all shipped designs anew; fails if one does not meet its delta.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from shuffledp.accounting import certified_design, correlated_noise_delta, search_design
from shuffledp.accounting.summation.noise_atoms import ATOM_KINDS
from shuffledp.accounting.summation.shipped_designs import ShippedDesign, shipped_design, shipped_designs
from shuffledp.numerics.remember import forget_all

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "src/shuffledp/accounting/summation/designs.json"
STATES = ROOT / "results/designs"
EPS, DELTA, EPS_STAR = 1.0, 1e-6, 0.9
#: A design replaces another one if it saves this part of the messages.
WORTH = 1e-4
#: Delta, atoms and hubs: seconds each up to 5, a quarter of a minute at 20, and much longer beyond.
GOALS: tuple[tuple[int, str, tuple[int, ...]], ...] = (
    (1, "star", ()),
    *((size, atoms, ()) for size in (2, 3, 5, 10) for atoms in ("halving", "star")),
    (3, "hub", (2,)),
    (5, "hub", (3,)),
    (10, "hub", (4,)),
    (15, "halving", ()),
    (15, "hub", (4, 8)),
    (20, "halving", ()),
    (20, "hub", (3, 9)),
    (32, "hub", (3, 9)),
    (64, "hub", (4, 16)),
    (100, "hub", (5, 25)),
)


def replace_file(path: Path, text: str) -> None:
    """Write a file so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def written(designs: list[ShippedDesign]) -> str:
    """The content of the shipped file, a key per line."""
    designs = sorted(designs, key=lambda s: (s.design.max_value, ATOM_KINDS.index(s.design.atoms)))
    entries = []
    for one in designs:
        lines = ",\n".join(f'  "{key}": {json.dumps(v)}' for key, v in one.design.to_dict().items())
        entries.append(
            f' {{"certified_delta": {json.dumps(one.certified_delta)}, "design": {{\n{lines}\n }}}}'
        )
    return "[\n" + ",\n".join(entries) + "\n]\n"


def search(only: int | None) -> None:
    """Search for all goals, or those of one D."""
    for size, atoms, hubs in GOALS:
        if only not in (None, size):
            continue
        name = "_".join(["D", str(size), atoms, *map(str, hubs)])
        state_file = STATES / f"{name}.json"
        state = json.loads(state_file.read_text(encoding="utf-8")) if state_file.is_file() else None

        def keep(state: dict[str, Any], name: str = name, state_file: Path = state_file) -> None:
            replace_file(state_file, json.dumps(state))
            print(f"{name}: step {state['iteration']}, {state['messages']:.1f} messages", flush=True)

        found = search_design(
            size, EPS, DELTA, EPS_STAR, atoms=atoms, hubs=hubs or None, state=state, progress=keep
        )
        design, delta = certified_design(found)
        old = shipped_design(size, EPS, DELTA, EPS_STAR, atoms=atoms)
        if old is not None and design.messages > (1 - WORTH) * old.design.messages:
            print(
                f"{name}: {design.messages:.1f} certified, not clearly below {old.design.messages:.1f}",
                flush=True,
            )
            continue
        kept = [one for one in read() if (one.design.max_value, one.design.atoms) != (size, atoms)]
        replace_file(SHIPPED, written([*kept, ShippedDesign(design, delta)]))
        before = "none" if old is None else f"{old.design.messages:.1f}"
        print(f"{name}: {design.messages:.1f} certified, before {before}", flush=True)


def read() -> list[ShippedDesign]:
    """The shipped designs as they are in the file now."""
    forget_all()
    return list(shipped_designs())


def check() -> None:
    """Certify all shipped designs."""
    failed = 0
    for one in shipped_designs():
        design = one.design
        delta = correlated_noise_delta(design, design.eps)
        good = delta <= design.delta
        failed += not good
        hubs = "".join(f" {h}" for h in design.hubs)
        print(
            f"D = {design.max_value}, {design.atoms}{hubs}: {design.messages:.1f} messages, delta {delta:.6g} "
            f"{'<=' if good else '> (FAILS)'} {design.delta:g}",
            flush=True,
        )
    if failed:
        sys.exit(f"{failed} designs do not meet their delta.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("search", "check"))
    parser.add_argument("--only", type=int, help="search for this D alone")
    given = parser.parse_args()
    if given.what == "check":
        check()
    else:
        search(given.only)
