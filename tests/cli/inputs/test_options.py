"""Numbers of the command line stay exact."""

from __future__ import annotations

from fractions import Fraction

import click
import pytest

from dpql.cli.inputs.options import EXACT

NUMBERS = {"4": Fraction(4), "0.5": Fraction(1, 2), "7/2": Fraction(7, 2), "1_0": 10}
OTHERS = ["0", "-1", "1e3", "1/0", "nan", "", "٣", "1" * 65]


@pytest.mark.parametrize(("text", "expected"), NUMBERS.items())
def test_numbers_above_0_are_exact(text: str, expected: Fraction) -> None:
    """Decimals and fractions are taken as they are written."""
    assert expected == EXACT.convert(text, None, None)


@pytest.mark.parametrize("text", OTHERS)
def test_other_texts_are_refused(text: str) -> None:
    """Nothing that is not above 0, and nothing long or of another script."""
    with pytest.raises(click.BadParameter, match="above 0"):
        EXACT.convert(text, None, None)
