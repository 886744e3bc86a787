"""Results as a small site: HTML pages with every figure and table, which need no network."""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.pipeline.manifest import ManifestError as ManifestError
    from shuffledp.pipeline.site.build import TITLE as TITLE, publish as publish, render as render
    from shuffledp.pipeline.site.caption_html import CaptionError as CaptionError
    from shuffledp.pipeline.site.site_files import outputs as outputs
else:
    __getattr__, __dir__ = door(__name__)
