"""A deployed system in sentences, and as a record of the public registry (opendp/deployments-registry-data).

Names and choices of fields follow the registry's schema at its commit 3e9c812. Fields are marked as open if the public
text of the system does not give them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from shuffledp.accountant.deployed import deployed_answer, deployed_users, deployments
from shuffledp.comparison.registry_record import BASIC, Open
from shuffledp.numerics.rounding import number_text

if TYPE_CHECKING:
    from shuffledp.accountant.deployed import Deployment

#: Numbers of days for which a composition is stated.
_DAYS = (7, 30)


def deployed_sentences(key: str) -> list[str]:
    """Return sentences on a deployed system: mechanism, printed and computed eps, assumptions, open points."""
    deployment = _computable(key)
    answer = deployed_answer(key)
    lines = [
        deployment.system + (f". {deployment.description}" if deployment.description else "."),
        _loss(key, deployment),
        f"{answer.trust} {deployment.assumed}".strip(),
        _enforced(deployment),
        deployment.unknown and f"Open: {deployment.unknown}",
        f"Source: {deployment.source}, {deployment.place} ({deployment.read}).",
    ]
    return [line for line in lines if line]


def deployed_record(key: str) -> dict[str, Any]:
    """Return the record of a deployed system in the registry's schema: plain data, and `Open` for open fields."""
    deployment = _computable(key)
    if deployment.cells is None or deployment.eps is None:
        raise ValueError(f"{key} has no record: the registry is for deployed systems with a printed eps.")
    basic = {
        **BASIC,
        "name": deployment.system,
        "description": deployment.description,
        "data_product_sector": "Technology",
    }
    loss = {
        "privacy_unit": "device-day",
        "privacy_unit_details": deployment.unit,
        "privacy_parameters": {"epsilon": deployment.eps, "delta": deployment.delta},
        "privacy_parameters_details": _loss(key, deployment),
    }
    model = {
        "model_name": "Shuffle",
        "model_name_details": f"{deployment.assumed} {_enforced(deployment)}",
        "release_type": "Many releases",
        "data_source_type": "Dynamic",
        "access_type": "Non-interactive",
    }
    return {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", key.lower()),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": basic,
            "dp_variant": {
                "variant_name": "Approximate DP",
                "data_domain": "A histogram of event codes and rounded values.",
                "unprotected_quantities": f"That at least {deployment.users:,} devices reported.",
            },
            "privacy_loss": loss,
            "deployment_model": model,
            "accounting": {"composition": f"None stated. Computed: {_several(key)}."},
            "implementation": {"mechanisms": deployment.description},
            "administrative": {
                "registry_authors": [Open("")],
                "sources": f"{deployment.source}, {deployment.place}; read: {deployment.read}",
                "notes": f"Open: {deployment.unknown}",
            },
        },
    }


def _computable(key: str) -> Deployment:
    deployment = deployments()[key]
    if deployment.missing:
        raise ValueError(f"{key} cannot be described. Not found for it: {deployment.missing}.")
    return deployment


def _loss(key: str, deployment: Deployment) -> str:
    """Return sentences on the printed and the computed eps, in nats."""
    answer = deployed_answer(key)
    computed = (
        f"Computed: eps = {number_text(answer.eps, 'up')} (nats) at delta = {deployment.delta:g} with "
        f"{deployment.users:,} users, "
        f"{answer.guarantee}, for {answer.neighbours} neighbors."
    )
    if deployment.rounds > 1:
        computed = f"{computed} The number of rounds is {deployment.rounds}."
    if deployment.eps is None:
        return f"No eps is printed for all reports and rounds together. {computed}"
    return (
        f"Printed: eps = {deployment.eps:g}, delta = {deployment.delta:g}. {computed} {deployed_users(key):,} "
        "users suffice."
    )


def _several(key: str) -> str:
    return ", ".join(
        f"{days} days {number_text(deployed_answer(key, rounds=days).eps, 'up', 4)}" for days in _DAYS
    )


def _enforced(deployment: Deployment) -> str:
    """Return a sentence on the checks that bound the gain of fake devices."""
    from shuffledp.guarantees import ENFORCED

    return ENFORCED["range of a row" if deployment.cells is None else "capped messages"]
