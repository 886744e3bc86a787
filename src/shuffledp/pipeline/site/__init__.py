"""Results as a small site: HTML pages with every figure and table, which need no network."""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.pipeline.manifest import ManifestError
    from shuffledp.pipeline.site.build import TITLE, publish, render
    from shuffledp.pipeline.site.caption_html import CaptionError
    from shuffledp.pipeline.site.site_files import outputs
else:
    __getattr__, __dir__ = door(__name__)

__all__ = ["TITLE", "CaptionError", "ManifestError", "outputs", "publish", "render"]
