"""The page of `dpql verify --page`: checks a release in a browser, offline.

It is the same for every release. Its policy allows its own style and script, by hash,
and neither a network nor another file.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files


def verify_page() -> str:
    """Return the page as one HTML file."""
    text = _part("page.html")
    for name in ("style", "script"):
        part = _part(f"page.{'css' if name == 'style' else 'js'}")
        text = text.replace(f"{{{{{name}-hash}}}}", _hash(part))
        text = text.replace(f"{{{{{name}}}}}", part)
    return text


def _part(name: str) -> str:
    return files(__package__ or "").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
