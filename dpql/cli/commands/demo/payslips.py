"""Payslips that nobody ever got, for the demo: the same at every making.

Bytes of sha256 stand in for chance, so the sample needs no generator and no seed. It
has what real files have: several rows a person, missing cells, words where numbers
should be, values outside their bounds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

PEOPLE = 24_000

_HEADER = "person_id,district,age,wage"
_DISTRICTS = ("north", "north", "east", "south", "south", "south", "west", "west")
_MONTHS = (1, 2, 2, 2, 3, 3, 3, 3)
_YEAR_ROUND = 6


def wages(people: int = PEOPLE) -> str:
    """Return a CSV of payslips, up to three a person but for a few who have more."""
    lines = [_HEADER]
    lines += [line for number in range(people) for line in _payslips(number)]
    return "\n".join(lines) + "\n"


def _payslips(number: int) -> Iterator[str]:
    chance = hashlib.sha256(f"payslips of {number}".encode()).digest()
    person = f"p{number:06d}"
    district = _DISTRICTS[chance[0] % 8] if chance[1] else "abroad"
    age = _age(chance)
    # Wages multiply: each byte raises or lowers what the others made.
    level = 640.0
    for byte in chance[8:14]:
        level *= 1 + byte / 512
    few = chance[14] < 13  # noqa: PLR2004  one in twenty has more than the others
    months = _YEAR_ROUND if few else _MONTHS[chance[2] % 8]
    for month in range(months):
        slip = chance[16 + month]
        yield f"{person},{district},{age},{_wage(level, slip)}"


def _age(chance: bytes) -> str:
    if chance[3] < 3:  # noqa: PLR2004  one in a hundred is not known
        return ""
    return str(15 + sum(chance[4:8]) * 75 // (4 * 255))


def _wage(level: float, slip: int) -> str:
    if slip < 5:  # noqa: PLR2004  one in fifty is missing
        return ""
    if slip == 5:  # noqa: PLR2004  and now and then somebody typed words
        return "n/a"
    if slip == 6:  # noqa: PLR2004  or a point too few
        return f"{level * 100:.0f}"
    return f"{level * (0.96 + slip / 3000):.2f}"
