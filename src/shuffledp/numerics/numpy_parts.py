"""Parts of NumPy that are loaded when they are first used.

``import scipy.special`` asks NumPy for every name that it has, and so loads its Fortran compiler (``numpy.f2py``) and
its testing tools, a tenth of the time that a short job takes to start. Until somebody uses them, they are stand-ins.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import numpy as np

_PARTS = ("f2py", "testing")


class _Later(ModuleType):
    """Has the names of the module of the same name, which is imported with the first of them."""

    def __getattr__(self, name: str) -> object:
        return getattr(import_module(self.__name__), name)


def load_later() -> None:
    """Put stand-ins into NumPy for the parts that are not loaded yet; an import of a part replaces its stand-in."""
    for part in _PARTS:
        if part not in vars(np):
            setattr(np, part, _Later(f"{np.__name__}.{part}"))
