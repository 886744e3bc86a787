"""The table of sentences names tests that exist, and every file of this folder."""

import re
from pathlib import Path

HERE = Path(__file__).parent
NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`", (HERE / "README.md").read_text(encoding="utf-8"))


def test_every_named_test_exists():
    for file, name in NAMED:
        assert f"\ndef {name}(" in (HERE.parent / file).read_text(encoding="utf-8"), (file, name)


def test_every_file_is_named():
    files = {f"doors/{path.name}" for path in HERE.glob("test_*.py")}
    assert files - {file for file, _ in NAMED} == {"doors/test_inventory.py"}
