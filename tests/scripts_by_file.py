"""Scripts of the project as modules, because tools/, benchmarks/ and workflow/scripts/ are in no package."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def script(file: str) -> ModuleType:
    """Import a file anew, given by its path from the project's folder."""
    name = f"script_{Path(file).stem}"
    spec = importlib.util.spec_from_file_location(name, ROOT / file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
