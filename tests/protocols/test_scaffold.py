"""Generated baselines conform without changes."""

import ast

import pytest

from shuffledp.protocols import conformance, scaffold
from shuffledp.protocols.conformance import running
from shuffledp.protocols.registry import plugin
from shuffledp.tasks import TASK_KINDS

TEMPLATES = [*((task, "local") for task in TASK_KINDS), ("frequency", "amplified")]


@pytest.mark.parametrize("task, template", TEMPLATES)
def test_new_baseline_conforms(task, template, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "MESSAGE_REPEATS", 100)
    (tmp_path / "own.py").write_text(scaffold.class_source(task, "own", template))
    found = plugin("own.py:Own", root=tmp_path)
    # One case of each accounting and task: the smallest and the usual budget among them.
    cases = conformance.default_cases(found)
    verdicts = conformance.verdicts(found, cases[:1] + cases[-2:-1])
    assert all(verdict.passed for verdict in verdicts), "\n".join(map(str, verdicts))
    assert "the encoder against the declared eps_local" in verdicts[-1].note
    assert "end to end" in verdicts[-1].note


@pytest.mark.parametrize("task, template", TEMPLATES)
def test_baseline_files_are_complete(task, template):
    files = scaffold.files(task, "my_own", template)
    assert [str(path) for path in files] == [
        "mine/my_own.py",
        "config/baselines/my_own.yaml",
        "mine/test_my_own.py",
    ]
    assert not [text for text in files.values() if "$" in text.replace("$schema", "")]
    assert all(ast.parse(text) for path, text in files.items() if path.suffix == ".py")


def test_other_tasks_and_names_are_refused():
    with pytest.raises(ValueError, match="No task 'ranking'"):
        scaffold.class_source("ranking", "own")
    with pytest.raises(ValueError, match="The template amplified is for the task frequency, got 'sets'"):
        scaffold.class_source("sets", "own", "amplified")
    with pytest.raises(ValueError, match="got 'My-own'"):
        scaffold.class_source("sets", "My-own")
