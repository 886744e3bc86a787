"""Search for the shipped noise designs again, or certify them again; those with coarse noise too.

``python tools/designs.py search [--only D] [--kind atoms | coarse]``
    Runs the search for every goal below, one after another. The state of each search is kept in results/designs/ after
    every step, so that an interrupted run goes on where it was; remove them to start anew. A design with clearly fewer
    messages than the shipped one replaces it in the package.
``python tools/designs.py check``
    Certifies all shipped designs anew, coarse ones up to D = 3; of larger coarse ones it checks that their certificates
    fit the designs and cover all pairs. Fails if one does not meet its delta.
``python tools/designs.py certify [--only D]``
    Certifies coarse designs of all D anew, a few slices at a time. What is done is kept in results/designs/, so that an
    interrupted run goes on where it was. Takes a minute of processor time at D = 10 and hours far beyond.
"""

import argparse
import hashlib
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.accounting import (
    CoarseCertificate,
    CoarseDesign,
    ShippedCoarse,
    certified_design,
    coarse_start,
    correlated_noise_delta,
    finished_design,
    search_coarse,
    search_design,
    shipped_coarse,
    shipped_coarse_designs,
)
from shuffledp.accounting.summation.coarse_noise import (
    FINE,
    LossPart,
    all_pairs,
    certificate_of,
    certify,
    law_of,
    loss_grid,
    loss_part,
    shifts_of,
    summed_parts,
)
from shuffledp.accounting.summation.noise_atoms import ATOM_KINDS
from shuffledp.accounting.summation.noise_design import LAWS
from shuffledp.accounting.summation.shipped_designs import ShippedDesign, shipped_design, shipped_designs
from shuffledp.numerics.remember import forget_all

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "src/shuffledp/accounting/summation/designs.json"
SHIPPED_COARSE = ROOT / "src/shuffledp/accounting/summation/coarse_designs.json"
STATES = ROOT / "results/designs"
EPS, DELTA, EPS_STAR = 1.0, 1e-6, 0.9
#: A design replaces another one if it saves this part of the messages.
WORTH = 1e-4
#: Coarse designs are searched for these D, and certified again in every check up to `MOST_CHECKED`.
COARSE_SIZES = (1, 2, 3, 5, 10)
MOST_CHECKED = 3
#: Slices of the joint law between two savings of a certification.
SLICES = 32
NEGATIVE_BINOMIAL, JUMPS = LAWS
#: Delta, atoms, hubs and law: seconds each up to 5, a quarter of a minute at 20, and much longer beyond.
GOALS: tuple[tuple[int, str, tuple[int, ...], str], ...] = (
    (1, "star", (), NEGATIVE_BINOMIAL),
    *((size, atoms, (), NEGATIVE_BINOMIAL) for size in (2, 3, 5, 10) for atoms in ("halving", "star")),
    (3, "hub", (2,), NEGATIVE_BINOMIAL),
    (5, "hub", (3,), NEGATIVE_BINOMIAL),
    (10, "hub", (4,), NEGATIVE_BINOMIAL),
    (15, "halving", (), NEGATIVE_BINOMIAL),
    (15, "hub", (4, 8), NEGATIVE_BINOMIAL),
    (20, "halving", (), NEGATIVE_BINOMIAL),
    (20, "hub", (3, 9), NEGATIVE_BINOMIAL),
    (32, "hub", (3, 9), NEGATIVE_BINOMIAL),
    (64, "hub", (4, 16), NEGATIVE_BINOMIAL),
    (100, "hub", (5, 25), NEGATIVE_BINOMIAL),
    (1, "star", (), JUMPS),
    (2, "star", (), JUMPS),
    (3, "star", (), JUMPS),
    (5, "hub", (3,), JUMPS),
    (10, "hub", (4,), JUMPS),
)


def replace_file(path: Path, text: str) -> None:
    """Write a file so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def written(designs: list[ShippedDesign]) -> str:
    """The content of the shipped file, a key per line."""
    designs = sorted(
        designs,
        key=lambda s: (s.design.max_value, ATOM_KINDS.index(s.design.atoms), LAWS.index(s.design.law)),
    )
    entries = []
    for one in designs:
        lines = ",\n".join(f'  "{key}": {json.dumps(v)}' for key, v in one.design.to_dict().items())
        entries.append(
            f' {{"certified_delta": {json.dumps(one.certified_delta)}, "design": {{\n{lines}\n }}}}'
        )
    return "[\n" + ",\n".join(entries) + "\n]\n"


def search(only: int | None) -> None:
    """Search for all goals, or those of one D."""
    for size, atoms, hubs, law in GOALS:
        if only not in (None, size):
            continue
        name = "_".join(
            ["D", str(size), atoms, *map(str, hubs), *([law] if law != NEGATIVE_BINOMIAL else [])]
        )
        state_file = STATES / f"{name}.json"
        state = json.loads(state_file.read_text(encoding="utf-8")) if state_file.is_file() else None

        def keep(state: dict[str, Any], name: str = name, state_file: Path = state_file) -> None:
            replace_file(state_file, json.dumps(state))
            print(f"{name}: step {state['iteration']}, {state['messages']:.1f} messages", flush=True)

        found = search_design(
            size, EPS, DELTA, EPS_STAR, atoms=atoms, hubs=hubs or None, law=law, state=state, progress=keep
        )
        design, delta = certified_design(found)
        old = shipped_design(size, EPS, DELTA, EPS_STAR, atoms=atoms, law=law)
        if old is not None and design.messages > (1 - WORTH) * old.design.messages:
            print(
                f"{name}: {design.messages:.1f} certified, not clearly below {old.design.messages:.1f}",
                flush=True,
            )
            continue
        kept = [
            one
            for one in read()
            if (one.design.max_value, one.design.atoms, one.design.law) != (size, atoms, law)
        ]
        replace_file(SHIPPED, written([*kept, ShippedDesign(design, delta)]))
        before = "none" if old is None else f"{old.design.messages:.1f}"
        print(f"{name}: {design.messages:.1f} certified, before {before}", flush=True)


def written_coarse(designs: list[ShippedCoarse]) -> str:
    """The content of the file of coarse designs, a key per line."""
    entries = []
    for one in sorted(designs, key=lambda s: s.design.max_value):
        lines = ",\n".join(f'  "{key}": {json.dumps(value)}' for key, value in one.to_dict().items())
        entries.append(f" {{\n{lines}\n }}")
    return "[\n" + ",\n".join(entries) + "\n]\n"


def search_all_coarse(only: int | None) -> None:
    """Search for coarse designs of all sizes, or of one D, starting from the shipped ones."""
    for size in COARSE_SIZES:
        if only not in (None, size):
            continue
        state_file = STATES / f"coarse_D_{size}.json"
        state = json.loads(state_file.read_text(encoding="utf-8")) if state_file.is_file() else None

        def keep(state: dict[str, Any], size: int = size, state_file: Path = state_file) -> None:
            replace_file(state_file, json.dumps(state))
            print(f"coarse D {size}: step {state['iteration']}, {state['messages']:.1f} messages", flush=True)

        old = shipped_coarse(size, EPS, DELTA, EPS_STAR)
        start = old.design if old is not None else coarse_start(size, EPS, DELTA, EPS_STAR)
        design, _ = finished_design(search_coarse(start, state=state, progress=keep))
        if old is not None and design.messages > (1 - WORTH) * old.design.messages:
            print(
                f"coarse D {size}: {design.messages:.1f} certified, not clearly below {old.design.messages:.1f}"
            )
            continue
        begin = time.process_time()
        certificate = certify(design, EPS)
        found = ShippedCoarse(design, certificate, round(time.process_time() - begin, 1))
        forget_all()
        kept = [one for one in shipped_coarse_designs() if one.design.max_value != size]
        replace_file(SHIPPED_COARSE, written_coarse([*kept, found]))
        print(f"coarse D {size}: {design.messages:.1f} certified", flush=True)


def certified_again(design: CoarseDesign) -> CoarseCertificate:
    """Certify a coarse design, keeping what is done of it."""
    pairs = all_pairs(design.max_value)
    law, grid, shifts = (
        law_of(design, FINE),
        loss_grid(design, design.eps, FINE),
        shifts_of(pairs, design.max_value),
    )
    digest = hashlib.sha256(json.dumps(design.to_dict()).encode()).hexdigest()[:12]
    path = STATES / f"certificate_D_{design.max_value}_{digest}.npz"
    total = LossPart(np.zeros((len(shifts), grid.size + 1)), 0.0, 1, 0.0)
    begin = parts = 0
    if path.is_file():
        with np.load(path) as kept:
            numbers = kept["numbers"]
            total = LossPart(kept["cells"], float(numbers[2]), int(numbers[3]), float(numbers[4]))
            begin, parts = int(numbers[0]), int(numbers[1])
    while begin < law.slices:
        stop = min(begin + SLICES, law.slices)
        more = loss_part(law, shifts, grid, begin, stop)
        total = LossPart(
            total.cells + more.cells,
            total.kept + more.kept,
            max(total.most, more.most),
            max(total.largest, more.largest),
        )
        begin, parts = stop, parts + 1
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npz")
        np.savez(part, cells=total.cells, numbers=[begin, parts, total.kept, total.most, total.largest])
        part.replace(path)
        print(f"coarse D {design.max_value}: {begin} of {law.slices} slices", flush=True)
    # The total was rounded once per part.
    joint = summed_parts(law, shifts, grid, [total])
    joint = replace(joint, error=joint.error + parts * 2.0**-53)
    return certificate_of(design, joint, design.eps, pairs)


def certify_all(only: int | None) -> None:
    """Certify coarse designs of all sizes anew, or of one D."""
    for one in shipped_coarse_designs():
        if only in (None, one.design.max_value):
            report(one, certified_again(one.design))


def report(one: ShippedCoarse, found: CoarseCertificate) -> bool:
    """Print what a certification found; whether it is what is shipped."""
    good = found.delta <= one.design.delta and abs(found.delta / one.certificate.delta - 1) < 1e-6
    print(
        f"D = {one.design.max_value}, coarse: {one.design.messages:.1f} messages, delta {found.delta:.6g} "
        f"(margin {found.margin:.2g}) for {found.pairs} pairs {'as shipped' if good else 'NOT AS SHIPPED'}",
        flush=True,
    )
    return good


def consistent(one: ShippedCoarse) -> bool:
    """Whether a certificate covers all pairs, meets its budget, and has a small margin."""
    design, certificate = one.design, one.certificate
    size = design.max_value
    good = certificate.pairs == size * (size + 1) and certificate.delta <= design.delta
    good = good and certificate.margin <= 0.01 * certificate.delta
    print(
        f"D = {size}, coarse: {design.messages:.1f} messages, certificate of delta {certificate.delta:.6g} for "
        f"{certificate.pairs} pairs, {one.cpu_seconds:.0f} s: {'consistent' if good else 'NOT CONSISTENT'}",
        flush=True,
    )
    return good


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
        law = "" if design.law == NEGATIVE_BINOMIAL else f", {design.law}"
        print(
            f"D = {design.max_value}, {design.atoms}{hubs}{law}: {design.messages:.1f} messages, delta {delta:.6g} "
            f"{'<=' if good else '> (FAILS)'} {design.delta:g}",
            flush=True,
        )
    for coarse in shipped_coarse_designs():
        small = coarse.design.max_value <= MOST_CHECKED
        failed += not (
            report(coarse, certify(coarse.design, coarse.design.eps)) if small else consistent(coarse)
        )
    if failed:
        sys.exit(f"{failed} designs do not meet their delta.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("search", "check", "certify"))
    parser.add_argument("--only", type=int, help="search for this D alone")
    parser.add_argument("--kind", choices=("atoms", "coarse"), help="search for these designs alone")
    given = parser.parse_args()
    if given.what == "check":
        check()
    elif given.what == "certify":
        certify_all(given.only)
    else:
        if given.kind != "coarse":
            search(given.only)
        if given.kind != "atoms":
            search_all_coarse(given.only)
