"""Interface of a protocol: four required methods, and further methods with defaults.

A protocol is a calibrated frozen dataclass: its fields have the local budget, the number of dummies and so on. Its
state never changes, and every method that draws takes a ``numpy.random.Generator``. The interface has three layers:
claims (`_claims`), calibration (`_calibration`) and simulation (`_simulation`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, final

from shuffledp.accounting.errors import Infeasible
from shuffledp.guarantees import Guarantee
from shuffledp.protocols._calibration import Calibration
from shuffledp.protocols._claims import Trust as Trust
from shuffledp.protocols._simulation import Simulation
from shuffledp.protocols.messages import Cost

if TYPE_CHECKING:
    from shuffledp.protocols.client.description import Client


@dataclass(frozen=True)
class Summary:
    """Guarantee, calibrated numbers and cost of a protocol, as in a row of a results table."""

    guarantee: Guarantee
    guarantee_note: str
    parameters: Mapping[str, float]
    cost: Cost

    @property
    def eps_local(self) -> float | None:
        """Local budget of a report in nats; None for a protocol without one."""
        return self.parameters.get("eps_local")


@dataclass(frozen=True)
class ProtocolBase(Simulation):
    """Base class of every protocol, built-in or plug-in.

    Concrete protocols are frozen dataclasses that set the class variables and define ``fit``, ``encode``,
    ``estimate`` and ``cost``. If ``sample_aggregate`` draws from the exact law of the aggregate, the time of a
    simulation does not grow with the number of users. ``expected_variance`` adds the theory line to every figure
    (``expected_squared_error`` for biased estimates). The conformance checks compare ``privacy_profile`` with the
    claimed guarantee.

    The ``guarantee`` of a calibrated protocol is the label of its claim, see `shuffledp.guarantees`: ``exact``,
    ``upper``, ``approximate``, ``unproven`` or ``violated``. A protocol with one label for all claims sets a class
    variable, ``guarantee = "exact"``. Otherwise ``guarantees`` has a `Standing` per accounting, ``calibrate`` sets
    ``calibrated_under=accounting``, and the class overrides ``standing`` if options or calibrated numbers matter.
    Without either, the label is a proven upper bound.

    Parameters
    ----------
    calibrated_under : str
        The accounting that ``calibrate`` used.
    calibrated_for : Task, optional
        The task that ``calibrate`` used, None for a protocol that was made without it.

    Notes
    -----
    Inputs, counts and aggregates of another task raise ValueError in all methods, as do more users than the analyzer
    can decode (``capacity``). Otherwise all methods work for any number of users. The guarantee is for ``least_users``
    or more. `simulate` warns of fewer.
    """

    def __init_subclass__(cls, **settings: Any) -> None:
        """Set ``accountings`` to the keys of ``guarantees`` if no class of the hierarchy sets them."""
        super().__init_subclass__(**settings)
        sets_accountings = any("accountings" in vars(base) for base in cls.__mro__ if base is not Calibration)
        if cls.guarantees and not sets_accountings:
            cls.accountings = tuple(cls.guarantees)

    #: Name in legends.
    label: ClassVar[str]
    #: Citation with theorem or equation number.
    source: ClassVar[str]
    reduction: ClassVar[str] = "own"
    #: Sentence with the reason why `client` raises an error.
    no_client: ClassVar[str] = "None is written for it."

    @property
    def remark(self) -> str:
        """Remark on the calibration for readers of a comparison; empty for most protocols."""
        return ""

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        """Raise ValueError for options of ``calibrate`` that are wrong under every budget; by default no option is.

        The configuration's reader calls this method before any job runs.
        """

    @final
    def summary(self) -> Summary:
        """Return the guarantee, the calibrated numbers and the cost."""
        return Summary(self.guarantee, self.guarantee_note, self.parameters(), self.cost())

    def client(self) -> Client:
        """Return the client, shuffler and analyzer of a deployment.

        Raises
        ------
        Infeasible
            With the reason, if no client is written for this protocol.
        """
        raise Infeasible(f"{self.name} has no client. {self.no_client}")

    @final
    def export_client(self, folder: str | Path, **about: Any) -> None:
        """Write the client, shuffler, analyzer, parameters and test vectors of a deployment into a new folder.

        Parameters
        ----------
        folder : str or Path
            New or empty folder.
        **about
            Further entries of ``parameters.json``, such as the budget. With ``domain`` the client takes values, not
            inputs: ``{"values": [..], "other": None}`` has a value per input, and ``other`` may be the index of the
            value for all others; ``{"low": .., "high": .., "unit": ..}`` is the range of a sum.

        Raises
        ------
        Infeasible
            If no client is written for this protocol.
        ValueError
            If the folder has files, or its parent does not exist.
        """
        self.write_client(self.client(), folder, about)

    @final
    def write_client(self, client: Client, folder: str | Path, about: Mapping[str, Any]) -> None:
        """Write the programs of a client of this protocol, see `export_client`."""
        local = self.local_epsilon()
        listed = getattr(self, "population", None) is None and "dropout" not in about
        facts = {
            "protocol": self.name,
            "task": self.task_kind,
            **about,
            "guarantee": about.get("guarantee", self.guarantee),
            "guarantee_note": self.guarantee_note,
            "least_users": self.least_users,
            "places": client.users if listed else None,
            "honest": self.honest(),
            "eps_local": local if local is not None and math.isfinite(local) else "inf",
            "if_shuffler_fails": self.if_shuffler_fails(about.get("rounds", 1)),
            "calibrated": {
                name: number
                for name, number in self.parameters().items()
                if name not in ("n_users", "domain_size", "eps_local")
            },
        }
        # Jobs write no clients: a plain import would rerun all of them after an edit of a client's program.
        import_module(f"{__package__}.client.export").export(client, Path(folder), facts)
