"""The words of a preflight."""

from __future__ import annotations

import polars as pl
from curator.test_preflight import ROWS, SPEC, plan_of

from dpql.cli.commands.preflight.view import WARNING, as_document, as_text
from dpql.curator.preflight import preflight

EXPECTED = """\
t   8 rows; the spec declares at most 1 000

 id       no id in 1 row (12.5%): they belong to nobody
 word     null in 1 row (12.5%)
          an undeclared key in 2 rows (25.0%): dropped where it groups
            1 x `A`   another case than that of a declared key
            1 x `c`
"""


def test_every_loss_is_a_line() -> None:
    """Columns first, with what their cells look like, then statistics."""
    plan = plan_of()
    found = preflight(plan, {"t": pl.DataFrame(ROWS)})
    text = as_text(plan, found).replace("\u202f", " ")
    assert text.startswith(f"{WARNING}\n\n{EXPECTED}")
    for words in (
        "1 x `$17,000`   a sign of currency or separators of thousands",
        "below 0 in 1 row (12.5%): moved to it",
        "no value in 5 rows (62.5%): counted as 0",
        (
            "62.5% have declared keys or bins; 20.0% of these have no id; "
            "25.0% dropped: at most 2 rows of a id in each of 1 group; 3 used"
        ),
        "50.0% pass `where`",
    ):
        assert words in text
    assert found.rows == as_document(plan, found)["rows"]


def test_a_number_of_rows_that_does_not_fit_is_said() -> None:
    """More than the ceiling, or other than the public number."""
    plan = plan_of(SPEC.replace("1_000", "7"))
    found = preflight(plan, {"t": pl.DataFrame(ROWS)})
    assert "at most 7: too few are declared" in as_text(plan, found)
