"""Deployed systems with shuffled or summed reports: the settings in public texts, and their accounting.

The file ``deployed.json``, with the fields of `Deployment`, contains the statements of the texts: settings, the printed
central eps, its place, and the part of the text that was read. It omits settings that this part does not state. A
system with a missing setting is listed and not computed.

Conventions: eps in nats; one user's input is replaced; `users` counts all users, including colluding users.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from types import MappingProxyType
from typing import Annotated, Literal

from shuffledp.accountant.answers import BOUNDS, Answer
from shuffledp.accountant.batches import checked_fraction, people_of
from shuffledp.accountant.shuffled_rounds import SHUFFLED, amplification, smallest_batch
from shuffledp.accounting.baselines.symmetric_rappor import SymmetricRAPPOR
from shuffledp.accounting.general.dummy_cells import MOST_MEAN, dummy_cells_mean, groups_epsilon
from shuffledp.numerics.argument_ranges import check_choice, check_count, one_of

Status = Literal["verified", "incomplete"]
Rounds = Annotated[int, partial(check_count, least=1, most=1000)]


@dataclass(frozen=True)
class Deployment:
    """Settings of a deployed system according to a public text.

    Parameters
    ----------
    system : str
        Name and description.
    randomizer : str
        ``symmetric_rappor``, whose sums the analyzer receives, or ``poisson_dummies``, a histogram of true and
        fabricated messages. Any other value is a description of a system that is not computed.
    source, place, read : str
        Address of the text, place in it, and the part that was read.
    eps0 : float, optional
        Local budget by the convention of the text, nats.
    users : int, optional
        Number of all users.
    delta : float, optional
    eps : float, optional
        Central eps that the text prints, nats.
    dummies : tuple of float
        Mean number of dummies of a user in a cell, for each report.
    cells : int, optional
        Number of cells that the messages of a user change in each report.
    rounds : int
        Number of rounds with the same user and fresh noise.
    description, unit, assumed, unknown : str
        Mechanism, unit of privacy, assumptions of the text, and open points.
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
    dummies: tuple[float, ...] = ()
    cells: int | None = None
    rounds: int = 1
    description: str = ""
    unit: str = ""
    assumed: str = ""
    unknown: str = ""
    missing: str = ""

    @property
    def status(self) -> Status:
        """Status of the settings: ``verified`` if the text that was read states all of them."""
        return "incomplete" if self.missing else "verified"


@cache
def deployments() -> Mapping[str, Deployment]:
    """Return all systems by key, in the order of the file, with exact copies of the public texts and sources."""
    path = resources.files("shuffledp.accountant").joinpath("deployed.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            key: Deployment(**{**value, "dummies": tuple(value.get("dummies", ()))})
            for key, value in content.items()
        }
    )


def deployed_answer(
    deployment: str, *, users: int | None = None, colluding: float = 0.0, rounds: Rounds | None = None
) -> Answer:
    """Return the central guarantee of a system with its own settings.

    Sources as for :func:`shuffledp.accountant.amplification` and :func:`shuffledp.accounting.dummy_cells_epsilon`;
    replacement neighbors.

    Parameters
    ----------
    deployment : str
        A key of :func:`deployments`.
    users : int, optional
        Another number of users, >= 1.
    colluding : float
        In [0, 1): fraction of the users who reveal their reports to the analyzer.
    rounds : int, optional
        Another number of rounds, in [1, 1000].

    Returns
    -------
    Answer
        As from :func:`shuffledp.accountant.amplification`. `eps` is an upper bound, for every data set of the other
        users; `eps_lower` is the privacy loss for some data set.

    Raises
    ------
    ValueError
        If there is no such system, or one of its settings was not found.
    """
    record = _computable(deployment)
    everyone = record.users if users is None else users
    rounds = record.rounds if rounds is None else rounds
    if record.cells is None:
        return amplification(
            users=everyone,
            delta=record.delta,
            randomizer=_bits(record),
            colluding=colluding,
            rounds=rounds,
        )
    _, honest = people_of(everyone, None, colluding)
    changed = record.cells * rounds
    # More dummies only add noise, so that fewer than there are make an upper bound.
    groups = tuple((min((1 + honest.mean) * mean, MOST_MEAN), changed, changed) for mean in record.dummies)
    eps = groups_epsilon(groups, record.delta or 0.0)
    return Answer(
        question="amplification",
        eps=eps,
        eps_lower=None,
        eps_local=math.inf,
        users=everyone or 0,
        delta=record.delta or 0.0,
        reduction="own",
        guarantee="exact",
        note="",
        trust=SHUFFLED,
        neighbours="replace_one",
        population=repr(honest),
        randomizer=record.randomizer,
        rounds=rounds,
        crowd="fixed",
        colluding=float(colluding),
        considered=(("own", eps),) if math.isfinite(eps) else (),
    )


def deployed_epsilon(
    deployment: str,
    *,
    users: int | None = None,
    colluding: float = 0.0,
    rounds: Rounds | None = None,
    bound: Annotated[str, one_of(BOUNDS)] = "upper",
) -> float:
    """Return a bound on the central eps of a system with its own settings.

    Sources as for :func:`deployed_answer`; replacement neighbors.

    Parameters
    ----------
    deployment, users, colluding, rounds
        As in :func:`deployed_answer`, which raises the same errors.
    bound : {"upper", "lower"}
        Upper: for every data set of the other users. Lower: the privacy loss for some data set, which is no guarantee.

    Returns
    -------
    float
        Nats, > 0; an upper or a lower bound, by `bound`.

    Examples
    --------
    >>> from shuffledp.accountant import deployed_epsilon
    >>> round(deployed_epsilon("DAP, eps0 = 5", bound="lower"), 3)
    0.297
    """
    answer = deployed_answer(deployment, users=users, colluding=colluding, rounds=rounds)
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
        either side of the true eps.

    Raises
    ------
    ValueError
        If there is no such system, or its text prints no eps.
    """
    printed = deployments()[deployment].eps
    if printed is None:
        raise ValueError(
            f"deployment must be one with a published central eps, got {deployment!r}. "
            f"Not found for it: {deployments()[deployment].missing or 'an eps of all reports and rounds together'}."
        )
    return printed


def deployed_users(deployment: str, *, colluding: float = 0.0, rounds: Rounds | None = None) -> int:
    """Return a number of users that suffices for the eps that a system prints.

    Sources as for :func:`shuffledp.accountant.smallest_batch` and :func:`shuffledp.accounting.dummy_cells_mean`;
    replacement neighbors.

    Parameters
    ----------
    deployment, colluding, rounds
        As in :func:`deployed_answer`, which raises the same errors.

    Returns
    -------
    int
        Number of all users; never too few.

    Raises
    ------
    ValueError
        If the text prints no eps, too.
    """
    record = _computable(deployment)
    rounds = record.rounds if rounds is None else rounds
    eps, delta = deployed_printed(deployment), record.delta
    if record.cells is None:
        return int(
            smallest_batch(
                eps=eps, delta=delta, randomizer=_bits(record), colluding=colluding, rounds=rounds
            ).users
        )
    changed = record.cells * rounds
    honest = math.ceil(dummy_cells_mean(eps, delta or 0.0, changed, changed) / record.dummies[0])
    users = math.ceil(honest / (1 - checked_fraction(colluding)))
    return users if people_of(users, None, colluding)[1].mean + 1 >= honest else users + 1


def _computable(deployment: str) -> Deployment:
    check_choice("deployment", deployment, tuple(deployments()))
    record = deployments()[deployment]
    if record.status != "verified":
        raise ValueError(f"The eps of {deployment} cannot be computed. Not found for it: {record.missing}.")
    return record


def _bits(record: Deployment) -> SymmetricRAPPOR:
    # Two values: an upper bound for any number of them, and a lower bound that needs no third one.
    return SymmetricRAPPOR(record.eps0 or 0.0, 2)
