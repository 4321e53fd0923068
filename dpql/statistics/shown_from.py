"""The option `shown_from`: keys of fewer units are never shown."""

from __future__ import annotations

from collections.abc import Iterator

from dpql.model.shape import Field, Number
from dpql.statistics.option import Objection, Option, Usage, Value


def _check(value: Value, usage: Usage) -> Iterator[Objection]:
    if not isinstance(value, int):
        return
    if value < 1 or (usage.rows is not None and value > usage.rows):
        yield Objection(
            code="DPQL374",
            message=f"`shown_from` is {value}, which is not from 1 to the declared "
            "rows",
            hint="write the least number of units that a key must have, such as `10`",
        )


SHOWN_FROM = Option(
    field=Field(
        name="shown_from",
        shape=Number(whole=True, above=0),
        summary="A key of fewer units is never shown. Only for a statistic that finds "
        "the keys of private columns. It costs nothing, and keys of so many units or a "
        "few more are shown seldom.",
        examples=(10,),
    ),
    member="shown_from",
    clause="shown from {number}",
    after_groups=True,
    check=_check,
)
