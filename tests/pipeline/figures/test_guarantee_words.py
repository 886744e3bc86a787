"""Text in legends and captions about the guarantees of a drawing."""

import json

import pandas as pd
from matplotlib.figure import Figure

from shuffledp.guarantees import FROM_BELOW
from shuffledp.pipeline.experiments import results, runner, seeds
from shuffledp.pipeline.figures import paper as paper_module
from shuffledp.pipeline.figures.curves import draw
from shuffledp.pipeline.figures.drawings import paper_job
from shuffledp.pipeline.figures.guarantee_words import doubts, guarantee_facts
from shuffledp.pipeline.figures.paper import draw_paper
from shuffledp.pipeline.figures.selection import load_settings
from shuffledp.pipeline.provenance import of_job

from demo_paper import CONFIG  # isort: skip

ORDER = ["printed", "exact"]


def cells(*rows):
    """Return cells from (method, accounting, guarantee, trust), with a reason for a doubtful guarantee."""
    frame = pd.DataFrame(rows, columns=["method", "accounting", "guarantee", "trust"])
    note = frame["guarantee"].map({"violated": "broken", "unproven": "open"}).fillna("")
    return frame.assign(curve=frame["method"], guarantee_note=note)


MIXED = cells(
    ("a", "printed", "violated", "shuffler"),
    ("a", "exact", "upper", "shuffler"),
    ("b", "printed", "unproven", None),
    ("b", "exact", "unproven", None),
    ("c", "printed", "exact", "local"),
    ("c", "exact", None, "local"),
    ("d", "printed", "upper", "shuffler"),
    ("d", "printed", "violated", "shuffler"),
)
NAMES = {"a": "A, plain", "b": "B", "c": "C", "d": "D"}


def test_doubtful_curves_are_marked_with_accounting():
    assert doubts(MIXED, ORDER) == {"a": "printed: violated", "b": "unproven", "d": "violated"}
    assert doubts(cells(("a", "printed", "upper", None), ("b", "exact", None, None)), ORDER) == {}
    both = cells(("a", "exact", "unproven", None), ("a", "printed", "violated", None))
    assert doubts(both, ORDER) == {"a": "printed: violated, exact: unproven"}


def test_lower_bound_violates_no_guarantee():
    rows = cells(("a", "exact", "violated", None), ("b", "exact", "violated", None))
    rows.loc[rows["method"] == "a", "guarantee_note"] = FROM_BELOW.note
    assert doubts(rows, ORDER) == {"a": "lower bound, no guarantee", "b": "violated"}
    assert guarantee_facts(rows, NAMES, ORDER)["guarantee"] == (
        "violated in a known setting, perhaps not drawn here: B | lower bound, no guarantee: A, plain"
    )


def test_captions_group_methods_by_label():
    assert guarantee_facts(MIXED, NAMES, ORDER) == {
        "guarantee": "exact: C | upper: A, plain (exact); D (in part) | unproven: B | "
        "violated in a known setting, perhaps not drawn here: A, plain (printed); D (in part)",
        "why in doubt": "A, plain (printed); D (in part): broken | B: open",
        "users trust": "a shuffler: A, plain; D | nobody: C",
    }
    alike = cells(("a", "printed", "upper", "shuffler"), ("b", "printed", "upper", "shuffler"))
    assert guarantee_facts(alike, NAMES, ORDER) == {"guarantee": "upper", "users trust": "a shuffler"}
    assert guarantee_facts(cells(("a", "printed", None, None)), NAMES, ORDER) == {}


PAPER = """\
paper: {title: "Claims", citation: "Nobody 2024", doi: "10.1000/182"}
experiments:
  gauss:
    source: "Fig. 1"
    grid: {rounds: [1, 2]}
    methods:
      pair:
        function: subsampled_shuffle_gaussian_epsilon
        label: "one pair"
        arguments: {n: 100, m: 10, sigma: 3.0, rounds: $rounds, delta: 1.0e-3, form: pair, most_order: 16}
        returns: eps
      alone:
        function: subsampled_gaussian_epsilon
        label: "no shuffling"
        arguments: {rate: 0.1, sigma: 3.0, rounds: $rounds, delta: 1.0e-3, most_order: 16}
        returns: eps
figures:
  fig: {title: "Budget", experiment: gauss, x: rounds, y: eps, caption: text.rst}
"""


def test_unproven_pair_is_marked(tmp_path, monkeypatch):
    for folder in ("config/experiments", "workflow/report/demo"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "config/experiments/demo.yaml").write_text(PAPER)
    (tmp_path / "workflow/report/demo/text.rst").write_text("Budgets.\n")
    settings = load_settings(CONFIG | {"results": str(tmp_path / "results"), "formats": ["png"]}, tmp_path)
    paper = settings.papers["demo"]
    for method in ("pair", "alone"):
        job = paper.experiments["gauss"].job(method, 7)
        done = runner.run(job, prepared=tmp_path, root=tmp_path)
        data = {"source": done.data_source, "note": done.data_note}
        results.write(
            results.Bundle.locate(tmp_path / "results", "demo", "gauss", method),
            done.cells, done.values, of_job(job.plain(), seeds.digest(job.plain()), data, tmp_path),
        )  # fmt: skip
    seen: list[Figure] = []

    def spy(drawing):
        seen.append(draw(drawing))
        return seen[-1]

    monkeypatch.setattr(paper_module, "draw", spy)
    contents = draw_paper(paper_job(paper, settings, tmp_path))
    files = {path.name: content for path, content in contents.items()}
    assert {t.get_text() for t in seen[0].axes[0].texts} == {"one pair (unproven)", "no shuffling"}
    (entry,) = json.loads(files["manifest.json"])["entries"]
    facts = " ".join(value for _, value in entry["settings"])
    assert "upper: no shuffling | unproven: one pair" in facts
    assert "not proven to be the worst for records in a ball (SG-4)" in facts
