"""The headline claim of every paper, decided by the closed forms of a run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from shuffledp.claims.catalogue import TIE, Claim, Outcome, Verdict, about, combined, ordering
from shuffledp.claims.evidence import Evidence, Untestable

ACCOUNTINGS = ("printed", "exact")
COLUMNS = (
    *("paper", "claim_id", "where", "claim", "figure", "paper_value"),
    *(*ACCOUNTINGS, "verdict", "why", "scale"),
)
Row = dict[str, str]


def percent(value: float) -> str:
    """A fraction as a percentage with one decimal; what rounds to zero has no sign."""
    return f"{100 * value:z.1f} %"


def _span(values: Sequence[float] | pd.Series[float], unit: str = "") -> str:
    """The least and the greatest value, with three digits."""
    return f"{min(values):.3g} to {max(values):.3g}{unit}"


# -- random population: error against the local model ------------------------------------------------------------------

STATED_REDUCTION = 0.6
PANELS = {"adult": "rate", "poisson_even": "others", "poisson_skewed": "others"}
RATE_APART = 0.01
"""In the captions, but not in the list of the text, to which the claim belongs; the figures show it."""


def reduction(evidence: Evidence, accounting: str) -> Verdict:
    """More than the stated share of the error of LOCAL is gone, as a mean over the grid of eps, in every panel."""
    means: list[float] = []
    for experiment, panel in PANELS.items():
        ours, local = (evidence.closed_forms(experiment, m, accounting) for m in ("amplified", "local"))
        means += list((1 - ours / local).groupby(level=panel).mean().drop(RATE_APART, errors="ignore"))
    above = sum(mean > STATED_REDUCTION for mean in means)
    return Verdict(
        f"{percent(min(means))} to {percent(max(means))}",
        0.0,
        ordering(above, len(means) - above),
        f"the mean over the grid of eps is above {100 * STATED_REDUCTION:.0f} % in {above} of {len(means)} panels",
    )


# -- DUMP: the lowest error ------------------------------------------------------------------------------------------

EXISTING = ("grr_blanket", "solh", "truncation", "truncation_plain", "private_coin", "public_coin")
"""What the paper compares with, but for correlated noise, which it grants to be nearly optimal."""
POINTS_OF = ("synthetic", "ipums", "ratings")


def lowest_error(evidence: Evidence, accounting: str) -> Verdict:
    """The error of pureDUMP is below that of every existing protocol, at all points."""
    leads = pd.concat([_leads(evidence, experiment, accounting) for experiment in POINTS_OF])
    wins, losses = int((leads > 1 + TIE).sum()), int((leads < 1 - TIE).sum())
    ties = len(leads) - wins - losses
    rest = [f"{how} at {count}" for how, count in (("tied", ties), ("not lowest", losses)) if count]
    return Verdict(
        ", ".join([f"lowest at {wins} of {len(leads)} points", *rest]),
        0.0,
        ordering(wins, losses),
        f"the best existing protocol has {_span(leads)} times the error of pureDUMP",
    )


def _leads(evidence: Evidence, experiment: str, accounting: str) -> pd.Series[float]:
    """The lowest error among the existing protocols over that of pureDUMP, where one of them is feasible."""
    ours = evidence.closed_forms(experiment, "pure_dump", accounting)
    rivals = _available(evidence, experiment, EXISTING, accounting)
    best = pd.concat([values.reindex(ours.index) for values in rivals.values()], axis=1).min(axis=1)
    return (best / ours).dropna()


def _available(
    evidence: Evidence, experiment: str, methods: Sequence[str], accounting: str
) -> dict[str, pd.Series[float]]:
    """Closed forms of those methods that have one under an accounting: both sides of a ratio have the same.

    Raises
    ------
    Untestable
        If none has.
    """
    found = {}
    for method in methods:
        try:
            found[method] = evidence.closed_forms(experiment, method, accounting)
        except Untestable:
            continue
    if not found:
        raise Untestable(
            f"nothing to compare with in {evidence.paper}.{experiment} with {accounting} accounting"
        )
    return found


# -- summation: almost a single message ------------------------------------------------------------------------------

USERS = 1_000_000
MOST_EXTRA = 1.0


def single_message(evidence: Evidence, accounting: str) -> Verdict:
    """Fewer than one extra message per user among a million users; in part if that takes more of them."""
    cells = evidence.cells("users", "correlated_sum", accounting)
    messages, extra = cells["messages_per_user"].sort_index(), cells["extra_messages"].sort_index()
    if USERS not in extra.index:
        raise Untestable(f"the grid of summation.users lacks n = {USERS:,}")
    falls = bool(np.all(np.diff(extra) < 0))
    outcome: Outcome = "holds" if extra[USERS] < MOST_EXTRA else "in part" if falls else "fails"
    users = f"{min(extra.index):,} to {max(extra.index):,} users"
    trend = "fall" if falls else "do not always fall"
    return Verdict(
        f"{messages[USERS]:.3g} messages per user",
        0.0,
        outcome,
        f"extra messages {trend} from {extra.iloc[0]:.3g} to {extra.iloc[-1]:.2g} over {users}",
    )


# -- shuffle Gaussian: tighter under composition -----------------------------------------------------------------------

ROUNDS = range(2, 8)
"""The columns of Table 1 with composition."""
TERMS = {
    "printed": ("table1", "shuffle_to_order_30", "clones_as_printed", "the terms of Table 1"),
    "exact": (
        *("composition", "shuffle_distance_2", "clones_sensitivity_2"),
        "equal sensitivity and all orders",
    ),
}
"""Experiment, the method, its rival and the terms of comparison. Both are bounds with no accounting of their own."""


def composition(evidence: Evidence, accounting: str) -> Verdict:
    """The eps of the method is below that of clones for every number of rounds of Table 1 above 1."""
    experiment, method, rival, terms = TERMS[accounting]
    ours, theirs = (evidence.closed_forms(experiment, m, "printed") for m in (method, rival))
    ratios = (theirs / ours).dropna()
    ratios = ratios[ratios.index.isin(ROUNDS)]
    if ratios.empty:
        raise Untestable(
            f"the grid of shuffle_gaussian.{experiment} has none of {min(ROUNDS)} to {max(ROUNDS)} rounds"
        )
    wins, losses = int((ratios > 1 + TIE).sum()), int((ratios < 1 - TIE).sum())
    return Verdict(
        f"{_span(ratios)} times tighter",
        0.0,
        ordering(wins, losses),
        f"on {terms} the eps of clones is larger at {wins} of {len(ratios)} numbers of rounds",
    )


# -- segmented privacy: half of the error ----------------------------------------------------------------------------

STATED_GAIN = 0.5
LEAST_GAIN = 0.3
"""In no panel less than this."""
SPLIT = "25-50-25"
RIVALS = {
    "balls_into_bins": "MM",
    "subset_shuffled": "the shuffled subset mechanism",
    "subset_local": "the local subset mechanism",
    "separate": "SepMM",
    "separate_weighted": "weighted SepMM",
}
"""What the paper compares with, in words."""
DATA = ("msnbc", "uniform")


def gain(evidence: Evidence, accounting: str) -> Verdict:
    """The stated share of the error of the best rival is gone, with the best number of blanket messages drawn."""
    gains: list[float] = []
    absent: set[str] = set()
    for experiment in DATA:
        ours = _least(evidence.closed_forms(experiment, "segmented", accounting))
        rivals = _available(evidence, experiment, tuple(RIVALS), accounting)
        absent |= {name for method, name in RIVALS.items() if method not in rivals}
        best = pd.concat([_least(v).reindex(ours.index) for v in rivals.values()], axis=1).min(axis=1)
        gains += list((1 - ours / best).dropna())
    mean = float(np.mean(gains))
    outcome = about(mean, STATED_GAIN)
    if outcome == "holds" and min(gains) < LEAST_GAIN:
        outcome = "in part"
    without = f"; {', '.join(sorted(absent))}: no result with {accounting} accounting" if absent else ""
    return Verdict(
        percent(mean),
        0.0,
        outcome,
        f"{percent(min(gains))} to {percent(max(gains))} below the best rival in {len(gains)} panels{without}",
    )


def _least(values: pd.Series[float]) -> pd.Series[float]:
    """The least value over the number of blanket messages, at the split of the first figures."""
    panels = [name for name in values.index.names if name not in ("m", "split")]
    if "split" in values.index.names:
        values = values[values.index.get_level_values("split") == SPLIT]
    return values.groupby(level=panels).min()


# -- all of them -----------------------------------------------------------------------------------------------------

HEADLINES: tuple[Claim, ...] = (
    Claim(
        "RP-01",
        "random_population",
        "abstract",
        "The amplification bounds reduce the error against the local model by more than 60 %.",
        "more than 60 %",
        "fig4",
        dict.fromkeys(PANELS, ("amplified", "local")),
        reduction,
    ),
    Claim(
        "DU-03",
        "dump",
        "abstract, 1, Figs. 5, 7, 9, 11",
        "pureDUMP has a lower error than every existing protocol under the same guarantee, correlated noise excepted.",
        "lowest everywhere",
        "fig5",
        dict.fromkeys(POINTS_OF, ("pure_dump", *EXISTING)),
        lowest_error,
    ),
    Claim(
        "SU-34",
        "summation",
        "title, abstract, 1",
        "With enough users, each sends little more than a single message in expectation.",
        "1 + o(1) messages per user",
        "fig1b",
        {"users": ("correlated_sum",)},
        single_message,
    ),
    Claim(
        "SG-12",
        "shuffle_gaussian",
        "abstract, 5.1, Table 1",
        "Under composition, the Renyi accounting is tighter than the clones bound by a large margin.",
        "by a large margin: 0.22822 against 0.38461 to 1.43138",
        "composition_figure",
        {experiment: (method, rival) for experiment, method, rival, _ in TERMS.values()},
        composition,
    ),
    Claim(
        "SE-01",
        "segmented",
        "abstract, 6.4, 7",
        "The segmented protocol reduces the error by about 50 % compared with existing approaches.",
        "about 50 %",
        "fig2",
        dict.fromkeys(DATA, ("segmented", *RIVALS)),
        gain,
    ),
)
"""In the order of the papers' page."""


def job(
    results: str, methods: Mapping[str, Mapping[str, Collection[str]]], shortened: Collection[str]
) -> dict[str, Any]:
    """Everything that `table` depends on but the content of results, as plain data.

    Parameters
    ----------
    results : str
        Folder of the results.
    methods : mapping
        The configured methods by paper and experiment.
    shortened : collection of str
        Papers of which a part runs at another scale than their own.
    """
    papers = {
        claim.paper: {
            "scale": "shortened" if claim.paper in shortened else "paper",
            "methods": {
                experiment: [m for m in wanted if m in methods[claim.paper].get(experiment, ())]
                for experiment, wanted in claim.reads.items()
            },
        }
        for claim in HEADLINES
        if claim.paper in methods
    }
    return {"results": results, "papers": papers}


def table(job: Mapping[str, Any]) -> pd.DataFrame:
    """The headline claims of the configured papers, a row each.

    Parameters
    ----------
    job : mapping
        As `job` makes it.

    Returns
    -------
    DataFrame
        Columns `COLUMNS`: what the paper states, the values with printed and with exact accounting as texts with their
        units, the verdict over both and what decided it, and the scale of the run: ``paper`` or ``shortened``.

    Raises
    ------
    IntegrityError
        If a result does not match its checksum.
    """
    return pd.DataFrame(list(_rows(job)), columns=list(COLUMNS))


def _rows(job: Mapping[str, Any]) -> Iterator[Row]:
    for claim in HEADLINES:
        if claim.paper not in job["papers"]:
            continue
        about = job["papers"][claim.paper]
        evidence = Evidence(Path(job["results"]), claim.paper, about["methods"])
        verdicts = {accounting: claim.judged(evidence, accounting) for accounting in ACCOUNTINGS}
        said = [
            f"{one.verdict} with {accounting} accounting: {one.why}" for accounting, one in verdicts.items()
        ]
        yield {
            "paper": claim.paper,
            "claim_id": claim.id,
            "where": claim.where,
            "claim": claim.says,
            "figure": claim.figure,
            "paper_value": claim.stated,
            **{accounting: one.measured or "-" for accounting, one in verdicts.items()},
            "verdict": combined(list(verdicts.values())),
            "why": ". ".join(text[0].upper() + text[1:] for text in said) + ".",
            "scale": about["scale"],
        }
