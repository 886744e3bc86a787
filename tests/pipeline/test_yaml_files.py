"""YAML is read, or rejected in one line with its place."""

import pytest

from shuffledp.pipeline.yaml_files import LONGEST, YamlError, parse


def test_aliases_stand_for_what_they_name():
    assert parse("a: &x {b: [1, 2]}\nc: *x\nd: {<<: *x, e: 3}\n", "f.yaml") == {
        "a": {"b": [1, 2]},
        "c": {"b": [1, 2]},
        "d": {"b": [1, 2], "e": 3},
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: {c: 1, c: 2}\n", r", line 2: the key 'c' is given twice\."),
        ("a: 1\nno: 2\n", r", line 2: the key False is not text: write it in quotes\."),
        ("a: [1,\nb: 2\n", r", line 3: expected .*\."),
        ("a: &a [1, *a]\n", ": cannot be read as YAML: Circular reference detected"),
        ("[" * 3000 + "]" * 3000, ": cannot be read as YAML: maximum recursion depth exceeded.*"),
        ("a: 2024-02-31", ": cannot be read as YAML: day is out of range for month"),
        ("a: !!int", ": cannot be read as YAML: string index out of range"),
        ("a: !!timestamp b", ": cannot be read as YAML: 'NoneType' object has no attribute 'groupdict'"),
        ("#" * (LONGEST + 1), r": has 1,000,001 characters, at most 1,000,000 are read\."),
    ],
)
def test_a_mistake_is_one_line_with_its_place(text, says):
    with pytest.raises(YamlError, match=rf"^f\.yaml{says}$") as caught:
        parse(text, "f.yaml")
    assert "\n" not in str(caught.value)
