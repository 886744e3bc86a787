"""The results as a small site: HTML pages with every figure and table that need no network."""

from typing import TYPE_CHECKING

from shuffledp.doors import door

if TYPE_CHECKING:
    from shuffledp.pages.captions import CaptionError
    from shuffledp.pages.files import outputs
    from shuffledp.pages.manifest import ManifestError
    from shuffledp.pages.site import TITLE, publish, render
else:
    __getattr__, __dir__ = door(__name__)

__all__ = ["TITLE", "CaptionError", "ManifestError", "outputs", "publish", "render"]
