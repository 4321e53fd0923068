"""Settings of a what-if, as they are written on the command line."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

Setting = tuple[str, Any]

_NUMBERS = ("epsilon", "alpha")
_LONGEST = 64


class SettingType(click.ParamType[Setting]):
    """``NAME=VALUE`` with the name of something that a what-if can change."""

    name = "setting"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Setting:
        """Return the name and the exact value, or say what is wrong."""
        name, equals, text = str(value).partition("=")
        if not equals or name not in (*_NUMBERS, "mechanism"):
            self.fail("write epsilon=…, alpha=… or mechanism=…", param, ctx)
        if name == "mechanism":
            from dpql.model.spec import MechanismName

            if text not in frozenset(MechanismName):
                self.fail(f"mechanism is {', '.join(MechanismName)}", param, ctx)
            return name, MechanismName(text)
        number = exact(text)
        if number is None or number <= 0:
            self.fail(f"{name} is a number above 0, such as 0.5 or 1/2", param, ctx)
        return name, number


def exact(text: str) -> Fraction | None:
    """Return the exact number in a text of moderate length."""
    digits = text.replace("_", "")
    if len(digits) > _LONGEST or not digits.isascii() or "e" in digits.lower():
        return None
    try:
        return Fraction(digits)
    except (ValueError, ZeroDivisionError):
        return None


SETTING = SettingType()
