"""Ranking on the pages: rows by setting, with texts, bars and links."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shuffledp.numerics.statements import OF_DATA, STATED
from shuffledp.pipeline.site.csv_tables import Rows, lines

if TYPE_CHECKING:
    from pathlib import Path

    from shuffledp.pipeline.manifest import Entry

_NAME = "ranking"
SETTING = ("task", "users", "values", "eps", "delta")
"""Columns of the ranking that name a setting."""
SELECTORS = ("task", "users n", "values k", "eps", "delta")
"""Labels of the fields that choose a setting."""
_FIELDS = {
    "squared error": "mse",
    "relative to the curator’s": "floor_ratio",
    "messages": "messages_per_user",
    "bits": "bits_per_user",
}
"""Fields of `shuffledp.numerics.statements.STATED` by column of a page."""
_DIGITS = 4


def is_ranking(entry: Entry) -> bool:
    """Return whether an entry of a manifest is the ranking."""
    return entry.kind == "table" and entry.id == _NAME


@dataclass(frozen=True)
class Setting:
    """Setting and its rows, grouped by the trusted party."""

    key: tuple[str, ...]
    groups: Mapping[str, Rows]

    @property
    def command(self) -> str:
        """Command that computes this setting anew; empty for tasks without a number of values."""
        _, users, values, eps, delta = (text.replace(",", "") for text in self.key)
        options = f"--users {users} --domain-size {values} --eps {eps} --delta {delta}"
        return f"shuffledp compare {options}" if users and values else ""

    @property
    def scale(self) -> str:
        """Ends of the scale of the errors."""
        errors = [float(row["mse"]) for rows in self.groups.values() for row in rows if row["mse"]]
        return f"from {_number(str(min(errors)))} to {_number(str(max(errors)))}" if errors else ""


@dataclass(frozen=True)
class Ranking:
    """Rows of the ranking in the order of its table; each task's first setting comes first."""

    rows: tuple[Mapping[str, str], ...] = ()

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Settings in the order of the table."""
        found: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
        for row in self.rows:
            found.setdefault(tuple(row[name] for name in SETTING), []).append(row)
        return tuple(
            Setting(tuple(_text(name, text) for name, text in zip(SETTING, key, strict=True)), _grouped(rows))
            for key, rows in found.items()
        )

    def options(self, place: int) -> tuple[str, ...]:
        """Return the values of a selector; for all but the task, only values of the first task."""
        first = self.settings[0].key[0]
        some = {s.key[place]: None for s in self.settings if not place or s.key[0] == first}
        return tuple(some) if not place else tuple(sorted(some, key=_size))

    def of(self, protocol: str) -> Rows:
        """Return the rows of a protocol, each with its setting."""
        return tuple(
            {**row, "trust": trust, "setting": setting.key, "of": sum(map(len, setting.groups.values()))}
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

    def script(self) -> str:
        """Return a script with the rows of all settings; a page opened as a file cannot read other files."""
        content = [
            {
                "key": s.key,
                "command": s.command,
                "scale": s.scale,
                "groups": [[trust, [_for_the_page(r) for r in rows]] for trust, rows in s.groups.items()],
            }
            for s in self.settings
        ]
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        return f"window.shuffledpRanking = {text};\n"


def conditions() -> str:
    """Return a sentence on the users and data for which the numbers of the pages hold."""
    columns: dict[str, list[str]] = {}
    for column, name in _FIELDS.items():
        columns.setdefault(OF_DATA[STATED[name][0] or "given"], []).append(column)
    told = "; ".join(f"{', '.join(names)}{clause}" for clause, names in columns.items())
    return f"Numbers hold for n users, or for n users on average if their number is random: {told}."


def read(table: Path) -> Ranking:
    """Return the ranking in a CSV file."""
    header, rows = lines(table)
    return Ranking(tuple(dict(zip(header, row, strict=True)) for row in rows))


def _grouped(rows: list[Mapping[str, str]]) -> dict[str, Rows]:
    errors = [float(row["error"]) for row in rows if row["error"]]
    ends = (math.log(min(errors)), math.log(max(errors))) if errors else (0.0, 0.0)
    return {
        trust: tuple(_shown(row, ends) for row in rows if row["trust"] == trust)
        for trust in dict.fromkeys(row["trust"] for row in rows)
    }


def _shown(row: Mapping[str, str], ends: tuple[float, float]) -> Mapping[str, Any]:
    low, high = ends
    share = (math.log(float(row["error"])) - low) / (high - low or 1.0) if row["error"] else 0.0
    gain = float(row["printed"]) / float(row["error"]) if row["printed"] and row["error"] else math.nan
    return {
        "rank": row["rank"].removesuffix(".0"),
        "front": row["front"],
        "label": row["label"],
        "protocol": row["protocol"],
        "mse": row["error"],
        "error": _number(row["error"]),
        "bar": f"{3 + 94 * share:.1f}" if row["error"] else "",
        "over": _number(row["over_curator"]),
        "printed": "" if math.isnan(gain) else _number(str(gain)),
        "messages": _number(row["messages"]),
        "bits": _number(row["bits"]),
        "accounting": row["accounting"],
        "guarantee": row["guarantee"] or "infeasible",
        "why": row["why_in_doubt"] or row["reason"],
        "parameters": row["parameters"],
    }


def _for_the_page(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: text for name, text in row.items() if name not in ("parameters", "mse")}


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
    return f"{value:,.0f}" if name in ("users", "values") else f"{value:g}"


def _size(text: str) -> float:
    return float(text.replace(",", "")) if text else 0.0
