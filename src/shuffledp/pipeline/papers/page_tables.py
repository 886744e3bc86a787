"""Tables of the documentation's pages as Markdown, from data frames, errata, the gallery and kept results."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from shuffledp.pipeline.claims.errata_data import errata, reading_notes
from shuffledp.pipeline.config.config_files import read_yaml
from shuffledp.pipeline.query import MissingResultsError, Query, dataset

#: Form of a column: a format specification, a function, or None for cells that are texts.
Form = str | Callable[[float], str] | None


def markdown(header: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; bars in cells are escaped."""
    lines = [header, ["---"] * len(header), *body]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


def table(frame: pd.DataFrame, *forms: Form) -> str:
    """Return a frame as a Markdown table, with a form for each column; missing numbers are empty."""
    rows = frame.itertuples(index=False, name=None)
    return markdown(list(frame.columns), [list(map(_cell, row, forms)) for row in rows])


def _cell(value: Any, form: Form) -> str:
    if form is None:
        return str(value)
    if math.isnan(value):
        return ""
    return format(float(value), form) if isinstance(form, str) else form(float(value))


def errata_table(paper: str) -> str:
    """Return the errata of a paper as a Markdown table, without their witnesses."""
    header = ["erratum", "place", "printed", "corrected", "effect", "why"]
    return markdown(
        header,
        [
            [
                erratum.id,
                erratum.place,
                _code(erratum.printed),
                _code(erratum.corrected),
                erratum.effect,
                erratum.explanation,
            ]
            for erratum in errata(paper)
        ],
    )


def notes_table(paper: str) -> str:
    """Return the reading notes of a paper as a Markdown table, without their witnesses."""
    header = ["note", "place", "as read", "as used", "what follows"]
    return markdown(
        header,
        [
            [note.id, note.place, _code(note.read), _code(note.used), note.consequence]
            for note in reading_notes(paper)
        ],
    )


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def findings(root: Path, paper: str) -> str:
    """Return the finding of every figure of a paper in the gallery, with the cost of its experiment at small scale."""
    figures = json.loads((root / f"docs/gallery/{paper}.json").read_text(encoding="utf-8"))["figures"]
    entries = read_yaml(root / f"config/experiments/{paper}.yaml")["figures"]
    measured = pd.read_csv(root / "docs/measured/experiments.csv").set_index(["paper", "experiment"])["cpu_s"]
    rows = []
    for figure in figures:
        finding = " ".join(figure["caption"].partition("\n\n")[0].split())
        number = re.match(r"fig(\d+[a-d]*)", figure["id"])
        seconds = measured.get((paper, entries[figure["id"]]["experiment"]))
        rows.append(
            [
                f"Fig.&nbsp;{number[1]}" if number else "",
                f"`{paper}_{figure['id']}`",
                f"[{figure['title']}](gallery/{paper}/{figure['id']}.png)",
                finding,
                f"{seconds:.1f}" if seconds is not None else "",
            ]
        )
    heads = ["paper", "target of Snakemake", "figure", "finding at the papers' scale", "CPU s, small scale"]
    return markdown(heads, rows)


@dataclass(frozen=True)
class KeptResults:
    """Results of a paper at its scale that the project keeps, as tables of a query: a CSV file per experiment."""

    folder: Path
    _files: dict[str, pd.DataFrame] = field(default_factory=dict, compare=False)
    _answers: dict[tuple[str, str, str], xr.Dataset] = field(default_factory=dict, compare=False)

    def dataset(self, method: str, at: Mapping[str, Any]) -> xr.Dataset:
        """Return the numbers of a method in an experiment under an accounting, both named by ``at``.

        The quantity ``error`` is the expected error, or a simulated mean without a closed form.
        """
        key = (at["experiment"], method, at["accounting"])
        if key not in self._answers:  # a page asks for hundreds of numbers of a few methods
            self._answers[key] = self._dataset(*key)
        return self._answers[key]

    def _dataset(self, experiment: str, method: str, accounting: str) -> xr.Dataset:
        if experiment not in self._files:
            self._files[experiment] = pd.read_csv(self.folder / f"{experiment}.csv")
        results = self._files[experiment]
        methods = results["method"].unique()
        if method not in methods:
            raise ValueError(f"No method {method!r} of {experiment}. Known: {', '.join(methods)}.")
        is_chosen = (results["method"] == method) & (results["accounting"] == accounting)
        rows = results[is_chosen & (results["status"] == "ok")]
        if rows.empty:
            raise MissingResultsError(f"{method} has no result of {experiment}")
        points, parameters = _by_name(rows["point"]), _by_name(rows["parameters"]).add_prefix("parameters.")
        numbers = rows.drop(columns=points.columns.intersection(rows.columns)).select_dtypes("number")
        errors = rows["expected"].fillna(rows["mean"])
        table = numbers.assign(error=errors).join([parameters, points]).set_index([*points])
        return dataset(table, method, ("experiment", "accounting", *points))


def _by_name(texts: pd.Series) -> pd.DataFrame:
    """Return texts such as "eps=1 k=50" as columns, of numbers if all of a column are numbers."""
    columns = pd.DataFrame([dict(part.split("=") for part in text.split()) for text in texts], texts.index)
    numbers: pd.DataFrame = columns.apply(pd.to_numeric, errors="coerce")
    return numbers.where(numbers.notna(), columns).infer_objects()


def kept_results(root: Path, paper: str) -> Query:
    """Return a query of the results of a paper in ``reference/``."""
    return Query(KeptResults(root / "reference" / paper))


def number_at(query: Query, quantity: str, method: str, **at: Any) -> float:
    """Return a number of kept results, nan if the protocol is infeasible there."""
    try:
        return float(query(quantity, method, **at))
    except MissingResultsError:
        return math.nan
