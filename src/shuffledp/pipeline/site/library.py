"""Bokeh as installed, the library of the interactive charts, whose scripts need no network."""

from __future__ import annotations

from pathlib import Path

import bokeh

from shuffledp.pipeline.site.site_files import LIBRARY


def scripts() -> dict[str, bytes]:
    """Return the library's scripts by their place on the site; each begins with its license."""
    folder = Path(bokeh.__file__).parent / "server/static/js"
    return {name: (folder / Path(name).name).read_bytes() for name in LIBRARY}
