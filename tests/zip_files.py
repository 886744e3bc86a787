"""Zip files in memory."""

import io
import zipfile


def zipped(compression: int = zipfile.ZIP_STORED, **members: bytes) -> bytes:
    """Return a zip file; in names of members, two underscores are a slash and one is a dot."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", compression) as bundle:
        for name, content in members.items():
            bundle.writestr(name.replace("__", "/").replace("_", "."), content)
    return sink.getvalue()
