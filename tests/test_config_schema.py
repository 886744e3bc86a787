"""The schemas in config/schema are current, accept the project's files, and reject no valid file."""

import copy
import json
import re
from functools import cache

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from scripts_by_file import ROOT, script
from shuffledp.pipeline.config.config_errors import ConfigurationError, checked, line_in_file
from shuffledp.pipeline.config.config_files import read_yaml
from shuffledp.pipeline.config.grammar import BaselineFile, PaperFile, RunFile

PAPERS = sorted((ROOT / "config/experiments").glob("*.yaml"))
ODD = (None, -1, 0, 2.5, "odd", True, [], {}, [1, 1], {"odd": 1}, "$odd")
BASELINE = {
    "task": "frequency",
    "methods": {"mine": {"protocol": "mine.py:Mine", "accounting": ["exact"], "options": {"a": 1}}},
    "figures": ["random_population.fig4"],
}


@cache
def validator(name):
    schema = json.loads((ROOT / f"config/schema/{name}.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def problems(name, content):
    return [f"{list(e.absolute_path)}: {e.message}" for e in validator(name).iter_errors(content)]


def test_schemas_are_written_by_tool():
    texts = script("tools/config_schema.py").texts()
    old = [name for name, text in texts.items() if (ROOT / "config/schema" / name).read_text() != text]
    if old:
        pytest.fail(
            f"Run python tools/config_schema.py: {', '.join(old)} of config/schema/ changed.", pytrace=False
        )


def test_configuration_page_has_every_key():
    keys = re.findall(r"^\| `(\w+)` \|", (ROOT / "config/README.md").read_text(), re.MULTILINE)
    assert keys == [*RunFile.model_fields, *PaperFile.model_fields]


def test_files_of_project_are_accepted():
    for path in PAPERS:
        assert problems("experiments", read_yaml(path)) == [], path.name
    assert problems("config", read_yaml(ROOT / "config/config.yaml")) == []
    assert problems("configfile", read_yaml(ROOT / "config/quick.yaml")) == []
    assert problems("configfile", read_yaml(ROOT / ".test/config/config.yaml")) == []
    assert problems("baselines", BASELINE) == []


def test_first_lines_name_their_schemas():
    for file, name in (("config.yaml", "config"), ("quick.yaml", "configfile")):
        first = (ROOT / "config" / file).read_text().splitlines()[0]
        assert first == f"# yaml-language-server: $schema=schema/{name}.json"


@pytest.mark.parametrize(
    "place, value",
    [
        (("experiments", "domains", "population", "user"), 10),
        (("experiments", "domains", "population"), {"law": "binomal", "trials": 3, "rate": 0.5}),
        (("experiments", "domains", "population"), {"law": "binomial", "trials": 3, "mean": 0.5}),
        (("experiments", "domains", "task", "kind"), "frequencies"),
        (("experiments", "domains", "task", "domain_size"), 1),
        (("experiments", "domains", "data"), {"name": "ipums", "column": "no_such_column"}),
        (("experiments", "domains", "budget", "delta"), None),
        (("experiments", "domains", "accounting"), ["exactly"]),
        (("experiments", "domains", "grid", "eps"), [0.5, 0.5]),
        (("experiments", "domains", "methods", "Pure"), {}),
        (("figures", "fig2", "x_scale"), "ln"),
    ],
)
def test_planted_mistake_is_refused(place, value):
    content = read_yaml(ROOT / "config/experiments/dump.yaml")
    assert problems("experiments", planted(content, place, value)) != []


def test_mistakes_in_other_files_are_refused():
    config = read_yaml(ROOT / "config/config.yaml")
    for change in ({"seeds": 1}, {"formats": ["pdf"]}, {"overrides": {"dump.domains": {"repeat": 1}}}):
        assert problems("config", {**config, **change}) != []
        assert problems("configfile", change) != []
    assert problems("config", {}) != [] and problems("configfile", {}) == []
    assert problems("configfile", {"overrides": {"shuffle_gaussian.training.sgd": {"clip": 1}}}) != []
    assert problems("baselines", {**BASELINE, "task": "frequencies"}) != []
    assert problems("baselines", {**BASELINE, "figures": "some"}) != []


def planted(content, place, value):
    changed = copy.deepcopy(content)
    part = changed
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return changed


def places(content, here=()):
    for key, value in content.items() if isinstance(content, dict) else enumerate(content):
        yield (*here, key)
        if isinstance(value, dict | list):
            yield from places(value, (*here, key))
    if isinstance(content, dict):
        yield (*here, "odd")


def grammar_refuses(grammar, content):
    try:
        checked(grammar, content, line_in_file("file"), {"grid": None, "depth": 2})
    except ConfigurationError:
        return True
    return False


def test_schemas_accept_what_grammar_accepts():
    # Places and values at random, and always all of a small file; the converse cannot hold: values of grids.
    rng = np.random.default_rng(1)
    caught = 0
    for path in PAPERS:
        content = read_yaml(path)
        if "training" in content:  # grids take rounds from there before the grammar sees them
            continue
        check = validator("experiments")
        everywhere = list(places(content))
        for at in rng.choice(len(everywhere), 25, replace=False):
            changed = planted(content, everywhere[at], ODD[rng.integers(len(ODD))])
            if not check.is_valid(changed):
                caught += 1
                assert grammar_refuses(PaperFile, changed), everywhere[at]
    assert caught > 25
    for name, grammar, content in (
        ("config", RunFile, read_yaml(ROOT / "config/config.yaml")),
        ("baselines", BaselineFile, BASELINE),
    ):
        for place in places(content):
            for odd in ODD:
                changed = planted(content, place, odd)
                if problems(name, changed):
                    assert grammar_refuses(grammar, changed), (place, odd)
