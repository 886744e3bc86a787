"""Docstrings of public functions: they state the source, the side of the error, units and shapes."""

import doctest
import inspect
import re
from importlib import import_module

import pytest

from shuffledp.lazy_api import behind

DOORS = {
    name: door
    for door in (
        "shuffledp.accounting",
        "shuffledp.accountant",
        "shuffledp.protocols.calibrations",
        "shuffledp.designs",
    )
    for name in import_module(door).__all__
}
OFFERED = {name: behind(door, name) for name, door in DOORS.items()}
FUNCTIONS = {name: value for name, value in OFFERED.items() if inspect.isfunction(inspect.unwrap(value))}

#: Intervals of the annotations in `shuffledp.numerics.argument_ranges`.
INTERVALS = {"Delta": "(0, 1)", "OpenUnit": "(0, 1)", "Unit": "[0, 1]", "Rate": "(0, 1]"}
SOURCE = re.compile(
    r"theorem|lemma|corollary|proposition|definition|algorithm|equation|section|appendix|table [ivx\d]|"
    r"arxiv|et al\.|\(\d{4}\)|derived|source",
    re.I,
)
SIDE = re.compile(
    r"upper bounds?|lower bounds?|exact|rounded (up|down)|never (below|above|too few|too many|too large|too small)|"
    r"too (large|small) by|too (large|small) at most|errs? on|safe side|estimate",
    re.I,
)


def sections(function):
    """Return the docstring by numpydoc section; the text before the first section has an empty name."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(function) or "", flags=re.M)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def prose(function):
    """Return the claims in a docstring, without arguments and examples, where ``exact`` has other meanings."""
    claims = [
        text for name, text in sections(function).items() if name not in ("Parameters", "Examples", "Raises")
    ]
    # A word of code is the name of an accounting, not a statement.
    return re.sub(r"``[^`]*``", "", " ".join(" ".join(claims).split()))


def followed(function):
    """Return the docstring, together with the docstrings that it refers to for arguments and results."""
    own = inspect.getdoc(function) or ""
    referred = [FUNCTIONS[name] for name in re.findall(r":func:`(\w+)`", own) if name in FUNCTIONS]
    return " ".join([own, *(inspect.getdoc(other) or "" for other in referred)])


def test_public_functions_state_source_side_units():
    wrong = []
    for name, function in FUNCTIONS.items():
        signature, text, claims = inspect.signature(function), followed(function), prose(function)
        in_nats = any(one.startswith("eps") for one in signature.parameters) or name.endswith("epsilon")
        missing = {
            "source": not SOURCE.search(claims),
            "side": not SIDE.search(claims),
            "nats": in_nats and not re.search(r"\bnats?\b", text, re.I),
            "shape": "NDArray" in str(signature.return_annotation)
            and not re.search(r"\([\w\s,*+-]*\) ndarray|shape", text),
        }
        wrong += [f"{name}: {what}" for what, is_missing in missing.items() if is_missing]
    assert wrong == []


def test_stated_intervals_are_those_of_annotations():
    """A range is in the docstring for readers, and in the annotation for the check."""
    wrong, compared = [], 0
    for name, function in FUNCTIONS.items():
        parameters = inspect.signature(function).parameters
        entries = re.findall(r"^(\w+) : .*\n((?:    .*\n?)+)", sections(function).get("Parameters", ""), re.M)
        for argument, text in entries:
            interval = INTERVALS.get(str(parameters[argument].annotation).removesuffix(" | None"))
            if interval and (stated := re.findall(r"[\[(]0, 1[\])]", text)):
                compared += 1
                wrong += [] if interval in stated else [f"{name}, {argument}: {stated}, not {interval}"]
    assert compared > 70
    assert wrong == []


@pytest.mark.parametrize("name", ["central_replacement_epsilon", "to_pld"])
def test_examples_with_dp_accounting_are_correct(name):
    """The other examples run where the wheel is installed, which has no dp-accounting."""
    failures, tried = doctest.testmod(inspect.getmodule(inspect.unwrap(FUNCTIONS[name])))
    assert tried > 0
    assert failures == 0
