"""Members of a frozen value that its JSON leaves out where they say nothing.

So plans and specs that do not use a feature keep the bytes and the digest that they had
before there was one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class Lean:
    """A class whose documents lack the members of `LEFT_OUT` that say nothing."""

    __slots__ = ()

    LEFT_OUT: ClassVar[Mapping[str, Any]]
    """What such a member would hold in a document."""

    @classmethod
    def as_now(cls, document: dict[str, Any]) -> dict[str, Any]:
        """Return the document with all members."""
        if cls.LEFT_OUT.keys() <= document.keys():
            return document
        return {**cls.LEFT_OUT, **document}

    def as_then(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the document as it is stored."""
        return {
            name: item
            for name, item in document.items()
            if name not in self.LEFT_OUT or item != self.LEFT_OUT[name]
        }
