"""Writer of config/schema/*.json, the JSON schemas of the configuration for editors, from its grammar.

The schemas exclude errors in a single file: unknown and missing keys, wrong types, numbers out of range. Only
`shuffledp check` makes checks that depend on values of a grid or on other files. A test compares the files with the
output of this tool.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema

from shuffledp.pipeline.config import grammar

FOLDER = Path(__file__).resolve().parent.parent / "config/schema"
#: Schemas by name; a file for ``--configfile`` is merged over config/config.yaml.
FILES = {
    "experiments": grammar.PaperFile,
    "baselines": grammar.BaselineFile,
    "config": grammar.RunFile,
    "configfile": grammar.RunFile,
}


class Schema(GenerateJsonSchema):
    """Schemas without titles that repeat keys; a name that does not have the form of a name is an error."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return False: the key is the title."""
        return False

    def dict_schema(self, schema: CoreSchema) -> dict[str, Any]:
        """Return the schema of a mapping from names."""
        found = super().dict_schema(schema)
        return {**found, "additionalProperties": False} if "patternProperties" in found else found


def texts() -> dict[str, str]:
    """Return the files' texts by name."""
    found = {name: file.model_json_schema(schema_generator=Schema) for name, file in FILES.items()}
    del found["configfile"]["required"]
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {f"{name}.json": json.dumps(dialect | schema, indent=1) + "\n" for name, schema in found.items()}


if __name__ == "__main__":
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
