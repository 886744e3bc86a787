"""A small paper with results, drawn by the pipeline's code."""

from pathlib import Path
from typing import Any

from shuffledp.pipeline.config import Experiment, Paper, Settings
from shuffledp.pipeline.experiments import results, runner, seeds
from shuffledp.pipeline.figures.drawings import paper_job
from shuffledp.pipeline.figures.paper import draw_paper
from shuffledp.pipeline.figures.selection import load_settings
from shuffledp.pipeline.provenance import of_job

CONFIG = {
    "seed": 7,
    "papers": ["demo"],
    "results": "results",
    "data": {"source": "auto"},
    "formats": ["png", "pdf", "svg"],
    "baselines": "config/baselines",
    "overrides": {},
}
PICKY = """
from shuffledp.accounting import Infeasible
from shuffledp.protocols.frequency.local import Local

class Picky(Local):
    name = "picky"
    label = "PICKY_ONE"
    guarantee = "unproven"
    guarantee_note = "nobody proved it"
    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        if budget.eps == 0.5:
            raise Infeasible("not at one half")
        return super().calibrate(budget, population, task, accounting=accounting)
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
      rate: [0.5, 0.1]
      eps: [0.25, 0.5, 1, 9.5]
    accounting: [printed, exact]
    repeats: 20
    methods:
      local: {}
      picky: {protocol: "picky.py:Picky"}
      constant: {protocol: local, label: "eps 2", budget: {eps: 2.0}}
    assumed: {rate_: "*guessed* from `a` plot_"}
figures:
  fig1_printed: &fig1
    where: {accounting: printed}
    title: "Error"
    experiment: coins
    x: eps
    y: mse
    y_scale: log
    panels: rate
    caption: text.rst
  fig1: {<<: *fig1, where: {}, files: accounting}
  fig2:
    title: "Error by rate"
    experiment: coins
    methods: [local]
    where: {accounting: exact}
    x: eps
    y: mse
    curves: rate
    caption: text.rst
tables:
  errors:
    title: "Errors"
    experiment: coins
    rows: [rate, eps]
    columns: [method, accounting]
    value: eps_local
    format: ".3f"
    caption: text.rst
"""
#: Computed results by the digest of their jobs, for all projects of a process.
COMPUTED: dict[str, Any] = {}


def compute(root: Path, experiment: Experiment, method: str, note: str = "") -> None:
    """Write the results of a method."""
    job = experiment.job(method, 7)
    digest = seeds.digest(job.plain())
    if digest not in COMPUTED:
        COMPUTED[digest] = runner.run(job, prepared=root, root=root)
    done = COMPUTED[digest]
    bundle = results.Bundle.locate(root / "results", experiment.paper, experiment.id, method)
    data = {"source": "stand_in" if note else done.data_source, "note": note}
    results.write(bundle, done.cells, done.values, of_job(job.plain(), digest, data, root))


class Drawn:
    """Project of the tests, its settings, and its drawings."""

    def __init__(self, root: Path, note: str = "") -> None:
        self.root = root
        for folder in ("config/experiments", "workflow/report/demo"):
            (root / folder).mkdir(parents=True)
        (root / "config/experiments/demo.yaml").write_text(PAPER)
        (root / "picky.py").write_text(PICKY)
        (root / "workflow/report/demo/text.rst").write_text("Errors of *all* methods.\n")
        self.settings = self.load()
        coins = self.paper.experiments["coins"]
        for method in coins.methods:
            compute(root, coins, method, note)

    def load(self) -> Settings:
        """Return the settings in the present files."""
        return load_settings(CONFIG | {"results": str(self.root / "results")}, self.root)

    @property
    def paper(self) -> Paper:
        return self.settings.papers["demo"]

    def job(self) -> dict[str, Any]:
        """Return the drawing job of the paper."""
        return paper_job(self.paper, self.settings, self.root)

    def draw(self) -> dict[str, bytes]:
        """Return the files of the paper by name."""
        return {path.name: content for path, content in draw_paper(self.job()).items()}
