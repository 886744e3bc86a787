"""Identity of each protocol of the library: look, name, sentence and year, the same in all pictures and texts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import normalize

_TABLE = Path(__file__).with_name("identities.toml")
_SOURCES = Path(__file__).with_name("protocols") / "sources.bib"
_FIELD = re.compile(r"^  (author|title|year) = \{(.*)\},$", re.MULTILINE)
_MOST_AUTHORS = 3
_ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308"}
_ACCENT = re.compile(r"\\(['`\"])(\w)")


@dataclass(frozen=True)
class Identity:
    """Look and words of a protocol.

    Parameters
    ----------
    label : str
        Name in comparisons; figures of a paper have the paper's name.
    sentence : str
        Sentence on the messages of a user, or on the result of the trusted party.
    color, marker, line : str
        Hexadecimal color, Matplotlib's marker, and ``solid`` for a shuffler that permutes, ``dashdot`` for one that
        adds or drops messages, ``dotted`` for anybody else.
    year : int, optional
        Year of the source; None for a protocol that was derived in this project.
    also : tuple of str
        Other names.
    variants : mapping of str to str
        Option of each name that the protocol has with an option other than the default.
    cite : str
        Key of the source in ``protocols/sources.bib``; empty for a protocol that was derived in this project.
    reconstructed : bool
        True if the available text of the source lacks the printed formula, which this project reconstructed.
    """

    label: str
    sentence: str
    color: str
    marker: str
    line: str
    year: int | None = None
    also: tuple[str, ...] = ()
    cite: str = ""
    variants: Mapping[str, str] = field(default_factory=dict)
    reconstructed: bool = False


def identity_of(task_kind: str, name: str) -> Identity | None:
    """Return the identity of a protocol; None for a plug-in or an installed package's protocol."""
    return identities().get(f"{task_kind}.{name}") or identities().get(name)


def names_of(task_kind: str, name: str) -> tuple[str, ...]:
    """Return the name of a protocol and all other names that it is known by."""
    identity = identity_of(task_kind, name)
    return (name,) if identity is None else (name, identity.label, *identity.also)


def colors() -> Mapping[str, str]:
    """Return the hexadecimal colors by name; black is for protocols without a shuffler."""
    return _table()["colors"]


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(_TABLE.read_text(encoding="utf-8"))


@cache
def identities() -> Mapping[str, Identity]:
    """Return the identities of all protocols of the library by name, or ``<task>.<name>`` for one task alone."""
    return {name: _identity(about, colors()) for name, about in _table()["protocols"].items()}


def _identity(about: Mapping[str, Any], colors: Mapping[str, str]) -> Identity:
    color, marker, line = about["look"]
    return Identity(
        about["label"],
        about["sentence"],
        colors[color],
        marker,
        line,
        about.get("year"),
        tuple(about.get("also", ())),
        about.get("cite", ""),
        about.get("variants", {}),
        about.get("reconstructed", False),
    )


def source_of(identity: Identity) -> str:
    """Return authors, year and title of the source of a protocol; empty if it was derived in this project."""
    if not identity.cite:
        return ""
    source = dict(_FIELD.findall(bibtex_entries()[identity.cite]))
    surnames = [author.partition(",")[0] for author in source["author"].split(" and ")]
    authors = f"{surnames[0]} et al." if len(surnames) > _MOST_AUTHORS else ", ".join(surnames)
    words = re.sub("[{}]", "", f"{authors} {source['year']}: {source['title']}").replace("\\&", "&")
    return _ACCENT.sub(lambda accent: normalize("NFC", accent[2] + _ACCENTS[accent[1]]), words)


@cache
def bibtex_entries() -> dict[str, str]:
    """Return the BibTeX entry of each key."""
    texts = _SOURCES.read_text(encoding="utf-8").split("\n\n")
    return {entry.partition("{")[2].partition(",")[0]: entry.strip() for entry in texts}
