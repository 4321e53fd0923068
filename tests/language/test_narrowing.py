"""What a spec may ask of an owner's data; each rule is tried in test_dataset."""

from __future__ import annotations

from language.test_dataset import AGE, ASKING, NARROW, loaded

from dpql.model.spec import CategoryColumn


def test_what_narrows_is_taken() -> None:
    """Fewer rows, bounds on the grid, some keys, a smaller budget."""
    keys = "district: {type: category, keys: [west, north]}"
    columns = f"{AGE}\n    {keys}"
    text = ASKING.replace("data: wages\nprivacy:", NARROW.format(column=columns))
    text = text.replace(
        "epsilon: 1",
        "epsilon: 1/2\n  contributes: {rows: 1, groups: 2}\n  unit: person_id",
    )
    spec = loaded(text)
    age, district = spec.data.number("age"), spec.data.column("district")
    assert (18, 66) == (age.lower, age.upper)
    assert isinstance(district, CategoryColumn)
    assert ("west", "north") == district.keys
    assert (1, 2, None) == (
        spec.privacy.contributes.rows,
        spec.privacy.contributes.groups,
        spec.privacy.contributes.total,
    )
