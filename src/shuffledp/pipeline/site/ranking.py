"""Ranking of the run on the pages of protocols: rows by setting, as texts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shuffledp.numerics.statements import OF_DATA, STATED
from shuffledp.pipeline.site.csv_tables import Rows, lines

if TYPE_CHECKING:
    from pathlib import Path

    from shuffledp.pipeline.manifest import ManifestEntry

_NAME = "ranking"
#: Columns of the ranking that name a setting.
SETTING = ("task", "users", "values", "eps", "delta")
#: Fields of `shuffledp.numerics.statements.STATED` by column of a page.
_FIELDS = {
    "squared error": "mse",
    "relative to the curator’s": "floor_ratio",
    "messages": "messages_per_user",
    "bits": "bits_per_user",
}
_DIGITS = 4
#: Columns of a protocol's page besides the setting: heading, field of a row, and whether it has numbers.
COLUMNS = (
    ("Name", "label", False),
    ("Rank", "rank", True),
    ("Squared error", "error", True),
    ("Relative to the curator’s", "over", True),
    ("As printed, relative to exact", "printed", True),
    ("Messages", "messages", True),
    ("Bits", "bits", True),
    ("Accounting", "accounting", False),
    ("Guarantee", "guarantee", False),
)


def is_ranking(entry: ManifestEntry) -> bool:
    """Return whether an entry of a manifest is the ranking."""
    return entry.kind == "table" and entry.id == _NAME


@dataclass(frozen=True)
class RankedSetting:
    """Setting and its rows, grouped by the trusted party."""

    key: tuple[str, ...]
    groups: Mapping[str, Rows]


@dataclass(frozen=True)
class Ranking:
    """Rows of the ranking in the order of its table; each task's first setting comes first."""

    rows: tuple[Mapping[str, str], ...] = ()

    @cached_property
    def settings(self) -> tuple[RankedSetting, ...]:
        """Settings in the order of the table."""
        rows_of_settings: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
        for row in self.rows:
            rows_of_settings.setdefault(tuple(row[name] for name in SETTING), []).append(row)
        return tuple(
            RankedSetting(
                tuple(_text(name, text) for name, text in zip(SETTING, key, strict=True)), _grouped(rows)
            )
            for key, rows in rows_of_settings.items()
        )

    def rows_of(self, protocol: str) -> Rows:
        """Return the rows of a protocol, each with its setting."""
        return tuple(
            {**row, "trust": trust, "setting": setting.key}
            for setting in self.settings
            for trust, rows in setting.groups.items()
            for row in rows
            if row["protocol"] == protocol
        )

    @cached_property
    def protocols(self) -> tuple[str, ...]:
        """Protocols of the ranking, sorted."""
        return tuple(sorted({row["protocol"] for row in self.rows}))

    def labels(self, protocol: str) -> tuple[str, ...]:
        """Return the names under which a protocol is ranked."""
        return tuple(dict.fromkeys(row["label"] for row in self.rows if row["protocol"] == protocol))


def conditions() -> str:
    """Return a sentence on the users and data for which the numbers of the pages hold."""
    columns: dict[str, list[str]] = {}
    for column, name in _FIELDS.items():
        columns.setdefault(OF_DATA[STATED[name][0] or "given"], []).append(column)
    clauses = "; ".join(f"{', '.join(names)}{clause}" for clause, names in columns.items())
    return f"Numbers hold for n users, or for n users on average if their number is random: {clauses}."


def read(table: Path) -> Ranking:
    """Return the ranking in a CSV file."""
    header, rows = lines(table)
    return Ranking(tuple(dict(zip(header, row, strict=True)) for row in rows))


def _grouped(rows: list[Mapping[str, str]]) -> dict[str, Rows]:
    return {
        trust: tuple(_texts(row) for row in rows if row["trust"] == trust)
        for trust in dict.fromkeys(row["trust"] for row in rows)
    }


def _texts(row: Mapping[str, str]) -> Mapping[str, Any]:
    gain = float(row["printed"]) / float(row["error"]) if row["printed"] and row["error"] else math.nan
    return {
        "rank": row["rank"].removesuffix(".0"),
        "label": row["label"],
        "protocol": row["protocol"],
        "error": _number(row["error"]),
        "over": _number(row["over_curator"]),
        "printed": "" if math.isnan(gain) else _number(str(gain)),
        "messages": _number(row["messages"]),
        "bits": _number(row["bits"]),
        "accounting": row["accounting"],
        "guarantee": row["guarantee"] or "infeasible",
        "why": row["why_in_doubt"] or row["reason"],
        "parameters": row["parameters"],
    }


def _number(text: str) -> str:
    if not text:
        return "–"
    value = float(text)
    if value and not 1e-3 <= abs(value) < 1e7:
        return f"{value:.{_DIGITS - 1}g}"
    rounded = float(f"{value:.{_DIGITS}g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 10 ** (_DIGITS - 1) else f"{rounded:g}"


def _text(name: str, text: str) -> str:
    if name == "task" or not text:
        return text
    value = float(text)
    return f"{value:,.0f}" if name in ("users", "values") else f"{value:g}".replace("e-0", "e-")
