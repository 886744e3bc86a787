from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from shuffledp.pipeline.config import ConfigurationError

ROOT = Path(__file__).resolve().parents[2]

CONFIG = """\
seed: 7
papers: [demo]
results: results
data: {source: auto}
formats: [png]
baselines: config/baselines
overrides: {}
"""

PAPER = """\
paper: {title: "A demonstration", citation: "Nobody 2024", doi: "10.1000/182"}
experiments:
  coins:
    source: "Fig. 1"
    task: {kind: frequency, domain_size: 2, truth: participants, metrics: [mse]}
    data: {name: categorical, weights: [0.25, 0.75]}
    population: {law: binomial, trials: 2000, rate: $rate}
    budget: {eps: $eps, delta: 1.0e-5}
    grid:
      rate: [0.1, 0.5]
      eps: [0.1, 0.5, 1.0]
    accounting: [printed, exact]
    repeats: 20
    methods:
      local: {}
      amplified: {}
    assumed: {eps: "grid not stated"}
  curve:
    source: "Fig. 2"
    grid:
      variance: [0, 100]
    methods:
      moments:
        function: amplified_epsilon
        arguments: {population: {law: moment_bounded, mean: 5000, variance: $variance}, eps_local: 0.5, delta: 1.0e-3}
        returns: eps_central
figures:
  fig1:
    title: "Error"
    experiment: coins
    x: eps
    y: mse
    panels: rate
    files: accounting
    caption: fig1.rst
  fig2: {title: "Curve", experiment: curve, x: variance, y: eps_central, caption: fig2.rst}
tables:
  budgets:
    title: "Local budgets"
    experiment: coins
    rows: [rate, eps]
    columns: [method, accounting]
    value: eps_local
    caption: budgets.rst
"""

PLUGIN = '''\
"""A baseline of one's own."""

from shuffledp.protocols.frequency.local import Local


class Mine(Local):
    name = "mine"
    label = "MINE"

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed", beta=0.5):
        return super().calibrate(budget, population, task, accounting=accounting)
'''


class Project:
    """Folder with a configuration that tests may change; `settings` checks it as a run does."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "config/experiments").mkdir(parents=True)
        self.write("config/config.yaml", CONFIG)
        self.write("config/experiments/demo.yaml", PAPER)
        self.write("mine.py", PLUGIN)

    def write(self, path: str, text: str | bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())

    def change(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text()
        assert text.count(old) >= 1, f"{old!r} is not in {path}"
        self.write(path, text.replace(old, new, 1))

    def settings(self, **overrides: Any) -> Any:
        from shuffledp.pipeline.figures.selection import load_settings

        config = yaml.safe_load((self.root / "config/config.yaml").read_text())
        return load_settings(config | overrides, self.root)

    def mistake(self, **overrides: Any) -> str:
        """Return the message of a wrong configuration, without the folder."""
        with pytest.raises(ConfigurationError) as caught:
            self.settings(**overrides)
        return str(caught.value).replace(f"{self.root}/", "")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def make_project(tmp_path: Path) -> Callable[[str], Project]:
    return lambda name: Project(tmp_path / name)
