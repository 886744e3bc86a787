"""Results of `shuffledp.compare` and of the commands that need no results."""

from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner

import shuffledp
from golden.inside import command_line
from golden.values import Row, Rows, row_of
from one_process import compare_here
from shuffledp.comparison import Compared
from shuffledp.populations import Binomial

FREQUENCY = [
    "amplified",
    "local",
    "pure_dump",
    "grr_blanket",
    "multi_exact",
    "skellam",
    "central_laplace",
    "sageo",
]
SUMMATION = ["correlated_sum", "bit_sum", "split_and_mix", "fragmented_rappor", "central_gaussian"]
SETS = ["segmented", "separate", "balls_into_bins", "subset_local"]
VECTORS = ["privunit", "amplified", "central_gaussian", "non_adaptive"]
THREE_THOUSAND = {"users": 3000, "eps": 1.0, "delta": 1e-6}
COMPARED: dict[str, dict[str, Any]] = {
    "frequency": {**THREE_THOUSAND, "domain_size": 5, "protocols": FREQUENCY},
    "bits": {"users": 10_000, "domain_size": 2, "eps": 0.5, "delta": 1e-8, "protocols": FREQUENCY},
    "counts": {
        "counts": [600, 200, 150, 50],
        "eps": 2.0,
        "delta": 1e-4,
        "protocols": FREQUENCY[:4],
        "accounting": "exact",
        "simulate": 2,
        "seed": 3,
    },
    "population": {
        "population": Binomial(1000, 0.5),
        "domain_size": 3,
        "eps": 1.0,
        "delta": 1e-5,
        "protocols": ["amplified", "random_checkin", "pure_dump"],
        "trust": ["shuffler", "central"],
    },
    "summation": {**THREE_THOUSAND, "max_value": 3, "protocols": SUMMATION},
    "sets": {**THREE_THOUSAND, "domain_size": 20, "set_size": 2, "protocols": SETS},
    "vectors": {**THREE_THOUSAND, "dimension": 10, "protocols": VECTORS},
    "bounded": {**THREE_THOUSAND, "domain_size": 5, "max_bits": 8.0, "protocols": FREQUENCY},
    "absent": {**THREE_THOUSAND, "domain_size": 5, "protocols": FREQUENCY, "colluding": 0.1},
    "absent, sums": {**THREE_THOUSAND, "max_value": 3, "protocols": SUMMATION, "colluding": 0.1},
    "absent, sets": {**THREE_THOUSAND, "domain_size": 20, "set_size": 2, "protocols": SETS, "colluding": 0.1},
    "absent, random": {
        "population": Binomial(1000, 0.5),
        "domain_size": 2,
        "eps": 1.0,
        "delta": 1e-5,
        "protocols": ["amplified", "random_checkin", "pure_dump", "balls_into_bins", "multi_exact"],
        "colluding": 0.2,
    },
    "refused": {**THREE_THOUSAND, "users": 1, "domain_size": 5},
    "refused eps": {**THREE_THOUSAND, "eps": -1.0, "domain_size": 5},
}
SETTING = ["--users", "3000", "--domain-size", "5", "--eps", "1", "--delta", "1e-6"]
COMMANDS: dict[str, list[str]] = {
    "protocols": ["protocols"],
    "compare": ["compare", *SETTING, "--protocols", "amplified,pure_dump,local,skellam"],
    "describe": ["describe", "amplified", *SETTING],
    "describe, unknown": ["describe", "no_such", *SETTING],
    "account": ["account", "amplification", "--eps-local", "1", "--users", "1000", "--delta", "1e-6"],
    "compare, refused": ["compare", "--users", "1", "--domain-size", "5", "--eps", "1", "--delta", "1e-6"],
}


def answers() -> Rows:
    """Return the rows of comparisons and commands."""
    rows: Rows = {}
    for name, given in COMPARED.items():
        try:
            found = shuffledp.compare(**given)
        except ValueError as error:
            rows[f"compare {name}"] = {"raises": f"{type(error).__name__}: {error}"}
        else:
            rows |= {
                f"compare {name}: {one.protocol}, {one.accounting}": _filled(row_of(_short(one)))
                for one in found
            }
    return rows | {f"command {name}": _command(given) for name, given in COMMANDS.items()}


def _short(row: Compared) -> Compared:
    """Return a row with the conditions of its error and of its interval alone, as texts."""
    stated = {name: str(one) for name, one in (row.conditions or {}).items() if name in ("mse", "half_width")}
    return replace(row, conditions=stated or None)


def _filled(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


def _command(given: list[str]) -> Row:
    """Return the exit code and the lines of a command."""
    with pytest.MonkeyPatch.context() as patched:
        compare_here(patched)
        patched.setenv("COLUMNS", "120")
        done = CliRunner().invoke(command_line, given)
    lines = [line.rstrip() for line in done.output.splitlines() if line.strip()]
    keys = _entry_keys(lines) if given == ["protocols"] else [f"line {i:03}" for i in range(len(lines))]
    return {"exit code": done.exit_code, **dict(zip(keys, lines, strict=True))}


def _entry_keys(lines: list[str]) -> list[str]:
    """Return a key for each line of a list: the task, the protocol, and the line in its entry."""
    keys, task, entry, place = [], "", "", 0
    for line in lines:
        indent = len(line) - len(line.lstrip())
        task = line if indent == 0 else task
        entry, place = (line.split(":")[0].strip(), 0) if indent <= 2 else (entry, place + 1)
        keys.append(f"{task}.{entry} {place}")
    return keys
