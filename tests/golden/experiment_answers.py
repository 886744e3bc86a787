"""Cells and values of a tiny run of every experiment, and a digest of all cells at the papers' scale."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from golden.inside import DATASETS, Job, canonical, cells, jobs, prepare_shipped, run
from golden.values import Row, Rows, digest, row_of

REPEATS = 2
#: Methods whose cells are only listed in the table, with the reasons.
NOT_RUN = {
    "allocation.batches.poisson": "takes a second; the table of the accountant has its function",
    "comparison.bits.coarse_correlated_sum": "searches a noise design for a minute",
    "comparison.bounded_sums.correlated_sum": "searches; the table of the protocol has such settings",
    "comparison.real_sums.real_sum": "searches; the table of the protocol has such settings",
    "comparison.real_sums.real_sum_20": "searches; the table of the protocol has such settings",
    **dict.fromkeys(
        (
            "ranges.levels.central_laplace",
            "ranges.levels.correlated_noise",
            "ranges.levels.balls_into_bins",
            "ranges.prefixes.central_laplace_tree",
            "ranges.prefixes.central_gaussian_tree",
            "ranges.prefixes.correlated_noise_tree",
            "ranges.prefixes.balls_into_bins_tree",
        ),
        "calibrates trees for seconds; the tests of ranges have such settings",
    ),
    "segmented.msnbc.segmented_best": "searches for seconds; the table of the protocol has the option",
    "segmented.tokens.segmented_best": "searches for seconds; the table of the protocol has the option",
    "segmented.uniform.segmented_best": "searches for seconds; the table of the protocol has the option",
    "shuffle_gaussian.checkin.gauss": "takes a second; the table of the accountant has its function",
    "shuffle_gaussian.checkin.pair": "takes a second; the table of the accountant has its function",
    "shuffle_gaussian.sgd.central_replacement": "takes a second; the table of the accountant has its function",
    "summation.pages.sparse_sum_17": "searches for a second; the table of the protocol has such settings",
}
#: Methods whose first point takes about a second; studies are computed only at the last point, too.
LAST_POINT = {
    "dump.ipums.private_coin",
    "dump.ipums.solh",
    "dump.ratings.private_coin",
    "dump.ratings.solh",
    "dump.synthetic.solh",
    "segmented.two_rounds.announced_amplified",
    "segmented.two_rounds.announced_dump",
    "shuffle_gaussian.checkin.convex",
    "shuffle_gaussian.sgd.central_rdp",
    "summation.hours.real_sum_20",
    "summation.sizes.correlated_sum",
}
STUDY = "comparison"
#: Columns of a cell, with nan for missing values.
NUMBERS = (
    *("users_expected", "domain_size", "eps", "delta", "eps_local", "messages_per_user", "extra_messages"),
    *("bits_per_message", "bits_per_user", "shuffler_messages"),
)
#: Columns that are equal in all cells of a method.
METHOD = ("label", "protocol", "task", "reduction", "trust", "dataset", "data_source")


def answers(paper: str) -> Rows:
    """Return the rows of the experiments of a paper or study of the configuration."""
    rows: Rows = {}
    for experiment, method, job in jobs(paper):
        every = cells(job)
        rows[f"{paper}.{experiment}.{method}"] = {
            "cells": len(every),
            "digest": digest(canonical(every)),
            "repeats": job.repeats,
        }
    with TemporaryDirectory() as folder:
        for name, job in tiny_jobs(paper, Path(folder), REPEATS):
            rows |= _run(name, job, Path(folder))
    return rows


def tiny_jobs(paper: str, folder: Path, repeats: int) -> Iterator[tuple[str, Job]]:
    """Yield the name of every method that is run, and its job at one point with few repeats; prepare its data."""
    prepared: set[str] = set()
    for experiment, method, job in jobs(paper):
        name = f"{paper}.{experiment}.{method}"
        dataset = _dataset(job)
        if name not in NOT_RUN and dataset and dataset not in prepared:
            prepare_shipped(dataset, folder)
            prepared.add(dataset)
        for tiny in _tiny(name, job, repeats):
            yield name, tiny


def _dataset(job: Job) -> str | None:
    name = job.data.get("name")
    return name if name in DATASETS else None


def _tiny(name: str, job: Job, repeats: int) -> Iterator[Job]:
    """Yield the job at its first and last point separately, with few repeats."""
    if name in NOT_RUN:
        return
    points = [point for point, _, _ in cells(job)]
    last = name in LAST_POINT or name.startswith(STUDY) or points[0] == points[-1]
    for point in points[-1:] if last else (points[0], points[-1]):
        grid = {variable: [value] for variable, value in point.items()}
        yield replace(job, repeats=min(repeats, job.repeats), grid=grid)


def _run(name: str, job: Job, folder: Path) -> Rows:
    """Return a row per cell, and the entries that all cells of the method have in common."""
    found, values = run(job, folder)
    rows: Rows = {f"{name}; all": {"is": " | ".join(str(found[0][key]) for key in METHOD)}}
    for cell in found:
        case = f"{name}; {cell['point']}; {cell['accounting']}"
        rows[case] = {**_described(cell), **_values(v for v in values if v["cell"] == cell["cell"])}
    return rows


def _described(cell: Mapping[str, Any]) -> Row:
    """Return the columns of a cell, with numbers in one list and parameters one by one."""
    row: Row = {"is": f"{cell['status']} {cell['guarantee'] or ''}".strip()}
    row |= {key: cell[key] for key in ("guarantee_note", "reason") if cell[key]}
    row["numbers"] = [math.nan if cell[key] is None else cell[key] for key in NUMBERS]
    return row | row_of(json.loads(cell["parameters"] or "{}") or [], "parameters")


def _values(values: Iterator[Mapping[str, Any]]) -> Row:
    """Return values by metric and kind, in the order of the repeats."""
    found: dict[str, list[float]] = {}
    for value in values:
        found.setdefault(f"{value['metric']} {value['kind']}", []).append(value["value"])
    return row_of(found)
