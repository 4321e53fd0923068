"""The stages of a run, for whoever watches it."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """What a run does, in order; which one it is tells nothing of the data."""

    READING = "reading"
    DRAWING = "drawing"
    SEALING = "sealing"
    WRITING = "writing"
