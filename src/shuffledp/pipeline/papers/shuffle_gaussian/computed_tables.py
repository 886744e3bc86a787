"""The shuffle Gaussian paper (arXiv 2206.09569): Table 1, entry by entry, and the cost of shuffling in Figure 1a."""

from __future__ import annotations

import math
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING

import pandas as pd

from shuffledp.accounting.baselines.gaussian_clones import gaussian_clones_epsilons
from shuffledp.accounting.baselines.shuffled_checkin import checkin_baseline_epsilon, checkin_generic_epsilon
from shuffledp.accounting.shuffle_gaussian.all_users import (
    shuffle_gaussian_epsilon,
    shuffle_gaussian_epsilons,
)
from shuffledp.accounting.shuffle_gaussian.checkin import checkin_shuffle_gaussian_epsilon
from shuffledp.accounting.shuffle_gaussian.subsampled import (
    subsampled_gaussian_epsilon,
    subsampled_shuffle_gaussian_epsilon,
)
from shuffledp.accounting.training.central_gaussian import (
    central_gaussian_epsilon,
    central_replacement_epsilon,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from shuffledp.accounting.shuffle_gaussian.checkin import CheckinForm
    from shuffledp.accounting.shuffle_gaussian.subsampled import SubsampledForm
    from shuffledp.accounting.training.central_gaussian import CentralMethod

USERS = 60_000
DELTA = 1 / USERS
ROUNDS = (1, 2, 3, 4, 5, 6, 7)
SIGMA = 9.48
#: Noise in the row of the clones: 2 sqrt(2 ln(1.25 n)), cut after three digits.
CLONES_SIGMA = 9.476
MOST_ORDER = 30
#: Printed entries, one per number of rounds.
PRINTED_OURS = ("0.22820", "0.22820", "0.22821", "0.22821", "0.22821", "0.22822", "0.22822")
PRINTED_CLONES = ("0.18623", "0.38461", "0.59516", "0.79355", "1.02241", "1.22689", "1.43138")

#: Setting of Figure 1a after 10 epochs. The noise of a report is relative to the clipping norm C; the noise of a batch
#: is the sum over its reports.
BATCH = 60
FIGURE_DELTA = 1e-5
FIGURE_ROUNDS = 10_000
REPORT_NOISE = 0.8633
SUM_NOISE = math.sqrt(BATCH) * REPORT_NOISE

#: Setting of Figure 1b: every user joins a round with this probability; noise per unit of distance.
CHECKIN_RATE = 0.1
CHECKIN_ROUNDS = 5_540
CHECKIN_SIGMA = 5.0
CHECKIN_ORDER = 256


def table_one() -> pd.DataFrame:
    """Return Table 1 with one row per printed entry."""
    computed = {
        "Ours": shuffle_gaussian_epsilons(USERS, SIGMA, ROUNDS, DELTA, MOST_ORDER),
        "Clones": gaussian_clones_epsilons(
            USERS, CLONES_SIGMA, ROUNDS, DELTA, sensitivity=2.0, search="printed"
        ),
    }
    equal = {
        "Ours": shuffle_gaussian_epsilons(USERS, SIGMA, ROUNDS, DELTA),
        "Clones": gaussian_clones_epsilons(USERS, SIGMA, ROUNDS, DELTA),
    }
    printed = {"Ours": PRINTED_OURS, "Clones": PRINTED_CLONES}
    rows = []
    for name, entries in printed.items():
        for index, rounds in enumerate(ROUNDS):
            ours = f"{computed[name][index]:.5f}"
            rows.append(
                {
                    "row": name,
                    "rounds": rounds,
                    "paper": entries[index],
                    "computed": ours,
                    "verdict": "agrees" if ours == entries[index] else f"{ours} comes out",
                    "equal terms": f"{equal[name][index]:.5f}",
                }
            )
    return pd.DataFrame(rows)


@cache
def shuffling_cost() -> pd.DataFrame:
    """Return Figure 1a's ratio of shuffled to central eps after 10 epochs, for equal and unequal conditions.

    The shuffled bounds are about replacing a record in a subset of fixed size, drawn without replacement. Records
    clipped to C are at most 2 C apart, and both sides have sensitivity 2 C in the rows with equal conditions. In the
    first of these rows both sides are bounds by a theorem on sampling. In the second row both sides are the exact
    divergence of one pair of data sets, in which the other users hold the replaced record, at one end of a diameter of
    the ball. The sum of a subset then has the law of central training with a Poisson sample, at twice the distance.
    """
    theorem_2 = _shuffled(REPORT_NOISE / 2, "printed")
    pair = _shuffled(REPORT_NOISE / 2, "pair")
    at_clip = _shuffled(REPORT_NOISE, "printed")
    replaced = central_replacement_epsilon(
        n=USERS, m=BATCH, noise_multiplier=SUM_NOISE, rounds=FIGURE_ROUNDS, delta=FIGURE_DELTA
    )
    rdp_eps, stopped, tight = (_added(SUM_NOISE, method) for method in ("rdp", "rdp_to_63", "pld"))
    relation = "unlike: replacement, add/remove"
    both = f"{relation}; 2C, C"
    rows = [
        ("Theorem 2, 2C", "replacement, 2C", "like", theorem_2, replaced),
        ("pair, 2C", "the same pair, 2C", "like", pair, _added(SUM_NOISE / 2, "rdp")),
        ("Theorem 2, 2C", "add/remove, C, RDP", both, theorem_2, rdp_eps),
        ("Theorem 2, 2C", "add/remove, C, PLD", both, theorem_2, tight),
        ("Theorem 2, 2C", "add/remove, C, orders to 63", both, theorem_2, stopped),
        ("Theorem 2, C", "add/remove, C, RDP", relation, at_clip, rdp_eps),
        ("Theorem 2, C", "add/remove, C, orders to 63", relation, at_clip, stopped),
    ]
    return pd.DataFrame(
        [
            (*words, *(f"{number:.3g}" for number in (shuffled, central, shuffled / central)))
            for *words, shuffled, central in rows
        ],
        columns=["shuffled", "central", "terms", "shuffled eps", "central eps", "ratio"],
    )


@cache
def checkin_budgets(sigma: float = CHECKIN_SIGMA) -> pd.DataFrame:
    """Return Figure 1b's eps after all rounds, by accountant."""
    reports = round(USERS * CHECKIN_RATE)

    def compute_epsilon(form: CheckinForm) -> float:
        return checkin_shuffle_gaussian_epsilon(
            n=USERS,
            rate=CHECKIN_RATE,
            sigma=sigma,
            rounds=CHECKIN_ROUNDS,
            delta=FIGURE_DELTA,
            form=form,
            most_order=CHECKIN_ORDER,
        )

    def rebuilt(accountant: Callable[..., float]) -> float:
        return accountant(n=USERS, rate=CHECKIN_RATE, sigma=sigma, rounds=CHECKIN_ROUNDS, delta=FIGURE_DELTA)

    budgets = {
        "Baseline": rebuilt(checkin_baseline_epsilon),
        "Generic": rebuilt(checkin_generic_epsilon),
        "subsampling alone, no shuffling": subsampled_gaussian_epsilon(
            rate=CHECKIN_RATE, sigma=sigma, rounds=CHECKIN_ROUNDS, delta=FIGURE_DELTA
        ),
        "shuffling alone, no subsampling": shuffle_gaussian_epsilon(
            n=reports, sigma=sigma, rounds=CHECKIN_ROUNDS, delta=FIGURE_DELTA
        ),
        "Gauss: equation (11) with Theorem 2, as printed": compute_epsilon("printed"),
        "convexity of the divergence": compute_epsilon("convex"),
        "the pair of Theorem 1": compute_epsilon("pair"),
    }
    return pd.DataFrame(
        sorted(budgets.items(), key=itemgetter(1), reverse=True), columns=["accountant", "eps"]
    )


def _shuffled(sigma: float, form: SubsampledForm) -> float:
    """Return eps of shuffled training under replacement; sigma is relative to the distance of the two records."""
    return subsampled_shuffle_gaussian_epsilon(
        n=USERS, m=BATCH, sigma=sigma, rounds=FIGURE_ROUNDS, delta=FIGURE_DELTA, form=form
    )


def _added(noise_multiplier: float, method: CentralMethod) -> float:
    """Return eps under addition or removal of a record; the noise multiplier is relative to the record's norm."""
    return central_gaussian_epsilon(
        rate=BATCH / USERS,
        noise_multiplier=noise_multiplier,
        rounds=FIGURE_ROUNDS,
        delta=FIGURE_DELTA,
        method=method,
    )


#: Tables by the name in the configuration.
TABLES = {"table1": table_one, "shuffling_cost": shuffling_cost}
