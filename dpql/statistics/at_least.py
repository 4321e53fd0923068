"""The promise `at_least`: every group of a statistic has so many rows."""

from __future__ import annotations

from collections.abc import Iterator

from dpql.model.shape import Field, Number
from dpql.statistics.option import Objection, Option, Usage, Value


def _check(value: Value, usage: Usage) -> Iterator[Objection]:
    if not isinstance(value, int):
        return
    if usage.known:
        yield Objection(
            code="DPQL317",
            message="`at_least` says nothing here: the number of rows is public",
            hint="delete it",
        )
    elif value < 1 or (usage.rows is not None and value > usage.rows):
        yield Objection(
            code="DPQL317",
            message=f"`at_least` is {value}, which is not from 1 to the declared rows",
            hint="promise only what is publicly known of every group",
        )


AT_LEAST = Option(
    field=Field(
        name="at_least",
        shape=Number(whole=True, above=0),
        summary="A public promise that every group has so many rows that pass `where`, "
        "hold a value and are kept of their unit. Needed to price an accuracy "
        "target where the count is private. Not enforced, and no part of the privacy "
        "guarantee: where it is not true, the stated accuracy does not hold, and the "
        "report marks groups whose noisy count shows it.",
        examples=(500,),
    ),
    member="at_least",
    clause="at least {rows}",
    after_groups=True,
    check=_check,
)
