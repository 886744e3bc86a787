"""Compute the kept comparison of the site's selector: ``python tools/selector_table.py`` adds the settings it lacks.

Every row is a row of `shuffledp.compare`, as the command on the page prints it. Remove the file to compute all anew.
"""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from itertools import product
from pathlib import Path

from tqdm import tqdm

import shuffledp
from shuffledp.comparison.rows import TRUST
from shuffledp.pipeline.site.selector import (
    BEST,
    NUMBERS,
    PRINTED,
    Offer,
    SelectorSetting,
    Tables,
    format_tables,
    read_tables,
)

TABLE = Path(__file__).resolve().parents[1] / "src/shuffledp/pipeline/site/selector.csv"
USERS = (10_000, 100_000, 1_000_000)
BUDGETS = (0.5, 1.0, 2.0)
#: Values, largest number, items or dimensions by task.
SIZES = {"frequency": (10, 100, 1000), "summation": (1, 10, 100), "sets": (128,), "vectors": (10, 100)}
#: Users per value from which some protocol of several releases is better than an answer without data.
LEAST_USERS = 100
#: Numbers of releases beyond one.
ROUNDS = (7, 30)
DELTA, SMALL_DELTA = 1e-6, 1e-9


def list_settings() -> list[SelectorSetting]:
    """Return all settings; the page shows the first one first."""
    first = SelectorSetting("frequency", 100_000, 100, 1.0, DELTA, 1, BEST)
    once = [
        SelectorSetting(task, users, size, eps, DELTA, 1, BEST)
        for task, sizes in SIZES.items()
        for users, size, eps in product(USERS, sizes, BUDGETS)
    ]
    usual = [setting for setting in once if setting.eps == first.eps]
    smaller = [replace(setting, delta=SMALL_DELTA) for setting in usual]
    printed = [replace(setting, accounting=PRINTED) for setting in once if setting.task == first.task]
    repeated = [
        replace(setting, rounds=rounds)
        for setting in usual
        for rounds in ROUNDS
        if setting.task == first.task and setting.users >= LEAST_USERS * setting.size
    ]
    return list(dict.fromkeys((first, *once, *repeated, *smaller, *printed)))


def compute_offers(setting: SelectorSetting) -> tuple[Offer, ...]:
    """Return the protocols that meet a setting with an error below an answer without data."""
    size = {
        "frequency": {"domain_size": setting.size},
        "summation": {"max_value": setting.size},
        "sets": {"domain_size": setting.size, "set_size": 4},
        "vectors": {"dimension": setting.size},
    }[setting.task]
    accounting = {"accounting": PRINTED} if setting.accounting == PRINTED else {}
    with warnings.catch_warnings(action="ignore"):
        rows = shuffledp.compare(
            users=setting.users,
            eps=setting.eps,
            delta=setting.delta,
            rounds=setting.rounds,
            **size,
            **accounting,
        )
    return tuple(
        Offer(
            row.protocol,
            TRUST[row.trust],
            row.accounting,
            row.guarantee,
            *(getattr(row, field) for field in NUMBERS.values()),
            "" if row.most_certain or row.most_messages is None else "~",
        )
        for row in rows
        if row.status == "ok" and not row.idle
    )


def main() -> None:
    """Compute the settings that the kept table lacks, one process per core, and write the table."""
    settings = list_settings()
    tables: Tables = read_tables(TABLE.read_text(encoding="utf-8")) if TABLE.is_file() else {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = {
            pool.submit(compute_offers, setting): setting for setting in settings if setting not in tables
        }
        for job in tqdm(as_completed(jobs), total=len(jobs)):
            tables[jobs[job]] = job.result()
            known = {setting: tables[setting] for setting in settings if tables.get(setting)}
            TABLE.write_text(format_tables(known), encoding="utf-8")


if __name__ == "__main__":
    main()
