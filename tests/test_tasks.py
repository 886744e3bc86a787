"""Validation of users' input, and the metrics."""

import math
from dataclasses import replace

import numpy as np
import pytest

from shuffledp.tasks import (
    METRICS,
    TASKS,
    WORST_METRIC,
    Budget,
    Frequency,
    Participants,
    Public,
    Sets,
    Summation,
    Vectors,
    expected_metric,
)


def test_budget_has_increasing_eps():
    assert Budget(1, 0).levels == (1.0,)
    assert Budget((0.5, 1.0, 2.0), 1e-6).largest_eps == 2.0
    assert Budget(np.float64(0.5), np.float64(1e-6)) == Budget(0.5, 1e-6)
    assert hash(Budget(1, 1e-6)) == hash(Budget(1.0, 1e-6))


@pytest.mark.parametrize(
    "eps", [0, -1.0, math.inf, math.nan, "1", None, True, [1.0, 2.0], (), (2.0, 1.0), (1.0, 1.0)]
)
def test_a_bad_eps_is_refused(eps):
    with pytest.raises(ValueError, match=r"Budget: (the )?eps"):
        Budget(eps, 1e-6)


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, math.nan, "1e-6", None, True, False])
def test_a_bad_delta_is_refused(delta):
    with pytest.raises(ValueError, match="Budget: delta"):
        Budget(1.0, delta)


def test_bad_neighbours_are_refused():
    with pytest.raises(ValueError, match="Budget: neighbours must be one of replace_one, add_remove"):
        Budget(1.0, 1e-6, "substitute")


def test_shapes():
    """Those of other tasks are compared with the arrays of every protocol, see the conformance checks."""
    assert Summation(4, signed=True, coordinates=3).counts_shape == (3, 9)
    assert Summation(4).estimate_shape == ()
    assert type(Frequency(np.int32(5)).domain_size) is type(Frequency(5.0).domain_size) is int
    with pytest.raises(ValueError, match=r"\(2,\).*\(2, 1\)"):
        METRICS["mse"](np.array([1.0, 2.0]), np.array([[1.0], [2.0]]))


@pytest.mark.parametrize("bad", [1, 0, -3, 2.5, math.nan, math.inf, "2", None, True])
def test_bad_sizes_are_refused_by_name(bad):
    with pytest.raises(ValueError, match="Frequency: domain_size must be an integer"):
        Frequency(bad)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Summation(0), "Summation: max_value"),
        (lambda: Summation(1, coordinates=0), "Summation: coordinates"),
        (lambda: Sets(3, 4), "Sets: domain_size"),
        (lambda: Sets(3, 0), "Sets: set_size"),
        (lambda: Sets(3, 1, levels=0), "Sets: levels"),
        (lambda: Vectors(0, 1.0), "Vectors: dimension"),
        (lambda: Vectors(2, 0.0), "Vectors: clip"),
        (lambda: Vectors(2, math.inf), "Vectors: clip"),
        (lambda: Vectors(2, 1.0, "l3"), "Vectors: norm must be one of l1, l2"),
    ],
)
def test_bad_tasks_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


#: Values of each metric for the estimates (1, 2) and (0, 0) of (0, 0) and (0, 3).
VALUES = {
    "mse": [2.5, 4.5],
    "sse": [5.0, 9.0],
    "top_mse": [1.0, 9.0],
    "tve": [3.0, 3.0],
    "l1": [3.0, 3.0],
}


@pytest.mark.parametrize("name", METRICS)
def test_metric_is_a_number_per_repeat(name):
    assert name in VALUES, f"Write the two values of {name} into VALUES of tests/test_tasks.py."
    estimate, truth = np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 3.0]])
    assert METRICS[name](estimate, truth).tolist() == VALUES[name]
    numbers = METRICS[name](np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    assert numbers.shape == (2,), (
        f"METRICS[{name!r}] must take estimates of one number, (R,): use `_difference`."
    )
    with pytest.raises(ValueError, match="has shape"):
        METRICS[name](np.ones((2, 3)), np.ones((2, 1, 3)))


def test_missing_expected_metric_is_an_error(monkeypatch):
    monkeypatch.setitem(METRICS, "largest", replace(METRICS["mse"], expected=None))
    with pytest.raises(ValueError, match="'largest' has no expected value"):
        expected_metric("largest", np.ones((1, 2)))


WITH_EXPECTATION = [name for name, metric in METRICS.items() if metric.expected is not None]


@pytest.mark.parametrize("name", WITH_EXPECTATION)
def test_expected_metric_is_of_normal_errors(name):
    """The mean of 100,000 errors differs by more than 6 standard errors with probability 2e-9."""
    deviations, truth = np.array([0.5, 1.0, 3.0, 2.0]), np.array([[1.0, 4.0, 2.0, 3.0]])
    noise = np.random.default_rng(0).normal(0, deviations, (100_000, 4))
    errors = METRICS[name](truth + noise, np.broadcast_to(truth, noise.shape))
    assert errors.shape == (100_000,)
    expected = expected_metric(name, deviations[None] ** 2, truth)[0]
    assert abs(errors.mean() - expected) < 6 * errors.std() / math.sqrt(errors.size), (
        f"METRICS[{name!r}].expected in src/shuffledp/tasks.py returns {expected:.4g} but the mean error is "
        f"{errors.mean():.4g}: correct it, or write None if the metric has no closed form."
    )


@pytest.mark.parametrize("task", TASKS.values())
def test_metrics_of_tasks_are_defined(task):
    missing = set(task.metrics) - set(METRICS) - {WORST_METRIC}
    assert not missing, f"Write a Metric for {', '.join(missing)} into METRICS of src/shuffledp/tasks.py."


def test_every_metric_is_of_a_task():
    left = set(METRICS) - {name for task in TASKS.values() for name in task.metrics}
    assert not left, f"Name {', '.join(left)} in `metrics` of a task in src/shuffledp/tasks.py."


def test_expected_metrics():
    variance = np.array([[1.0, 4.0]])
    assert expected_metric("top_mse", variance, np.array([[0.4, 0.6]]))[0] == variance[0, 1]
    assert expected_metric("top_mse", variance, np.array([[0.5, 0.5]]))[0] == variance[0, 0]
    with pytest.raises(ValueError, match="needs truth"):
        expected_metric("top_mse", variance)
    with pytest.raises(ValueError, match="metric must be one of mse"):
        expected_metric("rmse", variance)


def test_participants_from_counts():
    counts = np.array([[1, 2], [3, 0]], dtype=np.uint8)
    who = Participants.from_counts(counts)
    assert who.public.n_users.tolist() == [3, 3]
    assert [u.values.tolist() for u in who.users(0)] == [[0, 1, 1]]
    assert who.truth.tolist() == [[1 / 3, 2 / 3], [1.0, 0.0]]
    counts[:] = 0
    assert who.counts.tolist() == [[1, 2], [3, 0]]
    assert Participants.from_counts([1, 2]).counts.shape == (1, 2)


@pytest.mark.parametrize("bad", [[1.0, 2.0], [-1, 2], [0, 0], [], [[[1]]], 3, [True, False]])
def test_bad_counts_are_refused(bad):
    with pytest.raises(ValueError, match="counts must be"):
        Participants.from_counts(bad)


def test_public_knowledge_of_one_repeat():
    public = Public(np.array([3, 4]), np.array([[1.0, 2.0], [2.0, 2.0]]))
    one = public.of_repeat(1)
    assert one.repeats == 1
    assert one.n_users.tolist() == [4]
    assert one.level_counts.tolist() == [[2.0, 2.0]]
    assert Public(np.array([3])).of_repeat(0).level_counts is None
