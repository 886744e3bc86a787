"""YAML is read, or rejected in one line with its place."""

import pytest

from shuffledp.pipeline.yaml_files import LONGEST, YamlError, parse

#: 400 bytes that stand for 9^10 texts, and mappings that merge as many.
ALIASES = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 11))
MERGED = "a0: &a0 {k: 1}\n" + "".join(
    f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}\n" for i in range(1, 11)
)


def test_aliases_stand_for_what_they_name():
    assert parse("a: &x {b: [1, 2]}\nc: *x\nd: {<<: *x, e: 3}\n", "f.yaml") == {
        "a": {"b": [1, 2]},
        "c": {"b": [1, 2]},
        "d": {"b": [1, 2], "e": 3},
    }


@pytest.mark.parametrize(
    "text, says",
    [
        ("a: 1\nb: {c: 1, c: 2}\n", r", line 2: the key 'c' is given twice\."),
        ("a: 1\nno: 2\n", r", line 2: the key False is not text: write it in quotes\."),
        ("a: [1,\nb: 2\n", r", line 3: expected .*\."),
        ("a: &a [1, *a]\n", r", line 1: an alias stands within what it names\."),
        ("a: 1\nb: &b {<<: *b}\n", r", line 2: an alias stands within what it names\."),
        (ALIASES, r", line 1: its aliases expand it to more than 1,000,000 characters\."),
        (MERGED, r", line 1: its aliases expand it to more than 1,000,000 characters\."),
        ("[" * 3000 + "]" * 3000, ": cannot be read as YAML: maximum recursion depth exceeded.*"),
        ("a: 2024-02-31", ": cannot be read as YAML: day is out of range for month"),
        ("a: !!int", ": cannot be read as YAML: string index out of range"),
        ("a: !!timestamp b", ": cannot be read as YAML: 'NoneType' object has no attribute 'groupdict'"),
        ("#" * (LONGEST + 1), r": has 1,000,001 characters, at most 1,000,000 are read\."),
    ],
)
def test_mistake_is_one_line_with_place(text, says):
    with pytest.raises(YamlError, match=rf"^f\.yaml{says}$") as caught:
        parse(text, "f.yaml")
    assert "\n" not in str(caught.value)
