"""The computed tables of the documentation, and the computed numbers in its sentences.

A page holds each table between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``, and a number of a sentence between
``<!-- value GROUP: NAME -->`` and ``<!-- end -->``, on one line and not at its start, where it would begin a block.
``python -m shuffledp.pipeline.papers.documents PAGE`` computes them anew.

Some tables (`FROM_RESULTS`) are read off those of a run at the papers' own scale, which takes long: what is committed
under ``reference/``, or lies in the folder that ``--reference`` names. Where that is absent such a table of a page
stays as it is.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from shuffledp.pipeline.claims.evaluation import markdown, markdown_table
from shuffledp.pipeline.claims.review import review_table, summary_table
from shuffledp.pipeline.papers.deployments import computed_tables as deployments
from shuffledp.pipeline.papers.document_numbers import (
    VALUES,
    checkin_budgets,
    checkin_gaps,
    dummy_gaps,
    dump_gaps,
    multi_gaps,
    shuffling_cost,
    variance_gaps,
)
from shuffledp.pipeline.papers.dump import computed_tables as dump
from shuffledp.pipeline.papers.random_population.multi_message_gaps import table_two
from shuffledp.pipeline.papers.random_population.published_gaps import (
    budget_gaps,
    gradient_gaps,
    safety_margins,
)
from shuffledp.pipeline.papers.shuffle_gaussian import computed_tables as shuffle_gaussian
from shuffledp.pipeline.papers.summation import computed_tables as summation

#: Where the tables of a run at the papers' own scale are committed.
REFERENCE = Path("reference")

_BLOCK = re.compile(
    r"(<!-- begin (?P<name>[a-z0-9_ ]+) -->\n)(?P<body>.*?)(<!-- end (?P=name) -->)", re.DOTALL
)
_VALUE = re.compile(r"(<!-- value (?P<group>[a-z_ ]+): (?P<name>[a-z0-9 ]+) -->)[^\n]*?(<!-- end -->)")


def _percent(value: float) -> str:
    return f"{round(100 * value, 1) + 0.0:.1f} %"  # + 0.0 turns -0.0 into 0.0


def _formatted(frame: pd.DataFrame, formats: Sequence[Callable[[float], str] | None]) -> str:
    columns = [
        [str(v) if form is None else form(float(v)) for v in frame[name]]
        for name, form in zip(frame.columns, formats, strict=True)
    ]
    return markdown(list(frame.columns), zip(*columns, strict=True))


def _budgets() -> str:
    return _formatted(budget_gaps(), [None, *[_percent] * 4, "{:.2f}".format])


def _dummies() -> str:
    return _formatted(dummy_gaps(), [None, "{:g}".format, *[_percent] * 5])


def _checkin() -> str:
    return _formatted(checkin_gaps(), ["{:g}".format, *["{:.2f}".format] * 7, "{:g}".format])


def _gradients() -> str:
    return _formatted(gradient_gaps(), ["{:g}".format, *[_percent] * 5])


def _table_two() -> str:
    number = "{:.1f}".format
    return _formatted(
        table_two().drop(columns="delta"),  # the page says it
        [None, number, number, lambda n: "" if math.isnan(n) else f"{n:.0f}", "{:.1e}".format, None],
    )


def _multi() -> str:
    return _formatted(
        multi_gaps(), [None, *[_percent] * 2, *["{:.2f}".format] * 4, "{:.3f}".format, "{:.2f}".format]
    )


def _variances() -> str:
    return _formatted(variance_gaps(), ["{:.0f}".format, *["{:.4f}".format] * 6])


def _safety() -> str:
    return _formatted(safety_margins(), ["{:g}".format, "{:.0f}".format, "{:.1e}".format])


def _dump_gaps() -> str:
    def ratio(value: float) -> str:
        return "" if math.isnan(value) else f"{value:.3g}"

    def messages(value: float) -> str:
        return "" if math.isnan(value) else f"{value:,.2f}" if value < 10 else f"{value:,.0f}"

    return _formatted(dump_gaps(), [None, None, ratio, ratio, messages, messages])


def _dump_savings() -> str:
    number = "{:.1f}".format
    return _formatted(dump.savings(), ["{:g}".format, number, number, "{:.2f}".format])


def _shuffle_gaussian_table() -> str:
    return _formatted(shuffle_gaussian.table_one(), [None, "{:.0f}".format, *[None] * 4])


def _shuffling_cost() -> str:
    return _formatted(shuffling_cost(), [None] * 6)


def _checkin_budgets() -> str:
    return _formatted(checkin_budgets(), [None, lambda eps: f"{eps:.2f}" if eps >= 0.1 else f"{eps:.2g}"])


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
    header = ["Delta", "printed", "corrected", "read off Figure 1c", "exact, halving", "exact, best"]
    return markdown(header, rows)


def _summation_cheaper() -> str:
    def count(value: float) -> str:
        return "" if math.isnan(value) else f"{value:,.0f}"

    def small(value: float) -> str:
        return f"{value:.2g}"

    return _formatted(
        summation.cheaper(),
        [count, count, count, count, "{:.2f}".format, "{:.4g}".format, small, count, count],
    )


def _summation_growth() -> str:
    sizes = (2, 100)
    few, many = (summation.best_design(size).design.messages / size for size in sizes)
    million = 1 + summation.best_design(100).design.messages / 1e6
    return (
        f"Noise messages per Delta rise from {few:,.0f} at Delta = {sizes[0]} to {many:,.0f} at Delta = {sizes[1]}: a\n"
        "little faster than in proportion to Delta, which the paper conjectures might be below its near-linear bound.\n"
        f"At a million users, Delta = {sizes[1]} takes {million:.2f} messages per user.\n"
    )


def _deployed_systems() -> str:
    small, number = "{:g}".format, "{:.5f}".format
    table = deployments.systems().drop(columns=["system", "randomizer"])
    return _formatted(
        table,
        [
            None,
            small,
            "{:,.0f}".format,
            "{:.0e}".format,
            small,
            number,
            number,
            "{:,.0f}".format,
            number,
            number,
            None,
        ],
    )


def _deployed_sources() -> str:
    table = deployments.sources()
    wanted = ["system", "mechanism", "printed eps", "printed delta", "what was read", "not found", "status"]
    links = [
        f"{read} ([source]({source}), {place})"
        for read, source, place in zip(table["what was read"], table["source"], table["place"], strict=True)
    ]
    return _formatted(table.assign(**{"what was read": links})[wanted], [None] * len(wanted))


#: What can stand between the marks, by name.
TABLES: dict[str, Callable[[], str]] = {
    "errata random_population": partial(markdown_table, "random_population"),
    "errata dump": partial(markdown_table, "dump"),
    "errata segmented": partial(markdown_table, "segmented"),
    "errata shuffle_gaussian": partial(markdown_table, "shuffle_gaussian"),
    "shuffle gaussian table one": _shuffle_gaussian_table,
    "shuffle gaussian cost": _shuffling_cost,
    "shuffle gaussian checkin": _checkin_budgets,
    "summation accountings": _summation_accountings,
    "summation growth": _summation_growth,
    "summation cheaper": _summation_cheaper,
    "deployed systems": _deployed_systems,
    "deployed sources": _deployed_sources,
    "errata summation": partial(markdown_table, "summation"),
    "errata comparison": partial(markdown_table, "comparison"),
    "notes comparison": partial(markdown_table, "comparison", "reading_notes"),
    "notes random_population": partial(markdown_table, "random_population", "reading_notes"),
    "notes dump": partial(markdown_table, "dump", "reading_notes"),
    "notes segmented": partial(markdown_table, "segmented", "reading_notes"),
    "notes shuffle_gaussian": partial(markdown_table, "shuffle_gaussian", "reading_notes"),
    "notes summation": partial(markdown_table, "summation", "reading_notes"),
    "errata summary": summary_table,
    "errata review": review_table,
    "dump gaps": _dump_gaps,
    "dump savings": _dump_savings,
    "budgets": _budgets,
    "dummies": _dummies,
    "checkin": _checkin,
    "gradients": _gradients,
    "multi": _multi,
    "table two": _table_two,
    "variances": _variances,
    "safety": _safety,
}


#: Splits of the privacy levels, in the paper's order.
SPLITS = ("25-50-25", "50-25-25", "25-25-50")
#: The competitors of the segmented paper; those weighted by inverse variances are ours.
_RIVALS = ("balls_into_bins", "subset_shuffled", "subset_local", "separate", "separate_weighted")
_OWN_RIVAL = "separate_inverse_variance"


def _read(path: Path) -> pd.DataFrame:
    """A table of the reference with a column per grid variable, and ``parameters.NAME`` for what was calibrated."""
    table = pd.read_csv(path)
    for packed, prefix in (("point", ""), ("parameters", "parameters.")):
        parts = [
            {f"{prefix}{name}": value for name, _, value in (item.partition("=") for item in text.split())}
            for text in table[packed].fillna("")
        ]
        table = table.drop(columns=packed).join(pd.DataFrame(parts, index=table.index))
    return table


def _segmented_rows(msnbc: pd.DataFrame, uniform: pd.DataFrame) -> dict[tuple[str, int], pd.DataFrame]:
    """Rows of both experiments by data and number of users, in the order of the grids."""
    named = pd.concat(
        [msnbc.assign(data="MSNBC"), uniform.assign(data=uniform["s"].map(lambda s: f"{s} of 128 items"))]
    ).assign(n=lambda table: table["n"].astype(int))
    keys = sorted({(str(data), int(n)) for data, n in zip(named["data"], named["n"], strict=True)})
    return {
        (data, n): named[(named["data"] == data) & (named["n"] == n)]
        for data, n in sorted(keys, key=lambda key: key[0] != "MSNBC")
    }


def _segmented_gains(msnbc: pd.DataFrame, uniform: pd.DataFrame) -> str:
    """By how much the expected error of SegMM at its best m is below that of the best competitor."""

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
    """The best m for the split S1, and the range within 5 % of its error."""

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


#: Tables that are read off the reference, by name: paper, experiments, and what is made of their tables.
FROM_RESULTS: dict[str, tuple[str, tuple[str, ...], Callable[..., str]]] = {
    "segmented gains": ("segmented", ("msnbc", "uniform"), _segmented_gains),
    "segmented best": ("segmented", ("msnbc", "uniform"), _segmented_best),
}


def from_results(name: str, folder: Path) -> str | None:
    """A table of `FROM_RESULTS`, made of the reference in a folder; None if one of its tables is not there."""
    paper, experiments, make = FROM_RESULTS[name]
    paths = [folder / paper / f"{experiment}.csv" for experiment in experiments]
    if not all(path.is_file() for path in paths):
        return None
    return make(*map(_read, paths))


def refreshed(text: str, reference: Path = REFERENCE) -> str:
    """Return a page with all its tables and numbers computed anew."""
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
    """A number of a sentence."""
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
    """Compute the tables and numbers of pages anew."""
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
