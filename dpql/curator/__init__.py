"""The privacy boundary: the only room that sees rows or draws coins."""

from __future__ import annotations

from dpql.curator.rehearsal import rehearse
from dpql.curator.run import run

__all__ = ["rehearse", "run"]
