"""The stream of the participants: its key has every setting that a draw depends on."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from shuffledp.pipeline.config.grammar import Data, Task
from shuffledp.pipeline.datasets import Dataset
from shuffledp.pipeline.experiments import participants as drawing, sources
from shuffledp.pipeline.experiments.job_parts import population_from, task_from
from shuffledp.pipeline.experiments.sources import user_file as files
from shuffledp.tasks import Frequency, Sets, Summation

ABOUT = SimpleNamespace(source="stand_in", note="A toy.")
ADULT = pd.DataFrame(
    {"sex": ["Male", "Female"] * 2, "hours_per_week": [0, 40, 2, 99], "count": [10, 30, 20, 9]}
)
PAGES = pd.DataFrame({"mask": np.array([1, 6, 31], np.int32), "first": [1, 2, 3], "count": [50, 60, 70]})
LABELS = np.arange(80) % 10

UNIFORM = {"name": "uniform"}
RECORDS = {"name": "uniform", "records": 500}
COIN = {"name": "categorical", "weights": [0.5, 0.5]}
ZIPF = {"name": "zipf", "exponent": 1.0}
HEAVY = {"name": "heavy", "share": 0.1}
SEX = {"name": "adult", "column": "sex"}
HOURS = {"name": "adult", "column": "hours_per_week"}
FIRST = {"name": "msnbc", "column": "first_and_size"}
EVERY_SET = {"name": "uniform", "split": "25-50-25"}
PAGE_SETS = {"name": "msnbc", "column": "sets", "split": "25-50-25"}
GRADIENTS = {"name": "mnist", "column": "train_gradients"}
OWN = {"name": "file", "path": "a.csv"}
REPLACED = {"draw": "with_replacement"}
OWN_COUNTS = {"name": "file", "counts": "a.json", "values": ["x", "y"]}
OWN_VALUES = {**OWN, "column": "a", "values": ["x", "y"]}
OWN_NUMBERS = {**OWN, "column": "a", "low": 0, "high": 9}
OWN_SETS = {**OWN, "user": "a", "item": "b", "split": "25-50-25", "padding": "categories"}
OWN_LISTS = {"name": "file", "path": "a.csv", "column": "a", "separator": ";", "split": "25-50-25"}

VALUES = {"kind": "frequency", "domain_size": 2}
NUMBERS = {"kind": "summation", "max_value": 4}
SETS = {"kind": "sets", "domain_size": 17, "set_size": 4, "levels": 3}
VECTORS = {"kind": "vectors", "dimension": 70, "clip": 5.0}
USERS = {"users": 20}

EMPIRICAL = {"law": "empirical", "pmf": (0.5,) * 2, "start": 9}
BINOMIAL = {"law": "binomial", "trials": 30, "rate": 0.5}
#: Setting that is varied, task and data, and the changes of task, data and population.
DIFFERENT = [
    ("kind", VALUES, UNIFORM, {"kind": "summation", "max_value": 1, "domain_size": None}, {}),
    ("domain_size", VALUES, UNIFORM, {"domain_size": 3}, {}),
    ("domain_size", SETS, EVERY_SET, {"domain_size": 18}, {}),
    ("name", VALUES, UNIFORM, {}, COIN),
    ("records", VALUES, UNIFORM, {}, RECORDS),
    ("records", VALUES, RECORDS, {}, {"records": 501}),
    ("weights", VALUES, COIN, {}, {"weights": [0.25, 0.75]}),
    ("exponent", VALUES, ZIPF, {}, {"exponent": 1.5}),
    ("share", VALUES, HEAVY, {}, {"share": 0.2}),
    ("column", VALUES, SEX, {"domain_size": 100}, HOURS),
    ("column", VECTORS, GRADIENTS, {}, {"column": "test_gradients"}),
    ("draw", VALUES, SEX, {}, REPLACED),
    ("draw", {**NUMBERS, "max_value": 99}, HOURS, {}, REPLACED),
    ("draw", {**NUMBERS, "max_value": 17, "coordinates": 17}, FIRST, {}, REPLACED),
    ("draw", SETS, PAGE_SETS, {}, REPLACED),
    ("draw", VECTORS, GRADIENTS, {}, REPLACED),
    ("max_value", NUMBERS, UNIFORM, {"max_value": 5}, {}),
    ("coordinates", NUMBERS, UNIFORM, {"coordinates": 2}, {}),
    ("set_size", SETS, EVERY_SET, {"set_size": 8}, {}),
    ("set_size", SETS, PAGE_SETS, {"set_size": 8}, {}),
    ("levels", SETS, EVERY_SET, {"levels": 2}, {"split": "50-50"}),
    # and padding_items, which follow from it and the set size
    ("padding", SETS, PAGE_SETS, {"domain_size": 21, "padding_items": 4}, {"padding": "tokens"}),
    ("dimension", VECTORS, GRADIENTS, {"dimension": 50}, {}),
    *(
        (setting, task, own, {}, {setting: other})
        for task, own, others in (
            (VALUES, OWN_VALUES, {"path": "b.csv", "column": "b", "values": ["x", "z"], "user": "u"}),
            (VALUES, OWN_VALUES, {"per_user": "first", "delimiter": ";"}),
            (VALUES, OWN_COUNTS, {"counts": "b.json"}),
            (NUMBERS, OWN_NUMBERS, {"low": 1, "high": 8}),
            (SETS, OWN_SETS, {"user": "c", "item": "c"}),
            (SETS, OWN_LISTS, {"separator": "|"}),
        )
        for setting, other in others.items()
    ),
]
SAME = [
    # The same draw with another meaning, to be compared on the same participants.
    ("split", SETS, EVERY_SET, {}, {"split": "50-25-25"}),
    ("split", SETS, PAGE_SETS, {}, {"split": "50-25-25"}),
    ("signed", NUMBERS, UNIFORM, {"max_value": 2, "signed": True}, {}),
    ("real", NUMBERS, UNIFORM, {"real": True}, {}),
    ("clip", VECTORS, GRADIENTS, {"clip": 2.0}, {}),
    ("truth", VALUES, SEX, {"truth": "population"}, {}),
    ("metrics", VALUES, SEX, {"metrics": ["tve"]}, {}),
]
NEVER_VARIED = {
    "norm": "gradients are clipped in the l1 norm only",
    "padding_items": "follows from the padding and the set size",
}


@pytest.fixture
def stream(monkeypatch):
    """Return the key of the stream for a configuration's first repeat, and the draw."""
    keys = []

    def generator(*key):
        keys.append(key)
        return np.random.default_rng(1)  # the same for all: only the key is at stake

    monkeypatch.setattr(drawing, "generator", generator)

    def key_and_draw(task, data, population):
        rows = 2 if task.get("dimension") == 50 else 3
        images = np.random.default_rng(2).integers(0, 256, (80, rows, 2), dtype=np.uint8)
        arrays = {f"{part}_images": images for part in ("train", "test")}
        arrays |= {f"{part}_labels": LABELS for part in ("train", "test")}
        tables = {"adult": ADULT, "msnbc": PAGES, "mnist": None}
        monkeypatch.setattr(sources, "load", lambda name, folder: Dataset(name, tables[name], arrays, ABOUT))
        own = {"counts": 40 * np.arange(1, 6 if "max_value" in task else 3), "sizes": np.full(40, 2)}
        own["items"] = np.arange(80) % 17
        monkeypatch.setattr(
            files, "load", lambda asked, folder: files.Prepared(own, {"note": "", "file": {}})
        )
        made = task_from(task)
        last = drawing.LastDraw()
        drawing.participants(
            made,
            sources.source_from(data, made, Path()),
            population_from(population),
            repeats=1,
            seed=3,
            truth=task.get("truth", "participants"),
            last=last,
        )
        return keys[-1], last.held[0]

    return key_and_draw


def without_none(task):
    return {key: value for key, value in task.items() if value is not None}


def varied(rows):
    """Parametrize a test by the setting of every row, with both configurations."""
    return pytest.mark.parametrize(
        "one, other",
        [
            pytest.param((task, data, USERS), (without_none(task | more), data | own, USERS), id=setting)
            for setting, task, data, more, own in rows
        ],
    )


@varied(DIFFERENT)
def test_changed_draw_changes_the_stream(stream, one, other):
    (first, _), (second, _) = stream(*one), stream(*other)
    assert drawing.canonical_json(first) != drawing.canonical_json(second)


@pytest.mark.parametrize(
    "one, other",
    [(USERS, {"users": 21}), (EMPIRICAL, EMPIRICAL | {"start": 8}), (BINOMIAL, BINOMIAL | {"rate": 0.25})],
)
def test_changed_population_changes_the_stream(stream, one, other):
    first, second = (stream(VALUES, UNIFORM, population)[0] for population in (one, other))
    assert drawing.canonical_json(first) != drawing.canonical_json(second)


@varied(SAME)
def test_changed_meaning_keeps_the_stream(stream, one, other):
    (first, held), (second, held_again) = stream(*one), stream(*other)
    assert drawing.canonical_json(first) == drawing.canonical_json(second)
    assert np.array_equal(held, held_again)


def test_every_setting_is_varied():
    settings = {*Task.model_fields, *Data.model_fields}
    assert {"domain_size", "set_size", "records", "weights", "draw", "padding"} <= settings
    varied_settings = {row[0] for row in DIFFERENT + SAME}
    assert settings - varied_settings == set(NEVER_VARIED)
    assert varied_settings <= settings


@pytest.mark.parametrize(
    "data, held",
    [
        ({**ZIPF, "records": 11}, [6, 3, 2]),
        ({**HEAVY, "share": 0.5, "records": 11}, [5, 3, 3]),
        ({"name": "uniform", "records": 11}, [4, 4, 3]),
    ],
)
def test_fixed_records_are_nearest_whole_numbers(data, held):
    source = sources.source_from(data, Frequency(3), Path("nowhere"))
    everybody = source.draw(11, np.random.default_rng(1))
    assert list(everybody) == held
    some = source.draw(5, np.random.default_rng(1))
    assert some.sum() == 5 and np.all(some <= held)


@pytest.mark.parametrize(
    "config, task, message",
    [
        (PAGE_SETS, Sets(17, 4, 2), "has 3 levels, but the task has 2"),
        (PAGE_SETS, Sets(21, 4, 3), "domain_size must be 17 and padding_items 0"),
        ({**PAGE_SETS, "padding": "tokens"}, Sets(17, 4, 3), "domain_size must be 21 and padding_items 4"),
        (EVERY_SET, Sets(21, 4, 3, 4), "padding_items must be 0 for uniform sets"),
        ({"name": "msnbc", "column": "sets"}, Sets(17, 4, 3), "need a split"),
        ({"name": "msnbc", "column": "first"}, Sets(17, 4, 3), "cannot be used for a sets task"),
        (FIRST, Summation(17, real=True), "a coordinate and a number .* 1 coordinate"),
        (HOURS, Summation(99, coordinates=2), "holds a number .* 2 coordinate"),
        (HOURS, Summation(99, signed=True), "signed numbers"),
        (SEX, Summation(1), "cannot be used for a summation task"),
        (COIN, Summation(2), "must be 3 numbers"),
        ({"name": "axes"}, Frequency(3), "axes cannot be used for a frequency task"),
    ],
)
def test_unfitting_data_are_refused(config, task, message):
    with pytest.raises(ValueError, match=message):
        sources.check_data(config, task)
