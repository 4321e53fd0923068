"""Known mistakes get a hint."""

from __future__ import annotations

import pytest
from language.samples import REFERENCE

from dpql.diagnostics import render_concise
from dpql.errors import SpecError
from dpql.language import format_text, load_text


def diagnose(text: str, form: str = "yaml") -> str:
    """Return the faults of a text, one to a line."""
    with pytest.raises(SpecError) as caught:
        load_text(text, source="f", form=form)
    return render_concise(caught.value.diagnostics)


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("age >= 18", "age = 18", "write `==`"),
        ("age >= 18", "age <> 18", "write `!=`"),
        ("age >= 18", "18 <= age", "put the column first"),
        ("age >= 18 and", "age >= 18 AND", "write it in small letters"),
        ("age >= 18", "age not in [18]", "write `not` before the column"),
        ("age >= 18", "age in (18, 19)", "write the list in brackets"),
        ("mean wage", "AVG(wage)", "write `mean wage`, without parentheses"),
        ("mean wage", "avg wage", "did you mean `mean`?"),
        ("count rows", "count(*)", "write `count rows`"),
        ("rows by district", "rows GROUP BY district", "write `by district`"),
        ("headcount =", "SELECT count(", "write `name = mean wage"),
        ("spend share 2", "spend share 2;", "delete it"),
        ("default alpha", "default: alpha", "without colons"),
    ],
)
def test_known_mistakes_get_a_hint(right: str, wrong: str, expected: str) -> None:
    """SQL, Python and YAML are recognised where the parser stops."""
    text = format_text(REFERENCE, form="yaml", to="dpql")
    assert right in text
    assert expected in diagnose(text.replace(right, wrong, 1), "dpql")
