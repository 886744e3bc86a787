"""Functions that a configuration may name, with their quantities and guarantees.

The arguments of these functions can be written in a configuration. The result is a budget or a delta of the central
guarantee, of the local guarantee, or of the guarantee against the shuffler, or an error of a calibrated protocol.
Conventions: eps in nats; `standing` returns the guarantee of the function with the given arguments, for the neighboring
relation of the function.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

from shuffledp.accounting.general.clones import clone_rate
from shuffledp.guarantees import (
    EXACT,
    FORGOTTEN_RESIDUAL,
    FROM_BELOW,
    NULL_CLONES,
    NUMBER_OF_MESSAGES,
    OWN_COIN,
    RAPPOR_STANDINGS,
    SIMPLIFIED,
    UPPER,
    Standing,
)
from shuffledp.populations.base import Fixed
from shuffledp.populations.bounds import SubExponential, SubGaussian
from shuffledp.populations.laws import Binomial

Arguments = Mapping[str, Any]

_PAIR = "Theorem 1 is exact for one pair of data sets, which is not proven to be the worst for records in a ball (SG-4)"
#: Guarantee of all functions that use Theorem 1 of the shuffle Gaussian mechanism.
ONE_PAIR = Standing("unproven", _PAIR)
#: Guarantee of Theorem 1 if, in addition, the participation rate is taken at its mean.
MEAN_RATE = Standing("unproven", f"{_PAIR}; and the participation rate is taken at its mean (SG-9)")
#: Guarantee of the baselines of shuffled check-in.
MEAN_PARTICIPANTS = Standing("unproven", "the number of participants is taken at its mean")
CLASSICAL_GAUSSIAN = Standing(
    "unproven",
    "the classical calibration of Gaussian noise is proven for a local eps below 1, and is used beyond it",
)
SUB_GAUSSIAN = Standing(
    "violated",
    "the constants of Theorem 4c do not fit a variance proxy (RP-N10): a clamped normal population exceeds delta",
)
BELOW_THE_MEAN = Standing(
    "unproven",
    "the tail bound covers numbers below the mean only, and Theorem 4d relies on larger numbers of users",
)
CONTINUOUS_NOISE = Standing("approximate", "integer noise is treated as continuous noise")
AS_PRINTED = Standing("unproven", "the source prints the formula without a proof")
ONE_RECORD_MORE = Standing("upper", "for adding or removing one record, not for replacing it")


@dataclass(frozen=True)
class NamedFunction:
    """A public function that a configuration may name. It returns the given quantity, a float.

    `rule` maps all arguments by name, defaults included, to the guarantee of the result.
    """

    name: str
    quantity: str
    rule: Callable[[Arguments], Standing]
    package: str = "shuffledp.accounting"

    @property
    def function(self) -> Callable[..., float]:
        """Function with checks of its arguments. Only the module that defines the function is imported."""
        function: Callable[..., float] = getattr(import_module(self.package), self.name)
        return function

    def standing(self, arguments: Arguments) -> Standing:
        """Return the guarantee of the function's result; raise ValueError if an argument is missing or unknown."""
        try:
            bound = inspect.signature(self.function).bind(**arguments)
        except TypeError as error:
            raise ValueError(f"{self.name}: {error}.") from None
        bound.apply_defaults()
        return self.rule(bound.arguments)


def _always(standing: Standing) -> Callable[[Arguments], Standing]:
    return lambda arguments: standing


def _clones(arguments: Arguments) -> Standing:
    """Return the guarantee of a clones bound, which depends on the accounting and on the population."""
    population, accounting = arguments["population"], arguments["accounting"]
    if accounting == "simplified":
        return UPPER if _enough_clones(arguments) else SIMPLIFIED
    if accounting == "printed" and isinstance(population, SubGaussian):
        return SUB_GAUSSIAN
    if accounting == "printed" and isinstance(population, SubExponential):
        return UPPER if 4 * population.a >= arguments["delta"] else BELOW_THE_MEAN
    return UPPER


def _enough_clones(arguments: Arguments) -> bool:
    """Return whether the theorem of the simplified form applies. It needs a fixed or binomial population, no dummies,
    and enough expected clones.
    """
    population, eps_local = arguments["population"], arguments.get("eps_local")
    if eps_local is None or arguments["dummies"] or not isinstance(population, (Fixed, Binomial)):
        return False
    clones = population.mean * clone_rate(eps_local, arguments["reduction"])
    return clones >= 14 * math.log(4 / arguments["delta"])


def _checkin(arguments: Arguments) -> Standing:
    return UPPER if arguments["rate"] == 1 else OWN_COIN


def _numerical(arguments: Arguments) -> Standing:
    """Return ``exact`` for divergences of the mechanism itself, ``upper`` for closed forms."""
    return EXACT if arguments["accounting"] == "exact" else UPPER


def _normal_noise(arguments: Arguments) -> Standing:
    """Return ``upper`` for the printed accounting. Otherwise the guarantee is approximate, because integer noise is
    treated as continuous.
    """
    return UPPER if arguments["accounting"] == "printed" else CONTINUOUS_NOISE


def _without_noise(arguments: Arguments) -> Standing:
    """Return ``exact`` without randomized response. Otherwise return ``upper``, because the assumed adversary observes
    more than the messages.
    """
    return EXACT if arguments["eps_local"] == math.inf else UPPER


def _gaussian_clones(arguments: Arguments) -> Standing:
    return UPPER if arguments["calibration"] == "analytic" else CLASSICAL_GAUSSIAN


def _gaussian_local(arguments: Arguments) -> Standing:
    return EXACT if arguments["calibration"] == "analytic" else CLASSICAL_GAUSSIAN


def _shuffled_checkin(arguments: Arguments) -> Standing:
    return MEAN_RATE if arguments["form"] == "printed" else ONE_PAIR


def _segmented(arguments: Arguments) -> Standing:
    if arguments["blanket_law"] == "poisson" or arguments["reporting_rate"] == 1:
        return UPPER  # the adversary knows the reports of all others
    return NUMBER_OF_MESSAGES


def _variation_ratio(arguments: Arguments) -> Standing:
    """Return ``upper`` for the variation-ratio reduction, or ``violated`` for ``sound=False`` with a residual
    component.
    """
    p, beta = arguments["p"], arguments["beta"]
    most = 1.0 if math.isinf(p) else (p - 1) / (p + 1)
    if arguments["sound"] is not False or beta >= most * (1 - 1e-12):
        return UPPER
    return FORGOTTEN_RESIDUAL


def _allocation(arguments: Arguments) -> Standing:
    """Return the label of an upper bound for adding or removing one user, or the label of a lower bound."""
    return ONE_RECORD_MORE if arguments["bound"] == "upper" else FROM_BELOW


def _shuffled_batches(arguments: Arguments) -> Standing:
    """Return the label of an upper bound for zero-out neighbors, or the label of a lower bound."""
    return NULL_CLONES if arguments["side"] == "upper" else FROM_BELOW


def _deployed(arguments: Arguments) -> Standing:
    """Return the label ``upper``, for all data sets of the other users, or the label of a lower bound."""
    return UPPER if arguments["bound"] == "upper" else FROM_BELOW


def _calibrated(arguments: Arguments) -> Standing:
    """Return the label of the calibrated protocol."""
    return UPPER if arguments["protocol"] in ("grr_blanket", "jump_counts") else EXACT


def _rappor(arguments: Arguments) -> Standing:
    return RAPPOR_STANDINGS[arguments["calibration"]]


def _entries(
    *entries: tuple[str, str, Callable[[Arguments], Standing]]
    | tuple[str, str, Callable[[Arguments], Standing], str],
) -> Mapping[str, NamedFunction]:
    return MappingProxyType({entry[0]: NamedFunction(*entry) for entry in entries})


#: By name; all other public functions are for Python only.
NAMED_FUNCTIONS: Mapping[str, NamedFunction] = _entries(
    # a random population
    ("amplified_epsilon", "eps", _clones),
    ("local_budget", "eps_local", _clones),
    ("clone_delta", "delta", _always(UPPER)),
    ("checkin_epsilon", "eps", _checkin),
    ("checkin_local_budget", "eps_local", _checkin),
    ("closed_form_clones_epsilon", "eps", _always(UPPER)),
    ("erlingsson_epsilon", "eps", _always(AS_PRINTED)),
    ("expected_polya_delta", "delta", _always(UPPER)),
    ("negative_binomial_delta", "delta", _always(EXACT)),
    ("multi_expected_delta", "delta", _normal_noise),
    # dummies and blankets
    ("dummy_delta", "delta", _always(EXACT)),
    ("dummy_epsilon", "eps", _numerical),
    ("dummy_cells_delta", "delta", _always(EXACT)),
    ("dummy_cells_epsilon", "eps", _always(EXACT)),
    ("blanket_delta", "delta", _always(EXACT)),
    ("blanket_local_budget", "eps_local", _always(UPPER)),
    ("design_delta", "delta", _always(UPPER)),
    ("design_local_budget", "eps_local", _always(UPPER)),
    ("grr_blanket_delta", "delta", _always(UPPER)),
    ("grr_blanket_epsilon", "eps", _always(UPPER)),
    ("allocation_delta", "delta", _allocation),
    ("allocation_epsilon", "eps", _allocation),
    ("shuffled_batches_delta", "delta", _shuffled_batches),
    ("shuffled_batches_epsilon", "eps", _shuffled_batches),
    ("flexible_dummy_delta", "delta", _without_noise),
    ("pure_shuffler_epsilon", "eps", _numerical),
    ("mix_shuffler_epsilon", "eps", _numerical),
    ("two_bins_delta", "delta", _always(EXACT)),
    ("rows_delta", "delta", _always(UPPER)),
    # sets
    ("segmented_delta", "delta", _segmented),
    ("all_counts_delta", "delta", _always(UPPER)),
    ("user_level_delta", "delta", _always(UPPER)),
    ("variation_ratio_delta", "delta", _variation_ratio),
    ("variation_ratio_epsilon", "eps", _variation_ratio),
    # sums
    ("rappor_delta", "delta", _rappor),
    ("negative_binomial_shift_delta", "delta", _always(EXACT)),
    # systems in use
    ("deployed_epsilon", "eps", _deployed, "shuffledp.accountant"),
    ("randomizer_epsilon", "eps", _deployed, "shuffledp.accountant"),
    ("deployed_printed", "eps", _always(AS_PRINTED), "shuffledp.accountant"),
    # ranges of ordered values
    ("prefix_error", "error", _calibrated, "shuffledp.comparison"),
    ("best_levels", "levels", _calibrated, "shuffledp.comparison"),
    ("tree_error", "error", _calibrated, "shuffledp.comparison"),
    ("local_report_error", "error", _always(EXACT), "shuffledp.comparison"),
    # Gaussian reports
    ("shuffle_gaussian_epsilon", "eps", _always(ONE_PAIR)),
    ("subsampled_shuffle_gaussian_epsilon", "eps", _always(ONE_PAIR)),
    ("checkin_shuffle_gaussian_epsilon", "eps", _shuffled_checkin),
    ("checkin_theorem3_epsilon", "eps", _always(MEAN_RATE)),
    ("checkin_baseline_epsilon", "eps", _always(MEAN_PARTICIPANTS)),
    ("checkin_generic_epsilon", "eps", _always(MEAN_PARTICIPANTS)),
    ("subsampled_gaussian_epsilon", "eps", _always(UPPER)),
    ("gaussian_clones_epsilon", "eps", _gaussian_clones),
    ("gaussian_local_epsilon", "eps_local", _gaussian_local),
    ("optimal_composition", "eps", _always(EXACT)),
    ("central_gaussian_epsilon", "eps", _always(ONE_RECORD_MORE)),
    ("central_replacement_epsilon", "eps", _always(UPPER)),
)
