"""Computed tables of the documentation, and computed numbers in its sentences.

A page has each table between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``. A number in a sentence is between
``<!-- value GROUP: NAME -->`` and ``<!-- end -->``, on one line and not at its start, where it would begin a block.
``python -m shuffledp.pipeline.papers.documents PAGE`` recomputes both.

Some tables (`FROM_RESULTS`) need a long run at the papers' scale. These tables are read from the tables under
``reference/``, or in the folder of the option ``--reference``. Without this folder such a table does not change.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from shuffledp.pipeline.claims.errata_data import papers
from shuffledp.pipeline.claims.evaluation import markdown, markdown_table
from shuffledp.pipeline.claims.review import review_table, summary_table
from shuffledp.pipeline.papers.deployments import computed_tables as deployments
from shuffledp.pipeline.papers.deployments.artifacts import artifacts
from shuffledp.pipeline.papers.document_numbers import VALUES
from shuffledp.pipeline.papers.dump import computed_tables as dump
from shuffledp.pipeline.papers.random_population.multi_message_gaps import multi_gaps, table_two
from shuffledp.pipeline.papers.random_population.published_gaps import (
    budget_gaps,
    checkin_gaps,
    dummy_gaps,
    gradient_gaps,
    safety_margins,
    variance_gaps,
)
from shuffledp.pipeline.papers.shuffle_gaussian import computed_tables as shuffle_gaussian
from shuffledp.pipeline.papers.summation import computed_tables as summation

#: Folder of the committed tables of a run at the papers' scale.
REFERENCE = Path("reference")

_BLOCK = re.compile(
    r"(<!-- begin (?P<name>[a-z0-9_ ]+) -->\n)(?P<body>.*?)(<!-- end (?P=name) -->)", re.DOTALL
)
_VALUE = re.compile(r"(<!-- value (?P<group>[a-z_ ]+): (?P<name>[a-z0-9 ]+) -->)[^\n]*?(<!-- end -->)")


def _percent(value: float) -> str:
    return f"{round(100 * value, 1) + 0.0:.1f} %"  # + 0.0 turns -0.0 into 0.0


def _messages(value: float) -> str:
    return f"{value:,.2f}" if value < 10 else f"{value:,.0f}"


def _budget(eps: float) -> str:
    return f"{eps:.2f}" if eps >= 0.1 else f"{eps:.2g}"


Format = str | Callable[[float], str] | None
"""Format of a column: a format specification, a function, or None for cells that are texts."""


def _cell(value: Any, form: Format) -> str:
    if form is None:
        return str(value)
    if math.isnan(value):
        return ""
    return format(float(value), form) if isinstance(form, str) else form(float(value))


def _written(make: Callable[[], pd.DataFrame], *formats: Format) -> Callable[[], str]:
    """Return a function that computes a table as Markdown, with one format per column."""

    def text() -> str:
        frame = make()
        rows = frame.itertuples(index=False, name=None)
        return markdown(list(frame.columns), [list(map(_cell, row, formats)) for row in rows])

    return text


def _summation_accountings() -> str:
    table = summation.accountings()
    count = "{:,.0f}".format
    rows = [
        [
            str(int(row[0])),
            count(row[1]),
            count(row[2]),
            f"{count(row[3])} ± {count(row[4])}",
            *map(count, row[5:]),
        ]
        for row in table.to_numpy().tolist()
    ]
    header = ["Delta", "printed", "corrected", "read from Figure 1c", "exact, halving", "exact, best"]
    return markdown(header, rows)


def _summation_growth() -> str:
    sizes = (2, 100)
    few, many = (summation.best_design(size).design.messages / size for size in sizes)
    million = 1 + summation.best_design(100).design.messages / 1e6
    return (
        f"The number of noise messages divided by Delta is {few:,.0f} at Delta = {sizes[0]} and {many:,.0f} at\n"
        f"Delta = {sizes[1]}. The number of noise messages therefore grows slightly faster than Delta. With a million\n"
        f"users and Delta = {sizes[1]}, a user sends {million:.2f} messages on average.\n"
    )


def _deployed_sources() -> pd.DataFrame:
    table = deployments.sources()
    wanted = ["system", "mechanism", "printed eps", "printed delta", "what was read", "not found", "status"]
    links = table["what was read"] + " ([source](" + table["source"] + "), " + table["place"] + ")"
    return table.assign(**{"what was read": links})[wanted]


#: Tables between the marks, by name.
TABLES: dict[str, Callable[[], str]] = {
    **{f"errata {paper}": partial(markdown_table, paper) for paper in papers()},
    **{f"notes {paper}": partial(markdown_table, paper, "reading_notes") for paper in papers()},
    "shuffle gaussian table one": _written(shuffle_gaussian.table_one, None, ".0f", *[None] * 4),
    "shuffle gaussian cost": _written(shuffle_gaussian.shuffling_cost, *[None] * 6),
    "shuffle gaussian checkin": _written(shuffle_gaussian.checkin_budgets, None, _budget),
    "summation accountings": _summation_accountings,
    "summation growth": _summation_growth,
    "summation cheaper": _written(summation.cheaper, *[",.0f"] * 4, ".2f", ".4g", ".2g", ",.0f", ",.0f"),
    "deployed systems": _written(
        lambda: deployments.systems().drop(columns=["system", "randomizer"]),
        *(None, "g", ",.0f", ".0e", "g", ".5f", ".5f", ",.0f", ".5f", ".5f", None),
    ),
    "deployed days": _written(deployments.days, "g", *[".5f"] * 4, ",.0f", ",.0f"),
    "deployed artifacts": _written(artifacts, *[None] * 8),
    "deployed sources": _written(_deployed_sources, *[None] * 7),
    "errata summary": summary_table,
    "errata review": review_table,
    "dump gaps": _written(dump.gaps, None, None, ".3g", ".3g", _messages, _messages),
    "dump savings": _written(dump.savings, "g", ".1f", ".1f", ".2f"),
    "budgets": _written(budget_gaps, None, *[_percent] * 4, ".2f"),
    "dummies": _written(dummy_gaps, None, "g", *[_percent] * 5),
    "checkin": _written(checkin_gaps, "g", *[".2f"] * 7, "g"),
    "gradients": _written(gradient_gaps, "g", *[_percent] * 5),
    "multi": _written(multi_gaps, None, _percent, _percent, *[".2f"] * 4, ".3f", ".2f"),
    "table two": _written(
        lambda: table_two().drop(columns="delta"),  # the page says it
        *(None, ".1f", ".1f", ".0f", ".1e", None),
    ),
    "variances": _written(variance_gaps, ".0f", *[".4f"] * 6),
    "safety": _written(safety_margins, "g", ".0f", ".1e"),
}


#: Splits of the privacy levels, in the paper's order.
SPLITS = ("25-50-25", "50-25-25", "25-25-50")
#: Competitors of the segmented paper; the weights by inverse variances are an addition of this project.
_RIVALS = ("balls_into_bins", "subset_shuffled", "subset_local", "separate", "separate_weighted")
_OWN_RIVAL = "separate_inverse_variance"


def _read(path: Path) -> pd.DataFrame:
    table = pd.read_csv(path)
    for packed, prefix in (("point", ""), ("parameters", "parameters.")):
        parts = [
            {f"{prefix}{name}": value for name, _, value in (item.partition("=") for item in text.split())}
            for text in table[packed].fillna("")
        ]
        table = table.drop(columns=packed).join(pd.DataFrame(parts, index=table.index))
    return table


def _segmented_rows(msnbc: pd.DataFrame, uniform: pd.DataFrame) -> dict[tuple[str, int], pd.DataFrame]:
    named = pd.concat(
        [msnbc.assign(data="MSNBC"), uniform.assign(data=uniform["s"].map(lambda s: f"{s} of 128 items"))]
    ).assign(n=lambda table: table["n"].astype(int))
    keys = sorted({(str(data), int(n)) for data, n in zip(named["data"], named["n"], strict=True)})
    return {
        (data, n): named[(named["data"] == data) & (named["n"] == n)]
        for data, n in sorted(keys, key=lambda key: key[0] != "MSNBC")
    }


def _segmented_gains(msnbc: pd.DataFrame, uniform: pd.DataFrame) -> str:
    """Return the reductions of the expected error by SegMM with its best m, against the best competitor."""

    def gains(rows: pd.DataFrame, accounting: str, rivals: Sequence[str]) -> str:
        asked = rows[(rows["accounting"] == accounting) & rows["method"].isin(["segmented_best", *rivals])]
        errors = asked.pivot(index="split", columns="method", values="expected")
        chosen = errors.loc[list(SPLITS)]
        best = chosen.reindex(columns=list(rivals)).min(axis=1)  # not every rival has every accounting
        return ", ".join(f"{100 * max(1 - ratio, 0):.0f} %" for ratio in chosen["segmented_best"] / best)

    header = ["data", "users", "printed S1, S2, S3", "exact S1, S2, S3", "printed, inverse variances too"]
    body = [
        [
            data,
            f"{n:,}",
            gains(rows, "printed", _RIVALS),
            gains(rows, "exact", _RIVALS),
            gains(rows, "printed", (*_RIVALS, _OWN_RIVAL)),
        ]
        for (data, n), rows in _segmented_rows(msnbc, uniform).items()
    ]
    return markdown(header, body)


def _segmented_best(msnbc: pd.DataFrame, uniform: pd.DataFrame) -> str:
    """Return the best m for split S1, and the range of m whose error is within 5 % of the least error."""

    def of(rows: pd.DataFrame, accounting: str) -> list[str]:
        chosen = rows[
            (rows["method"] == "segmented_best")
            & (rows["accounting"] == accounting)
            & (rows["split"] == SPLITS[0])
        ]
        best, low, high = (
            f"{float(chosen[f'parameters.{name}'].item()):.3g}"
            for name in ("blankets", "flat_low", "flat_high")
        )
        return [best, f"{low} to {high}"]

    header = ["data", "users", "best m, printed", "within 5 %", "best m, exact", "within 5 %"]
    body = [
        [data, f"{n:,}", *of(rows, "printed"), *of(rows, "exact")]
        for (data, n), rows in _segmented_rows(msnbc, uniform).items()
    ]
    return markdown(header, body)


#: Tables from the reference, by name: paper, experiments, and the function of their tables.
FROM_RESULTS: dict[str, tuple[str, tuple[str, ...], Callable[..., str]]] = {
    "segmented gains": ("segmented", ("msnbc", "uniform"), _segmented_gains),
    "segmented best": ("segmented", ("msnbc", "uniform"), _segmented_best),
}


def from_results(name: str, folder: Path) -> str | None:
    """Return a table of `FROM_RESULTS` from the reference in a folder; None if the folder lacks one of its sources."""
    paper, experiments, make = FROM_RESULTS[name]
    paths = [folder / paper / f"{experiment}.csv" for experiment in experiments]
    if not all(path.is_file() for path in paths):
        return None
    return make(*map(_read, paths))


def refreshed(text: str, reference: Path = REFERENCE) -> str:
    """Return a page after recomputation of all its tables and numbers."""
    blocks, values = list(_BLOCK.finditer(text)), list(_VALUE.finditer(text))
    if text.count("<!-- begin ") != len(blocks) or text.count("<!-- end ") != len(blocks) + len(values):
        raise ValueError("A begin mark has no matching end mark, or the other way round.")
    if text.count("<!-- value ") != len(values):
        raise ValueError(
            "A number's mark is not of the form <!-- value GROUP: NAME -->...<!-- end -->, on one line."
        )
    known = {*TABLES, *FROM_RESULTS}
    unknown = sorted({m["name"] for m in blocks} - known)
    if unknown:
        raise ValueError(f"No table is named {', '.join(unknown)}. Known: {', '.join(sorted(known))}.")
    text = _VALUE.sub(lambda m: f"{m[1]}{value(m['group'], m['name'])}{m[4]}", text)
    return _BLOCK.sub(lambda m: f"{m[1]}{_body(m['name'], m['body'], reference)}{m[4]}", text)


def value(group: str, name: str) -> str:
    """Return a computed number of a sentence."""
    if group not in VALUES:
        raise ValueError(f"No group of numbers is named {group!r}. Known: {', '.join(VALUES)}.")
    numbers = VALUES[group]()
    if name not in numbers:
        raise ValueError(f"No number of {group!r} is named {name!r}. Known: {', '.join(sorted(numbers))}.")
    return numbers[name]


def _body(name: str, now: str, reference: Path) -> str:
    if name in TABLES:
        return TABLES[name]()
    made = from_results(name, reference)
    return now if made is None else made


def main() -> None:
    """Recompute the tables and numbers of the pages on the command line."""
    parser = argparse.ArgumentParser(description="Compute the tables and numbers of pages anew.")
    parser.add_argument(
        "--reference", type=Path, default=REFERENCE, help="tables of a run at the papers' own scale"
    )
    parser.add_argument("pages", type=Path, nargs="+")
    arguments = parser.parse_args()
    for page in arguments.pages:
        page.write_text(refreshed(page.read_text(encoding="utf-8"), arguments.reference), encoding="utf-8")


if __name__ == "__main__":
    main()
