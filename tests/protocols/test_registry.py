"""Search for protocols, built-in, of installed packages and of files, and error messages for unknown names."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import shuffledp
from scripts_by_file import ROOT
from shuffledp.identities import identities
from shuffledp.populations import Fixed
from shuffledp.protocols import available, get, module_path, registry
from shuffledp.protocols.registry import UnknownProtocol, built_ins, source_files
from shuffledp.tasks import Budget, Frequency

PLUGINS = Path(__file__).parent / "plugins"
SETTING = ("--users", "30000", "--domain-size", "20", "--eps", "1", "--delta", "1e-8")
SOUND = (PLUGINS / "four_methods.py").read_text()


def test_unknown_task_kinds_list_known_ones():
    with pytest.raises(ValueError, match=r"No task kind named 'median'\. Known: frequency, summation"):
        available("median")


def test_name_ignores_case_and_blanks():
    assert get("frequency", "Amplified ") is get("frequency", "amplified")


@pytest.mark.parametrize(
    "name, hint",
    [
        ("amplifed", " Did you mean 'amplified'?"),
        ("hadamard", " Did you mean 'hadamard_response'?"),
        ("OUE", " It is unary_rows with `form: optimized`, an option of methods in experiments."),
        ("../frequency/qqq", ""),
        ("", ""),
    ],
)
def test_an_unknown_name_gets_close_names(name, hint):
    with pytest.raises(UnknownProtocol) as refused:
        get("frequency", name)
    first = f"No frequency protocol named {name!r}.{hint} `shuffledp protocols` lists all "
    assert str(refused.value).startswith(first) and "mine.py:Mine" in str(refused.value)


@pytest.mark.parametrize(
    "name, protocol",
    [("olh", "solh"), ("grr", "grr_blanket"), ("HR", "hadamard_response"), ("ss", "subset_selection")],
)
def test_usual_abbreviations_are_names(name, protocol):
    assert get("frequency", name).name == protocol


@pytest.mark.parametrize("name", identities())
def test_variants_are_options_of_their_protocols(name):
    for option in identities()[name].variants.values():
        key, value = option.split(": ")
        get("frequency", name).calibrate(Budget(1.0, 1e-3), Fixed(99), Frequency(4), **{key: value})


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "file", ["mine.py", "a folder/my file.py", "dots.in.name.py", "größe.py", "x.py:y.py"]
)
def test_relative_and_absolute_plugins_are_found(tmp_path, file):
    path = write(tmp_path / file, SOUND)
    assert get("frequency", f"{file}:Coin", root=tmp_path).name == "coin"
    assert get("frequency", f"{path}:Coin", root=tmp_path / "elsewhere").name == "coin"
    assert module_path("frequency", f"{file}:Coin", root=tmp_path) == tmp_path / file


def test_edited_file_gives_a_new_class(tmp_path):
    path = write(tmp_path / "mine.py", SOUND)
    first = get("frequency", "mine.py:Coin", root=tmp_path)
    assert get("frequency", "mine.py:Coin", root=tmp_path) is first
    path.write_text(SOUND.replace('label = "Coin"', 'label = "Edited"'))
    assert get("frequency", "mine.py:Coin", root=tmp_path).label == "Edited"
    assert first.label == "Coin"


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("no.py:Coin", None, "there is no file"),
        (r"folder\mine.py:Coin", SOUND, "Separate folders by '/'"),
        ("mine.py:Con", SOUND, "defines no class 'Con'. It defines: Coin"),
        ("mine.py:", SOUND, "defines no class ''"),
        ("mine.py:Coin", "", "It defines: none"),
        ("mine.py:Coin", "x = 1\nclass Coin(:\n", r"line 2"),
        ("mine.py:Coin", "x = '\0'\n", "null bytes"),
        ("mine.py:Coin", "class Coin: pass\n", "not a subclass of shuffledp.protocols.ProtocolBase"),
        ("mine.py:Coin", "import nowhere_to_be_found\nclass Coin: pass\n", "ModuleNotFoundError"),
        ("mine.py:Coin", "class Coin: pass\n1 / 0\n", r"ZeroDivisionError: .* \(mine.py, line 2\)"),
        ("mine.py:Coin", "class Coin: pass\nCoin = 3\n", "not a subclass"),
        ("mine.py:Coin", SOUND.replace("def encode", "def encoed"), "lacks encode"),
        ("mine.py:Coin", SOUND.replace("def c", "def x_c"), "lacks cost, fit"),
        ("mine.py:Coin", SOUND.replace('    trust = "local"\n', ""), "does not set trust"),
        (
            "mine.py:Coin",
            SOUND.replace('trust = "local"', 'trust = "me"'),
            "trust to 'me', expected one of shuffler",
        ),
        ("mine.py:Coin", SOUND.replace('name = "coin"', "name = ''"), "name to ''"),
        ("mine.py:Coin", SOUND.replace('"frequency"', '"summation"'), "the experiment's task is 'frequency'"),
        ("mine.py:Coin", SOUND.replace('"frequency"', '"median"'), "task_kind to 'median'"),
        (
            "mine.py:Coin",
            SOUND.replace('    trust = "local"', '    trust = "local"\n    accountings = ("printed")'),
            "accountings to 'printed', expected a tuple",
        ),
        (
            "mine.py:Coin",
            SOUND.replace("@dataclass(frozen=True)", ""),
            r"declares coin but Coin lacks @dataclass",
        ),
        (
            "mine.py:Coin",
            SOUND.replace("@dataclass(frozen=True)", "").replace("from __future__ import annotations", ""),
            r"declares coin but Coin lacks @dataclass",
        ),
        ("mine.py:Coin", SOUND.replace("(frozen=True)", ""), "cannot inherit non-frozen dataclass"),
    ],
)
def test_faulty_plugin_is_refused(tmp_path, name, text, message):
    if text is not None:
        write(tmp_path / "mine.py", text)
    with pytest.raises(UnknownProtocol, match=message):
        get("frequency", name, root=tmp_path)


def test_file_without_text_is_refused(tmp_path):
    (tmp_path / "mine.py").write_bytes(b"\xff\xfe\x00 class Coin")
    with pytest.raises(UnknownProtocol, match="is not a Python file"):
        get("frequency", "mine.py:Coin", root=tmp_path)


def test_a_failed_import_is_tried_again(tmp_path):
    write(tmp_path / "mine.py", SOUND.replace("@dataclass", "import nowhere_to_be_found\n\n@dataclass"))
    for _ in range(2):
        with pytest.raises(UnknownProtocol, match="nowhere_to_be_found"):
            get("frequency", "mine.py:Coin", root=tmp_path)


# -- installed packages --------------------------------------------------------------------------------------------


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


def test_commands_find_installed_protocols(package):
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
    "lines, message",
    [
        (["frequency.solh = odd_protocols:S"], "odd_protocols:S has the name 'frequency.solh', which is the name of"),
        (["frequency.a = odd_protocols:A", "frequency.a = odd_protocols:B"], "also the name of odd_protocols:A"),
        (["solh2 = odd_protocols:S"], "Expected <task>.<name>: one of frequency, summation, sets, vectors"),
        (["median.solh = odd_protocols:S"], "Expected <task>.<name>"),
        (["frequency.two-coins = odd_protocols:S"], "and letters, digits, underscores"),
    ],
)  # fmt: skip
def test_wrong_names_are_refused(offers, lines, message):
    offers(*lines)
    for call in (lambda: available("sets"), lambda: get("frequency", "local"), lambda: built_ins("sets")):
        with pytest.raises(UnknownProtocol, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_inner_module_is_found_without_import(offers, tmp_path):
    offers("sets.odd = odd_protocols.inner.mine:Odd")
    folder = tmp_path / "odd_protocols"
    assert module_path("sets", "odd") == folder / "inner/mine.py"
    files = ("__init__.py", "inner/laws.py", "inner/mine.py", "inner/table.csv")
    assert source_files("sets", "odd") == tuple(folder / file for file in files)


@pytest.mark.parametrize(
    "value, message",
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
