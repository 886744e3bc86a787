"""Comparison that the selector offers: kept rows of `shuffledp.compare` by setting, and the command of each setting."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import defaultdict
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from shuffledp.identities import identity_of
from shuffledp.numerics.rounding import number_text, round_to_digits
from shuffledp.numerics.statements import STATED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shuffledp.pipeline.site.csv_tables import Row

BEST, PRINTED = "best", "printed"
#: Accountings: the best one that each protocol has, which is the command's default, and the papers' own.
ACCOUNTINGS = {BEST: "best available", PRINTED: "as printed"}
#: Label and option of the size of a task.
SIZES = {
    "frequency": ("values k", "domain-size"),
    "summation": ("largest number", "max-value"),
    "sets": ("items, 4 per user", "set-size 4 --domain-size"),
    "vectors": ("dimensions", "dimension"),
}
#: Names of the tasks for readers.
TASKS = {
    "frequency": "histogram",
    "summation": "sum of whole numbers",
    "sets": "histogram of sets",
    "vectors": "mean of vectors",
}
_TABLE = "selector.csv"
_DIGITS = 3
_KEPT_DIGITS = 6
_MOST_TICKS = 4
#: Tasks whose answers are shares of the users.
_SHARES = ("frequency", "sets")
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class SelectorSetting:
    """Setting of a comparison; `size` is the number of values, items or dimensions, or the largest number."""

    task: str
    users: int
    size: int
    eps: float
    delta: float
    rounds: int
    accounting: str

    @property
    def delta_text(self) -> str:
        """Delta as a reader types it."""
        return f"{self.delta:g}".replace("e-0", "e-")

    @property
    def command(self) -> str:
        """Command that computes the rows of the setting; the page's script has the same for a reader's numbers."""
        sizes = f"--users {self.users} --{SIZES[self.task][1]} {self.size}"
        repeated = f" --rounds {self.rounds}" if self.rounds > 1 else ""
        printed = f" --accounting {PRINTED}" if self.accounting == PRINTED else ""
        budget = f"--eps {self.eps:g} --delta {self.delta_text}"
        return f"shuffledp compare {sizes} {budget}{repeated}{printed}"

    @property
    def words(self) -> str:
        """Description for readers."""
        sizes = f"{self.users:,} users, {SIZES[self.task][0]} = {self.size:,}"
        repeated = f", {self.rounds} releases to the same users" if self.rounds > 1 else ""
        return f"{TASKS[self.task]}, {sizes}, eps = {self.eps:g}, delta = {self.delta_text}{repeated}"


@dataclass(frozen=True)
class Offer:
    """Protocol in a setting: squared error, half-width of a 95 % interval, and a user's costs of one release.

    `most` is the largest number of messages of a user, and `exceeded` is ``~`` if some user may rarely send more;
    `local` is eps of one user's own messages. Both are None where a comparison has no number.
    """

    protocol: str
    trust: str
    evaluated: str
    guarantee: str
    mse: float
    half_width: float
    messages: float
    bits: float
    most: float | None
    local: float | None
    exceeded: str


#: Numbers of an offer with their fields in a row of a comparison.
NUMBERS = {
    "mse": "mse",
    "half_width": "half_width",
    "messages": "messages_per_user",
    "bits": "bits_per_user",
    "most": "most_messages",
    "local": "eps_local",
}
#: Offers by setting, each by trust and then by error, as a comparison orders them.
Tables = dict[SelectorSetting, tuple[Offer, ...]]


@cache
def kept_tables() -> Tables:
    """Return the kept comparison; ``tools/selector_table.py`` computes it."""
    return read_tables((resources.files("shuffledp.pipeline.site") / _TABLE).read_text(encoding="utf-8"))


def read_tables(text: str) -> Tables:
    """Return the tables in a CSV text."""
    offers: defaultdict[SelectorSetting, list[Offer]] = defaultdict(list)
    of_setting, of_offer = get_type_hints(SelectorSetting), get_type_hints(Offer)
    for row in csv.DictReader(io.StringIO(text)):
        offers[_typed(SelectorSetting, of_setting, row)].append(_typed(Offer, of_offer, row))
    return {setting: tuple(rows) for setting, rows in offers.items()}


def _typed(kind: type[Kind], types: Mapping[str, Any], row: Mapping[str, str]) -> Kind:
    """Return the fields of a class, of these types, that a row of texts has."""
    return kind(**{name: _value(types[name], row[name]) for name in types})


def _value(kind: Any, text: str) -> Any:
    if kind == float | None:
        return float(text) if text else None
    return kind(text)


def format_tables(tables: Tables) -> str:
    """Return tables as a CSV text, numbers with six significant digits on their side."""
    sink = io.StringIO()
    names = [column.name for kind in (SelectorSetting, Offer) for column in fields(kind)]
    writer = csv.DictWriter(sink, names, lineterminator="\n")
    writer.writeheader()
    for setting, offers in tables.items():
        for offer in offers:
            numbers = {name: _kept_text(name, getattr(offer, name)) for name in NUMBERS}
            writer.writerow(asdict(setting) | asdict(offer) | numbers)
    return sink.getvalue()


def _kept_text(name: str, value: float | None) -> str:
    return "" if value is None else number_text(value, STATED[NUMBERS[name]][1], _KEPT_DIGITS)


@dataclass(frozen=True)
class Board:
    """Table of a page: rows by trusted party, and the labels on the axis of errors with their places, in percent."""

    groups: Sequence[tuple[str, Sequence[Row]]]
    ticks: Sequence[tuple[float, str]]

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(len(rows) for _, rows in self.groups)

    def head(self, most: int) -> Board:
        """Return the board with the first rows of each group."""
        return replace(self, groups=[(trust, rows[:most]) for trust, rows in self.groups])


def arrange(setting: SelectorSetting, offers: Sequence[Offer]) -> Board:
    """Return the board of offers; `place` is the place of an error on the axis, in percent.

    Among equal printed errors, published protocols come first.
    """
    trusted = list(dict.fromkeys(offer.trust for offer in offers))

    def rank(offer: Offer) -> tuple[int, float, bool]:
        error = round_to_digits(offer.mse, "nearest", _DIGITS)
        return trusted.index(offer.trust), error, not _is_published(setting, offer)

    offers = sorted(offers, key=rank)
    errors = [math.log10(offer.mse) for offer in offers]
    low, high = math.floor(min(errors)), math.ceil(max(errors))
    high = max(high, low + 1)
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for offer, error in zip(offers, errors, strict=True):
        numbers = {name: _digits(name, getattr(offer, name), _DIGITS) for name in NUMBERS}
        identity = identity_of(setting.task, offer.protocol)
        label = offer.protocol if identity is None else identity.label
        row = asdict(offer) | numbers | {"label": label, "place": _place(error, low, high)}
        most = f"({offer.exceeded}{numbers['most']})" if numbers["most"] else ""
        local = numbers["local"] or "–"
        groups[offer.trust].append(
            row | {"in_users": _in_users(offer, setting), "most": most, "local": local}
        )
    step = math.ceil((high - low) / _MOST_TICKS)
    ticks = [(_place(power, low, high), f"1e{power}") for power in range(low, high + 1, step)]
    return Board(list(groups.items()), ticks)


def _is_published(setting: SelectorSetting, offer: Offer) -> bool:
    identity = identity_of(setting.task, offer.protocol)
    return identity is not None and bool(identity.cite)


def _in_users(offer: Offer, setting: SelectorSetting) -> str:
    """Return the half-width of a share as a number of users; empty for other tasks."""
    if setting.task not in _SHARES:
        return ""
    return f"({_digits('half_width', offer.half_width * setting.users, _DIGITS)})"


def _place(power: float, low: int, high: int) -> float:
    return round(100 * (power - low) / (high - low), 1)


def script(tables: Tables, protocols: Sequence[str], remarks: Mapping[str, str]) -> str:
    """Return a script with all tables, the protocols with a page, and remarks by protocol, as a file reads no other."""
    content = {
        "pages": protocols,
        "remarks": remarks,
        "sizes": SIZES,
        "printed": PRINTED,
        "settings": [
            asdict(setting) | asdict(arrange(setting, offers)) for setting, offers in tables.items()
        ],
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f"window.shuffledpSelector = {text};\n"


def _digits(name: str, value: float | None, digits: int) -> str:
    """Return a number as text with significant digits, without a power of ten if it is large; empty for None."""
    if value is None:
        return ""
    text = number_text(value, STATED[NUMBERS[name]][1], digits)
    return f"{float(text):,.0f}" if "e+" in text else text
