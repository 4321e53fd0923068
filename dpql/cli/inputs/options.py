"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import click
from click.core import ParameterSource

from dpql.cli.inputs.what_if import exact


class ExactType(click.ParamType[Fraction]):
    """A number above 0, kept exact."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Fraction:
        """Return the exact number, or say what one looks like."""
        number = exact(str(value))
        if number is None or number <= 0:
            self.fail("write a number above 0, such as 4, 0.5 or 7/2", param, ctx)
        return number


class ProbabilityType(click.ParamType[Fraction]):
    """A number from 0 to below 1, kept exact, such as 1e-9."""

    name = "probability"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Fraction:
        """Return the exact number, or say what one looks like."""
        from dpql.language.numbers import exact as read
        from dpql.language.numbers import is_number

        text = str(value)
        number = read(text) if is_number(text) else exact(text)
        if number is None or not 0 <= number < 1:
            self.fail("write a small probability, such as 1e-9", param, ctx)
        return number


EXACT = ExactType()
PROBABILITY = ProbabilityType()

DAY = click.DateTime(["%Y-%m-%d"])


class ProjectOption(click.Option):
    """An option whose default `dpql.toml` gives; flags and the environment win."""

    def __init__(self, *names: Any, setting: str, **more: Any) -> None:
        super().__init__(*names, **more)
        self.setting = setting

    def consume_value(
        self, ctx: click.Context, opts: Mapping[str, Any]
    ) -> tuple[Any, ParameterSource]:
        """Return what was given, else what the project says, else the default."""
        value, source = super().consume_value(ctx, opts)
        if source is not ParameterSource.DEFAULT or ctx.resilient_parsing:
            return value, source
        from dpql.cli.inputs.project import current_project

        project = current_project()
        found = None if project is None else getattr(project, self.setting)
        return (
            (value, source) if found is None else (found, ParameterSource.DEFAULT_MAP)
        )


LEDGER_NAME = "ledger.sqlite"
"""The ledger of a folder, where nobody names another."""

LEDGER = click.option(
    "--ledger",
    "location",
    cls=ProjectOption,
    setting="ledger",
    envvar="DPQL_LEDGER",
    default=LEDGER_NAME,
    show_default=True,
    metavar="FILE|URL",
    help="The ledger: a file, or postgresql://…",
)

FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the result is written.",
)

REVIEWED_LEDGER = click.option(
    "--ledger",
    "location",
    cls=ProjectOption,
    setting="ledger",
    envvar="DPQL_LEDGER",
    metavar="FILE|URL",
    help="The ledger whose budget is shown; ledger.sqlite if it has the dataset.",
)

SPARK = click.option(
    "--spark",
    cls=ProjectOption,
    setting="spark",
    envvar="DPQL_SPARK",
    metavar="URL",
    help="The Spark of spark:TABLE: sc://HOST:15002, or a master such as local[4].",
)

DATASET = click.option(
    "--dataset", help="The owner's name of the data, if not the source's."
)
