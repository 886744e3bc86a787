"""Writer of config/README.md and config/schema/*.json, JSON schemas for editors, from the configuration's grammar.

The schemas exclude errors in a single file: unknown and missing keys, wrong types, numbers out of range. Only
`shuffledp check` makes checks that depend on values of a grid or on other files. A test compares the files with the
output of this tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import TypeAdapter

from shuffledp.pipeline.config import grammar as model

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "config/schema"
#: Schemas by name: the class, and a description for editors.
FILES = {
    "experiments": (
        model.PaperFile,
        "config/experiments/<paper>.yaml: the experiments and drawings of a paper",
    ),
    "baselines": (model.BaselineFile, "config/baselines/<any name>.yaml: methods of your own"),
    "config": (model.RunFile, "config/config.yaml: what a run computes"),
    "configfile": (model.RunFile, "A file for --configfile, merged over config/config.yaml"),
}
#: Unions of concepts, and the key that determines the concept of a mapping.
UNIONS = {"law": model.Population, "name": model.Data}
VARIABLE = {"$ref": "#/$defs/GridVariable"}
#: Parts of a file that are not resolved: lists in a grid are its values.
_UNRESOLVED = ("grid",)


def schema(name: str) -> dict[str, Any]:
    """Return the schema of one kind of file."""
    grammar, description = FILES[name]
    raw = TypeAdapter(grammar).json_schema()
    definitions: dict[str, Any] = raw.pop("$defs", {})
    definitions["GridVariable"] = {
        "type": "string",
        "pattern": r"^\$[a-z0-9_]+$",
        "description": "A variable of the grid.",
    }
    for tag, concept, key in _tags():
        if concept in definitions:
            definitions[concept]["properties"][key] = {"const": tag}
    inside = set(_below(definitions, "Experiment" if name == "experiments" else "Method"))
    definitions = {
        key: _with_variables(value, key == "Experiment") if key in inside else value
        for key, value in definitions.items()
    }
    if name == "experiments":
        _grids(definitions)
    if name == "configfile":
        raw.pop("required")
    if "overrides" in raw["properties"]:
        raw["properties"]["overrides"] = _overrides(definitions)
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **raw,
        "title": name,
        "description": description,
        "$defs": dict(sorted(definitions.items())),
    }
    return _tidy(whole)


def _tags() -> Iterator[tuple[str, str, str]]:
    """Yield, for every branch with a deciding key, the key's value, the concept's name and the key."""
    for key, union in UNIONS.items():
        for branch in get_args(get_args(union)[0]):
            concept, tag = get_args(branch)
            if key in concept.model_fields:
                yield tag.tag, concept.__name__, key


def _below(definitions: Mapping[str, Any], start: str) -> Iterator[str]:
    """Yield a definition, and all definitions that it refers to."""
    waiting, seen = [start], set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in definitions:
            continue
        seen.add(name)
        yield name
        waiting += [ref.rpartition("/")[2] for ref in _references(definitions[name])]


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        if "$ref" in part:
            yield part["$ref"]
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from _references(one)


def _with_variables(part: Any, whole: bool = False) -> Any:
    """Return the schema with a grid variable as an alternative to every single value."""
    if not isinstance(part, Mapping):
        return part
    if part.get("type") in ("number", "integer", "string", "boolean") or "enum" in part or "const" in part:
        about = {key: part[key] for key in ("title", "description", "default") if key in part}
        return {**about, "anyOf": [{k: v for k, v in part.items() if k not in about}, VARIABLE]}
    changed = dict(part)
    for key in ("properties", "patternProperties"):
        if key in part:
            changed[key] = {
                k: v if whole and k in _UNRESOLVED else _with_variables(v) for k, v in part[key].items()
            }
    for key in ("items", "additionalProperties"):
        if key in part:
            changed[key] = _with_variables(part[key])
    for key in ("anyOf", "oneOf"):
        if key in part:
            changed[key] = [_with_variables(one) for one in part[key]]
    return changed


def _grids(definitions: dict[str, Any]) -> None:
    """Permit the evaluated rounds of a training run in a grid."""
    (values,) = definitions["Experiment"]["properties"]["grid"]["patternProperties"].items()
    rounds = {
        "type": "object",
        "properties": {"evaluated": {"type": "string", "description": "A run of the section `training`."}},
        "required": ["evaluated"],
        "additionalProperties": False,
    }
    definitions["Experiment"]["properties"]["grid"]["patternProperties"] = {
        values[0]: {"anyOf": [values[1], rounds]}
    }


def _overrides(definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of overrides of experiments and training runs, by dotted name.

    The names are ``paper.experiment`` and ``paper.training.run``.
    """
    for concept in (model.ExperimentOverride, model.TrainingOverride):
        own = concept.model_json_schema()
        definitions.update(own.pop("$defs", {}))
        definitions[concept.__name__] = own
    name = "[a-z0-9_]+"
    return {
        "type": "object",
        "patternProperties": {
            rf"^{name}\.{name}$": {"$ref": "#/$defs/ExperimentOverride"},
            rf"^{name}\.training\.{name}$": {"$ref": "#/$defs/TrainingOverride"},
        },
        "additionalProperties": False,
    }


def _tidy(part: Any) -> Any:
    """Return a schema without invalid defaults and titles that repeat keys; unknown names are errors everywhere."""
    if isinstance(part, list):
        return [_tidy(one) for one in part]
    if not isinstance(part, Mapping):
        return part
    tidy = {key: _tidy(value) for key, value in part.items()}
    if isinstance(tidy.get("title"), str):
        del tidy["title"]
    if "default" in tidy and tidy["default"] is None:
        del tidy["default"]
    if "oneOf" in tidy:  # of two branches that fit both, either will do
        tidy["anyOf"] = tidy.pop("oneOf")
    if "patternProperties" in tidy:
        tidy["additionalProperties"] = False
    return tidy


def texts() -> dict[str, str]:
    """Return the files' texts by name."""
    return {f"{name}.json": json.dumps(schema(name), indent=1, sort_keys=False) + "\n" for name in FILES}


def _values(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Return the valid values of a key on one line."""
    if "$ref" in part:
        part = definitions[part["$ref"].rpartition("/")[2]]
    if "enum" in part:
        return " or ".join(f"`{value}`" for value in part["enum"])
    if "items" in part:
        return f"list of {_values(part['items'], definitions)}"
    if "properties" in part:
        return "; ".join(f"`{key}`: {_values(one, definitions)}" for key, one in part["properties"].items())
    return {"object": "mapping", "string": "text"}.get(part["type"], part["type"])


def page() -> str:
    """Return config/README.md: keys of config.yaml with values, defaults and comments, and the sections of a file."""
    text = (ROOT / "config/config.yaml").read_text(encoding="utf-8")
    comments = dict(re.findall(r"^(\w+):.*?(?:\n  .*?)?# (.*)$", text, re.MULTILINE))
    defaults, run, file = yaml.safe_load(text), schema("config"), schema("experiments")
    rows = [
        f"| `{key}` | {_values(part, run['$defs'])} | `{json.dumps(defaults[key])}` | {comments.get(key, '')} |"
        for key, part in run["properties"].items()
    ]
    sections = []
    for key, part in file["properties"].items():
        (inner,) = part.get("patternProperties", {"": part}).values()
        about = (
            file["$defs"]
            .get(inner.get("$ref", "").rpartition("/")[2], {})
            .get("description", "Style of a curve.")
        )
        sections.append(f"| `{key}` | {' '.join(about.partition(chr(10) * 2)[0].split())} |")
    return PAGE.format(rows="\n".join(rows), sections="\n".join(sections))


PAGE = """\
# Configuration

`tools/config_schema.py` writes this page from the grammar of the configuration. `snakemake --cores all` reads
`config.yaml`. With `--configfile FILE`, a second file, such as `quick.yaml`, overrides some of its keys.
`shuffledp check` reports mistakes before a run. The pipeline needs no sample sheet, because it downloads its data.

## config.yaml

| key | value | in `config.yaml` | meaning |
| --- | --- | --- | --- |
{rows}

## experiments/<paper>.yaml and own/<any name>.yaml

| section | entry |
| --- | --- |
{sections}

`designs.yaml` adds curves of our own noise designs to these experiments: `<paper>.<experiment>: {{after: method,
methods: ..}}`. `schema/` has the whole grammar as JSON schemas for editors. Guides: [an experiment of your
own](../docs/guides/experiment.md), [a baseline of your own](../docs/baselines.md).

## As a module of another workflow

The other workflow reads this configuration and overrides some keys. Its rules have files of `results` as inputs:

```python
configfile: "<folder of shuffledp>/config/config.yaml"
config.update(papers=["random_population"], results="results/shuffledp", own="none")

module shuffledp:
    snakefile: "<folder of shuffledp>/workflow/Snakefile"
    config: config

use rule * from shuffledp as shuffledp_*
```
"""


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    (ROOT / "config/README.md").write_text(page(), encoding="utf-8")
    for file, text in texts().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
