"""The manual of DPQL9xx: a bug in dpql."""

from __future__ import annotations

from dpql.manual.code import Code

INTERNAL: dict[str, Code] = {
    "DPQL900": Code(
        title="dpql caught itself in a mistake",
        cause=(
            "A result was checked a second way and did not agree. Nothing was written "
            "or released. This is a bug in dpql."
        ),
        wrong="dpql check specs/wages.yaml, again and again",
        right="DPQL_DEBUG=1 dpql check specs/wages.yaml, and a report of what it shows",
    ),
}
