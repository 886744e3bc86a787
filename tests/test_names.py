"""Rules for names: a local is a noun of what it holds, and a class has a name of its own."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src/shuffledp"
#: Participles, pronouns and adverbs that do not say what a variable holds.
VAGUE = """
    found known asked wanted stated every own said given held kept told here there left one who such so much many more
    less drawn moved counted joined shown tried taken done seen meant added
"""


def test_locals_say_what_they_hold() -> None:
    vague, lines = defaultdict(list), 0
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines += text.count("\n")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE.split():
                vague[node.id].append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert 1000 * sum(map(len, vague.values())) <= lines, dict(vague)


def test_class_names_are_in_two_modules() -> None:
    modules = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                modules[node.name].add(path.relative_to(PACKAGE).as_posix())
    protocols = {path.stem for path in PACKAGE.glob("protocols/*/[!_]*.py")}  # one name in several tasks
    many = {name: files for name, files in modules.items() if len(files) > 2}
    assert not {name for name, files in many.items() if {Path(f).stem for f in files} - protocols}, many
