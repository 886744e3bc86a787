"""Calibration: one method that checks a request and fits the class to it."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from shuffledp.accounting import Infeasible
from shuffledp.numerics.argument_ranges import Rate
from shuffledp.populations import Binomial, Fixed, MomentBounded
from shuffledp.protocols import get
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.frequency.local import Local
from shuffledp.protocols.request import Request
from shuffledp.tasks import Budget, Frequency, Summation

BUDGET, USERS, TASK = Budget(1.0, 1e-6), Fixed(999), Frequency(10)


@dataclass(frozen=True)
class Broken(Local):
    """Randomized response whose calibration raises what the option says, or returns something else."""

    name = "broken"

    @classmethod
    def fit(cls, request, *, error=None, result=None, rate: Rate = 1.0):
        if error is not None:
            raise error
        return result


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("division by zero"), KeyError("k"), ValueError("unpack")]
)
def test_programming_error_is_not_reworded(error):
    with pytest.raises(type(error)) as caught:
        Broken.calibrate(BUDGET, USERS, TASK, error=error)
    assert caught.value is error


def test_an_overflow_is_infeasible():
    with pytest.raises(Infeasible, match="beyond what can be evaluated in double precision"):
        Broken.calibrate(BUDGET, USERS, TASK, error=OverflowError("math range error"))


def test_bad_option_and_result_are_named():
    with pytest.raises(ValueError, match=r"^rate must be in \(0, 1\], got 0"):
        Broken.calibrate(BUDGET, USERS, TASK, rate=0)
    with pytest.raises(TypeError, match=r"^broken: fit returns None, expected a Broken"):
        Broken.calibrate(BUDGET, USERS, TASK)


class Neither(Local):
    name = "neither"
    fit = ProtocolBase.fit


class Own(Local):
    name = "own"

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="exact", share: Rate = 0.5):
        return cls(population, task.domain_size, share * budget.largest_eps)


def test_own_calibrate_has_checked_inputs():
    rng, counts = np.random.default_rng(0), np.full(TASK.domain_size, 100)
    own = Own.calibrated(BUDGET, USERS, TASK)
    assert own.simulate(counts, rng).shape == (1, TASK.domain_size)
    with pytest.raises(ValueError, match=r"^own: counts for .* must have shape"):
        own.simulate(counts[1:], rng)
    assert Own.calibrate(BUDGET, USERS, TASK).calibrated_for is None


def test_a_class_defines_fit_or_calibrate():
    with pytest.raises(NotImplementedError, match="defines neither fit nor calibrate"):
        Neither.fit(Request(BUDGET, USERS, TASK))
    assert Own.calibrate(BUDGET, USERS, TASK).eps_local == 0.5
    assert list(get("frequency", "solh").options()) == ["accounting", "cells"]
    assert {"accounting", "share"} <= set(Own.options())


def test_every_request_number_has_an_error():
    request = Request(BUDGET, USERS, TASK)
    assert (request.n, request.k, request.eps, request.delta) == (1000, 10, 1.0, 1e-6)
    assert (request.law, request.usual_users, request.planned_users) == (USERS, 1000, None)
    random = replace(request, population=Binomial(10, 0.5), budget=Budget(1.0, 0.0, "add_remove"))
    assert random.usual_users == 6
    for number, error in (("n", "population Fixed"), ("planned_users", "population Fixed"), ("delta", "> 0")):
        with pytest.raises(Infeasible, match=error):
            getattr(random, number)
    with pytest.raises(Infeasible, match="MomentBounded bounds the number of users"):
        _ = replace(request, population=MomentBounded(9, 1)).law
    with pytest.raises(ValueError, match="estimates frequencies, but the task is 'summation'"):
        _ = replace(request, task=Summation(3)).k
