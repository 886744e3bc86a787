"""Numbers for sums: values, coordinates, truth and configuration."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from shuffledp.pipeline.datasets import Dataset
from shuffledp.pipeline.experiments.job_parts import population_from
from shuffledp.pipeline.experiments.participants import participants, typical
from shuffledp.pipeline.experiments.sources import check_data, source_from
from shuffledp.pipeline.experiments.sources.numbers import source as number_source
from shuffledp.populations import Binomial
from shuffledp.tasks import Summation

ABOUT = SimpleNamespace(source="stand_in", note="A toy.")
ADULT = {"name": "adult", "column": "hours_per_week"}
SPARSE = {"name": "msnbc", "column": "first_and_size"}


def hours():
    table = pd.DataFrame({"sex": "Male", "hours_per_week": [0, 40, 99], "count": [10, 30, 20]})
    return number_source(ADULT, Summation(99, real=True), Dataset("adult", table, {}, ABOUT))


def pages():
    table = pd.DataFrame({"mask": np.array([1, 3, 7], np.int32), "first": [1, 2, 3], "count": [5, 6, 7]})
    return number_source(SPARSE, Summation(17, real=True, coordinates=17), Dataset("msnbc", table, {}, ABOUT))


def test_values_of_a_task():
    assert Summation(2).values.tolist() == [0, 1, 2]
    assert Summation(2, signed=True).values.tolist() == [-2, -1, 0, 1, 2]
    assert Summation(4, real=True).values.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert Summation(1, signed=True, real=True, coordinates=3).counts_shape == (3, 3)


def test_hours_are_scaled_and_their_sum_is_the_truth():
    source = hours()
    everybody = participants(source.task, source, population_from({"users": 60}), repeats=2, seed=1)
    assert everybody.truth == pytest.approx([(30 * 40 + 20 * 99) / 99] * 2)
    (users,) = everybody.users(0)
    assert np.bincount(users.values)[[0, 40, 99]].tolist() == [10, 30, 20]
    support = typical(source.task, source, population_from({"users": 60}))
    assert support.participants.truth == pytest.approx(everybody.truth[:1])


def test_a_coordinate_and_a_number_per_user():
    source = pages()
    who = participants(source.task, source, population_from({"users": 18}), repeats=1, seed=1)
    assert who.counts.shape == (1, 17, 18) and who.truth.shape == (1, 17)
    assert who.truth[0, :3] == pytest.approx([5 / 17, 12 / 17, 21 / 17])
    (users,) = who.users(0)
    assert sorted(map(tuple, users.values.tolist())) == [(0, 1)] * 5 + [(1, 2)] * 6 + [(2, 3)] * 7


@pytest.mark.parametrize("draw", ["without_replacement", "with_replacement"])
def test_sampling_variance_is_that_of_the_sum(draw):
    table = pd.DataFrame({"sex": "Male", "hours_per_week": [0, 40, 99], "count": [10, 30, 20]})
    source = number_source(
        {**ADULT, "draw": draw}, Summation(99, real=True), Dataset("adult", table, {}, ABOUT)
    )
    law = population_from({"users": 40})
    sums = participants(source.task, source, law, repeats=5_000, seed=3, truth="participants").truth
    support = typical(source.task, source, law, truth="population")
    variance = float(support.sampling_variance[0])
    # The relative standard error of a variance from 5,000 draws is 2 %; 5 of them are missed once in 10^6.
    assert abs(sums.var() / variance - 1) < 0.1
    assert abs(sums.mean() - support.participants.truth[0]) < 5 * (variance / 5_000) ** 0.5


def test_synthetic_numbers_signed_or_not():
    task = Summation(2, signed=True)
    source = source_from({"name": "categorical", "weights": [0, 0, 0, 0.5, 0.5]}, task, Path())
    who = participants(task, source, Binomial(50, 0.5), repeats=5, seed=2)
    for repeat in range(5):
        (users,) = who.users(repeat)
        assert users.values.sum() == who.truth[repeat] and users.values.min() >= 1
    uniform = source_from({"name": "uniform"}, Summation(3), Path())
    assert uniform.shares == pytest.approx(np.full(4, 0.25))


@pytest.mark.parametrize(
    ("config", "task", "message"),
    [
        (SPARSE, Summation(17, real=True), "a coordinate and a number .* 1 coordinate"),
        (ADULT, Summation(99, coordinates=2), "holds a number .* 2 coordinate"),
        (ADULT, Summation(99, signed=True), "signed numbers"),
        ({"name": "adult", "column": "sex"}, Summation(1), "cannot be used for a summation task"),
        ({"name": "categorical", "weights": [0.5, 0.5]}, Summation(2), "must be 3 numbers"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(config, task, message):
    with pytest.raises(ValueError, match=message):
        check_data(config, task)


def test_more_participants_than_records_is_an_error():
    source = hours()
    with pytest.raises(ValueError, match="61 participants cannot be drawn without replacement from 60"):
        participants(source.task, source, population_from({"users": 61}), repeats=1, seed=1)
