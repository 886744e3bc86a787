"""Data for pictures of fronts: cost and error of each method, and the methods that no other beats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from shuffledp.pipeline.experiments.results import IN_DOUBT
from shuffledp.pipeline.figures.drawing_jobs import DrawingJob
from shuffledp.pipeline.figures.leaderboard import control_of
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.selected_rows import by_cell, names


@dataclass(frozen=True)
class Offer:
    """Cost and error of a method at one point."""

    method: str
    trust: str
    guarantee: str
    accounting: str
    cost: float
    error: float


def offers(cells: pd.DataFrame, summary: pd.DataFrame, entry: Mapping[str, Any]) -> list[Offer]:
    """Return the methods with a positive cost and error, in the entry's order; each method has one point."""
    good = cells[cells["status"] == "ok"]
    errors = by_cell(good, summary, str(entry["y"]), entry.get("unit"))
    numbers = good[["method", "trust", "guarantee", "accounting", entry["x"]]].assign(
        error=good["cell"].map(errors).astype(float)
    )
    candidates = [Offer(*row) for row in numbers.itertuples(index=False)]
    positive = [offer for offer in candidates if offer.cost > 0 and offer.error > 0]
    return sorted(positive, key=lambda offer: list(entry["methods"]).index(offer.method))


def front(some: Iterable[Offer], tolerance: float = 0.0) -> list[Offer]:
    """Return the methods that no other beats in cost and error at once, from the cheapest to the most accurate.

    Methods with a doubtful claim are not on the front and beat no other method. With a relative tolerance, a method
    also beats another if it is better in cost or error by more than the tolerance, and worse in the other quantity by
    less.
    """
    candidates: list[Offer] = []
    eligible = [offer for offer in some if offer.guarantee not in IN_DOUBT]
    for offer in sorted(eligible, key=lambda rival: (rival.cost, rival.error)):
        if not candidates or offer.error < candidates[-1].error:
            candidates.append(offer)
    return [
        rival for rival in candidates if not any(_beats(other, rival, 1 + tolerance) for other in candidates)
    ]


def _beats(offer: Offer, other: Offer, by: float) -> bool:
    cost, error = other.cost / offer.cost, other.error / offer.error
    return (cost > by and error * by >= 1) or (error > by and cost * by >= 1)


def by_trust(some: Sequence[Offer]) -> dict[str, list[Offer]]:
    """Group the offers by the party that users trust, in the order of `TRUST`."""
    return {
        trust: [o for o in some if o.trust == trust] for trust in TRUST if any(o.trust == trust for o in some)
    }


def legend_names(job: DrawingJob, cells: pd.DataFrame) -> dict[str, str]:
    """Return legend names, with notes for controls, doubtful claims and accountings other than the first."""
    entry = job["entry"]
    accountings = job["where"].get("accounting")
    usual = accountings[0] if isinstance(accountings, list) else accountings
    texts = {}
    good = cells[cells["status"] == "ok"]
    for method, name in names(job, cells).items():
        rows = good[good["method"] == method]
        remarks = [g for g in dict.fromkeys(rows["guarantee"]) if g in IN_DOUBT]
        others = [a for a in dict.fromkeys(rows["accounting"]) if usual not in (None, a)]
        remarks += ["as printed" if a == "printed" else a for a in others]
        label = control_of(name) if method in entry.get("controls", ()) else name
        texts[method] = f"{label} ({', '.join(remarks)})" if remarks else label
    return texts
