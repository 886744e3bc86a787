"""New accounting for published systems: printed eps, proven eps and a lower bound in nats, for replacement."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from shuffledp.accountant.deployed import deployed_answer, deployed_users, deployments
from shuffledp.numerics.memoize import remember

if TYPE_CHECKING:
    from shuffledp.accountant.deployed import Deployment

#: Fractions of users who tell the analyzer their reports.
COLLUDING = (0.01, 0.1)
#: Verdicts on a printed eps.
HOLDS, OPEN, FAILS = "holds", "open: proven for a larger eps only", "too small: some data set loses more"
_STEPS = 100_000
_MECHANISMS = {
    "symmetric_rappor": "symmetric RAPPOR, sums",
    "poisson_dummies": "fabricated messages in every cell, histogram",
}
#: Numbers of days, and the systems with daily reports: with one report, and with all reports.
DAYS, DAILY, ALL_DAILY = (1, 7, 30), "Cobalt, 1m report", "Cobalt, both reports"


@remember(1)
def systems() -> pd.DataFrame:
    """Return the systems with known settings, their printed eps and their exact values."""
    verified = {
        key: deployment
        for key, deployment in deployments().items()
        if deployment.status == "verified" and deployment.eps is not None
    }
    return pd.DataFrame([_row(key, deployment) for key, deployment in verified.items()])


def _row(key: str, deployment: Deployment) -> dict[str, str | float]:
    answer = deployed_answer(key)
    lower = answer.eps if answer.eps_lower is None else answer.eps_lower
    printed = float(deployment.eps or 0.0)
    return {
        "setting": key,
        "eps0": math.nan if deployment.eps0 is None else deployment.eps0,
        "users": int(deployment.users or 0),
        "delta": float(deployment.delta or 0.0),
        "printed eps": printed,
        "exact eps from": rounded_down(lower),
        "exact eps to": rounded_up(answer.eps),
        "users needed": deployed_users(key),
        **{
            f"eps, {share:.0%} colluding".replace("%", " %"): rounded_up(
                deployed_answer(key, colluding=share).eps
            )
            for share in COLLUDING
        },
        "verdict": verdict(printed, lower, answer.eps),
        "system": deployment.system,
        "randomizer": _MECHANISMS[deployment.randomizer],
    }


@remember(1)
def days() -> pd.DataFrame:
    """Return eps of daily reports by number of days, and the number of devices at which one day has the printed eps."""
    return pd.DataFrame(
        [
            {
                "days": number,
                "eps": rounded_up(deployed_answer(DAILY, rounds=number).eps),
                **{
                    f"eps, {100 * share:g} % colluding": rounded_up(
                        deployed_answer(DAILY, rounds=number, colluding=share).eps
                    )
                    for share in (0.1, 0.5)
                },
                "eps, both reports": rounded_up(deployed_answer(ALL_DAILY, rounds=number).eps),
                "devices needed": deployed_users(DAILY, rounds=number),
                "devices needed, 10 % colluding": deployed_users(DAILY, rounds=number, colluding=0.1),
            }
            for number in DAYS
        ]
    )


def rounded_down(bound: float) -> float:
    """Return a lower bound with 5 decimals, rounded down."""
    return math.floor(bound * _STEPS) / _STEPS


def rounded_up(bound: float) -> float:
    """Return an upper bound with 5 decimals, rounded up."""
    return math.ceil(bound * _STEPS) / _STEPS


def verdict(printed: float, lower: float, upper: float) -> str:
    """Return the verdict on a printed eps, from bounds on the true eps, in nats."""
    if printed < lower:
        return FAILS
    return HOLDS if upper <= printed else OPEN


def sources() -> pd.DataFrame:
    """Return the sources of each system's settings, and the settings that were not found."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for deployment in deployments().values():
        row = rows.setdefault(
            (deployment.system, deployment.place),
            {
                "system": deployment.system,
                "mechanism": _MECHANISMS.get(deployment.randomizer, deployment.randomizer),
                "printed eps": "",
                "printed delta": "" if deployment.delta is None else f"{deployment.delta:g}",
                "source": deployment.source,
                "place": deployment.place,
                "what was read": deployment.read,
                "not found": deployment.missing,
                "status": deployment.status,
            },
        )
        if deployment.eps is not None:
            row["printed eps"] += f"{', ' if row['printed eps'] else ''}{deployment.eps:g}"
    return pd.DataFrame(list(rows.values()))


#: Tables by the name in the configuration.
TABLES = {"systems": systems, "sources": sources}
