"""Ranking of every protocol of a task at every computed setting, best first under equal trust."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd

from shuffledp.identities import identities, identity_of
from shuffledp.pipeline.experiments.results import IN_DOUBT, Results, read_methods
from shuffledp.pipeline.figures.drawing_jobs import Fields, RankedJob
from shuffledp.pipeline.figures.fronts import Offer, front
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.numerals import power
from shuffledp.pipeline.figures.selected_rows import by_cell, chosen, matching

#: Columns that name a setting of the ranking.
SETTING = ("task", "users", "values", "eps", "delta")
#: Columns of eps with absent users and of the gain of fake users; empty if an experiment computes none.
ROBUST = ("eps_dropped", "eps_colluding", "poisoning_gain")
#: Columns of the ranking.
COLUMNS = (
    *SETTING,
    "trust",
    "rank",
    "front",
    "label",
    "protocol",
    "error",
    "over_curator",
    "printed",
    "printed_over_curator",
    "messages",
    "bits",
    "printed_bits",
    "accounting",
    "guarantee",
    "why_in_doubt",
    "reason",
    "parameters",
    *ROBUST,
)
#: Accountings of the ranking: a method is ranked under its first accounting in this list.
ACCOUNTINGS = ["exact", "corrected", "printed"]
#: Reference values: among the settings with the most protocols, the nearest by ratios is shown first.
USUAL = {"eps": 1.0, "users": 1e5}
_COMPUTED = ("rank", "front", "over_curator", "printed_over_curator")
_STATED = tuple(name for name in COLUMNS if name not in _COMPUTED)
_POINT = ["users_expected", "domain_size", "eps", "delta"]


def ranking(jobs: list[RankedJob]) -> pd.DataFrame:
    """Return the rows of all settings: tasks with most protocols first, then `first_setting`, trust and error."""
    tables = [rows for job in jobs if len(rows := _of_experiment(job))]
    if not tables:
        return pd.DataFrame(columns=list(COLUMNS))
    rows = pd.concat(tables).drop_duplicates([*SETTING, "label"], ignore_index=True)
    of_settings = rows.groupby(list(SETTING), sort=False, dropna=False)
    ranked = pd.concat([_ranked(group) for _, group in of_settings], ignore_index=True)
    first = {str(task): first_setting(group) for task, group in ranked.groupby("task", sort=False)}
    tasks = sorted(first, key=lambda task: -len(select_setting(ranked, first[task])))
    behind = [not _is(row, first[str(row["task"])]) for row in records(ranked)]
    order = ranked.assign(place=ranked["task"].map(tasks.index), behind=behind)
    order = order.assign(trust=order["trust"].map(TRUST))
    return order.sort_values(["place", "behind"], kind="stable")[list(COLUMNS)].reset_index(drop=True)


def results_of(job: RankedJob) -> Results:
    """Return the results of a ranked experiment."""
    return read_methods(Path(job["results"]), job["paper"], job["experiment"], job["methods"])


def with_identities(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells with the labels that their protocols have in comparisons."""
    identities = [identity_of(*names) for names in zip(cells["task"], cells["protocol"], strict=True)]
    labels = [
        identity.label if identity else label
        for identity, label in zip(identities, cells["label"], strict=True)
    ]
    return cells.assign(label=labels)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def first_setting(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the setting of a task with the most ranked protocols; among several, the one closest to `USUAL`."""
    settings = (
        rows.groupby(list(SETTING), sort=False, dropna=False)["error"].count().reset_index(name="count")
    )

    def key(setting: Fields) -> tuple[float, ...]:
        return (-setting["count"], *(abs(math.log(setting[name] / usual)) for name, usual in USUAL.items()))

    best = min(records(settings), key=key)
    return {name: best[name] for name in SETTING}


def select_setting(rows: pd.DataFrame, setting: Fields) -> pd.DataFrame:
    """Return the rows of one setting."""
    return rows[[_is(row, setting) for row in records(rows)]]


def at_first_setting(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the protocols with ranks at the setting of the first row; rows are in the order of `ranking`."""
    return rows if rows.empty else select_setting(rows, records(rows)[0]).dropna(subset=["rank"])


def setting_words(row: Fields) -> str:
    """Return the setting of a row, as far as the row has it."""
    parts = [f"n = {row['users']:,.0f}"] if "users" in row else []
    parts += [f"k = {row['values']:,.0f}"] if row.get("values", 0) > 0 else []
    parts += [f"eps = {row['eps']:g} nats"] if "eps" in row else []
    return ", ".join([*parts, *([f"delta = {power(row['delta'])}"] if "delta" in row else [])])


def common_setting(table: pd.DataFrame) -> str:
    """Return the part of the setting that all rows share."""
    common = {name: table[name].iloc[0] for name in SETTING if name in table and table[name].nunique() == 1}
    return ", ".join(filter(None, (common.pop("task", ""), setting_words(common))))


def _is(row: Fields, setting: Fields) -> bool:
    return all(row[n] == setting[n] or (pd.isna(row[n]) and pd.isna(setting[n])) for n in SETTING)


def _of_experiment(job: RankedJob) -> pd.DataFrame:
    """Return an experiment's ranked cells under the best available accounting, with the printed number beside it."""
    results = results_of(job)
    cells = with_identities(matching(results.cells, job["where"]))
    good = cells[cells["status"] == "ok"]
    if good.empty:
        return pd.DataFrame(columns=list(_STATED))
    summary = results.summary()
    errors = by_cell(good, summary, job["metric"], job["unit"])
    computed = {name: by_cell(good, summary, name) for name in ROBUST if (summary["metric"] == name).any()}
    as_printed = good[good["accounting"] == "printed"]
    printed = as_printed.assign(
        printed=as_printed["cell"].map(errors).astype(float), printed_bits=as_printed["bits_per_user"]
    )[["method", *_POINT, "printed", "printed_bits"]]
    rows = chosen(cells, {"accounting": ACCOUNTINGS}).merge(printed, how="left", on=["method", *_POINT])
    ok, doubted = rows["status"] == "ok", rows["guarantee"].isin(IN_DOUBT)
    rows = rows.assign(
        task=job["task"],
        users=rows["users_expected"],
        values=rows["domain_size"],
        error=rows["cell"].map(errors),
        messages=rows["messages_per_user"],
        bits=rows["bits_per_user"],
        guarantee=rows["guarantee"].where(ok, ""),
        why_in_doubt=rows["guarantee_note"].where(ok & doubted, ""),
        reason=rows["reason"].where(~ok, ""),
        parameters=rows["parameters"].where(ok, ""),
        **{name: rows["cell"].map(computed.get(name, {})).astype(float) for name in ROBUST},
    )
    return rows[list(_STATED)]


def _ranked(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one setting with ranks, fronts and ratios, by trust and error; doubtful claims come last."""
    central = rows.loc[rows["trust"] == "central", "error"].min()
    sound = rows["error"].notna() & ~rows["guarantee"].isin(IN_DOUBT)
    offers = [
        Offer(str(row["label"]), str(row["trust"]), str(row["guarantee"]), "", row["bits"], row["error"])
        for row in records(rows[sound])
    ]
    best = {(o.trust, o.method) for trust in TRUST for o in front([o for o in offers if o.trust == trust])}
    order = rows.assign(
        over_curator=rows["error"] / central,
        printed_over_curator=rows["printed"] / central,
        front=["yes" if pair in best else "" for pair in zip(rows["trust"], rows["label"], strict=True)],
        place=rows["trust"].map(list(TRUST).index),
        unsound=~sound,
        infeasible=rows["error"].isna(),
        digits=[float(f"{error:.5e}") for error in rows["error"]],
        year=[year_of(str(name)) for name in rows["protocol"]],
    ).sort_values(["place", "infeasible", "unsound", "digits", "year"], kind="stable")
    ranks = (~order["unsound"]).groupby(order["place"]).cumsum()
    return order.assign(rank=ranks.where(~order["unsound"]))


def year_of(protocol: str) -> float:
    """Return the year of a protocol's source, or nan."""
    identity = identities().get(protocol)
    return math.nan if identity is None or identity.year is None else identity.year
