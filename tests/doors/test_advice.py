"""Advice that a command prints is advice that a comparison has confirmed."""

import json
import re

import pytest

from command_line import printed, typed, unwrapped


@pytest.mark.parametrize(
    "options",
    [
        typed("--users 300 --domain-size 20 --eps 0.1 --delta 1e-6 --max-messages 1"),
        typed("--users 5000 --domain-size 10 --eps 0.3 --delta 1e-6 --max-bits 3 --max-messages 0.5"),
        typed("--users 100000 --domain-size 100 --eps 1 --delta 1e-6 --max-messages 1 --mean-bits 5.123456789012"),
        typed("--users 200 --domain-size 4 --eps 0.02 --delta 1e-6"),
    ],
)  # fmt: skip
def test_loosened_options_admit_named_protocol(options):
    names = "local,grr_blanket,pure_dump"
    text = printed("compare", *options, "--protocols", names)
    advice = re.match(r"Nothing fits\. Loosen first: (.*), which admits (\w+)\.(.*?)\n\n", text, re.DOTALL)
    assert advice is not None, text[:200]
    changed = [
        part
        for change in advice[1].split(" and ")
        for part in re.fullmatch(r"(--[a-z-]+) .* to (\S+)", change).groups()
    ]
    assert unwrapped(advice[3]) == "Its error is below that of an answer without data."
    admitted = json.loads(printed("compare", *options, *changed, "--protocols", advice[2], "--json"))
    assert admitted["recommendation"]["protocol"] == advice[2]
    assert admitted["rows"][0]["mse"] < admitted["rows"][0]["blind_mse"]


def test_useless_advice_is_not_printed():
    setting = typed("--users 1000 --domain-size 500 --eps 0.01 --delta 1e-6")
    text = printed("compare", *setting, *typed("--max-bits 8 --protocols local,grr_blanket,pure_dump"))
    assert text.startswith("No protocol with a proven guarantee fits; the reasons are below.")
