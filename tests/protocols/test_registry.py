"""Search for protocols, and error messages for unknown names."""

from pathlib import Path

import pytest

from shuffledp.protocols import ProtocolBase, available, get, module_path, registry
from shuffledp.protocols.registry import UnknownProtocol
from shuffledp.tasks import TASK_KINDS

PLUGINS = Path(__file__).parent / "plugins"
SOUND = (PLUGINS / "four_methods.py").read_text()


def test_built_ins_are_the_files_of_the_folder():
    names = available("frequency")
    assert {"adaptive", "amplified", "local", "non_adaptive", "random_checkin"} <= set(names)
    assert not any(name.startswith("_") for name in names)
    assert list(names) == sorted(names)


@pytest.mark.parametrize("name", ["adaptive", "amplified", "local", "non_adaptive", "random_checkin"])
def test_a_built_in_is_found_under_the_name_of_its_file(name):
    found = get("frequency", name)
    assert found.name == name
    assert module_path("frequency", name).stem == name
    assert get("frequency", name) is found


def test_unknown_task_kinds_are_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"No task kind named 'median'\. Known: frequency, summation"):
        available("median")


@pytest.mark.parametrize(
    "name", ["amplifed", "Amplified", "amplified ", "../frequency/amplified", "", "mine.py"]
)
def test_unknown_names_list_the_known_ones_and_say_how_to_add_one(name):
    with pytest.raises(UnknownProtocol, match=r"Known: adaptive, amplified.*mine\.py:Mine"):
        get("frequency", name)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "file", ["mine.py", "a folder/my file.py", "dots.in.name.py", "größe.py", "x.py:y.py"]
)
def test_plug_ins_are_found_relative_to_the_root_and_absolutely(tmp_path, file):
    path = write(tmp_path / file, SOUND)
    assert get("frequency", f"{file}:Coin", root=tmp_path).name == "coin"
    assert get("frequency", f"{path}:Coin", root=tmp_path / "elsewhere").name == "coin"
    assert module_path("frequency", f"{file}:Coin", root=tmp_path) == tmp_path / file


def test_plug_ins_are_found_relative_to_the_working_directory(tmp_path, monkeypatch):
    write(tmp_path / "mine.py", SOUND)
    monkeypatch.chdir(tmp_path)
    assert get("frequency", "mine.py:Coin").name == "coin"


def test_the_same_file_gives_the_same_class_until_it_is_edited(tmp_path):
    path = write(tmp_path / "mine.py", SOUND)
    first = get("frequency", "mine.py:Coin", root=tmp_path)
    assert get("frequency", "mine.py:Coin", root=tmp_path) is first
    path.write_text(SOUND.replace('label = "Coin"', 'label = "Edited"'))
    assert get("frequency", "mine.py:Coin", root=tmp_path).label == "Edited"
    assert first.label == "Coin"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("no.py:Coin", None, "there is no file"),
        (r"folder\mine.py:Coin", SOUND, "Separate folders by '/'"),
        (".py:Coin", None, "there is no file"),
        ("mine.py:Con", SOUND, "defines no class 'Con'. It defines: Coin"),
        ("mine.py:", SOUND, "defines no class ''"),
        ("mine.py: Coin", SOUND, "defines no class ' Coin'"),
        ("mine.py:Coin", "", "It defines: none"),
        ("mine.py:Coin", "x = 1\nclass Coin(:\n", r"line 2"),
        ("mine.py:Coin", "x = '\0'\n", "null bytes"),
        ("mine.py:Coin", "class Coin: pass\n", "not a subclass of shuffledp.protocols.ProtocolBase"),
        ("mine.py:Coin", "import nowhere_to_be_found\nclass Coin: pass\n", "ModuleNotFoundError"),
        ("mine.py:Coin", "class Coin: pass\n1 / 0\n", "ZeroDivisionError"),
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
def test_a_faulty_plug_in_is_refused_with_the_reason(tmp_path, name, text, message):
    if text is not None:
        write(tmp_path / "mine.py", text)
    with pytest.raises(UnknownProtocol, match=message):
        get("frequency", name, root=tmp_path)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "mine.py").write_bytes(b"\xff\xfe\x00 class Coin")
    with pytest.raises(UnknownProtocol, match="is not a Python file"):
        get("frequency", "mine.py:Coin", root=tmp_path)


def test_a_failed_import_is_tried_again(tmp_path):
    write(tmp_path / "mine.py", SOUND.replace("@dataclass", "import nowhere_to_be_found\n\n@dataclass"))
    for _ in range(2):
        with pytest.raises(UnknownProtocol, match="nowhere_to_be_found"):
            get("frequency", "mine.py:Coin", root=tmp_path)


def test_class_variables_may_be_annotated(tmp_path):
    text = SOUND.replace('    trust = "local"', '    trust: ClassVar[str] = "local"').replace(
        "import math", "import math\nfrom typing import ClassVar"
    )
    write(tmp_path / "mine.py", text)
    assert get("frequency", "mine.py:Coin", root=tmp_path).trust == "local"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("class Off(BaseException):\n    pass\nraise Off('off')\n", "Off: off"),
        ("import sys\nsys.exit('over')\n", "SystemExit: over"),
    ],
)
def test_a_file_that_raises_anything_is_refused(tmp_path, content, said):
    (tmp_path / "odd.py").write_text("class Odd:\n    pass\n" + content)
    with pytest.raises(UnknownProtocol, match=f"odd.py cannot be imported: {said}"):
        get("frequency", "odd.py:Odd", root=tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "import time\nwhile True:\n    try:\n        time.sleep(9)\n    except Exception:\n        pass\n",
            "it does not return within",
        ),
        ("import os\nos._exit(0)\n", "it ends the process with exit status 0"),
        ("import os\nos.kill(os.getpid(), 9)\n", "it is killed .SIGKILL"),
        ("import sys\nsys.exit('over')\n", "SystemExit: over"),
    ],
)
def test_a_file_that_does_not_come_back_is_imported_in_a_child_alone(tmp_path, monkeypatch, content, said):
    monkeypatch.setattr(registry, "IMPORT_SECONDS", 3.0 if "while" in content else 60.0)
    (tmp_path / "odd.py").write_text("class Odd:\n    pass\n" + content)
    with pytest.raises(UnknownProtocol, match=f"odd.py cannot be imported: {said}"):
        registry.get_safely("frequency", "odd.py:Odd", root=tmp_path)


def test_options_are_checked_by_a_users_class_in_a_child_alone(tmp_path):
    own = "    @classmethod\n    def check_options(cls, options):\n        import os\n        os._exit(0)\n\n"
    write(tmp_path / "mine.py", SOUND.replace("    @classmethod\n", own + "    @classmethod\n", 1))
    found = registry.get_safely("frequency", "mine.py:Coin", root=tmp_path)
    with pytest.raises(ValueError, match=r"mine.py:Coin: check_options ends the process with exit status 0"):
        registry.check_options_safely(found, "mine.py:Coin", tmp_path, {})


def test_few_classes_are_above_a_protocol():
    above = sorted(
        get(kind, name).__mro__.index(ProtocolBase) for kind in TASK_KINDS for name in available(kind)
    )
    assert above[len(above) // 2] <= 3
    assert above[-1] <= 5
