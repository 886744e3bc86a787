"""Two made-up papers with their headlines, in the form of the pipeline's results."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from shuffledp.storage import publish

TABLES = Path(__file__).parent / "results"
FINDING = "Exact accounting cuts the error at every budget."
CAPTION = f"""
{FINDING}

Total variation error over the budget. **Fewer** dummies for more participants:
:math:`k \\ge 14 \\ln(2/\\delta) / \\varepsilon^2`.

.. math:: \\mathrm{{E}}\\,|\\hat f - f|^2 = \\frac{{p(1-p)}}{{n(1-2p)^2}}

- Points are means of 200 repeats.
- See `the paper <https://doi.org/10.1000/182>`__.
"""
RATES = ("0.05", "0.1", "0.2", "0.5")
BUDGETS = (0.001, 0.01, 0.1, 0.5)
CHART: dict[str, Any] = {
    "x": "eps",
    "y": "tve",
    "x_label": "central privacy budget eps (nats)",
    "y_label": "total variation error",
    "x_scale": "log",
    "y_scale": "log",
    "panels": "rate",
    "panel_label": "participation rate {}",
    "curves": [
        {"id": "local", "label": "LOCAL", "color": "#0072B2", "marker": "o", "dash": "-"},
        {"id": "amplified", "label": "AMPLIFIED", "color": "#D55E00", "marker": "s", "dash": [0, [5, 2]]},
        {"id": "adaptive", "label": "ADAPTIVE", "color": "#009E73", "marker": "^", "dash": "--"},
    ],
}


@cache
def picture(panels: int) -> dict[str, bytes]:
    """Return a picture with four curves in a panel, in several colors."""
    figure = Figure(figsize=(max(2.9 * panels + 0.7, 5.2), 3.8), layout="constrained")
    for ax in figure.subplots(1, panels, squeeze=False).flat:
        ax.plot([[4, 3, 2, 1], [0, 1, 2, 3]], linewidth=4)
    sink = io.BytesIO()
    figure.savefig(sink, format="png", dpi=80)
    return {"png": sink.getvalue(), "pdf": b"%PDF-1.4\n", "svg": b"<svg/>\n"}


def numbers() -> list[dict[str, Any]]:
    """Return a level, a curve in closed form with its simulation, and a curve without one point."""
    rows: list[tuple[Any, ...]] = []
    for rate in RATES:
        rows.append(("local", rate, "", "expected", 5.0, ""))
        for eps in BUDGETS:
            value = float(rate) / eps
            rows.append(("amplified", rate, eps, "expected", value, ""))
            rows.append(("amplified", rate, eps, "simulated", 1.1 * value, 0.1 * value))
            if eps != 0.01:
                rows.append(("adaptive", rate, eps, "computed", 2 * value, ""))
    names = ("curve", "rate", "eps", "kind", "tve", "standard_error")
    common = {"accounting": "exact", "count": 200, "data_source": "mirror"}
    return [dict(zip(names, row, strict=True)) | {"method": row[0]} | common for row in rows]


def rows_of(name: str) -> list[dict[str, str]]:
    """Return the rows of a made-up table in the form of the pipeline."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def publish_table(results: Path, name: str, *changes: dict[str, str]) -> None:
    """Publish a table of all papers; of the first row for every given change, if any is given."""
    rows = rows_of(name)
    path = results / f"claims/{name}.csv"
    publish(path.with_suffix(".sha256"), {path: as_csv([rows[0] | change for change in changes] or rows)})


def as_csv(rows: Sequence[dict[str, Any]]) -> bytes:
    sink = io.StringIO()
    writer = csv.DictWriter(sink, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue().encode()


@dataclass
class Folder:
    """Folder of a paper as a drawing job writes it; change `manifest` or `files`, then call `publish` again."""

    path: Path
    manifest: dict[str, Any]
    files: dict[str, bytes]

    def publish(self) -> None:
        contents = {**self.files, "manifest.json": json.dumps(self.manifest).encode()}
        publish(self.path / "figures.sha256", {self.path / name: data for name, data in contents.items()})

    def figure(self, name: str, panels: int, **changes: Any) -> None:
        forms = picture(panels)
        self.files |= {f"{name}.{form}": data for form, data in forms.items()}
        self.files[f"{name}.csv"] = as_csv(numbers())
        self._entry(
            name, "figure", {form: f"{name}.{form}" for form in (*forms, "csv")}, {"chart": CHART} | changes
        )

    def table(self, name: str, content: str, **changes: Any) -> None:
        self.files |= {f"{name}.csv": content.encode(), f"{name}.md": b"| a |\n", f"{name}.tex": b"\\hline\n"}
        self._entry(name, "table", {form: f"{name}.{form}" for form in ("csv", "md", "tex")}, changes)

    def _entry(self, name: str, kind: str, files: dict[str, str], changes: dict[str, Any]) -> None:
        self.files[f"{name}.rst"] = CAPTION.encode()
        settings = [
            ["data", "adult, sex (source: mirror)"],
            ["participants", "binomial, 48841 trials, rate 0.05, 0.1, 0.2, 0.5"],
            ["eps", "0.001 to 0.5 (11 values)"],
            ["delta", "1e-05"],
            ["repeats", "200"],
            ["accounting", "printed"],
        ]
        self.manifest["entries"].append(
            {
                "id": name,
                "finding": FINDING,
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
        "kind": "paper",
        "doi": "10.1109/TPDS.2023.3247541",
    }
    run = {
        "version": "0.1.0",
        "commit": "0123456789abcdef",
        "python": "3.11.7",
        "seed": 1,
        "scale": "paper",
    } | run
    return Folder(results / "figures" / key, paper | {"run": run, "entries": []}, {})


PAPERS = ("random_population", "dump")
PROTOCOLS = ("central_laplace", "new_one", "pure_dump")


def fabricate(results: Path) -> dict[str, Folder]:
    """Publish two papers in a results folder: four figures, two tables, an erratum and a note."""
    first = folder(results, PAPERS[0], "Shuffle differential private data aggregation for random population")
    note = "This is a summary of Adult that ships with the project."
    gaps = ["adaptive at rate 0.05, eps 0.001: too few users", "local: no"]
    first.figure("fig4", 4, infeasible=gaps, note=note)
    first.figure("fig5", 1, title="Error on two values")
    rows = "".join(f"0.{i:02d},local,{i / 7!r},{48841 + i}\n" for i in range(40))
    first.table("budgets", f"rate,method,eps_local,participants\n{rows}", title="Local budgets on Adult")
    first.table("errata", (TABLES / "errata.csv").read_text(), title="Errata", finding="One erratum.")
    first.table(
        "reading_notes",
        (TABLES / "reading_notes.csv").read_text(),
        title="Reading notes",
        finding="One note.",
    )
    second = folder(results, PAPERS[1], "DUMP: a dummy-point-based framework", scale="shortened", commit="")
    second.manifest["doi"] = None
    second.figure("fig5", 1, title="Mean squared error over the central budget")
    second.figure("fig6", 2, title="Extra messages per user")
    columns = [f"a_long_column_name_{i}" for i in range(12)]
    second.table(
        "wide", ",".join(columns) + "\n" + ",".join("1.5" for _ in columns) + "\n", title="A wide table"
    )
    overall = folder(results, "overall", "All protocols and claims together")
    overall.manifest |= {"kind": "study", "doi": None}
    overall.figure("dumbbells", 1, title="Printed and exact error", finding="Noise is nearest to a curator.")
    overall.table("ranking", (TABLES / "ranking.csv").read_text(), title="All protocols at every setting")
    for each in (first, second, overall):
        each.publish()
    for name in ("headlines", "claims", "open_questions", "audit"):
        publish_table(results, name)
    return {PAPERS[0]: first, PAPERS[1]: second, "overall": overall}
