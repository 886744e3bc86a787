"""Results of a long run in a file, a line each, so that an interrupted run continues where it ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Lines:
    """JSON values by key in a file to which several runs may append; a line that was cut off is removed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_bytes() if path.is_file() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            path.write_bytes(whole)
        self.known: dict[str, Any] = dict(json.loads(line) for line in whole.splitlines())

    def of(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return the value of a key, computed and appended unless the file has it."""
        if key not in self.known:
            self.add(key, compute())
        return self.known[key]

    def add(self, key: str, value: Any) -> None:
        """Append a value."""
        self.known[key] = value
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, value]) + "\n")
