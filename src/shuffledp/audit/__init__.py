"""Independent audit: calibrated protocols against the exact law of what the analyzer sees, for a handful of users.

The laws are written from the definition of the messages, the divergences are sums over outcomes; of the accounting only
the calibrated parameters are used. So an error in an accounting does not hide itself.
"""

from shuffledp.audit.auditor import FINDINGS, Row, Setting, audited, compared, view_of
from shuffledp.audit.views import View, true_delta

__all__ = ["FINDINGS", "Row", "Setting", "View", "audited", "compared", "true_delta", "view_of"]
