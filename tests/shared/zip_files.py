"""Zip files in memory."""

from __future__ import annotations

import io
import zipfile


def zipped(content: bytes, *names: str) -> bytes:
    """Return an archive with an empty folder and the same content under each of the names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("folder")
        for name in names:
            archive.writestr(name, content)
    return buffer.getvalue()
