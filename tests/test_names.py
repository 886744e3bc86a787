"""Rules for names: a local is a noun of what it holds, a class has a name of its own, and a test a short one."""

import ast
import re
from collections import defaultdict

from scripts_by_file import ROOT

#: Participles, pronouns and adverbs that do not say what a variable holds.
VAGUE = """
    found known asked wanted stated every own said given held kept told here there left one who such so much many more
    less drawn moved counted joined shown tried taken done seen meant added
"""
SOURCES = {path: path.read_text(encoding="utf-8") for path in ROOT.glob("src/shuffledp/**/*.py")}


def test_locals_say_what_they_hold():
    vague = defaultdict(list)
    for path, text in SOURCES.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE.split():
                vague[node.id].append(f"{path}:{node.lineno}")
    assert 1000 * sum(map(len, vague.values())) <= "".join(SOURCES.values()).count("\n"), dict(vague)


def test_class_names_are_in_two_modules():
    classes = {
        (name, path) for path, text in SOURCES.items() for name in re.findall(r"^ *class (\w+)", text, re.M)
    }
    protocols = {path.stem for path in ROOT.glob("src/shuffledp/protocols/*/[!_]*.py")}  # of several tasks
    stems = {name: [path.stem for other, path in classes if other == name] for name, _ in classes}
    assert not {name: found for name, found in stems.items() if len(found) > 2 and {*found} - protocols}


def test_names_of_tests_are_short():
    tests = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("*/checks/*.py")]
    names = re.findall(r"\bdef test_(\w+)", "\n".join(path.read_text(encoding="utf-8") for path in tests))
    assert not [name for name in names if name.count("_") > 5]
