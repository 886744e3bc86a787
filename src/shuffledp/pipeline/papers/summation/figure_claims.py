"""Claims of Ghazi et al. 2021 that result tables decide: Figure 1, and the experiments on real and sparse sums."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import pandas as pd

from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.pipeline.claims.case import Case, Rule
from shuffledp.pipeline.claims.outcomes import (
    CLOSED_FORM,
    SLOPE,
    Outcome,
    Untestable,
    Verdict,
    compared,
    exponent,
    never_above,
    ordering,
    percent,
    scaling,
    span,
)
from shuffledp.pipeline.papers.summation.computed_tables import EPS_STAR, GAMMA, readings
from shuffledp.pipeline.papers.summation.theorem_claims import READING, central_slope

AGREES = 4
"""Standard errors within which a simulated value agrees with a closed form."""
SINGLE = {"central_laplace": "exact", "split_and_mix": "printed", "split_and_mix_figure": "printed"}
"""Methods with a single accounting, which no claim can be judged under another one of."""
EQUAL = 0.01
"""Relative difference up to which two errors are the same."""


def _under(case: Case, method: str) -> Case:
    return case.under(SINGLE.get(method, case.accounting))


def errors(case: Case, experiment: str, method: str) -> pd.Series[float]:
    """Root mean squared errors by the grid."""
    return _under(case, method).closed_forms(experiment, method) ** 0.5


def bits(case: Case, experiment: str, method: str) -> pd.Series[float]:
    """Bits per user by the grid."""
    found = _under(case, method).cells(experiment, method)["bits_per_user"].astype(float)
    return found.sort_index()


def simulated_error(case: Case, experiment: str, method: str) -> Verdict:
    """Simulated errors against the variance of discrete Laplace noise at (1 - gamma) eps."""
    cells = case.cells(experiment, method)
    values = case.evidence.found(experiment, method).values
    runs = values[(values["kind"] == "simulated") & (values["metric"] == "mse")].groupby("cell")["value"]
    worst, ratios = 0.0, list[float]()
    for size, cell in cells["cell"].items():
        stated = discrete_laplace_variance(EPS_STAR / float(str(size)))
        sample = runs.get_group(cell) if cell in runs.groups else pd.Series(dtype=float)
        if len(sample) < 2:
            raise Untestable("there are no repeats to compare with")
        ratios.append(float(sample.mean()) / stated)
        worst = max(
            worst, abs(float(sample.mean()) - stated) / (float(sample.std()) / math.sqrt(len(sample)))
        )
    return Verdict(
        f"{span(ratios)} of the stated error",
        f"at most {worst:.2g} standard errors of the mean",
        "holds" if worst <= AGREES else "fails",
        f"{len(ratios)} D; agreement within {AGREES} standard errors counts",
    )


def error_ratios(case: Case, experiment: str) -> Verdict:
    """Errors of the method and of IKOS over that of the central mechanism."""
    central = errors(case, experiment, "central_laplace")
    ours, ikos = (
        (errors(case, experiment, m) / central).dropna() for m in ("correlated_sum", "split_and_mix")
    )
    near = bool((abs(ours * EPS_STAR - 1) <= EQUAL).all())
    same = bool((abs(ikos - 1) <= EQUAL).all())
    return Verdict(
        f"{span(ours)} times, IKOS {span(ikos)} times",
        CLOSED_FORM,
        "holds" if near and same else "in part" if near or same else "fails",
        f"1 / {EPS_STAR:g} and 1 are stated; within {percent(EQUAL)} counts",
    )


def _sizes(values: pd.Series[float]) -> list[float]:
    return [float(str(x)) for x in values.index]


def linear_errors(case: Case, experiment: str) -> Verdict:
    """Exponents of the errors in D."""
    slopes = {
        m: scaling(_sizes(found), found.to_list())
        for m in ("correlated_sum", "split_and_mix")
        if len(found := errors(case, experiment, m)) > 1
    }
    if len(slopes) < 2:
        raise Untestable("needs the papers' grid: a slope needs two D")
    slopes["central_laplace"] = central_slope(case)
    outcomes = {exponent(slope, 1) for slope in slopes.values()}
    return Verdict(
        f"exponents {', '.join(f'{slope:.3f} ({m})' for m, slope in slopes.items())}",
        CLOSED_FORM,
        outcomes.pop() if len(outcomes) == 1 else "in part",
        "least squares over the D of the grid",
    )


def rappor_slope(case: Case, experiment: str, method: str, last: Sequence[int]) -> Verdict:
    """Local exponent of RAPPOR's error in D."""
    found = errors(case, experiment, method)
    if not set(last) <= set(found.index):
        raise Untestable(f"needs the papers' grid: D = {' and '.join(map(str, last))}")
    slope = scaling(last, [float(found.loc[d]) for d in last])
    return Verdict(
        f"exponent {slope:.3f} from D = {last[0]} to {last[-1]}",
        CLOSED_FORM,
        exponent(slope, 1.5),
        f"{method}; within {SLOPE} of 1.5 counts",
    )


def constant_error(case: Case, experiment: str, method: str, within: float) -> Verdict:
    """The error does not depend on the number of users."""
    found = errors(case, experiment, method)
    if len(found) < 2:
        raise Untestable("needs the papers' grid: several n")
    spread = float(found.max() / found.min() - 1)
    return Verdict(
        f"relative spread {spread:.2g}",
        CLOSED_FORM,
        "holds" if spread < within else "fails",
        f"{method}, n = {found.index.min():,} to {found.index.max():,}; below {within:g} counts",
    )


def readings_of_users(case: Case, method: str) -> Verdict:
    """Bits of the method against the points of Figure 1b."""
    drawn = readings()
    drawn = drawn[(drawn["panel"] == "b") & (drawn["curve"] == "correlated noise")].set_index("n")
    found = bits(case, "users", method).reindex(drawn.index)
    if found.isna().any():
        raise Untestable("needs the papers' grid: not all n of the figure")
    near = int((abs(found - drawn["reading"]) <= drawn["reading_error"]).sum())
    per_message = 4  # bits, D = 5
    first = drawn.index.min()
    noise = (float(drawn["reading"].loc[first]) / per_message - 1) * first
    fitted = per_message * (1 + noise / drawn.index.to_numpy(float))
    fits = int((abs(fitted - drawn["reading"]) <= drawn["reading_error"]).sum())
    verdict: Outcome = "holds" if near == len(drawn) else "in part" if near or fits == len(drawn) else "fails"
    return Verdict(
        f"{', '.join(f'{b:.4g}' for b in found)} bits",
        READING,
        verdict,
        f"{near} of {len(drawn)} points agree; one number of noise messages, {noise:.3g}, fits {fits} of {len(drawn)}",
    )


def messages_vanish(case: Case, methods: Sequence[str]) -> Verdict:
    """Extra messages times the number of users."""
    slopes = {}
    for method in methods:
        extra = case.cells("users", method)["extra_messages"].astype(float).sort_index()
        if len(extra) < 2:
            raise Untestable("needs the papers' grid: several n")
        slopes[method] = scaling(_sizes(extra), extra.to_list())
    outcomes = {exponent(slope, -1) for slope in slopes.values()}
    return Verdict(
        f"exponents {', '.join(f'{slope:.3f} ({m})' for m, slope in slopes.items())}",
        CLOSED_FORM,
        outcomes.pop() if len(outcomes) == 1 else "in part",
        "extra messages per user against n: -1 is a constant number for all users together",
    )


def fewer_bits(case: Case) -> Verdict:
    """Fewer bits than IKOS at every n of Figure 1b."""
    ours, ikos = bits(case, "users", "correlated_sum"), bits(case, "users", "split_and_mix_figure")
    both = pd.DataFrame({"ours": ours, "ikos": ikos}).dropna()
    below, above, _ = compared(both["ours"].to_list(), both["ikos"].to_list())
    return Verdict(
        f"{span(both['ikos'] / both['ours'])} times fewer",
        CLOSED_FORM,
        ordering(below, above),
        f"fewer at {below} and more at {above} of {len(both)} n; the shares of IKOS are those of the figure",
    )


def shares_fall(case: Case) -> Verdict:
    """IKOS needs three messages at least, and fewer with more users."""
    shares = _under(case, "split_and_mix_figure").cells("users", "split_and_mix_figure")["messages_per_user"]
    counts = [float(x) for x in shares.sort_index()]
    if len(counts) < 2:
        raise Untestable("needs the papers' grid: several n")
    falls = counts == sorted(counts, reverse=True) and counts[-1] < counts[0]
    return Verdict(
        f"{', '.join(f'{c:g}' for c in counts)} shares",
        CLOSED_FORM,
        "holds" if falls and min(counts) >= 3 else "in part" if falls or min(counts) >= 3 else "fails",
        f"n = {shares.index.min():,} to {shares.index.max():,}",
    )


def artefact(case: Case) -> Verdict:
    """Bits against D: in the figure, and by better designs."""
    table = readings()
    panel = table[(table["panel"] == "c") & (table["curve"] == "correlated noise")]
    drawn = dict(zip(panel["max_value"], panel["reading"], strict=True))
    ours = bits(case, "sizes", "correlated_sum")
    large = [d for d in (5, 10, 15) if d in ours.index]
    if len(large) < 2:
        raise Untestable("needs the papers' grid: D = 5 and more")
    figure = scaling(large, [drawn[d] for d in large])
    found = scaling(large, [float(ours.loc[d]) for d in large])
    return Verdict(
        f"exponent {found:.2f} instead of {figure:.2f}",
        READING,
        "holds" if figure > 1 >= found else "fails",
        f"bits from D = {large[0]} to {large[-1]}: {', '.join(f'{float(ours.loc[d]):.3g}' for d in large)}; the figure "
        f"has {', '.join(f'{drawn[d]:.3g}' for d in large)}",
    )


def two_copies(case: Case) -> Verdict:
    """Budget of a coordinate of 1-sparse vectors, from the calibrated protocol."""
    cells = case.cells("pages", "sparse_sum")
    each = [float(json.loads(str(text))["eps_star"]) for text in cells["parameters"]]
    shares = [value / (1 - GAMMA) / float(str(eps)) for value, eps in zip(each, cells.index, strict=True)]
    return Verdict(
        f"{span(shares)} of eps",
        CLOSED_FORM,
        "holds" if all(math.isclose(share, 0.5, rel_tol=1e-9) for share in shares) else "fails",
        "budget of the noise of each coordinate over 1 - gamma: replacing a user touches two of them",
    )


def chain(
    case: Case,
    what: str,
    experiments: Sequence[str],
    pairs: Sequence[Sequence[str]],
    same: Sequence[str] = (),
) -> Verdict:
    """Pairs ``[lower, upper]`` of methods whose errors or bits are never the other way round; ``same`` are equal."""
    read = {"error": errors, "bits": bits}[what]
    outcomes: list[Outcome] = []
    said, wrong, points = [], 0, 0
    for experiment in experiments:
        for lower, upper in pairs:
            both = pd.concat([read(case, experiment, lower), read(case, experiment, upper)], axis=1).dropna()
            if both.empty:
                raise Untestable("no point has results of both sides")
            _, above, _ = compared(both.iloc[:, 0].to_list(), both.iloc[:, 1].to_list())
            outcomes.append(never_above(above, len(both)))
            wrong, points = wrong + above, points + len(both)
            if above:
                said.append(f"{lower} above {upper} at {above} of {len(both)} points of {experiment}")
        if same:
            ratio = (read(case, experiment, same[0]) / read(case, experiment, same[1])).dropna()
            outcomes.append("holds" if bool((abs(ratio - 1) <= EQUAL).all()) else "fails")
            said.append(f"{same[0]} over {same[1]} is {span(ratio)}")
    return Verdict(
        f"the wrong way at {wrong} of {points} points",
        CLOSED_FORM,
        outcomes[0] if len(set(outcomes)) == 1 else "in part",
        "; ".join(said) or f"in order at all points of {', '.join(experiments)}",
    )


RULES: Mapping[str, Rule] = {
    "simulated_error": simulated_error,
    "error_ratios": error_ratios,
    "linear_errors": linear_errors,
    "rappor_slope": rappor_slope,
    "constant_error": constant_error,
    "readings_of_users": readings_of_users,
    "messages_vanish": messages_vanish,
    "fewer_bits": fewer_bits,
    "shares_fall": shares_fall,
    "artefact": artefact,
    "two_copies": two_copies,
    "chain": chain,
}
"""By the names that ``stated_claims.yaml`` uses."""
