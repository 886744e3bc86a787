"""Recommendation of a protocol: the least error among proven guarantees, and reasons against other protocols."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from shuffledp.accounting.expected_errors.most_messages import RARE
from shuffledp.comparison.rows import TRUST, Compared, finite, sender, table, whole_text
from shuffledp.guarantees import MEANING, exposure_of
from shuffledp.numerics.rounding import number_text, parameter_text, round_to_digits
from shuffledp.numerics.statements import Conditions
from shuffledp.optional_dependencies import needed
from shuffledp.outputs import wrapped
from shuffledp.protocols.base import Trust

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: Relative difference of squared errors below which a published protocol, then the fewest messages of a user, decide.
TIE = 1e-3
#: The same for several releases, where many protocols have errors within 0.2 %.
TIE_OF_RELEASES = 4e-3
#: Multiples of eps that are tried if no protocol fits, and the number of tried protocols.
_FACTORS, _TRIED = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0), 4
#: Number of releases in the warning of a recommendation for one release.
REPEATED = 30
#: Trust models in the order of preference; a curator is the last.
ORDER: tuple[Trust, ...] = ("shuffler", "shuffler_adds", "secure_sum", "local", "central")


#: Fields of a row that its recommendation has under the same name.
_COPIED = (
    "protocol",
    "task",
    "trust",
    "derived",
    "proof",
    "half_width",
    "simultaneous_half_width",
    "dropout",
    "colluding",
    "eps_colluding",
    "eps_dropped",
    "rounds",
    "crowd",
    "eps_one_round",
    "eps_all_rounds",
    "eps_if_repeated",
)
#: Fields of a recommendation, and the fields of its row with another name.
_RENAMED = {
    "messages_mean": "messages_per_user",
    "bits_mean": "bits_per_user",
    "messages_worst": "most_messages",
    "bits_worst": "most_bits",
    "worst_certain": "most_certain",
}


@dataclass(frozen=True)
class Recommendation:
    """Recommended protocol for one setting.

    Parameters
    ----------
    protocol, task, trust, guarantee : str
        Name, estimated quantity, trust model, and label of the guarantee.
    parameters : mapping of str to float
        Calibrated parameters.
    half_width, simultaneous_half_width : float
        Half-widths of a 95 % interval for one value, and of intervals that hold for all values at once, as in
        `Compared`: for the given data, or without data for the worst data.
    messages_mean, bits_mean : float
        Expected communication of a user; for sums, of a user whose number is not 0.
    messages_worst, bits_worst : float, optional
        Maximum over the users; None if the protocol does not state it.
    worst_certain : bool, optional
        False if some user exceeds the maximum with a probability of at most one in a million.
    dropout : float, optional
        Share of the users who may drop out, in (0, 1); the numbers are for the users who remain.
    colluding : float, optional
        Share of the users for ``eps_colluding`` and ``eps_dropped``, in (0, 1).
    eps_colluding, eps_dropped : float, optional
        Bound on the eps that remains at the delta of the budget if this share colludes, or drops out; nats. inf if no
        finite eps is left, nan if no bound is known.
    rounds : int
        Number of releases to the same users that the budget covers.
    crowd : str
        Number of other users over the releases, ``fixed``, ``shared`` or ``fresh``.
    eps_one_round, eps_all_rounds : float, optional
        Bounds on eps of one release and of all, nats.
    eps_if_repeated, runner_up_eps_if_repeated : float, optional
        Eps of 30 releases like the recommended one, and like the runner-up's, if the budget is for one release.
    one_release_choice : str, optional
        The protocol that would be recommended for one release.
    trusted : str
        The parties who must be honest.
    derived : bool
        True if the protocol was derived for this project and is not published.
    proof : str
        Module whose description has the proof of a derived protocol.
    if_shuffler_fails : str
        Sentence on the privacy that remains if the shuffler fails.
    runner_up : str, optional
        The protocol with the next larger error under the same trust.
    runner_up_ratio : float, optional
        Root of the runner-up's ``mse``, in units of the root of the recommended protocol's.
    passed_over : mapping of str to tuple of str
        Protocols with less error, by the reason for excluding them.
    conditions : mapping of str to Conditions
        Users, data and side of rounding of the numbers, by the names of these fields.
    """

    protocol: str
    task: str
    trust: Trust
    derived: bool
    proof: str
    guarantee: str
    parameters: Mapping[str, float]
    half_width: float
    simultaneous_half_width: float
    messages_mean: float
    bits_mean: float
    messages_worst: float | None
    bits_worst: float | None
    worst_certain: bool | None
    dropout: float | None
    colluding: float | None
    eps_colluding: float | None
    eps_dropped: float | None
    rounds: int
    crowd: str
    eps_one_round: float | None
    eps_all_rounds: float | None
    eps_if_repeated: float | None
    runner_up_eps_if_repeated: float | None
    one_release_choice: str | None
    trusted: str
    if_shuffler_fails: str
    runner_up: str | None
    runner_up_ratio: float | None
    passed_over: Mapping[str, tuple[str, ...]]
    conditions: Mapping[str, Conditions]

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, with the texts ``inf`` and ``unknown`` for such numbers."""
        return finite(asdict(self) | {"sentence": _first(self)})

    def __str__(self) -> str:
        return sentences(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def recommended(rows: Sequence[Compared]) -> Recommendation | None:
    """Return the recommendation: the least error among proven, unbiased rows of the first trust model with such rows.

    Parameters
    ----------
    rows : sequence of Compared
        Rows of `shuffledp.compare`.

    Returns
    -------
    Recommendation or None
        None if no row is proven, unbiased and better than an answer without data. Trust models are taken in the order
        shuffler, shuffler_adds, secure_sum, local, central. Among squared errors that differ by less than 0.1 %, for
        several releases 0.4 %, published protocols come before protocols derived for this project, then fewer messages
        of the worst user, then fewer parameters.
    """
    good = [row for row in rows if row.status == "ok" and row.mse is not None]
    ranked = ranking(row for row in good if not row.idle)
    if not ranked:
        return None
    best, *others = ranked
    once = [
        replace(row, mse=row.mse_one_release, rounds=1) for row in rows if row.mse_one_release is not None
    ]
    better_rows: dict[str, list[str]] = {}
    for row in good:
        if (row.mse or 0.0) < (best.mse or 0.0) / (1 + TIE):
            better_rows.setdefault(_against(row), []).append(row.protocol)
    next_best = others[0] if others else None
    choice = best if best.rounds == 1 else next(iter(ranking(once)), None)
    row_conditions = best.conditions or {}
    return Recommendation(
        **{name: getattr(best, name) for name in _COPIED},
        **{name: getattr(best, of_row) for name, of_row in _RENAMED.items()},
        guarantee=str(best.guarantee),
        parameters=best.parameters or {},
        runner_up_eps_if_repeated=None if next_best is None else next_best.eps_if_repeated,
        one_release_choice=None if choice is None else choice.protocol,
        trusted=_trusted(best),
        if_shuffler_fails=exposure_of(best.trust, best.eps_local, best.rounds),
        runner_up=None if next_best is None else next_best.protocol,
        runner_up_ratio=None
        if next_best is None
        else math.sqrt((next_best.mse or 0.0) / (best.mse or math.inf)),
        passed_over={reason: tuple(names) for reason, names in better_rows.items()},
        conditions={
            name: row_conditions[of_row]
            for name, of_row in {
                **{name: name for name in _COPIED},
                **_RENAMED,
                "runner_up_ratio": "mse",
            }.items()
            if of_row in row_conditions and (next_best is not None or of_row != "mse")
        },
    )


def ranking(rows: Iterable[Compared]) -> list[Compared]:
    """Return the proven, unbiased rows of the first trust model with such rows: the recommended row, then by error."""
    fit = [row for row in rows if row.proven and not row.biased]
    trust = next((trust for trust in ORDER if any(row.trust == trust for row in fit)), None)
    ranked = sorted((row for row in fit if row.trust == trust), key=lambda row: row.mse or 0.0)
    if not ranked:
        return []
    tie = TIE if ranked[0].rounds == 1 else TIE_OF_RELEASES
    tied = [row for row in ranked if (row.mse or 0.0) <= (1 + tie) * (ranked[0].mse or 0.0)]
    best = min(tied, key=lambda row: (row.derived, row.most_messages or math.inf, len(row.parameters or {})))
    return [best, *(row for row in ranked if row is not best)]


def _trusted(row: Compared) -> str:
    others = "" if row.relies_on in (None, "no other user", "not stated") else f"; {row.relies_on}"
    return TRUST[row.trust] + others


def _against(row: Compared) -> str:
    """Return the reason against a row whose error is less than the error of the recommended row."""
    if row.idle:
        return "no better than an answer without data"
    if row.biased:
        return "biased"
    if row.accounting == "printed":
        return "printed accounting"
    if not row.proven:
        return f"guarantee {row.guarantee}"
    return f"trusts {TRUST[row.trust]}"


@dataclass(frozen=True)
class Loosening:
    """Options to loosen if no protocol fits, with the values that admit a protocol; a comparison has confirmed it.

    `limit`, `given` and `needed` are the option with the largest relative change; `changes` has the given and the
    needed value of every option.
    """

    protocol: str
    limit: str
    given: float
    needed: float
    changes: Mapping[str, tuple[float, float]]


#: Function from changed options and names of protocols to the rows of a comparison.
Compare = Callable[[Mapping[str, float], list[str]], Sequence[Compared]]


def loosening(
    rows: Sequence[Compared], limits: Mapping[str, float], eps: float, compare: Compare
) -> Loosening | None:
    """Return the smallest change of the limits, or else of eps, at which `compare` recommends a protocol."""
    for changes, names in (*_loosened_limits(rows, limits), *_larger_eps(rows, eps)):
        best = recommended(compare(changes, names))
        if best is not None:
            pairs = {name: ({"eps": eps, **limits}[name], value) for name, value in changes.items()}
            first = max(pairs, key=lambda name: pairs[name][1] / pairs[name][0])
            return Loosening(best.protocol, first, *pairs[first], pairs)
    return None


def _loosened_limits(
    rows: Sequence[Compared], limits: Mapping[str, float]
) -> list[tuple[dict[str, float], list[str]]]:
    """Return the limits that each excluded, proven protocol needs, the smallest relative change first."""
    needed = [
        ({name: round_to_digits(value, "up", 10) for name, value in row.beyond.items()}, [row.protocol])
        for row in rows
        if row.beyond and math.inf not in row.beyond.values()  # the most is stated
    ]
    return sorted(needed, key=lambda pair: max(value / limits[name] for name, value in pair[0].items()))


def _larger_eps(rows: Sequence[Compared], eps: float) -> list[tuple[dict[str, float], list[str]]]:
    """Return a few multiples of eps, each with the protocols that are nearest to a useful error."""
    idle = sorted((row for row in rows if row.idle and row.proven), key=lambda row: row.mse or 0.0)
    names = [row.protocol for row in idle or rows if row.status != "failed" and ":" not in row.protocol]
    factors = _FACTORS if names else ()
    return [({"eps": round_to_digits(factor * eps, "up", 10)}, names[:_TRIED]) for factor in factors]


def sentences(choice: Recommendation) -> str:
    """Return a recommendation as lines of text for a terminal."""
    width_conditions, of_sent = choice.conditions["half_width"], choice.conditions["messages_mean"]
    numbers = ", ".join(f"{name} = {parameter_text(value)}" for name, value in choice.parameters.items())
    most = (
        "; the most is not stated"
        if choice.messages_worst is None
        else f", at most {whole_text(choice.messages_worst)} ({whole_text(choice.bits_worst or 0.0)} bits)"
        + ("" if choice.worst_certain else f" except with a probability of at most {RARE:g}")
    )
    whom, _, rest = choice.trusted.partition("; ")
    trust = f"Users trust {whom}{f', and rely on {rest}' if rest else ''}."
    label = f"Guarantee: {choice.guarantee} ({MEANING[choice.guarantee]})."
    mean = f"{of_sent.text(choice.messages_mean, 4)} messages ({of_sent.text(choice.bits_mean, 4)} bits) on average"
    others = "" if of_sent.clause == width_conditions.clause else f" {of_sent.clause}"
    text = [
        f"{_first(choice)} {label} {trust}",
        *_in_users(choice, width_conditions),
        f"A {sender(choice.task)} sends {mean}{others}{most}.",
        *([f"Parameters: {numbers}."] if numbers else []),
        *([derived_text(choice.proof)] if choice.derived else []),
        choice.if_shuffler_fails,
    ]
    if choice.dropout is not None:
        text.append(
            f"It is calibrated for the users who remain if {100 * choice.dropout:.6g} % drop out. The guarantee also "
            "holds for more users."
        )
    if choice.colluding is not None:
        text.append(
            f"If {100 * choice.colluding:.6g} % of the users collude with the analyzer, "
            f"{_left(choice, 'eps_colluding')} "
            f"at this delta; if they drop out, {_left(choice, 'eps_dropped')}."
        )
    if choice.runner_up is not None:
        ratio = choice.conditions["runner_up_ratio"].text(choice.runner_up_ratio or math.nan)
        text.append(
            f"Runner-up: {choice.runner_up}, with {'the same' if ratio == '1' else f'{ratio} times the'} root mean "
            "squared error."
        )
    text += _repeated(choice)
    if choice.passed_over:
        reasons = "; ".join(f"{', '.join(names)} ({why})" for why, names in choice.passed_over.items())
        text.append(f"Less error, but passed over: {reasons}.")
    return "\n".join(wrapped(text))


def _in_users(choice: Recommendation, width_conditions: Conditions) -> list[str]:
    """Return a sentence with the half-width of a share in users, or of a sum per user, for a known number of users."""
    if width_conditions.who not in ("planned", "counted") or choice.task == "vectors":
        return []
    width, users = choice.half_width, width_conditions.users
    if choice.task == "summation":
        return [f"The mean of {users:,.12g} users is within ±{width_conditions.text(width / users)}."]
    return [f"The half-width for one value is {width_conditions.text(width * users)} of {users:,.12g} users."]


def _first(choice: Recommendation) -> str:
    """Return the sentence that names the protocol, the releases and the error."""
    width_conditions = choice.conditions["half_width"]
    width_text = f"within ±{width_conditions.text(choice.half_width)}"
    if choice.simultaneous_half_width != choice.half_width:
        joint_text = width_conditions.text(choice.simultaneous_half_width)
        width_text += f" for one value, ±{joint_text} for all values at once"
    rounds = "one release"
    if choice.rounds > 1:
        alone = "" if choice.eps_one_round is None else f" (one release: {_eps(choice.eps_one_round)})"
        together = f"with eps {_eps(choice.eps_all_rounds)} for all together{alone}"
        rounds = f"{choice.rounds:,} releases to the same users, {together}"
    return (
        f"Use {choice.protocol} for {rounds}: {width_text}, with 95 % confidence {width_conditions.clause}."
    )


def _eps(value: float | None) -> str:
    return "unknown" if value is None else number_text(value, "up", 3)


def _repeated(advice: Recommendation) -> list[str]:
    """Return sentences on further releases, or on a single release."""
    if advice.rounds > 1:
        choice = advice.one_release_choice
        return (
            [f"For one release with this budget, use {choice}."]
            if choice not in (None, advice.protocol)
            else []
        )
    if advice.eps_if_repeated is None:
        return []
    text = (
        f"The same users again: --rounds {REPEATED}. {REPEATED} releases like this one have eps "
        f"{_eps(advice.eps_if_repeated)} at this delta"
    )
    other = advice.runner_up_eps_if_repeated
    if other is not None:
        text += f", {REPEATED} releases of {advice.runner_up} {_eps(other)}"
        if other < advice.eps_if_repeated:
            text += ": for repeated releases the order may change"
    return [f"{text}."]


def derived_text(proof: str) -> str:
    """Return a sentence on a protocol that was derived for this project, and on the module with its proof."""
    proof_text = f" Its proof is in the description of {proof}." if proof else ""
    return f"The protocol was derived for this project and is not published.{proof_text}"


def _left(choice: Recommendation, name: str) -> str:
    """Return a clause on the remaining eps."""
    eps = getattr(choice, name)
    if eps is None or math.isnan(eps):
        return "no bound is known"
    return (
        "no finite eps remains"
        if math.isinf(eps)
        else f"eps is at most {choice.conditions[name].text(eps, 4)}"
    )


def unfit(change: Loosening | None) -> str:
    """Return a line of text for a setting without a recommendation."""
    if change is None:
        return "No protocol with a proven guarantee fits; the reasons are below."
    changes = " and ".join(
        f"--{name.replace('_', '-')} {limit:.15g} to {number_text(value, 'up', 10)}"
        for name, (limit, value) in change.changes.items()
    )
    better = "Its error is below that of an answer without data."
    return "\n".join(
        wrapped([f"Nothing fits. Loosen first: {changes}, which admits {change.protocol}. {better}"])
    )


class Comparison(tuple[Compared, ...]):
    """Rows of a comparison, a tuple of `Compared` that prints as a table."""

    __slots__ = ()

    @property
    def recommendation(self) -> Recommendation | None:
        """Recommended protocol, see `shuffledp.comparison.recommended`."""
        return recommended(self)

    def __str__(self) -> str:
        best = self.recommendation
        return "\n\n".join([*([] if best is None else [sentences(best)]), table(self)])

    def to_frame(self) -> DataFrame:
        """Return a data frame of pandas with a row per protocol. Raise MissingExtra without pandas."""
        with needed():
            import pandas as pd
        return pd.DataFrame([vars(row) for row in self])

    def _repr_html_(self) -> str:
        """Return the printed text for notebooks, which needs no pandas."""
        return f"<pre>{escape(str(self))}</pre>"

    def plot(self) -> Figure:
        """Return a Matplotlib figure of error against bits per user.

        Raises ValueError if no row has an error, MissingExtra without Matplotlib.
        """
        from shuffledp.comparison.drawing import grouped, picture

        with needed():
            return picture(grouped(self), "")
