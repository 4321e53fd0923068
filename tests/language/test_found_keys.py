"""Private keys and the key of everything else: what they mean, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from language.samples import PRIVATE, REFERENCE

from dpql.diagnostics import render_concise
from dpql.errors import Diagnostic, SpecError
from dpql.language import format_text, load_text, print_spec
from dpql.model.spec import CategoryColumn, MechanismName, PrivateColumn, Spec
from dpql.statistics.searches import searches_of

SPEC = """\
dpql: 1
release: r
purpose: Test.
data:
  source: flights
  rows: {at_most: 1_000}
  columns:
    plane:   {type: id}
    dest:    {type: category, keys: private, others: true}
    from:    {type: category, keys: private}
    carrier: {type: category, keys: [UA, AA], others: true}
    month:   {type: category, keys: 1..12, others: true}
    delay:   {type: integer, bounds: [-60, 240], nulls: drop}
privacy:
  unit: plane
  contributes: {rows: 3, groups: 2}
  epsilon: 1
  delta: 1e-9
statistics:
  planes: {count: units, by: [dest], shown_from: 10, spend: {share: 1}}
  pairs: {list: keys, by: [dest, from], spend: {accuracy: 50}}
  flights: {count: rows, by: [carrier, dest], spend: {share: 1}}
  routes: {mean: delay, by: [from, month, dest], spend: {share: 1}}
  places: {distinct: dest, spend: {share: 1}}
  elsewhere: {count: rows, where: "carrier == others", spend: {share: 1}}
"""
FORMS = ("yaml", "dpql")


def changed(*pairs: tuple[str, str], text: str = SPEC) -> str:
    """Return the spec with texts in place of others, each of which is there."""
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def meaning(text: str) -> Spec:
    """Return what a spec means: the same in both forms, formatted and printed."""
    spec = load_text(text, form="yaml")
    for form in FORMS:
        written = format_text(text, form="yaml", to=form)
        assert spec == load_text(written, form=form)
        assert written == format_text(written, form=form)
        assert spec == load_text(print_spec(spec, form), form=form)
    return spec


def faults(text: str, form: str = "yaml") -> list[Diagnostic]:
    """Return what is wrong; every fault has a place and a hint."""
    with pytest.raises(SpecError) as caught:
        load_text(text, form=form)
    assert all(fault.span and fault.hint for fault in caught.value.diagnostics)
    return list(caught.value.diagnostics)


def fault(text: str, form: str = "yaml") -> tuple[str, str, str]:
    """Return the code of the only fault, what it points at, and its hint."""
    (found,) = faults(text, form)
    assert found.span is not None
    line = found.span.first_line
    pointed = line[found.span.column - 1 : found.span.end_column - 1]
    return found.code, pointed, found.hint or ""


def in_text(text: str) -> str:
    """Return a spec in the text form; faults of meaning are let be."""
    return format_text(text, form="yaml", to="dpql")


def test_private_keys_and_others_have_a_meaning() -> None:
    """Columns of keys to be found, and one key more where it is asked for."""
    columns = {column.name: column for column in meaning(SPEC).data.columns}
    assert PrivateColumn(name="dest", others=True) == columns["dest"]
    assert PrivateColumn(name="from", others=False) == columns["from"]
    carrier, month = columns["carrier"], columns["month"]
    assert isinstance(carrier, CategoryColumn)
    assert isinstance(month, CategoryColumn)
    assert (("UA", "AA", "others"), ("UA", "AA")) == (carrier.keys, carrier.declared)
    assert month.numeric
    assert (*map(str, range(1, 13)), "others") == month.keys


def test_the_text_form_has_words_for_them() -> None:
    """They are no words of the language, and may be the names of columns."""
    text = in_text(SPEC)
    assert "dest     category private with others\n" in text
    assert "`from`   category private\n" in text
    assert "carrier  category {UA, AA} with others\n" in text
    assert "month    category 1..12 with others\n" in text
    assert "planes    = count units by dest shown from 10 spend share 1\n" in text
    assert "pairs     = list keys by dest, `from` spend accuracy 50\n" in text
    names = {"dest": "private", "carrier": "others", "plane": "keys", "month": "list"}
    renamed = SPEC
    for old, new in names.items():
        renamed = renamed.replace(f"{old}:", f"{new}:").replace(f"{old}]", f"{new}]")
        renamed = renamed.replace(f"{old},", f"{new},").replace(
            f": {old}\n", f": {new}\n"
        )
        renamed = renamed.replace(f"[{old}", f"[{new}").replace(f'"{old} ', f'"{new} ')
    renamed = renamed.replace("others == others", "others == UA")
    assert "private" in {column.name for column in meaning(renamed).data.columns}


@pytest.mark.parametrize(
    ("old", "new", "code", "pointed"),
    [
        ("category private with", "category privat with", "DPQL208", "privat"),
        ("private with others", "private with other", "DPQL120", "other"),
        ("private with others", "private with", "DPQL120", ""),
        ("private with others", "private {A} with others", "DPQL103", "{"),
        ("category private with others", "category with others", "DPQL201", "dest"),
        ("list keys", "list key", "DPQL209", "key"),
        ("shown from 10", "shown from many", "DPQL120", "many"),
    ],
)
def test_other_words_are_refused(old: str, new: str, code: str, pointed: str) -> None:
    """At the word that is wrong."""
    found = fault(changed((old, new), text=in_text(SPEC)), "dpql")
    assert (code, pointed) == (found[0], found[1][: len(pointed)])


def test_columns_that_lack_keys_may_have_private_ones() -> None:
    """The hint of a missing `keys` says so in either form."""
    text = changed(("{type: category, keys: private}", "{type: category}"))
    assert "or `keys: private` if" in fault(text)[2]
    written = changed(("category private\n", "category\n"), text=in_text(SPEC))
    assert "or `private` if" in fault(written, "dpql")[2]


def test_a_list_or_the_first_count_of_units_finds_keys() -> None:
    """Of statistics by the same private columns, in any order, one finds their keys."""
    found = searches_of(meaning(SPEC))
    assert {frozenset({"dest"}): "planes", frozenset({"dest", "from"}): "pairs"} == {
        columns: search.name for columns, search in found.items()
    }
    by_row = changed(
        ("unit: plane", "unit: row"),
        ("  contributes: {rows: 3, groups: 2}\n", ""),
        ("count: units", "count: rows"),
    )
    assert "planes" == searches_of(meaning(by_row))[frozenset({"dest"})].name
    listed = changed(
        ("  places:", "  all: {list: keys, by: [dest], spend: {share: 1}}\n  places:"),
        (", shown_from: 10", ""),
    )
    assert "all" == searches_of(meaning(listed))[frozenset({"dest"})].name


def test_private_keys_need_a_delta_once() -> None:
    """Noted where the first of them forms groups; `distinct` needs none."""
    text = changed(("  delta: 1e-9\n", ""))
    assert ("DPQL372", "dest") == fault(text)[:2]
    assert ("DPQL372", "dest") == fault(in_text(text), "dpql")[:2]
    lines = [x for x in text.splitlines() if "by: [" not in x]
    assert meaning("\n".join(lines) + "\n").privacy.delta == 0


def test_private_keys_need_a_statistic_that_finds_them() -> None:
    """The hint is a line that cures it, in either form."""
    text = changed(
        (
            "planes: {count: units, by: [dest], shown_from: 10",
            "planes: {count: units, where: delay > 0",
        )
    )
    code, pointed, hint = fault(text)
    assert ("DPQL373", "dest") == (code, pointed)
    line = hint.split("`")[1]
    cured = text.replace("  flights:", f"  {line}\n  flights:")
    assert "NAME" == searches_of(meaning(cured))[frozenset({"dest"})].name
    code, pointed, hint = fault(in_text(text), "dpql")
    assert ("DPQL373", "dest") == (code, pointed)
    line = hint.split("`")[1]
    assert "NAME = count units by dest spend share 1" == line
    assert load_text(f"{in_text(text)}{line}\n", form="dpql")


def test_two_private_columns_need_their_keys_together() -> None:
    """Those of each alone are not enough; odd names are written as they must be."""
    text = changed(
        ("list: keys, by: [dest, from]", "count: units, by: [from]"),
        ("    from:", '    "from: where":'),
        ("from]", '"from: where"]'),
        ("[from", '["from: where"'),
    )
    code, _, hint = fault(text)
    assert "DPQL373" == code
    assert 'by: ["from: where", dest]' in hint
    assert "by `from: where`, dest" in fault(in_text(text), "dpql")[2]


def test_what_may_find_keys_is_not_missed_while_it_is_at_fault() -> None:
    """One mistake is reported once."""
    text = changed(
        ("shown_from: 10, spend: {share: 1}", "shown_from: 10, spend: {share: -1}")
    )
    assert "DPQL314" == fault(text)[0]
    text = changed(("shown_from: 10, spend: {share: 1}", "alpha: 2, spend: {share: 1}"))
    assert "DPQL312" == fault(text)[0]


@pytest.mark.parametrize(
    ("old", "new", "pointed", "hint"),
    [
        ("shown_from: 10", "shown_from: 0", "0", "write the least"),
        ("shown_from: 10", "shown_from: 1_001", "1_001", "write the least"),
        ("[carrier, dest]", "[carrier, dest], shown_from: 2", "2", "under `planes`"),
        ("[carrier, dest]", "[carrier], shown_from: 2", "2", "delete it"),
    ],
)
def test_shown_from_is_for_what_finds_keys(
    old: str, new: str, pointed: str, hint: str
) -> None:
    """From 1 to the declared rows, and nowhere else."""
    found = fault(changed((old, new)))
    assert ("DPQL374", pointed) == found[:2]
    assert hint in found[2]


def test_shown_from_belongs_to_counts_and_lists() -> None:
    """A mean does not have it."""
    text = changed(
        (
            "dest], spend: {share: 1}}\n  places",
            "dest], shown_from: 2, spend: {share: 1}}\n  places",
        )
    )
    assert (
        "DPQL211",
        "shown_from",
        "`shown_from` belongs to `count` or `list`",
    ) == fault(text)


@pytest.mark.parametrize("key", ["others", "\uff4fthers"])
def test_no_declared_key_is_called_others(key: str) -> None:
    """Nor one that looks like it; without `others: true` it is a key like any other."""
    text = changed(("[UA, AA]", f"[UA, {key}]"))
    assert ("DPQL375", key) == fault(text)[:2]
    assert "with others" in faults(in_text(text), "dpql")[0].hint
    assert meaning(changed(("[UA, AA], others: true", "[UA, others]")))


def test_others_is_true_or_absent() -> None:
    """The hint says how it is switched off."""
    found = fault(changed(("[UA, AA], others: true", "[UA, AA], others: false")))
    assert ("DPQL209", "false", "write `true`, or delete the line") == found


@pytest.mark.parametrize(
    ("old", "new", "pointed", "hint"),
    [
        ("by: [dest, from]", "by: [from, carrier]", "carrier", "`from` alone"),
        ("by: [dest, from]", "by: [carrier]", "carrier", "delete the statistic"),
        (", by: [dest, from]", "", "pairs", "add `by: [dest]`"),
    ],
)
def test_only_keys_that_are_found_are_listed(
    old: str, new: str, pointed: str, hint: str
) -> None:
    """Declared ones everybody reads in the spec."""
    found = {
        one.code: (
            one.span.first_line[one.span.column - 1 : one.span.end_column - 1],
            one.hint,
        )  # type: ignore[union-attr]
        for one in faults(changed((old, new)))
    }
    assert pointed == found["DPQL376"][0]
    assert hint in (found["DPQL376"][1] or "")


def test_keys_are_listed_once() -> None:
    """The second list has nothing to show."""
    text = changed(
        (
            "  places:",
            "  again: {list: keys, by: [from, dest], spend: {share: 1}}\n  places:",
        )
    )
    assert ("DPQL376", "again", "delete one of them") == fault(text)


def test_noise_that_cannot_find_keys_is_refused() -> None:
    """Unless it is that of the defaults, which then means `auto`."""
    text = changed(("shown_from: 10", "mechanism: snapping"))
    assert ("DPQL377", "snapping") == fault(text)[:2]
    text = changed(("[dest, from]", "[dest, from], mechanism: snapping"))
    assert ("DPQL377", "snapping") == fault(text)[:2]
    for noise in (MechanismName.GEOMETRIC, MechanismName.GAUSSIAN):
        text = changed(("[dest, from]", f"[dest, from], mechanism: {noise}"))
        assert noise == meaning(text).statistics[1].mechanism
    spec = load_text(
        changed(("statistics:", "defaults: {mechanism: snapping}\nstatistics:")),
        form="yaml",
    )
    noises = {one.name: one.mechanism for one in spec.statistics}
    assert {MechanismName.AUTO} == {noises["planes"], noises["pairs"]}
    assert MechanismName.SNAPPING == noises["flights"]


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("carrier == others", "dest == JFK", "take `carrier`, `month` or `delay`"),
        ("carrier == others", "is_null(dest)", "declare the keys of `dest`"),
        ("{distinct: dest", "{mean: dest", "take `delay`"),
        ("{distinct: dest", "{histogram: dest", "declare the keys of `dest`"),
    ],
)
def test_private_columns_form_groups_and_nothing_else(
    old: str, new: str, hint: str
) -> None:
    """Neither a condition nor a number is made of them."""
    found = faults(changed((old, new)))
    assert ["DPQL302"] == [one.code for one in found]
    assert "`dest` is of type private category, so it " in found[0].message
    assert hint in (found[0].hint or "")


def test_no_column_is_derived_of_private_keys() -> None:
    """The place is the word in the expression."""
    text = changed(
        ("privacy:", "  derived:\n    hub: 'map(dest, {JFK: yes}, else: no)'\nprivacy:")
    )
    assert ("DPQL302", "dest") == fault(text)[:2]


def test_others_is_a_key_in_conditions() -> None:
    """It is compared and mapped like the declared ones, numbers or not."""
    text = changed(
        ("carrier == others", "month in [1, others] and carrier != others"),
        (
            "privacy:",
            "  derived:\n    big: 'map(carrier, {UA: yes, others: no})'\nprivacy:",
        ),
    )
    assert ("no", "yes") == tuple(sorted(meaning(text).data.category("big").keys))
    text = changed(("carrier == others", "delay > 0 and carrier == other"))
    assert "DPQL319" == fault(text)[0]


def test_groups_that_are_found_have_no_total() -> None:
    """Rows of keys that are not found are in none of them."""
    text = changed(("places: {distinct: dest,", "places: {total: flights,"))
    code, pointed, hint = fault(text)
    assert ("DPQL330", "flights") == (code, pointed)
    assert "count without `by`" in hint


def test_a_spec_may_hold_private_keys_and_anything_else() -> None:
    """The reference spec with private districts is sound in both forms."""
    assert meaning(format_text(PRIVATE, form="yaml"))
    shown = render_concise(
        faults(REFERENCE.replace("[north, east, south, west]", "private"))
    )
    assert "DPQL372" in shown
    assert "DPQL302" in shown


def test_a_statistic_that_finds_keys_says_from_how_many_units_on() -> None:
    """None is left out of plans, as before there was such a number."""
    planes, *_ = meaning(SPEC).statistics
    assert 10 == planes.shown_from
    assert replace(planes, shown_from=None) != planes
