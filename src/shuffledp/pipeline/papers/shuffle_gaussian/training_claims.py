"""Claims of Liew and Takahashi 2022 on result tables: Figures 1a and 1b, and eps by rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.general_rules import paired
from shuffledp.pipeline.claims.outcomes import (
    TIE,
    ByPoint,
    Outcome,
    Untestable,
    Verdict,
    combined,
    compared,
    never_above,
    percent,
    span,
)
from shuffledp.pipeline.claims.stated_claims import catalogue
from shuffledp.pipeline.papers.shuffle_gaussian.computed_tables import CHECKIN_SIGMA, FIGURE_ROUNDS

claim = catalogue("shuffle_gaussian")

TESTED = 10_000
"""Number of images in MNIST's test set; an accuracy is a share of them."""
SGD = {"printed": ("shuffle_2c", "central_to_order_63"), "exact": ("shuffle_2c_pair", "central_pld")}
"""Shuffled and central training of Figure 1a, each under one accounting: as printed, and as exact as possible."""
ROUNDS = range(2, 8)
"""Columns of Table 1 with composition."""
TERMS = {
    "printed": ("table1", {"shuffle_to_order_30": "clones_as_printed"}, "the terms of Table 1"),
    "exact": (
        "composition",
        {"shuffle_distance_2": "clones_sensitivity_2", "shuffle_distance_1": "clones_sensitivity_1"},
        "equal sensitivity (2, then 1) and all orders",
    ),
}
"""Experiment, method with its rival, and conditions of the comparison; these methods have no accounting."""
LOST = "the paper's numbers are lost in the available text"
GROWTH = 0.01
"""Growth of a budget over the rounds below which the budget hardly grows."""


def assumed(verdict: Verdict) -> Verdict:
    """Return a verdict as "in part", as Theorem 1 is exact for one pair of data sets and others exceed it (SG-4)."""
    why = f"{verdict.verdict} only on the assumption of Theorem 1, whose pair is not the worst (SG-4): {verdict.why}"
    return replace(verdict, found="in part", why=why)


def budgets(case: Case, experiment: str, method: str) -> ByPoint:
    """Return eps by grid point; for Figure 1b at the training's noise multiplier."""
    found = case.closed_forms(experiment, method)
    return found.xs(CHECKIN_SIGMA, level="sigma") if experiment == "checkin" else found


def accuracies(case: Case, experiment: str, method: str) -> ByPoint:
    """Return test accuracy by round."""
    cells = case.cells(experiment, method)
    values = case.evidence.found(experiment, method).values
    accuracy = values[values["metric"] == "accuracy"].set_index("cell")["value"]
    found = cells["cell"].map(accuracy)
    if experiment == "checkin":
        found = found.xs(CHECKIN_SIGMA, level="sigma")
    if found.isna().any():
        raise Untestable("there is no accuracy: training was left out")
    return found.sort_index()


def at_round(values: ByPoint, rounds: int) -> float:
    """Return the value at a round."""
    if rounds not in values.index:
        raise Untestable(f"needs the papers' grid: there is no round {rounds}")
    return float(values.loc[rounds])


def sampling_error(accuracy: float) -> str:
    """Return text on the standard error of an accuracy for this size of the test set, and on the number of runs."""
    return f"{percent(math.sqrt(accuracy * (1 - accuracy) / TESTED))}, standard error of one run's test set"


@claim("SG-12")
def composition(case: Case) -> Verdict:
    """Check for all rounds of Table 1 above 1 that the method's eps is below the clones' eps."""
    experiment, pairs, terms = TERMS[case.accounting]
    table = case.under("printed")
    parts = []
    for method, rival in pairs.items():
        ours, theirs = (table.closed_forms(experiment, m) for m in (method, rival))
        ratios = (theirs / ours).dropna()
        parts.append(ratios[ratios.index.isin(ROUNDS)])
    every = pd.concat(parts)
    if every.empty:
        raise Untestable(
            f"the grid of shuffle_gaussian.{experiment} has none of {min(ROUNDS)} to {max(ROUNDS)} rounds"
        )
    losses, wins, _ = compared(every, 1.0)
    found = Verdict(
        f"{', '.join(map(span, parts))} times smaller",
        (wins, losses),
        f"on {terms} the eps of clones is larger at {wins} of {len(every)} points",
    )
    return assumed(found) if found.verdict == "holds" else found


@claim("SG-24", experiment="sgd", method="shuffle_2c", enough=0.89)
@claim("SG-27", experiment="checkin", method="gauss", enough=0.78, rounds=5540)
def accuracy_reached(
    case: Case, experiment: str, method: str, enough: float, rounds: int | None = None
) -> Verdict:
    """Check that the accuracy at a round, or the largest accuracy, reaches the claimed one."""
    curve = accuracies(case, experiment, method)
    if curve.index.max() < (rounds or FIGURE_ROUNDS):
        raise Untestable(f"needs the papers' rounds: training ended at round {curve.index.max()}")
    found = float(curve.max()) if rounds is None else at_round(curve, rounds)
    where = int(str(curve.idxmax())) if rounds is None else rounds
    return Verdict(
        f"{percent(found)} at round {where}",
        found >= enough,
        f"at least {percent(enough)} is accepted; the paper does not give all settings of its training",
        sampling_error(found),
    )


@claim("SG-25")
def spent_at_best(case: Case) -> Verdict:
    """Judge the eps at the round of the largest accuracy."""
    method = SGD[case.accounting][0]
    best = int(str(accuracies(case, "sgd", method).idxmax()))
    found = at_round(budgets(case, "sgd", method), best)
    return Verdict(
        f"eps {found:.3g} at round {best}",
        found <= 10,
        f"by {method}, at the round of the largest accuracy",
    )


@claim("SG-21")
def same_accuracy(case: Case) -> Verdict:
    """Check that one training run serves both trust models, with equal accuracy in every round."""
    ours, central = (accuracies(case, "sgd", method) for method in SGD["printed"])
    different = int((ours != central.reindex(ours.index)).sum())
    return Verdict(
        f"different in {different} of {len(ours)} rounds",
        not different,
        "the sum of a batch has the same noise in both models, so one run serves both",
    )


@claim("SG-23")
def shuffling_factor(case: Case) -> Verdict:
    """Judge the ratio of shuffled to central eps after ten epochs."""
    ours, central = (at_round(budgets(case, "sgd", m), FIGURE_ROUNDS) for m in SGD[case.accounting])
    ratio = ours / central
    verdict: Outcome = "holds" if 5 <= ratio <= 20 else "in part" if ratio > 1 else "fails"
    return Verdict(
        f"{ratio:.3g} times ({ours:.3g} over {central:.3g})",
        verdict,
        f"{' over '.join(SGD[case.accounting])} at round {FIGURE_ROUNDS}; the first is about replacing a record, the "
        "second about adding or removing one",
    )


@claim("SG-26")
def more_noise(case: Case) -> Verdict:
    """Check at every round that central training with the same total noise has a smaller eps."""
    method, rival = SGD[case.accounting]
    ours, central = budgets(case, "sgd", method), budgets(case, "sgd", rival)
    below, above, _ = compared(central, ours.reindex(central.index))
    return Verdict(
        f"{span(ours / central)} times the eps",
        (below, above),
        f"{rival} is below {method} at {below} of {len(central)} rounds",
    )


@claim("SG-28", rounds=[5540])
@claim("SG-29", rounds=[1, 10, 100, 1000, 5540])
def lowest(case: Case, rounds: Sequence[int]) -> Verdict:
    """Check that the method has Figure 1b's least eps at these rounds."""
    if case.accounting == "exact":
        raise Untestable(
            "the rivals are bounds with a single accounting, so no comparison with the same accounting exists"
        )
    rivals = {name: budgets(case, "checkin", name) for name in ("generic", "baseline")}
    ours = budgets(case, "checkin", "gauss")
    known = [r for r in rounds if r in ours.index]
    if not known:
        raise Untestable(f"needs the papers' grid: none of the rounds {', '.join(map(str, rounds))}")
    best = [min(float(rival.loc[r]) for rival in rivals.values()) for r in known]
    below, above, _ = compared([float(ours.loc[r]) for r in known], best)
    last = known[-1]
    found = Verdict(
        f"eps {float(ours.loc[last]):.4g} at round {last}; "
        + ", ".join(f"{name} {float(rival.loc[last]):.4g}" for name, rival in rivals.items()),
        (below, above),
        f"lowest at {below} of {len(known)} rounds ({', '.join(map(str, known))}); the rivals are rebuilt from the "
        "paper's description",
    )
    return assumed(found) if found.verdict == "holds" else found


@claim("SG-13")
def hardly_grows(case: Case) -> Verdict:
    """Judge how much eps grows from one round to seven."""
    experiment, method = {
        "printed": ("table1", "shuffle_to_order_30"),
        "exact": ("composition", "shuffle_distance_1"),
    }[case.accounting]
    eps = case.under("printed").closed_forms(experiment, method)
    first, last = at_round(eps, 1), at_round(eps, 7)
    growth = last / first - 1
    return Verdict(
        f"{percent(growth)} (eps {first:.5f} to {last:.5f})",
        growth < GROWTH,
        f"by {method}; growth below {percent(GROWTH)} is accepted",
    )


@claim("SG-11")
def clones_alone(case: Case) -> Verdict:
    """Check that clones give a smaller eps without composition."""
    experiment, ours, clones = {
        "printed": ("table1", "shuffle_to_order_30", "clones_as_printed"),
        "exact": ("composition", "shuffle_distance_2", "clones_sensitivity_2"),
    }[case.accounting]
    table = case.under("printed")
    own, rival = (at_round(table.closed_forms(experiment, m), 1) for m in (ours, clones))
    found = Verdict(
        f"clones {rival:.5f}, ours {own:.5f}",
        rival < own * (1 - TIE),
        f"{clones} against {ours} after one round",
    )
    # Above the bound of clones, a value that is too small decides all the same.
    return found if found.verdict == "holds" else assumed(found)


@claim("SG-14", rounds=[10, 20, 50, 100])
@claim("SG-33")
def lost(case: Case, rounds: Sequence[int] = ()) -> Verdict:
    """Return this library's values, because the available text lacks the numbers of the claim."""
    if not rounds:
        return Verdict("", "untestable", LOST)
    ours, clones = (
        case.closed_forms("composition", m) for m in ("shuffle_distance_2", "clones_sensitivity_2")
    )
    values = [f"{at_round(ours, r):.3g} against {at_round(clones, r):.3g} (T = {r})" for r in rounds]
    return Verdict(", ".join(values), "untestable", f"{LOST}; measured are ours and clones")


@claim("SG-31")
def others_work(case: Case) -> Verdict:
    """Return "untestable" for a statement on other authors' accountants."""
    return Verdict("", "untestable", "the claim is about other work, which is not part of the pipeline")


@claim(
    "O-10", experiment="checkin", chain=[["pair", "convex"], ["convex", "shuffling_only"], ["pair", "gauss"]]
)
@claim("O-11", experiment="checkin", chain=[["gauss", "shuffling_only"]])
@claim("O-12", experiment="checkin", chain=[["gauss", "generic"], ["generic", "baseline"]])
@claim(
    "O-13",
    experiment="sgd",
    chain=[["central_to_order_63", "shuffle_2c"], ["central_pld", "shuffle_2c_pair"]],
)
def chain(case: Case, experiment: str, chain: Sequence[Sequence[str]]) -> Verdict:
    """Check that the first method of each pair ``[lower, upper]`` never exceeds the second."""
    labels = {"pair": "exact", "convex": "corrected", "central_pld": "exact", "shuffle_2c_pair": "exact"}

    def read(case: Case, experiment: str, method: str) -> ByPoint:
        return budgets(case.under(labels.get(method, case.accounting)), experiment, method)

    said, outcomes, above_all, points = [], [], 0, 0
    for lower, upper in chain:
        pairs = paired(case, read, [experiment], lower, [upper])
        below, above, _ = compared(pairs["lower"], pairs["upper"])
        outcomes.append(never_above(above, len(pairs)))
        above_all, points = above_all + above, points + len(pairs)
        said.append(f"{lower} is below {upper} at {below} and above at {above} of {len(pairs)} points")
    return Verdict(f"above at {above_all} of {points} points", combined(outcomes), "; ".join(said))
