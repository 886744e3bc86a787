"""Independent audit: calibrated protocols against the exact law of the analyzer's view, for a few users.

The laws follow from the definition of the messages. The audit uses the calibrated parameters but no accounting, so that
it finds errors of the accounting.
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.pipeline.audit.auditor import FINDINGS, Row, Setting, audited, compared, view_of
    from shuffledp.pipeline.audit.scale import at_scale
    from shuffledp.pipeline.audit.views import View, true_delta
else:
    __getattr__, __dir__ = door(__name__)

__all__ = ["FINDINGS", "Row", "Setting", "View", "at_scale", "audited", "compared", "true_delta", "view_of"]
