"""Functions and objects of users with wrong results: each public function raises one clear error."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from shuffledp import accountant, accounting as a
from shuffledp.accounting.general.privacy_profile import delta_of
from shuffledp.accounting.user_functions import numbers_of
from shuffledp.guarantees import UPPER
from shuffledp.populations import Fixed


@dataclass(frozen=True)
class OwnProfile:
    """Profile of another package: Gaussian, except that `answer` replaces the value at some eps."""

    answer: Any = None
    kind = "upper"
    neighbours = "replace_one"
    view = "analyzer"
    source = "elsewhere"

    def delta(self, eps):
        right = a.GaussianProfile(0.5).delta(eps)
        return right if self.answer is None else self.answer(eps, right)


@dataclass(frozen=True)
class OwnRandomizer:
    """Randomized response of another package, or a randomizer whose comparisons are `answer`."""

    answer: Any = None
    eps_local: Any = 1.0
    standing: Any = UPPER

    def comparisons(self, side, tail):
        right = a.GRR(1.0, 3).comparisons(side, tail)
        return right if self.answer is None else self.answer(right)


def _raises(*_):
    raise KeyError("no such\nthing")


BAD_DELTAS = {
    "nan": lambda eps, right: right * math.nan,
    "shape": lambda eps, right: np.append(right, 0.5),
    "scalar for many": lambda eps, right: 0.5 if np.ndim(eps) else np.array([0.5]),
    "negative": lambda eps, right: right - 0.7,
    "above one": lambda eps, right: right + 1.1,
    "text": lambda eps, right: "small",
    "complex": lambda eps, right: right * 1j,
    "nothing": lambda eps, right: None,
    "raises": _raises,
}
USES = {
    "to_renyi": a.to_renyi,
    "renyi_from_profile": lambda profile: a.renyi_from_profile(profile, [2.0]),
    "trade_off": lambda profile: a.trade_off(profile, [0.1]),
    "true_positive_rate": lambda profile: a.true_positive_rate(profile, 0.1),
    "gaussian_fit": a.gaussian_fit,
    "WorstOf": lambda profile: a.WorstOf((a.GaussianProfile(0.1), profile)).delta([0.1, 0.2]),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_user_profile_is_evaluated_or_named(use):
    use(OwnProfile())
    for bad in BAD_DELTAS.values():
        with pytest.raises(ValueError, match=r"OwnProfile\.delta (must return|raised)") as caught:
            use(OwnProfile(bad))
        assert "\n" not in str(caught.value)


def _density(**changed):
    noise = a.LaplaceRandomizer(1.0)
    edges = tuple(np.linspace(-30, 31, 100))
    right = a.DensityRandomizer(noise._log_density, noise._mass, (0.0, 1.0), edges)
    return replace(right, **changed)


BAD_NUMBERS = {
    "nan": lambda *given: np.full(np.shape(given[-1]), math.nan),
    "shape": lambda *given: np.zeros(np.size(given[-1]) + 1),
    "scalar": lambda *given: 0.5,
    "text": lambda *given: "dense",
    "ragged": lambda *given: [[0.5], [0.5, 0.5]],
    "texts": lambda *given: ["1"] * np.size(given[-1]),
    "complex": lambda *given: np.zeros(np.shape(given[-1])) * 1j,
    "nothing": lambda *given: None,
    "too few arguments": lambda x: x,
    "raises": _raises,
}
BAD_MASSES = {
    "negative": lambda x, low, high: low - high,
    "too much": lambda x, low, high: np.full(low.shape, 0.9),
}


@pytest.mark.parametrize(
    "name, bad",
    [
        *[("log_density", bad) for bad in BAD_NUMBERS.values()],
        *[("mass", bad) for bad in (BAD_NUMBERS | BAD_MASSES).values()],
    ],
    ids=[f"log_density {name}" for name in BAD_NUMBERS]
    + [f"mass {name}" for name in BAD_NUMBERS | BAD_MASSES],
)
def test_user_densities_are_evaluated_or_named(name, bad):
    uses = (
        lambda r: a.blanket_randomizer_delta(r, 100, 0.3),
        lambda r: a.blanket_epsilon(r, 100, 1e-3, "lower"),
        lambda r: accountant.amplification(None, 100, 1e-3, randomizer=r),
        lambda r: a.BlanketProfile(r, Fixed(99)).delta(0.3),
    )
    for use in uses:
        with pytest.raises(ValueError, match=f"DensityRandomizer: {name} (must return|raised)") as caught:
            use(_density(**{name: bad}))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "bad",
    [
        lambda right: None,
        lambda right: (),
        lambda right: "GRR",
        lambda right: (1.0,),
        lambda right: (replace(right[0], masses=right[0].masses[:1]),),
        lambda right: (replace(right[0], masses=right[0].masses * math.nan),),
        lambda right: (replace(right[0], masses=right[0].masses * 3),),
        lambda right: (replace(right[0], masses=-right[0].masses),),
        _raises,
    ],
)
def test_user_randomizer_is_evaluated_or_named(bad):
    right = a.blanket_randomizer_delta(a.GRR(1.0, 3), 100, 0.3)
    assert a.blanket_randomizer_delta(OwnRandomizer(), 100, 0.3) == pytest.approx(right, rel=1e-9)
    for use in (
        lambda r: a.blanket_randomizer_delta(r, 100, 0.3),
        lambda r: a.blanket_epsilon(r, 100, 1e-3),
        lambda r: a.BlanketProfile(r, Fixed(99)).delta(0.3),
    ):
        with pytest.raises(ValueError, match="OwnRandomizer") as caught:
            use(OwnRandomizer(bad))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong, error",
    [
        (OwnRandomizer(eps_local=0.0), r"OwnRandomizer\.eps_local must be a positive number or inf, got 0"),
        (OwnRandomizer(standing="upper"), r"OwnRandomizer\.standing must be a Standing, got 'upper'"),
        (OwnRandomizer(answer=[]), r"OwnRandomizer\.__hash__ raised TypeError"),
    ],
)
def test_user_randomizer_members_are_checked(wrong, error):
    with pytest.raises(ValueError, match=error):
        a.blanket_randomizer_delta(wrong, 100, 0.3)


def test_user_profile_may_raise_infeasible():
    def answer(eps, right):
        raise a.Infeasible("too many users")

    with pytest.raises(a.Infeasible, match=r"^too many users$"):
        delta_of(OwnProfile(answer), 0.3)


def test_rounding_is_clipped_at_ends():
    assert numbers_of("it", [-1e-12, 1 + 1e-12], (2,), 0.0, 1.0).tolist() == [0.0, 1.0]
    assert delta_of(OwnProfile(lambda eps, right: -1e-17), 0.3) == 0.0
