"""Independent audit: calibrated protocols against the exact law of the analyzer's view, for a few users.

The laws follow from the definition of the messages. The audit uses the calibrated parameters but no accounting, so that
it finds errors of the accounting.
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.pipeline.audit.auditor import (
        FINDINGS as FINDINGS,
        AuditSetting as AuditSetting,
        Row as Row,
        audited as audited,
        compared as compared,
        view_of as view_of,
    )
    from shuffledp.pipeline.audit.scale import at_scale as at_scale
    from shuffledp.pipeline.audit.views import View as View, true_delta as true_delta
else:
    __getattr__, __dir__ = door(__name__)
