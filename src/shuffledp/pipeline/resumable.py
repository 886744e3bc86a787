"""Results of a long run in a file, one per line, so that an interrupted run can continue."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Lines:
    """JSON values by key in a file that several runs may extend; an incomplete last line is removed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_bytes() if path.is_file() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            path.write_bytes(whole)
        self.known: dict[str, Any] = dict(json.loads(line) for line in whole.splitlines())

    def read_or_compute(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return the value of a key from the file; if the key is missing, compute and append the value."""
        if key not in self.known:
            self.add(key, compute())
        return self.known[key]

    def add(self, key: str, value: Any) -> None:
        """Append a value to the file."""
        self.known[key] = value
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, value]) + "\n")
