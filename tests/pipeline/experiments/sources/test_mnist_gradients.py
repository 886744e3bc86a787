"""Gradients of images as participants' data, and stand-ins of another dimension."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.pipeline import datasets
from shuffledp.pipeline.datasets.gradients import SoftmaxGradients
from shuffledp.pipeline.experiments import participants as drawing, runner, sources as part
from shuffledp.pipeline.experiments.sources import mnist_gradients as gradient_module
from shuffledp.populations import Binomial
from shuffledp.tasks import Vectors

RNG = np.random.default_rng(4)
IMAGES = RNG.integers(0, 256, (80, 3, 2), dtype=np.uint8)
IMAGES[:3] = 0  # a blank image has a short gradient, which is not clipped
LABELS = RNG.integers(0, 10, 80)
TASK = Vectors(70, 5.0)
DATA = {"name": "mnist", "column": "train_gradients", "draw": "without_replacement"}
LAW = Binomial(79, 0.3)

PAPER = """
paper: {title: "Gradients", citation: "Nobody"}
experiments:
  gradient:
    source: "Fig. 1"
    task: {kind: vectors, dimension: DIM, clip: 5, norm: l1, truth: TRUTH, metrics: [l1]}
    data: {name: mnist, column: train_gradients}
    population: {law: binomial, trials: 79, rate: $rate}
    budget: {eps: $eps, delta: 1.0e-3}
    grid: {rate: [0.3, 0.6], eps: [0.5, 2.0]}
    accounting: [printed, exact]
    repeats: 200
    methods: {local: {}, amplified: {}, non_adaptive: {}, adaptive: {}, random_checkin: {}}
"""


def naive(image, label, clip=5.0):
    """Return the gradient of one image by its definition."""
    features = np.append(image.reshape(-1) / 255, 1.0)
    gradient = np.outer(0.1 - np.eye(10)[label], features).reshape(
        -1
    )  # all classes are equally likely at first
    return gradient * min(1.0, clip / np.abs(gradient).sum())


#: Gradients in the order of the labels.
EVERY = np.stack([naive(IMAGES[i], LABELS[i]) for i in np.argsort(LABELS, kind="stable")])


def prepared(monkeypatch, images=IMAGES, source="mirror", note=""):
    about = datasets.Provenance("mnist", "MNIST", source, "", {}, len(images), note, "", "")
    arrays = {"train_images": images, "train_labels": LABELS}
    monkeypatch.setattr(part, "load", lambda name, folder: datasets.Dataset(name, None, arrays, about))


def source(monkeypatch, **config):
    prepared(monkeypatch)
    return part.source_from({**DATA, **config}, TASK, None)


# -- the gradients -------------------------------------------------------------------------------------------------


def test_sums_equal_computation_by_user():
    gradients = SoftmaxGradients(IMAGES, LABELS, 5.0)
    assert (len(gradients), gradients.dimension) == (80, 70)
    assert_allclose(gradients.vectors(np.arange(80)), EVERY, rtol=1e-12)
    times = np.random.default_rng(0).integers(0, 3, (6, 80))
    assert_allclose(gradients.sums(times), times @ EVERY, rtol=1e-10, atol=1e-12)
    assert_allclose(gradients.mean, EVERY.mean(axis=0), rtol=1e-10, atol=1e-14)
    assert_allclose(gradients.spread, EVERY.var(axis=0, ddof=1), rtol=1e-9, atol=1e-14)


def test_images_and_labels_must_fit():
    for images, labels in ((IMAGES, LABELS[:5]), (IMAGES, LABELS + 5), (IMAGES[:0], LABELS[:0])):
        with pytest.raises(ValueError, match="as many labels"):
            SoftmaxGradients(images, labels, 5.0)


# -- who takes part ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", ["without_replacement", "with_replacement"])
def test_participants_are_images(monkeypatch, draw):
    monkeypatch.setattr(gradient_module, "USERS_AT_ONCE", 7)
    monkeypatch.setattr(gradient_module, "REPEATS_AT_ONCE", 2)
    who = drawing.participants(TASK, source(monkeypatch, draw=draw), LAW, repeats=5, seed=1)
    for repeat in range(5):
        held = np.concatenate([chunk.values for chunk in who.users(repeat)])
        assert len(held) == who.public.n_users[repeat]
        assert_allclose(held.sum(axis=0), who.counts[repeat], rtol=1e-10, atol=1e-12)
        assert_allclose(held.mean(axis=0), who.truth[repeat], rtol=1e-10, atol=1e-12)
        if draw == "without_replacement":
            assert len(np.unique(held, axis=0)) >= len(held) - 2  # the blank ones may be alike
    again = drawing.participants(TASK, source(monkeypatch, draw=draw), LAW, repeats=2, seed=1)
    assert np.array_equal(again.counts, who.counts[:2])


def test_more_participants_than_images_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="81 participants cannot be drawn"):
        source(monkeypatch).draw(81, np.random.default_rng(0))
    assert len(source(monkeypatch, draw="with_replacement").draw(81, np.random.default_rng(0))) == 81


# -- the runner ----------------------------------------------------------------------------------------------------


def job(project, method, dimension=70, truth="participants"):
    text = PAPER.replace("DIM", str(dimension)).replace("TRUTH", truth)
    project.write("config/experiments/grad.yaml", text)
    experiment = project.settings(papers=["grad"]).papers["grad"].experiments["gradient"]
    return experiment.job(method, 7)


def run(project, method, **changes):
    return runner.run(job(project, method, **changes), prepared=project.root, root=project.root)


@pytest.mark.parametrize("truth", ["participants", "population"])
@pytest.mark.parametrize("method", ["local", "amplified", "non_adaptive", "adaptive", "random_checkin"])
def test_simulations_agree_with_expectations(monkeypatch, project, method, truth):
    prepared(monkeypatch)
    done = run(project, method, truth=truth)
    cells, values = done.cells.to_pandas(), done.values.to_pandas()
    assert set(cells["status"]) == {"ok"}
    assert set(cells["domain_size"]) == {70}
    for _, rows in values.groupby("cell"):
        simulated = rows.loc[rows["kind"] == "simulated", "value"]
        expected = rows.loc[rows["kind"] == "expected", "value"].item()
        # Sums of some twenty Laplace variables are not quite normal: the closed form is up to 1 % above.
        assert abs(simulated.mean() - expected) < 4 * simulated.std() / np.sqrt(200) + 0.01 * expected
    assert len(cells) == 8


@pytest.mark.parametrize("method", ["amplified", "random_checkin"])
def test_other_stand_in_dimension_is_unsimulated(monkeypatch, project, method):
    prepared(monkeypatch)
    real = run(project, method).values.to_pandas()
    prepared(monkeypatch, images=IMAGES[:, :2], source="stand_in", note="Not MNIST.")
    done = run(project, method)
    cells, values = done.cells.to_pandas(), done.values.to_pandas()
    assert set(values["kind"]) == {"expected"}
    assert set(cells["data_source"]) == {"stand_in"}
    assert set(cells["domain_size"]) == {70}
    assert done.data_note.startswith(
        "Not MNIST. Its vectors have 50 coordinates, not 70: nothing was simulated"
    )
    want = real.loc[real["kind"] == "expected", "value"].to_numpy()
    assert np.all(np.isfinite(values["value"]))
    # RandomCheckin's line lacks what the choice of users adds, which is small even for 70 coordinates.
    assert_allclose(values["value"], want, rtol=0 if method == "amplified" else 0.01)


def test_stand_in_has_no_population_results(monkeypatch, project):
    prepared(monkeypatch, images=IMAGES[:, :2], source="stand_in", note="Not MNIST.")
    done = run(project, "local", truth="population")
    assert done.values.num_rows == 0
    stand_in = part.source_from(DATA, TASK, None)
    for refused in (
        lambda: stand_in.draw(1, RNG),
        lambda: stand_in.gathered(np.array([1]), [], "participants"),
    ):
        with pytest.raises(ValueError, match="Not MNIST"):
            refused()


def test_real_data_of_other_dimension_fail(monkeypatch, project):
    prepared(monkeypatch)
    with pytest.raises(ValueError, match="dimension 70, but the task's is 71"):
        run(project, "local", dimension=71)


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            "column: train_gradients",
            "column: train_labels",
            "'train_labels', cannot be used for a vectors task",
        ),
        (
            "{name: mnist, column: train_gradients}",
            "{name: uniform}",
            "uniform cannot be used for a vectors task",
        ),
        ("norm: l1", "norm: l2", "norm must be 'l1'"),
        (
            "{kind: vectors, dimension: 70, clip: 5, norm: l1, truth: participants, metrics: [l1]}",
            "{kind: frequency, domain_size: 10}",
            "cannot be used for a frequency task",
        ),
    ],
)
def test_wrong_data_kinds_are_named_early(project, old, new, message):
    job(project, "local")
    project.change("config/experiments/grad.yaml", old, new)
    said = project.mistake(papers=["grad"])
    assert "experiments.gradient.data: " in said and message in said
