"""Two made-up papers, drawn as the pipeline would."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from shuffledp.storage import publish

if TYPE_CHECKING:
    from pathlib import Path

CAPTION = """
Total variation error over the budget. **Fewer** dummies for more participants:
:math:`k \\ge 14 \\ln(2/\\delta) / \\varepsilon^2`.

.. math:: \\mathrm{E}\\,|\\hat f - f|^2 = \\frac{p(1-p)}{n(1-2p)^2}

- Points are means of 200 repeats.
- See `the paper <https://doi.org/10.1000/182>`__.
"""


@cache
def picture(panels: int) -> dict[str, bytes]:
    figure = Figure(figsize=(max(2.9 * panels + 0.7, 5.2), 3.8), layout="constrained")
    for i, ax in enumerate(figure.subplots(1, panels, squeeze=False).flat):
        for curve in range(4):
            ax.plot(
                [0.001, 0.01, 0.1, 0.5], [5 - curve - i, 3 - curve, 1 - curve, -curve], marker="os^D"[curve]
            )
        ax.set_xscale("log")
        ax.set_title(f"participation rate {0.05 * 2**i:g}", fontsize=9)
        ax.tick_params(labelsize=8)
    files = {}
    for form in ("png", "pdf", "svg"):
        sink = io.BytesIO()
        figure.savefig(sink, format=form, dpi=160)
        files[form] = sink.getvalue()
    return files


@dataclass
class Folder:
    """A paper's folder, as a drawing job would leave it; change `manifest` or `files`, then `publish` again."""

    path: Path
    manifest: dict[str, Any]
    files: dict[str, bytes]

    def publish(self) -> None:
        contents = {**self.files, "manifest.json": json.dumps(self.manifest).encode()}
        publish(self.path / "figures.sha256", {self.path / name: data for name, data in contents.items()})

    def figure(self, name: str, panels: int, **changes: Any) -> None:
        forms = picture(panels)
        self.files |= {f"{name}.{form}": data for form, data in forms.items()}
        self.files[f"{name}.csv"] = b"rate,eps,method,mean\n0.05,0.001,local,1.5\n"
        self._entry(name, "figure", {form: f"{name}.{form}" for form in (*forms, "csv")}, changes)

    def table(self, name: str, content: str, **changes: Any) -> None:
        self.files |= {f"{name}.csv": content.encode(), f"{name}.md": b"| a |\n", f"{name}.tex": b"\\hline\n"}
        self._entry(name, "table", {form: f"{name}.{form}" for form in ("csv", "md", "tex")}, changes)

    def _entry(self, name: str, kind: str, files: dict[str, str], changes: dict[str, Any]) -> None:
        self.files[f"{name}.rst"] = CAPTION.encode()
        settings = [
            ["data", "Adult, mirror of the official files"],
            ["participants", "binomial, 48841 trials, rate 0.05, 0.1, 0.2, 0.5"],
            ["eps", "0.001 to 0.5 (11 values)"],
            ["delta", "1e-05"],
            ["repeats", "200"],
            ["accounting", "printed"],
        ]
        self.manifest["entries"].append(
            {
                "id": name,
                "drawing": name.partition("_")[0],
                "variant": name.partition("_")[2],
                "by": "accounting" if "_" in name else "",
                "finding": "The error falls as the budget grows.",
                "chart": None,
                "kind": kind,
                "title": "Total variation error on Adult, binomial participation",
                "alt": "Error falls as the budget grows.",
                "caption": f"{name}.rst",
                "files": files,
                "settings": settings,
                "note": "",
                "infeasible": [],
            }
            | changes
        )


def folder(results: Path, key: str, title: str, **run: Any) -> Folder:
    paper = {
        "key": key,
        "title": title,
        "citation": "Authors. Venue 2023",
        "doi": "10.1109/TPDS.2023.3247541",
    }
    run = {
        "version": "0.1.0",
        "commit": "0123456789abcdef",
        "python": "3.11.7",
        "seed": 1,
        "scale": "paper",
    } | run
    return Folder(results / "figures" / key, {"paper": paper, "run": run, "entries": []}, {})


PAPERS = ("random_population", "dump")


def fabricate(results: Path) -> dict[str, Folder]:
    """Two papers in a results folder: four figures, two tables."""
    first = folder(results, PAPERS[0], "Shuffle differential private data aggregation for random population")
    first.figure(
        "fig4_printed", 4, infeasible=["adaptive at rate 0.05, eps 0.001: too few users", "local: no"]
    )
    first.figure("fig4_exact", 4, note="This is a summary of Adult that ships with the project.")
    rows = "".join(f"0.{i:02d},local,{i / 7!r},{48841 + i}\n" for i in range(40))
    first.table("budgets", f"rate,method,eps_local,participants\n{rows}", title="Local budgets on Adult")
    second = folder(results, PAPERS[1], "DUMP: a dummy-point-based framework", scale="shortened", commit="")
    second.manifest["paper"]["doi"] = None
    second.figure("fig5", 1, title="Mean squared error over the central budget")
    second.figure("fig6", 2, title="Extra messages per user")
    columns = [f"a_long_column_name_{i}" for i in range(12)]
    second.table(
        "wide", ",".join(columns) + "\n" + ",".join("1.5" for _ in columns) + "\n", title="A wide table"
    )
    for each in (first, second):
        each.publish()
    return {PAPERS[0]: first, PAPERS[1]: second}
