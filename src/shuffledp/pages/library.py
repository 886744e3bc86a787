"""The library that draws charts to explore, as it is installed: Bokeh, whose scripts need no network."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from shuffledp.pages.files import LIBRARY


def scripts() -> dict[str, bytes]:
    """The library's scripts by their place on the site; each begins with its license.

    Raises
    ------
    FileNotFoundError
        If the installed package has no such script.
    """
    spec = find_spec("bokeh")  # found, not imported
    if spec is None or spec.origin is None:
        raise FileNotFoundError("The package bokeh is not installed: install this project's dependencies.")
    folder = Path(spec.origin).parent / "server/static/js"
    return {name: (folder / Path(name).name).read_bytes() for name in LIBRARY}
