"""A run continues at the end of the previous one."""

import pytest

from shuffledp.pipeline.resumable import Lines


def test_values_are_computed_once(tmp_path):
    """A line that was cut off is removed."""
    path = tmp_path / "logs" / "lines.jsonl"
    assert Lines(path).read_or_compute("one", lambda: [1, None]) == [1, None]
    path.write_bytes(path.read_bytes() + b'["two", 2')  # the machine went down
    again = Lines(path)
    assert again.read_or_compute("one", lambda: pytest.fail("done before")) == [1, None]
    assert again.read_or_compute("two", lambda: 2.5) == 2.5
    assert Lines(path).known == {"one": [1, None], "two": 2.5}
    assert path.read_text() == '["one", [1, null]]\n["two", 2.5]\n'


def test_two_runs_append_to_one_file(tmp_path):
    first, second = (Lines(tmp_path / "lines.jsonl") for _ in range(2))
    first.add("one", 1)
    second.add("two", 2)
    assert Lines(tmp_path / "lines.jsonl").known == {"one": 1, "two": 2}
