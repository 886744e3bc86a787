"""Protocols of installed packages: the package of the guide, and entry points with wrong names."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import shuffledp
from shuffledp.protocols import available, get, module_path, registry
from shuffledp.protocols.registry import UnknownProtocol, built_ins, source_files

ROOT = Path(__file__).resolve().parents[2]
SETTING = ("--users", "30000", "--domain-size", "20", "--eps", "1", "--delta", "1e-8")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Build and install the package of the guide without a network, and return its folder."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    text = (ROOT / "docs/guides/package.md").read_text(encoding="utf-8")
    for path, content in re.findall(r"Save this as `([^`]+)`:\n\n```\w+\n(.*?)^```$", text, re.M | re.S):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(content)
    install = ("pip", "install", "--quiet", "--offline", "--no-deps", "--target", str(folder), str(source))
    done = subprocess.run(
        [sys.executable, "-m", "uv", *install],
        env={**os.environ, "PYTHONPATH": str(ROOT / ".tools")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def called(package, *arguments):
    """Return the standard output of a command in a new process that finds the package."""
    done = subprocess.run(
        [sys.executable, "-m", "shuffledp", *arguments],
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def entries():
    """Read the entry points in this test, and again after it."""
    registry._installed.cache_clear()
    yield
    registry._installed.cache_clear()


@pytest.fixture
def installed(package, entries, monkeypatch):
    monkeypatch.syspath_prepend(package)
    yield package
    sys.modules.pop("two_coins", None)


def test_commands_find_the_protocol_of_a_package(package):
    assert "  two_coins: Two coins\n" in called(package, "protocols")
    rows = json.loads(
        called(package, "compare", *SETTING, "--protocols", "local,two_coins", "--json", "--rows-only")
    )
    assert [(row["protocol"], row["status"], row["guarantee"]) for row in rows] == [
        ("local", "ok", "exact"),
        ("two_coins", "ok", "exact"),
    ]
    # The same law: a random value is the true value with probability 1/k.
    assert rows[1]["mse"] == pytest.approx(rows[0]["mse"], rel=1e-9)
    assert rows[1]["parameters"]["eps_local"] == 1
    assert called(package, "describe", "two_coins", *SETTING).startswith("Two coins")


def test_lists_and_files_need_no_import(installed):
    assert "two_coins" in available("frequency")
    assert "two_coins" not in built_ins("frequency")
    assert module_path("frequency", "two_coins") == installed / "two_coins/__init__.py"
    assert source_files("frequency", "two_coins") == (installed / "two_coins/__init__.py",)
    assert "two_coins" not in sys.modules
    assert get("frequency", "two_coins") is get("frequency", "two_coins")


def test_a_comparison_includes_it_by_default(installed):
    rows = shuffledp.compare(500, domain_size=3, eps=1, delta=1e-6, trust=["local"])
    assert {row.protocol: row.status for row in rows}["two_coins"] == "ok"


def test_files_of_protocols_outside_the_library(tmp_path):
    assert source_files("frequency", "solh") == ()
    (tmp_path / "mine.py").write_text("class Mine: pass\n")
    assert source_files("frequency", "mine.py:Mine", root=tmp_path) == (tmp_path / "mine.py",)


@pytest.fixture
def offers(tmp_path, entries, monkeypatch):
    """Return a function that installs a package of three modules with these entry points."""
    monkeypatch.syspath_prepend(tmp_path)
    inner = tmp_path / "odd_protocols/inner"
    inner.mkdir(parents=True)
    (tmp_path / "odd_protocols/__init__.py").write_text("raise RuntimeError('imported')\n")
    (inner / "laws.py").write_text("")
    (inner / "mine.py").write_text("")
    (inner / "table.csv").write_text("")

    def install(*lines):
        about = tmp_path / "odd_protocols-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-protocols\nVersion: 1\n")
        (about / "entry_points.txt").write_text("\n".join(["[shuffledp.protocols]", *lines]))

    return install


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["frequency.solh = odd_protocols:S"], "odd_protocols:S has the name 'frequency.solh', which is the name of"),
        (["frequency.a = odd_protocols:A", "frequency.a = odd_protocols:B"], "also the name of odd_protocols:A"),
        (["solh2 = odd_protocols:S"], "Expected <task>.<name>: one of frequency, summation, sets, vectors"),
        (["median.solh = odd_protocols:S"], "Expected <task>.<name>"),
        (["frequency.two-coins = odd_protocols:S"], "and letters, digits, underscores"),
    ],
)  # fmt: skip
def test_wrong_names_are_refused_in_one_line(offers, lines, message):
    offers(*lines)
    for call in (lambda: available("sets"), lambda: get("frequency", "local"), lambda: built_ins("sets")):
        with pytest.raises(UnknownProtocol, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_a_module_inside_of_packages_is_found_without_their_import(offers, tmp_path):
    offers("sets.odd = odd_protocols.inner.mine:Odd")
    folder = tmp_path / "odd_protocols"
    assert module_path("sets", "odd") == folder / "inner/mine.py"
    files = ("__init__.py", "inner/laws.py", "inner/mine.py", "inner/table.csv")
    assert source_files("sets", "odd") == tuple(folder / file for file in files)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("odd_protocols.inner.mine:Odd", "cannot be imported: RuntimeError: imported"),
        ("odd_protocols.gone:Odd", "there is no module odd_protocols.gone"),
        ("gone:Odd", "there is no module gone"),
        ("fractions:Odd", "cannot be imported: AttributeError"),
        ("fractions:Fraction", "not a subclass of shuffledp.protocols.ProtocolBase"),
        ("shuffledp.protocols.sets.separate:Separate", "sets name to 'separate', expected 'odd'"),
    ],
)
def test_what_cannot_be_loaded_is_named(offers, value, message):
    offers(f"sets.odd = {value}")
    with pytest.raises(UnknownProtocol, match=message):
        get("sets", "odd")
    assert "separate" in available("sets")
