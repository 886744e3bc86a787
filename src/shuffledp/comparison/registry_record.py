"""A calibrated protocol as a record of the public registry of deployments (opendp/deployments-registry-data).

The registry describes deployments in YAML. Fields that follow from the protocol and its accounting have values; fields
that only a deployer can complete are marked as open. Names and choices of fields follow the registry's schema at its
commit 057e5d81cf60.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.most_messages import RARE
from shuffledp.comparison.error_references import expected
from shuffledp.comparison.releases import Releases, calibrate_releases, releases_within
from shuffledp.comparison.rows import ERROR_OF, TRUST, finite, sender, whole_text
from shuffledp.comparison.setting import Setting, check_dropout, conditions
from shuffledp.numerics.argument_ranges import check_positive
from shuffledp.numerics.rounding import number_text, parameter_text
from shuffledp.populations.base import Fixed
from shuffledp.protocols.base import ProtocolBase, Trust
from shuffledp.protocols.messages import Cost
from shuffledp.protocols.registry import class_identity, label_of
from shuffledp.tasks import Budget

#: Name of each trust model in the registry.
MODELS: Mapping[Trust, str] = {
    "shuffler": "Shuffle",
    "shuffler_adds": "Shuffle",
    "secure_sum": "Federated",
    "central": "Central",
    "local": "Local",
}
_PROMISES: Mapping[Trust, str] = {
    "shuffler": "The shuffler permutes the messages of all users and does not collude with the analyzer.",
    "shuffler_adds": (
        "The shuffler permutes, samples or adds messages as specified and does not collude with the analyzer."
    ),
    "secure_sum": "The analyzer sees the sum of the messages of all users and nothing else.",
    "central": "The curator sees the data and adds the noise.",
    "local": "No other party: every user adds the noise.",
}
_NEIGHBORS = {
    "replace_one": (
        "Two data sets are adjacent if the input of one user is replaced by another; who takes part is the same."
    ),
    "add_remove": "Two data sets are adjacent if one of them has the data of one more user.",
}
OPEN = "to be filled in"


@dataclass(frozen=True)
class Open:
    """Field for the deployer of a protocol to fill in, with a value that the schema accepts."""

    value: str


#: Fields of a deployment that are the same for all deployments.
BASIC: Mapping[str, Any] = {
    "name": Open(""),
    "data_curators": [{"data_curator_name": Open(""), "data_curator_type": Open("Industry")}],
    "description": Open(""),
    "intended_use": Open(""),
    "data_product_type": "Summary statistics",
    "data_product_region": Open(""),
    "publication_date": Open("1900-01-01"),
}


@dataclass(frozen=True)
class Described:
    """Protocol calibrated for a setting, without the data. A first round announces the most likely number of users.

    `mse` is the mean squared error as a comparison states it, or None without a closed form.
    """

    protocol: ProtocolBase
    where: Setting
    accounting: str
    mse: float | None
    releases: Releases | None = None

    @property
    def guarantee(self) -> str:
        """Label of the guarantee of all releases."""
        return self.protocol.guarantee if self.releases is None else self.releases.guarantee


def described(protocol: type[ProtocolBase], where: Setting, accounting: str) -> Described:
    """Return a protocol calibrated for a setting. Raise Infeasible if the budget or the accounting is impossible."""
    if accounting not in protocol.accountings:
        raise Infeasible(
            f"{protocol.name} has no {accounting} accounting, but {', '.join(protocol.accountings)}."
        )
    calibrated = protocol.calibrated(where.budget, where.population, where.task, accounting=accounting)
    participants, weights = where.usual
    usual = calibrated.refine(participants.public.of_repeat(0))
    check_dropout(where, usual)
    if where.rounds == 1:
        return Described(usual, where, accounting, expected(calibrated, participants, weights))
    releases = calibrate_releases(usual, where, accounting)
    return Described(
        releases.protocol, where, accounting, expected(releases.protocol, participants, weights), releases
    )


def record(description: Described) -> dict[str, Any]:
    """Return the record in the registry's schema: plain data, and `Open` for fields that a deployer completes.

    eps is in nats, and the status is draft.
    """
    protocol, budget = description.protocol, description.where.budget
    parameters: dict[str, Any] = {"epsilon": float(budget.largest_eps)}
    if budget.delta > 0:
        parameters["delta"] = float(budget.delta)
    variant = {
        "variant_name": "Approximate DP" if budget.delta > 0 else "Pure DP",
        "data_domain": _domain(description),
        "unprotected_quantities": _unprotected(description),
    }
    loss = {
        "privacy_unit": "User",
        "privacy_unit_details": _NEIGHBORS[budget.neighbours],
        "number_of_privacy_units": round(1 + description.where.population.mean),
        "privacy_parameters": parameters,
        "privacy_parameters_details": accounted(description),
    }
    model = {
        "model_name": MODELS[protocol.trust],
        "trust_assumptions": f"Users trust {TRUST[protocol.trust]}. {_PROMISES[protocol.trust]} {protocol.honest()} "
        f"{protocol.enforced()} {protocol.if_shuffler_fails(description.where.rounds)}",
        "release_type": Open("One release"),
        "data_source_type": Open("Static"),
        "access_type": "Non-interactive",
    }
    implementation = {
        "preprocessing_and_hyperparameter_tuning": Open(""),
        "mechanisms": mechanism(description),
        "composition": composition(description),
        "post_processing": "Estimates are computed from what the analyzer sees, without further use of the data.",
        "justification": Open(""),
        "utility": utility(description),
    }
    administrative = {"status": "Draft", "registry_authors": [Open("")], "tier": 3}
    return {
        "url_slug": Open(re.sub(r"[^a-z0-9]+", "-", f"{protocol.name} {protocol.task_kind}".lower())),
        "deployment": {
            "basic": BASIC,
            "dp_variant": variant,
            "privacy_loss": loss,
            "deployment_model": model,
            "implementation": implementation,
            "administrative": administrative,
        },
    }


def privacy_claim(
    budget: Budget,
    *,
    trust: Trust,
    relies_on: str | None,
    eps_local: float | None,
    if_shuffler_fails: str,
    guarantee: str | None,
    accounting: str,
    rounds: int = 1,
    dropout: float | None = None,
    colluding: float | None = None,
    eps_colluding: float | None = None,
) -> dict[str, Any]:
    """Return a privacy claim as plain data, by the questions that NIST SP 800-226 asks about a guarantee.

    eps in nats, an infinite number as the text ``inf``. `colluding` is the share of the users for `eps_colluding`.
    """
    return finite(
        {
            "guideline": "NIST SP 800-226",
            "epsilon": float(budget.largest_eps),
            "delta": float(budget.delta),
            "unit": "user",
            "relation": budget.neighbours,
            "relation_in_words": _NEIGHBORS[budget.neighbours],
            "rounds": rounds,
            "trust": {
                "model": trust,
                "trusted": TRUST[trust],
                "promise": _PROMISES[trust],
                "if_it_fails": if_shuffler_fails,
                "eps_local": eps_local,
            },
            "collusion": {
                "relies_on": relies_on,
                "colluding": colluding,
                "epsilon": eps_colluding,
                "dropout_planned": dropout or 0.0,
            },
            "guarantee": guarantee,
            "accounting": accounting,
        }
    )


def accounted(description: Described) -> str:
    """Return sentences on the accounting and the guarantee."""
    protocol = description.protocol
    note = f" ({protocol.guarantee_note})" if protocol.guarantee_note else ""
    return (
        f"eps in nats. Accounting: {description.accounting}; reduction: {protocol.reduction}; guarantee: "
        f"{description.guarantee}{note}. Number of the other users: {description.where.population!r}."
    )


def composition(description: Described) -> str:
    """Return a sentence on the releases that the privacy parameters are for, and on the eps of one release."""
    if (releases := description.releases) is None:
        return "The privacy parameters are for one round."
    eps_one, eps_all = (number_text(eps or 0.0, "up", 4) for eps in (releases.eps_one, releases.eps_all))
    lower = (
        "" if releases.eps_lower is None else f" and at least {number_text(releases.eps_lower, 'down', 4)}"
    )
    crowds = {"fixed": "known", "shared": "drawn once", "fresh": "drawn anew for every release"}
    return (
        f"The privacy parameters are for {releases.rounds:,} releases to the same users together: eps is at "
        f"most {eps_all}"
        f"{lower}, and {eps_one} for one release, at the same delta ({releases.status}). The number of users is "
        f"{crowds[description.where.crowd]}."
    )


def releases_until(description: Described, eps: float) -> str:
    """Return a sentence on the number of releases in all with at most this eps, nats, at the delta of the setting."""
    profile, where = description.protocol.privacy_profile(), description.where
    if profile is None or (where.crowd != "fixed" and description.protocol.relies_on != "no other user"):
        raise Infeasible("The releases within an eps need a profile and a known number of users.")
    most = releases_within(
        profile, check_positive("until_eps", eps), where.budget.delta, description.protocol
    )
    number_words = "1 release in all has" if most == 1 else f"{most:,} releases in all have"
    change = most - where.rounds
    change_words = (
        ""
        if change == 0
        else f", {abs(change):,} {'more' if change > 0 else 'fewer'} than the {where.rounds:,} asked for"
    )
    return f"{number_words} eps at most {number_text(eps, 'up')}{change_words}."


def mechanism(description: Described) -> str:
    """Return the protocol's parameters and a user's messages, on average and at most."""
    protocol = description.protocol
    cost = protocol.cost()
    parameters_text = "; ".join(
        f"{name} = {parameter_text(value)}" for name, value in protocol.parameters().items()
    )
    sent_conditions = conditions(description.where, protocol)["messages_per_user"]
    sent = (
        f"A {sender(protocol.task_kind)} sends {sent_conditions.text(cost.messages_per_user, 6)} messages of "
        f"{sent_conditions.text(cost.bits_per_message, 6)} bits in expectation"
    )
    if cost.shuffler_messages:
        sent += f", the shuffler adds {sent_conditions.text(cost.shuffler_messages, 6)} in all"
    sent += f", {sent_conditions.clause}"
    remark = f" Calibration: {protocol.remark}." if protocol.remark else ""
    identity = class_identity(type(protocol))
    what = "" if identity is None else f" {identity.sentence}"
    proof = f"; proof: {protocol.proof}" if protocol.proof else ""
    numbers = f"Parameters: {parameters_text}. " if parameters_text else ""
    about = f"{label_of(type(protocol))} ({protocol.source}{proof}).{what}"
    return f"{about} {numbers}{sent}. {_most(cost)}{remark}"


def _most(cost: Cost) -> str:
    """Return a sentence about the largest number of messages and bits of any user."""
    if cost.most_messages is None:
        return "The most that a user sends is not stated."
    assert cost.most_bits is not None
    most = f"{whole_text(cost.most_messages)} messages, {whole_text(cost.most_bits)} bits"
    rarely = (
        ""
        if cost.most_certain
        else f", except with a probability of at most {RARE:g} for all of them together"
    )
    return f"No user sends more than {most}{rarely}."


def utility(description: Described) -> str:
    """Return a sentence about the expected error."""
    if description.mse is None:
        return "The expected error has no closed form."
    what = ERROR_OF[description.where.task.kind][0]
    error_conditions = conditions(description.where, description.protocol)["mse"]
    return (
        f"Expected mean squared error of {what}: {error_conditions.text(description.mse, 6)}, "
        f"{error_conditions.clause}."
    )


def _domain(description: Described) -> str:
    return f"One input per user. Task: {description.where.task!r}."


def _unprotected(description: Described) -> str:
    if description.where.budget.neighbours == "add_remove":
        divided = description.protocol.task_kind in ("frequency", "vectors")
        return "None." + (" Estimates are divided by the planned number of users." if divided else "")
    if isinstance(description.where.population, Fixed):
        return "The number of users, which is fixed."
    return "Who takes part, and so the number of users."


def as_yaml(content: Mapping[str, Any]) -> str:
    """Return a record as YAML, with a comment at open fields."""
    return "\n".join(_yaml(content, "")) + "\n"


def _yaml(content: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield f"{indent}{key}:"
            yield from _yaml(value, indent + "  ")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{indent}{key}:"
            for item in value:
                if isinstance(item, Mapping):
                    first, *rest = _yaml(item, f"{indent}    ")
                    yield f"{indent}  - {first.strip()}"
                    yield from rest
                else:
                    yield f"{indent}  - {_scalar(item)}"
        else:
            yield f"{indent}{key}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    if isinstance(value, Open):
        return f"{_scalar(value.value)}  # {OPEN}"
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"A record holds finite numbers, got {value!r}.")
        mantissa, e, exponent = repr(value).partition("e")
        # Parsers of YAML 1.1 take a number without a point for a text.
        return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"
    return json.dumps(value, ensure_ascii=False)
