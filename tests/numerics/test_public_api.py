"""Bad arguments of public functions: a number in its range or one clear error; see `tools/bad_arguments.py`."""

import gc
import inspect
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from scripts_by_file import script
from shuffledp import accounting, designs, populations
from shuffledp.populations import Fixed
from shuffledp.protocols import available, calibrations
from shuffledp.tasks import TASK_KINDS

tool = script("tools/bad_arguments.py")  # puts the folders of valid calls on the path
from valid_calls import DOORS  # noqa: E402
from valid_methods import SKIPPED_METHODS, methods_of  # noqa: E402


@pytest.fixture(scope="module")
def calls():
    return tool.every_call()


def test_every_public_name_has_call(calls):
    names = {name for door in (*DOORS, populations) for name in door.__all__ if callable(getattr(door, name))}
    assert names == {name for name in calls if "." not in name} | set(tool.SKIPPED)


def test_every_public_method_has_call(calls):
    """The calls cover what public classes define, except members without arguments and classes that no call needs."""
    wanted = {
        f"{name}.{method}"
        for door in (*DOORS, populations)
        for name in door.__all__
        if inspect.isclass(kind := getattr(door, name))
        and not inspect.isabstract(kind)
        and not getattr(kind, "_is_protocol", False)
        for method in methods_of(kind)
        if method not in SKIPPED_METHODS
    }
    wanted |= {f"{kind}.{name}.calibrate" for kind in TASK_KINDS for name in available(kind)}
    assert wanted == {name for name in calls if "." in name}


@pytest.mark.parametrize("bad", [math.nan, "no", True, 1j, [1, "a"], 10**400], ids=str)
def test_wrong_types_are_refused_by_name(calls, bad):
    """The error precedes any computation, so that it takes no time."""
    wrong = {
        f"{name}({argument}={tool.shown(bad)})": verdict
        for name, (call, valid) in calls.items()
        for argument in valid
        if (verdict := tool.judge(call, valid, {argument: bad}, seconds=1))
    }
    assert wrong == {}


#: Valid calls that take more than a tenth of a second; `make -C tools bad-arguments` tries them.
SLOW = {
    "all_counts_delta",
    "allocation_noise",
    "central_gaussian_epsilon",
    "central_replacement_epsilon",
    "certified_design",
    "curves",
    "deployed_users",
    "finished_design",
    "rows_delta",
    "search_coarse",
    "shuffled_batches_delta",
    "shuffled_batches_epsilon",
}


def test_arguments_give_number_or_line(calls):
    """This is a fixed sample of the values that `make -C tools bad-arguments` tries."""

    @settings(derandomize=True, database=None, deadline=None, max_examples=250)
    @given(st.data())
    def sample(data):
        name = data.draw(st.sampled_from(sorted(set(calls) - SLOW)))
        call, valid = calls[name]
        verdict = tool.judge(call, valid, data.draw(tool.replacements(valid)), seconds=0.1)
        assert not verdict or verdict.startswith(tool.LONG), name

    gc.disable()  # the time limit must not end a callback of the collector, which cannot raise
    try:
        sample()
    finally:
        gc.enable()


def test_unevaluable_call_is_refused():
    """A call beyond double precision raises an error, and never returns nan."""
    with pytest.raises(ValueError, match=r"profile_rdp\(orders=.*sigma=1e-300.* double precision"):
        accounting.profile_rdp([2, 3], 1000, 1e-300)


def test_public_functions_can_be_pickled():
    assert pickle.loads(pickle.dumps(accounting.clone_rate)) is accounting.clone_rate


def test_delta_bound_is_at_most_one():
    assert accounting.approximate_clones_delta(0.5, 1.0, 1e-8, 10**15, 1e-6) == 1.0
    assert accounting.approximate_clones_delta(800.0, 1.0, 1e-300, 1000, 1e-6) == 1.0
    small = accounting.approximate_clones_delta(0.5, 1.0, 1e-12, 1000, 1e-6)
    assert small == pytest.approx(1e-6 + (math.exp(0.5) + 1) * (1 + math.exp(-1) / 2) * 1e-9, rel=1e-14)


@pytest.mark.parametrize("eps", [1e-320, 1e-160, 1e-101])
def test_delta_of_tiny_eps_is_continuous(eps):
    values = [accounting.negative_binomial_delta(shape, eps) for shape in (0.0, 0.2, 0.9, 1.0)]
    assert values[0] == pytest.approx(1.0, rel=1e-9) and values[-1] == 0.0
    assert np.all(np.diff(values) <= 0) and np.all(np.isfinite(values))


def test_huge_eps_leaves_missing_mass():
    """Delta of a huge eps is the mass that the shape misses."""
    assert accounting.negative_binomial_delta(0.3, 40.1) == 0.7


def test_plans_for_a_tiny_eps_end():
    planned = accounting.best_polya_shape(Fixed(999), 1e-320, 1e-5)
    assert planned >= 1 and accounting.expected_polya_delta(Fixed(999), planned, 1e-320) <= 0.5e-5
    assert accounting.expected_polya_delta(Fixed(999), 1.1 * planned, 1e-320) > 0.5e-5


@pytest.mark.parametrize(
    "call",
    [
        lambda delta: calibrations.poisson_dummies(1.0, delta),
        lambda delta: calibrations.one_sided_noise(1.0, delta),
        lambda delta: accounting.solh_report(1000, 10, 1.0, delta),
        lambda delta: calibrations.sbin_dummies(1000, 10, 1.0, delta),
        lambda delta: calibrations.fair_coins(1.0, delta),
        lambda delta: accounting.mix_dummy_count(100, 10, 1.0, delta, 2.0),
    ],
)
def test_denormal_delta_is_refused_at_once(call):
    """The search once took minutes, because no sum falls below a denormal number."""
    for delta in (1e-310, 1e-320):
        with pytest.raises(ValueError, match=rf"^delta must be at least 2.23e-308, .* got {delta}"):
            call(delta)


def test_the_least_delta_is_answered():
    assert calibrations.fair_coins(1.0, 1e-300) == 11_214
    assert calibrations.poisson_dummies(1.0, 1e-300) == pytest.approx(3235.687320309419, rel=1e-9)


@pytest.mark.parametrize(
    "call, error",
    [
        (
            lambda: designs.jump_counters_delta(designs.JumpCounter(0.4, 601.0, 2.0), 1.0),
            "rate of jumps must be at most 600",
        ),
        *(
            (lambda delta=delta: designs.quick_coarse(1, 2.0, delta, 1.5), r"The delta of|Transforms know")
            for delta in (1e-300, 1e-40, 1e-12)
        ),
        (  # steps of 0.5 in the logarithm once made the law 20,000 times as wide
            lambda: designs.finished_design(
                designs.CoarseDesign(1, 1.5, (4.0,), (2.0,), 2.0, 1e-2), xtol=0.5
            ),
            "No scale",
        ),
        (lambda: accounting.all_counts_delta(0.5, 0.5, 10**9, 2.5, 10), "too many for an exact sum"),
        (lambda: accounting.multi_exact_plan(Fixed(999), 1e-320, 1e-5), "eps / precision"),
        (lambda: accounting.rows_delta(1.0, 1000, 0.5, 10**9), "does not fit into memory"),
        (lambda: accounting.dummy_count(2, 1e-12, 1e-12), "More than 2.53 dummies"),
    ],
)
def test_too_large_inputs_are_infeasible(call, error):
    with pytest.raises(accounting.Infeasible, match=error):
        call()


def test_degenerate_profiles_have_their_ends():
    assert accounting.dummy_epsilon(2, 10**6, 0.4) == 0 < accounting.dummy_epsilon(2, 10**6, 1e-4)
    assert accounting.user_level_delta(1.0, 1.0, 1, 1e-300, 20, 2) == 1
    assert accounting.gaussian_fit(accounting.GaussianProfile(1e6)).mu == math.inf
