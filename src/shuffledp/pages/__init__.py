"""The results page: every figure and table of every paper in one HTML file that needs no network."""

from typing import TYPE_CHECKING

from shuffledp.doors import door

if TYPE_CHECKING:
    from shuffledp.pages.captions import CaptionError
    from shuffledp.pages.manifest import ManifestError
    from shuffledp.pages.page import TITLE, render
else:
    __getattr__, __dir__ = door(__name__)

__all__ = ["TITLE", "CaptionError", "ManifestError", "render"]
