"""Deployed systems with shuffled or summed reports: the settings in public texts, and their accounting.

The file ``deployed.json``, with the fields of `Deployment`, contains the statements of the texts: settings, the printed
central eps, its place, and the part of the text that was read. It omits settings that this part does not state. A
system with a missing setting is listed and not computed.

Conventions: eps in nats; one user's input is replaced; `users` counts all users, including colluding users.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Annotated, Literal

from shuffledp.accountant.answers import Answer
from shuffledp.accountant.deployments import amplification, smallest_batch
from shuffledp.accounting.baselines.symmetric_rappor import SymmetricRAPPOR
from shuffledp.numerics.argument_ranges import check_choice, one_of

Status = Literal["verified", "incomplete"]

PACKAGE_DATA = ("deployed.json",)
#: Bounds on the central eps that a configuration may request.
BOUNDS = ("upper", "lower")


@dataclass(frozen=True)
class Deployment:
    """Settings of a deployed system according to a public text.

    Parameters
    ----------
    system : str
        Name and description.
    randomizer : str
        ``symmetric_rappor``, whose sums the analyzer receives. Any other value is a description of a system that is not
        computed.
    source, place, read : str
        Address of the text, place in it, and the part that was read.
    eps0 : float, optional
        Local budget by the convention of the text, nats.
    users : int, optional
        Number of all users.
    delta : float, optional
    eps : float, optional
        Central eps that the text prints, nats.
    missing : str
        Settings that were not found; empty if all were found.
    """

    system: str
    randomizer: str
    source: str
    place: str
    read: str
    eps0: float | None = None
    users: int | None = None
    delta: float | None = None
    eps: float | None = None
    missing: str = ""

    @property
    def status(self) -> Status:
        """Status of the settings: ``verified`` if the text that was read states all of them."""
        return "incomplete" if self.missing else "verified"


@cache
def deployments() -> Mapping[str, Deployment]:
    """Return all systems by key, in the order of the file: exact copies of the texts, each with its source."""
    path = resources.files("shuffledp.accountant").joinpath(*PACKAGE_DATA)
    content = json.loads(path.read_text(encoding="utf-8"))
    return MappingProxyType({key: Deployment(**value) for key, value in content.items()})


def deployed_answer(deployment: str, *, users: int | None = None, colluding: float = 0.0) -> Answer:
    """Return the central guarantee of a system with its own settings.

    Sources as for :func:`shuffledp.accounting.amplification`; replacement neighbors.

    Parameters
    ----------
    deployment : str
        A key of :func:`deployments`.
    users : int, optional
        Another number of users, >= 1.
    colluding : float
        In [0, 1): fraction of the users who reveal their reports to the analyzer.

    Returns
    -------
    Answer
        As from :func:`shuffledp.accounting.amplification`. `eps` is an upper bound, for every data set of the other
        users; `eps_lower` is the privacy loss for some data set.

    Raises
    ------
    ValueError
        If there is no such system, or one of its settings was not found.
    """
    known, randomizer = _computable(deployment)
    return amplification(
        users=known.users if users is None else users,
        delta=known.delta,
        randomizer=randomizer,
        colluding=colluding,
    )


def deployed_epsilon(
    deployment: str,
    *,
    users: int | None = None,
    colluding: float = 0.0,
    bound: Annotated[str, one_of(BOUNDS)] = "upper",
) -> float:
    """Return a bound on the central eps of a system with its own settings.

    Sources as for :func:`shuffledp.accounting.amplification`; replacement neighbors.

    Parameters
    ----------
    deployment, users, colluding
        As in :func:`deployed_answer`, which raises the same errors.
    bound : {"upper", "lower"}
        Upper: for every data set of the other users. Lower: the privacy loss for some data set, which is no guarantee.

    Returns
    -------
    float
        Nats, > 0; an upper or a lower bound, by `bound`.

    Examples
    --------
    >>> from shuffledp.accounting import deployed_epsilon
    >>> round(deployed_epsilon("DAP, eps0 = 5", bound="lower"), 3)
    0.297
    """
    answer = deployed_answer(deployment, users=users, colluding=colluding)
    if bound == "upper" or answer.eps_lower is None:
        return answer.eps
    return answer.eps_lower


def deployed_printed(deployment: Annotated[str, one_of(tuple(deployments()))]) -> float:
    """Return the central eps that a text prints for a system, valid or not.

    Parameters
    ----------
    deployment : str
        A key of :func:`deployments`.

    Returns
    -------
    float
        Nats; a statement of the source in :func:`deployments`, with its number of users and its delta. It errs on
        either side.

    Raises
    ------
    ValueError
        If there is no such system, or its text prints no eps.
    """
    printed = deployments()[deployment].eps
    if printed is None:
        raise ValueError(
            f"deployment must be one with a published central eps, got {deployment!r}. "
            f"Not found for it: {deployments()[deployment].missing}."
        )
    return printed


def deployed_users(deployment: str, *, colluding: float = 0.0) -> int:
    """Return a number of users that suffices for the eps that a system prints.

    Sources as for :func:`shuffledp.accounting.smallest_batch`; replacement neighbors.

    Parameters
    ----------
    deployment, colluding
        As in :func:`deployed_answer`, which raises the same errors.

    Returns
    -------
    int
        Number of all users; never too few.
    """
    known, randomizer = _computable(deployment)
    return int(
        smallest_batch(eps=known.eps, delta=known.delta, randomizer=randomizer, colluding=colluding).users
    )


def _computable(deployment: str) -> tuple[Deployment, SymmetricRAPPOR]:
    check_choice("deployment", deployment, tuple(deployments()))
    known = deployments()[deployment]
    if known.status != "verified" or known.eps0 is None:
        raise ValueError(f"The eps of {deployment} cannot be computed. Not found for it: {known.missing}.")
    # Two values: an upper bound for any number of them, and a lower bound that needs no third one.
    return known, SymmetricRAPPOR(known.eps0, 2)
