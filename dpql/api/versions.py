"""The versions of what computes, for the report."""

from __future__ import annotations

import contextlib
import platform
from importlib.metadata import PackageNotFoundError, version

from dpql import __version__

_PACKAGES = ("cryptography", "gmpy2", "numpy", "polars")


def stated_versions() -> dict[str, str]:
    """Return the versions of what computes, for the report."""
    found = {"dpql": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
