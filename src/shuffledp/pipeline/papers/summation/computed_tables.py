"""Figure 1 of Ghazi et al. 2021 (ICML) point by point, and the shipped noise designs.

The points were read off the vector drawing and are in ``readings/summation.csv``. All points are at eps = 1, delta =
1e-6 and eps* = 0.9. Panel (b) has the title Delta = 10, but its points fit Delta = 5 (SUM-N1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources

import pandas as pd

from shuffledp.accounting.baselines.fragmented_rappor import rappor_flip_probability
from shuffledp.accounting.baselines.split_and_mix import ikos_shares
from shuffledp.accounting.expected_errors.sums import rappor_messages, rappor_mse
from shuffledp.accounting.summation.closed_designs import analytic_design, best_modular_design
from shuffledp.accounting.summation.design_files import ShippedDesign, shipped_design, shipped_designs
from shuffledp.accounting.summation.joint_noise import loss_grid, pair_deltas
from shuffledp.accounting.summation.jump_noise import least_mean
from shuffledp.accounting.summation.loss_cells import LossGrid
from shuffledp.accounting.summation.noise_design import NoiseDesign
from shuffledp.accounting.summation.pair_table import pair_table
from shuffledp.designs.coarse_design import CoarseDesign
from shuffledp.designs.coarse_noise import coarse_noise_delta
from shuffledp.designs.coarse_shipped import MOST_QUICK, shipped_coarse_designs
from shuffledp.numerics.memoize import remember

EPS, DELTA, EPS_STAR, GAMMA = 1.0, 1e-6, 0.9, 0.1
#: Relative difference within which a known deviation explains a point.
_EXPLAINED = 0.006


def readings(**where: str) -> pd.DataFrame:
    """Return the points read off Figure 1, or those of a panel or curve."""
    path = resources.files("shuffledp.pipeline.papers.summation").joinpath("figure_readings.csv")
    with path.open(encoding="utf-8") as file:
        table = pd.read_csv(file)
    for column, text in where.items():
        table = table[table[column] == text]
    return table


@dataclass(frozen=True)
class _Point:
    """Values of this library at one point: the value closest to the paper's curve, and other values."""

    ours: float
    ours_is: str
    other: float
    other_is: str
    explained: float = math.nan
    explanation: str = ""


def figure_points() -> pd.DataFrame:
    """Return all points read off Figure 1, with the library's values."""
    rows = []
    for point in readings().to_dict("records"):
        panel, paper, error = point["panel"], float(point["reading"]), float(point["reading_error"])
        ours = _POINTS[point["curve"], panel == "a"](point["n"], point["max_value"])
        rows.append(
            {
                "panel": panel,
                "curve": point["curve"],
                "n": point["n"],
                "Delta": point["max_value"],
                "quantity": "root mean squared error" if panel == "a" else "bits per user",
                "paper": paper,
                "reading error": error,
                "ours": ours.ours,
                "ours is": ours.ours_is,
                "other": ours.other,
                "other is": ours.other_is,
                "verdict": _verdict(paper, error, ours),
            }
        )
    return pd.DataFrame(rows)


def _verdict(paper: float, error: float, point: _Point) -> str:
    if abs(paper - point.ours) <= error:
        return "agrees"
    if point.explanation and abs(paper / point.explained - 1) <= _EXPLAINED:
        return point.explanation
    return f"the paper has {paper / point.ours:.3g} times ours"


def _bits(symbols: float) -> int:
    return math.ceil(math.log2(symbols))


@remember(64)
def _modular(size: int) -> NoiseDesign:
    return best_modular_design(size, EPS, DELTA, EPS_STAR)[0]


def best_design(size: int, *, atoms: str = "best") -> ShippedDesign:
    """Return the shipped design for a Delta in the settings of Figure 1."""
    shipped = shipped_design(size, EPS, DELTA, EPS_STAR, atoms=atoms)
    if shipped is None:
        raise ValueError(f"No design with atoms {atoms!r} is shipped for Delta = {size}.")
    return shipped


def noise_bits(design: NoiseDesign, n: int) -> float:
    """Return the bits per user of correlated noise with the paper's alphabet, ``(1 + N / n)(ceil(log2 D) + 1)``."""
    return (1 + design.messages / n) * (_bits(design.max_value) + 1)


def _correlated(n: int, size: int) -> _Point:
    modular, exact = noise_bits(_modular(size), n), noise_bits(best_design(size).design, n)
    return _Point(modular, "smallest noises under Theorem 8", exact, "exact accounting, best atoms")


def _ikos(n: int, size: int) -> _Point:
    figure, proven = (
        float(ikos_shares(n, size, EPS, DELTA, form=form) * _bits(n * size))
        for form in ("figure", "worst_case")
    )
    return _Point(figure, "the figure's formula, without proof", proven, "proven formula")


def _rappor_bits(n: int, size: int) -> _Point:
    p = rappor_flip_probability(n, EPS, DELTA, calibration="optimistic")
    bits = rappor_messages(size, p) * _bits(size)
    worse = rappor_flip_probability(n, EPS, DELTA, calibration="worst_case")
    return _Point(
        bits,
        "published calibration",
        rappor_messages(size, worse) * _bits(size),
        "worst calibration known",
    )


def _rappor_error(n: int, size: int) -> _Point:
    p = rappor_flip_probability(n, EPS, DELTA, calibration="optimistic")
    centred, plain = (
        math.sqrt(rappor_mse(n, size, p, estimator=estimator)) for estimator in ("centred", "plain")
    )
    return _Point(
        centred,
        "centred estimator",
        plain,
        "plain estimator",
        math.sqrt(2) * centred,
        "within 0.6 % of sqrt(2) times ours (SUM-N3)",
    )


def _central_bits(n: int, size: int) -> _Point:
    bits = float(_bits(size))
    return _Point(bits, "one number above 0", float(_bits(size + 1)), "with 0")


_POINTS: Mapping[tuple[str, bool], Callable[[int, int], _Point]] = {
    ("correlated noise", False): _correlated,
    ("IKOS", False): _ikos,
    ("RAPPOR", False): _rappor_bits,
    ("RAPPOR", True): _rappor_error,
    ("central", False): _central_bits,
}


def designs() -> pd.DataFrame:
    """Return the shipped designs with their certified deltas, which are recomputed if this is quick."""
    entries: list[tuple[NoiseDesign | CoarseDesign, str, str, str, float]] = [
        (s.design, s.design.atoms, " ".join(map(str, s.design.hubs)), s.design.law, _certified(s.design))
        for s in shipped_designs()
    ]
    for shipped in shipped_coarse_designs():
        small = shipped.design.max_value <= MOST_QUICK
        bound = coarse_noise_delta(shipped.design, shipped.design.eps) if small else shipped.certificate.delta
        entries.append((shipped.design, "coarse", " ".join(map(str, shipped.design.hubs)), "jumps", bound))
    rows = []
    for design, atoms, hubs, law, delta in entries:
        analytic = analytic_design(
            design.max_value, design.eps, design.delta, 1 - design.eps_star / design.eps
        )
        rows.append(
            {
                "Delta": design.max_value,
                "atoms": atoms,
                "hubs": hubs,
                "law": law.replace("_", " "),
                "eps": design.eps,
                "delta": design.delta,
                "eps*": design.eps_star,
                "noise messages": design.messages,
                "per Delta": design.messages / design.max_value,
                "analytic over this": analytic.messages / design.messages,
                "certified delta": delta,
                "verdict": "certified" if delta <= design.delta else "too large",
            }
        )
    return pd.DataFrame(rows)


def cheaper() -> pd.DataFrame:
    """Return the expected noise messages N with this project's noise, and the least N with negative binomials."""
    rows = []
    for shipped in shipped_coarse_designs():
        design = shipped.design
        setting = (design.max_value, design.eps, design.delta, design.eps_star)
        with_jumps = shipped_design(*setting, law="jumps")
        before = best_design(design.max_value).design.messages
        rows.append(
            {
                "Delta": design.max_value,
                "negative binomial": before,
                "jumps": with_jumps.design.messages if with_jumps else math.nan,
                "coarse": design.messages,
                "times fewer": before / design.messages,
                "certified delta": shipped.certificate.delta,
            }
        )
    return pd.DataFrame(rows)


def messages_floor() -> float:
    """Return a lower bound on N over all canceling noise, for sums of bits in the settings of Figure 1.

    The bound counts two messages per pair of noise that is independent of the two-sided geometric error. The unary
    messages of this error may also hide users; see :func:`~shuffledp.accounting.summation.jump_noise.least_mean`.
    """
    a = math.exp(-EPS_STAR)
    hidden = least_mean(EPS - EPS_STAR, (1 + a) * DELTA) - a**2 / (1 - a**2)
    return 2 * hidden + 2 * a / (1 - a)


def _certified(design: NoiseDesign) -> float:
    """Return an upper bound on delta, with a longer grid if the losses of several noises need it."""
    table = pair_table(design.max_value, design.atoms, design.hubs)
    grid = loss_grid(design, design.eps, "upper")
    if table.parts:
        grid = LossGrid(grid.step, 2 * grid.size, grid.stride)
    return float(max(pair_deltas(design, design.eps, table, grid=grid)))


def accountings() -> pd.DataFrame:
    """Return the expected noise messages N of correlated noise for four choices of the noise."""
    rows = []
    for point in readings(panel="c", curve="correlated noise").to_dict("records"):
        n, size = point["n"], point["max_value"]
        bits = _bits(size) + 1
        rows.append(
            {
                "Delta": size,
                "analytic": analytic_design(size, EPS, DELTA, GAMMA).messages,
                "modular": _modular(size).messages,
                "paper": (point["reading"] / bits - 1) * n,
                "reading error": point["reading_error"] / bits * n,
                "exact, paper's atoms": best_design(size, atoms="halving").design.messages,
                "exact, best atoms": best_design(size).design.messages,
            }
        )
    return pd.DataFrame(rows)


#: Tables by the name in the configuration.
TABLES = {"figure_points": figure_points, "noise_messages": accountings, "designs": designs}
