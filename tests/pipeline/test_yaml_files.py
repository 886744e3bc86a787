"""YAML that is refused: in one line with its place, and before it can grow."""

import pytest
import yaml

from shuffledp.pipeline.yaml_files import MOST_DEPTH, YamlError, parse


def test_aliases_stand_for_what_they_name():
    assert parse("a: &x {b: [1, 2]}\nc: *x\nd: {<<: *x, e: 3}\n", "f.yaml") == {
        "a": {"b": [1, 2]},
        "c": {"b": [1, 2]},
        "d": {"b": [1, 2], "e": 3},
    }


@pytest.mark.parametrize("text", ["a: &a [1, *a]\n", "a: &a {b: *a}\n", "a: &a\n  b: {c: [*a]}\n"])
def test_an_alias_within_itself_is_refused(text):
    with pytest.raises(
        YamlError, match=r"^f\.yaml, line [12]: the alias \*a is within what it stands for\.$"
    ):
        parse(text, "f.yaml")


def test_a_small_text_does_not_become_a_large_one():
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    with pytest.raises(YamlError, match=r"^f\.yaml, line \d+: more than 200,000 values, "):
        parse("\n".join(lines), "f.yaml")


def test_what_is_merged_does_not_become_a_large_one():
    lines = ["a0: &a0 {k: 1}"]
    lines += [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}" for i in range(1, 12)]
    with pytest.raises(YamlError, match=r"^f\.yaml, line \d+: more than 200,000 values, "):
        parse("\n".join(lines), "f.yaml")


@pytest.mark.parametrize("depth", [MOST_DEPTH + 1, 3000, 100_000])
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_depth_has_an_end(depth, brackets):
    left, right = (brackets[0], "]") if brackets == "[]" else ("{a: ", "}")
    with pytest.raises(YamlError, match=rf"^f\.yaml, line 1: nested more than {MOST_DEPTH} deep\.$"):
        parse(left * depth + right * depth, "f.yaml")


def test_what_is_deep_but_not_too_deep_is_read():
    text = "[" * MOST_DEPTH + "]" * MOST_DEPTH
    assert parse(text, "f.yaml") == yaml.safe_load(text)


def test_a_value_is_a_level_of_its_own():
    around = MOST_DEPTH - 1
    assert parse("[" * around + "x" + "]" * around, "f.yaml")
    with pytest.raises(YamlError, match=f"nested more than {MOST_DEPTH} deep"):
        parse("[" * MOST_DEPTH + "x" + "]" * MOST_DEPTH, "f.yaml")
