"""Search for the shipped noise designs, coarse ones included, or renewed certification.

``python tools/designs.py search [--only D] [--kind atoms | coarse]``

Runs the search for every goal below in turn. The state of each search is stored in results/designs/ after every step,
so that an interrupted run is continued and ends with the same files, except for the measured seconds. Remove these
files to start anew. A design with clearly fewer messages than the shipped design replaces the shipped design in the
package.

``python tools/designs.py check``

Certifies all shipped designs again, coarse ones up to D = 3. For larger coarse designs, checks the certificates. A
valid certificate is for these numbers and this code (by digests), covers all pairs, meets delta and has a small margin;
after a change of the code the worst pair is computed again. Fails if a certificate is not valid.

``python tools/designs.py certify [--only D]``

Certifies coarse designs of all D again, a few slices at a time, and writes the certificates. Finished parts are stored
in results/designs/, so that an interrupted run is continued. Takes minutes of processor time from D = 20 on.
"""

import argparse
import hashlib
import json
import sys
import time
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.accounting import certified_design, correlated_noise_delta, search_design
from shuffledp.accounting.summation.design_files import ShippedDesign, shipped_design, shipped_designs
from shuffledp.accounting.summation.noise_atoms import ATOM_KINDS
from shuffledp.accounting.summation.noise_design import LAWS
from shuffledp.designs import (
    CoarseCertificate,
    CoarseDesign,
    ShippedCoarse,
    coarse_start,
    finished_design,
    search_coarse,
    shipped_coarse,
    shipped_coarse_designs,
)
from shuffledp.designs.coarse_losses import (
    FINE,
    JointLosses,
    LossPart,
    Precision,
    block_part,
    law_of,
    loss_grid,
    shifts_of,
    summed_parts,
)
from shuffledp.designs.coarse_noise import all_pairs, certificate_of, certify
from shuffledp.designs.coarse_search import polished_design
from shuffledp.numerics.memoize import forget_all
from shuffledp.pipeline.code_keys import tree_digest

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "src/shuffledp/accounting/summation/designs.json"
SHIPPED_COARSE = ROOT / "src/shuffledp/designs/coarse_designs.json"
STATES = ROOT / "results/designs"
EPS, DELTA, EPS_STAR = 1.0, 1e-6, 0.9
#: Share of the messages that a design must save to replace another design.
WORTH = 1e-4
#: Values of D of the shipped coarse designs; every check certifies them again up to `MOST_CHECKED`.
COARSE_SIZES = (1, 2, 3, 5, 10, 15, 20, 32, 64, 100)
COARSE_HUBS = {10: (4,), 15: (4,), 20: (5,), 32: (4, 10), 64: (5, 20), 100: (5, 25)}
MOST_CHECKED = 3
#: Largest D for which searches change all numbers. For larger D an evaluation of the joint law takes minutes: rates and
#: centers of the atoms 1 and D are fixed to the final values of smaller D, and all other numbers are adapted.
MOST_FREE, LARGE_RATES, LARGE_CENTERS = 20, (14.5, 17.6), (11.5, 18.0)
#: Largest D for which searches evaluate all cells of the joint law, and the distance of the evaluated cells for larger
#: D.
MOST_WHOLE, SAMPLED = 3, 7
#: Largest D whose designs are scaled by fine certificates. Larger designs are scaled by estimates, with this margin in
#: the centers, and are certified less finely.
MOST_FINISHED, ROOM = 10, 0.01
MEDIUM = Precision(60, 1e-4, 1e-10)
#: Largest D for which the joint law is evaluated cell by cell, and the precision of blocks of cells for larger D.
MOST_BY_CELL, BY_BLOCK = 32, Precision(60, 1e-4, 1e-10, 1.0)
#: Largest share of a certified delta for rounding and omitted mass.
MOST_MARGIN = 0.03
#: Relative difference of two computations of a bound.
SAME = 1e-6
#: Modules that determine a certificate.
PACKAGE = ROOT / "src/shuffledp"
ACCOUNTANT = (
    *(f"designs/coarse_{name}.py" for name in ("blocks", "design", "law", "losses", "noise")),
    *(f"accounting/summation/{name}.py" for name in ("jump_noise", "loss_cells", "loss_sums")),
)
#: Number of slices of the joint law between two stored states of a certification, over D; each part repeats D slices of
#: the previous part.
SLICES_PER_VALUE = 8
NEGATIVE_BINOMIAL, JUMPS = LAWS
#: Delta, atoms, hubs and law: seconds each up to D = 5, a quarter of a minute at D = 20, and much longer beyond.
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
    """Write a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def written(designs: list[ShippedDesign]) -> str:
    """Return the content of the shipped file, one key per line."""
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
    """Search for designs for all goals, or for the goals of one D."""
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
    """Return the content of the file of coarse designs, one key per line."""
    entries = []
    for one in sorted(designs, key=lambda s: s.design.max_value):
        lines = ",\n".join(f'  "{key}": {json.dumps(value)}' for key, value in one.to_dict().items())
        entries.append(f" {{\n{lines}\n }}")
    return "[\n" + ",\n".join(entries) + "\n]\n"


def coarse_start_of(size: int) -> CoarseDesign:
    """Return the start of a search: the shipped coarse design, or the rule with this D's hubs."""
    old = shipped_coarse(size, EPS, DELTA, EPS_STAR)
    if old is not None:
        return old.design
    start = replace(coarse_start(size, EPS, DELTA, EPS_STAR), hubs=COARSE_HUBS.get(size, ()))
    if size <= MOST_FREE:
        return start
    ends = zip((start.rates, start.centers), (LARGE_RATES, LARGE_CENTERS), strict=True)
    return start.with_noise(*([first, *numbers[1:-1], last] for numbers, (first, last) in ends))


def found_coarse(size: int) -> CoarseDesign:
    """Search for a coarse design, with stored intermediate results."""
    if size > MOST_FREE:
        start = coarse_start_of(size)
        return polished_design(start, certified_joint(start)[0])[0]
    state_file = STATES / f"coarse_D_{size}.json"
    state = json.loads(state_file.read_text(encoding="utf-8")) if state_file.is_file() else None

    def keep(state: dict[str, Any]) -> None:
        replace_file(state_file, json.dumps(state))
        print(f"coarse D {size}: step {state['iteration']}, {state['messages']:.1f} messages", flush=True)

    every, period = (SAMPLED if size > MOST_WHOLE else 1), (5 if size > MOST_FINISHED else 1)
    start = coarse_start_of(size) if state is None else CoarseDesign.from_dict(state["design"])
    found = search_coarse(start, state=state, progress=keep, every=every, period=period)
    if size <= MOST_FINISHED:
        return finished_design(found)[0]
    # A fine scale takes many certificates of the joint law. For large D there is one, with some room to spare, and what
    # is independent of it is adapted to it.
    found = found.moved(center=ROOM)
    return polished_design(found, certified_joint(found)[0])[0]


def search_all_coarse(only: int | None) -> None:
    """Search for coarse designs of all D, or of one D, starting from the shipped designs."""
    for size in COARSE_SIZES:
        if only not in (None, size):
            continue
        design = found_coarse(size)
        old = shipped_coarse(size, EPS, DELTA, EPS_STAR)
        if old is not None and design.messages > (1 - WORTH) * old.design.messages:
            print(f"coarse D {size}: {design.messages:.1f}, not clearly below {old.design.messages:.1f}")
            continue
        keep_certificate(certified_again(design))


def precision_of(size: int) -> Precision:
    """Return the precision for the certificate of a coarse design."""
    if size <= MOST_FINISHED:
        return FINE
    return MEDIUM if size <= MOST_BY_CELL else BY_BLOCK


def digests(design: CoarseDesign) -> tuple[str, str]:
    """Return digests of a design's numbers and of the code that certifies it, without comments and docstrings."""
    code = [tree_digest((PACKAGE / name).read_bytes()) for name in ACCOUNTANT]
    texts = (json.dumps(design.to_dict(), sort_keys=True), "".join(code))
    first, second = (hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts)
    return first, second


def certified_joint(design: CoarseDesign) -> tuple[JointLosses, float]:
    """Return the losses of the joint law for all pairs, and the seconds of their computation.

    Finished parts are stored, so that an interrupted run with the same code is continued. Of the atoms only 1 and D
    matter.
    """
    size, precision = design.max_value, precision_of(design.max_value)
    law, grid = law_of(design, precision), loss_grid(design, design.eps, precision)
    shifts = shifts_of(all_pairs(size), size)
    ends = [[numbers[0], numbers[-1]] for numbers in (design.rates, design.centers)]
    what = json.dumps(
        [astuple(precision), design.eps, design.delta, design.eps_star, ends, digests(design)[1]]
    )
    path = STATES / f"certificate_D_{size}_{hashlib.sha256(what.encode()).hexdigest()[:16]}.npz"
    total = LossPart(np.zeros((len(shifts), grid.size + 1)), 0.0, 1, 0.0)
    begin = parts = 0
    spent = 0.0
    if path.is_file():
        with np.load(path) as kept:
            numbers = kept["numbers"]
            total = LossPart(kept["cells"], float(numbers[2]), int(numbers[3]), float(numbers[4]))
            begin, parts, spent = int(numbers[0]), int(numbers[1]), float(numbers[5])
    clock = time.process_time() - spent
    while begin < law.slices:
        stop = min(begin + SLICES_PER_VALUE * size, law.slices)
        more = block_part(law, shifts, grid, begin, stop, precision)
        total = LossPart(
            total.cells + more.cells,
            total.kept + more.kept,
            max(total.most, more.most),
            max(total.largest, more.largest),
        )
        begin, parts, spent = stop, parts + 1, time.process_time() - clock
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npz")
        numbers = [begin, parts, total.kept, total.most, total.largest, spent]
        np.savez(part, cells=total.cells, numbers=numbers)
        part.replace(path)
        print(f"coarse D {size}: {begin} of {law.slices} slices, {spent:.0f} s", flush=True)
    # The total was rounded once per part.
    joint = summed_parts(law, shifts, grid, [total])
    return replace(joint, error=joint.error + parts * 2.0**-53), spent


def certified_again(design: CoarseDesign) -> ShippedCoarse:
    """Certify a coarse design, with stored intermediate results."""
    joint, spent = certified_joint(design)
    clock = time.process_time() - spent
    found = certificate_of(design, joint, design.eps, all_pairs(design.max_value))
    seconds = round(time.process_time() - clock, 1)
    return ShippedCoarse(design, found, seconds, precision_of(design.max_value), *digests(design))


def keep_certificate(found: ShippedCoarse) -> None:
    """Write a design with its certificate into the package, if it meets its delta."""
    design, delta = found.design, found.certificate.delta
    print(f"coarse D {design.max_value}: {design.messages:.1f} messages, delta {delta:.6g}", flush=True)
    if delta > design.delta:
        sys.exit(f"The delta of this design is above {design.delta:g}: nothing is written.")
    forget_all()
    kept = [one for one in shipped_coarse_designs() if one.design.max_value != design.max_value]
    replace_file(SHIPPED_COARSE, written_coarse([*kept, found]))


def certify_all(only: int | None) -> None:
    """Certify coarse designs of all sizes, or of one D, anew."""
    for one in shipped_coarse_designs():
        if only in (None, one.design.max_value):
            found = certified_again(one.design)
            if report(one, found.certificate) or consistent(found):
                keep_certificate(found)


def report(one: ShippedCoarse, found: CoarseCertificate) -> bool:
    """Print the result of a certification; return whether it equals the shipped certificate."""
    good = found.delta <= one.design.delta and abs(found.delta / one.certificate.delta - 1) < SAME
    print(
        f"D = {one.design.max_value}, coarse: {one.design.messages:.1f} messages, delta {found.delta:.6g} "
        f"(margin {found.margin:.2g}) for {found.pairs} pairs {'as shipped' if good else 'NOT AS SHIPPED'}",
        flush=True,
    )
    return good


def confirmed(one: ShippedCoarse) -> bool:
    """Return whether the present code gives the same bound for a certificate's worst pair, which takes seconds."""
    pair = one.certificate.worst
    again = certify(one.design, one.design.eps, [pair], one.precision).delta
    return again <= one.design.delta and abs(again / one.certificate.delta - 1) < SAME


def consistent(one: ShippedCoarse) -> bool:
    """Return whether a certificate is of this design and code, covers all pairs, meets delta and has a small margin.

    After a change of the code, the bound of the worst pair is computed again and must be the same.
    """
    design, certificate = one.design, one.certificate
    same_code = one.code_digest == digests(design)[1]
    faults = [
        *(["OF OTHER NUMBERS"] if one.design_digest != digests(design)[0] else []),
        *(["NOT OF ALL PAIRS"] if not one.all_pairs else []),
        *(["ABOVE DELTA"] if certificate.delta > design.delta else []),
        *(["LARGE MARGIN"] if certificate.margin > MOST_MARGIN * certificate.delta else []),
        *(["NOT CONFIRMED: make -C tools designs-certify"] if not same_code and not confirmed(one) else []),
    ]
    good = "consistent" if same_code else "consistent, by earlier code, worst pair confirmed"
    print(
        f"D = {design.max_value}, coarse: {design.messages:.1f} messages, certificate of delta "
        f"{certificate.delta:.6g} (margin {certificate.margin:.2g}) for {certificate.pairs} pairs, "
        f"{one.cpu_seconds:.0f} s: {', '.join(faults) or good}",
        flush=True,
    )
    return not faults


def read() -> list[ShippedDesign]:
    """Return the designs in the shipped file."""
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
