"""Protocols of the shuffle model: one folder per task, one file per protocol.

``get("frequency", "amplified")`` returns a built-in protocol, ``get("frequency", "my/file.py:MyProtocol")`` a plug-in.
`shuffledp.protocols.conformance` checks a user's baseline against the interface.
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.protocols.base import ProtocolBase as ProtocolBase
    from shuffledp.protocols.messages import Cost as Cost, Messages as Messages
    from shuffledp.protocols.registry import available as available, get as get, module_path as module_path
    from shuffledp.protocols.streaming import stream as stream
else:
    __getattr__, __dir__ = door(__name__)
