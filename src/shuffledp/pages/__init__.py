"""The results page: every figure and table of every paper in one HTML file that needs no network."""

from shuffledp.pages.captions import CaptionError
from shuffledp.pages.manifest import ManifestError
from shuffledp.pages.page import TITLE, render

__all__ = ["TITLE", "CaptionError", "ManifestError", "render"]
