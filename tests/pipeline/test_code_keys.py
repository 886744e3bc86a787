"""Keys of code: what is in them, what an edit changes, and jobs whose code is not the planned code."""

import ast
from pathlib import Path

import grimp
import pytest

from scripts_by_file import ROOT
from shuffledp.pipeline import code_keys
from shuffledp.pipeline.code_keys import ChangedCodeError, CodeKeys, PlannedCode
from shuffledp.protocols import registry

#: Key of each script of the workflow.
SCRIPTS = {
    "prepare_dataset": "data",
    "make_summaries": "data",
    "prepare_own": "results",
    "run_experiment": "results",
    "train": "training",
    "audit": "audit",
    "audit_together": "audit",
    "claim_tables": "claims",
    "verdicts": "claims",
    "claims": "claims",
    "open_questions": "claims",
    "draw_paper": "figures",
    "draw_figure": "figures",
    "draw_overall": "overall",
    "pages": "site",
}


@pytest.fixture(scope="module")
def imports():
    graph = grimp.build_graph("shuffledp", exclude_type_checking_imports=True, cache_dir=None)
    # Only jobs of installed protocols, which import the registry anyway.
    graph.remove_import(importer="shuffledp.pipeline.code_keys", imported="shuffledp.protocols.registry")
    return graph


def imported_by(script):
    """Return the modules of the package that a script names."""
    return {
        name
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    }


def test_every_script_has_a_key():
    assert {path.stem for path in (ROOT / "workflow/scripts").glob("*.py")} == set(SCRIPTS)
    rules = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "workflow/rules").glob("*.smk"))
    for script, key in SCRIPTS.items():
        before_script = rules.split(f'"../scripts/{script}.py"')[0]
        if script != "make_summaries":  # runs on request alone
            assert f'CODE.keys("{key}"' in before_script.rpartition("params:")[2], script


@pytest.mark.parametrize("script", SCRIPTS)
def test_key_covers_every_reached_module(script, imports):
    key = SCRIPTS[script]
    start = imported_by(ROOT / f"workflow/scripts/{script}.py") & imports.modules
    assert start
    reached = start.union(*(imports.find_upstream_modules(module) for module in start))
    files = set(code_keys._part_files(key))
    paths = {module: module.removeprefix("shuffledp").lstrip(".").replace(".", "/") for module in reached}
    missing = {
        module
        for module, path in paths.items()
        if not {f"{path}.py", f"{path}/__init__.py".lstrip("/")} & files
    }
    if key == "training":  # what else it reaches would train anew for nothing
        missing = {name for name in missing if ".learning" in name or ".datasets" in name}
    assert missing == set()


USERS_FILES = {
    "mine/two_coins.py": "from coin import flip\nimport pkg.deep\nTABLE = 'weights.csv'\nfrom shared import bias\n",
    "mine/coin.py": "def flip(): ...\n",
    "mine/pkg/__init__.py": "from . import beside\n",
    "mine/pkg/beside.py": "",
    "mine/pkg/deep.py": "from ..farther import thing\n",
    "mine/farther.py": "",
    "mine/weights.csv": "1,2\n",
    "shared.py": "",
    "mine/unrelated.py": "",
    "mine/unrelated.csv": "",
    "unrelated.py": "",
}


def keys_of(folder, name):
    return CodeKeys(folder, folder / "store.json").keys(name)


def write_all(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


@pytest.mark.parametrize("name", USERS_FILES)
def test_edited_user_file_changes_its_key(tmp_path, name):
    write_all(tmp_path, USERS_FILES)
    before = keys_of(tmp_path, "mine/two_coins.py")
    (tmp_path / name).write_text(USERS_FILES[name] + "\nmore = 1\n")
    assert (keys_of(tmp_path, "mine/two_coins.py") == before) is ("unrelated" in name)


@pytest.mark.parametrize(
    "old, new, same",
    [
        ("x = 1  # one", "x = 1  # two", True),
        ("x = 1  # one", "\n\nx = (1)", True),
        ('"""Say."""', '"""Say more."""', True),
        ("    return", '    """Described."""\n    return', True),
        ("x = 1", "x = 2", False),
        ("'text'", "'Text'", False),
    ],
)
def test_keys_ignore_comments_and_layout(tmp_path, old, new, same):
    source = '"""Say."""\nx = 1  # one\ndef f():\n    return \'text\'\n'
    assert old in source
    (tmp_path / "a.py").write_text(source)
    before = keys_of(tmp_path, "a.py")
    (tmp_path / "a.py").write_text(source.replace(old, new))
    assert (keys_of(tmp_path, "a.py") == before) is same


def test_changed_files_are_compared_with_plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    code = PlannedCode(CodeKeys(Path()).keys("a.py", "site"), Path())
    file.write_text("x = 2\n")
    with pytest.raises(
        ChangedCodeError, match=r"code of this job \(a\.py\) was edited after the run had started"
    ):
        code.check()
    for same in ("x = 1  # a comment\n", "x = 1\n"):
        file.write_text(same)
        code.check()


def test_edited_package_changes_its_protocols_key(tmp_path, monkeypatch):
    write_all(
        tmp_path,
        {
            "odd_protocols-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: odd-protocols\nVersion: 1\n",
            "odd_protocols-1.dist-info/entry_points.txt": (
                "[shuffledp.protocols]\nfrequency.odd = odd_protocols:Odd\n"
            ),
            "odd_protocols/__init__.py": "class Odd: ...\n",
            "odd_protocols/table.csv": "1\n",
        },
    )
    module, table = tmp_path / "odd_protocols/__init__.py", tmp_path / "odd_protocols/table.csv"
    monkeypatch.syspath_prepend(str(tmp_path))
    registry._installed.cache_clear()
    try:
        before = keys_of(tmp_path, "frequency.odd")
        module.write_text("class Odd: ...  # a comment\n")
        assert keys_of(tmp_path, "frequency.odd") == before
        table.write_text("2\n")
        assert keys_of(tmp_path, "frequency.odd") != before
    finally:
        registry._installed.cache_clear()
