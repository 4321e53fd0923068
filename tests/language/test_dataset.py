"""What an owner declares once is what a spec of the data means."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from language.samples import REFERENCE

from dpql.errors import SpecError
from dpql.language import format_text, load, load_text
from dpql.language.dataset import declared, folder, load_dataset
from dpql.language.reading import parse_text
from dpql.language.schema import dataset_schema, spec_schema
from dpql.language.source import Form, Source, examine
from dpql.language.tree import plain
from dpql.model.spec import Spec

OWNER = """\
dpql: 1
dataset: wages
rows: {at_most: 2_000_000}
columns:
  person_id: {type: id}
  district: {type: category, keys: [north, east, south, west]}
  age: {type: integer, bounds: [16, 100], step: 2, unit: year, nulls: drop}
privacy:
  unit: person_id
  contributes: {rows: 3, groups: 2, total: 4}
cap: {epsilon: 4}
"""
ASKING = """\
dpql: 1
release: heads
purpose: Who lives where.
data: wages
privacy:
  epsilon: 1
statistics:
  heads: {count: rows, by: [district], spend: {share: 1}}
"""
NARROW = "data:\n  dataset: wages\n  columns:\n    {column}\nprivacy:"
AGE = "age: {type: integer, bounds: [18, 66], step: 2, unit: year, nulls: drop}"

WRONG = {
    "data: wages": [
        ("data: wags", "DPQL340", "wags"),
        ("data: 7s", "DPQL208", "7s"),
        ("data:", "DPQL204", "data"),
        ("data: [wages]", "DPQL203", "data"),
    ],
    "epsilon: 1": [
        ("epsilon: 9", "DPQL344", "4 in all"),
        ("epsilon: 1\n  delta: 1e-9", "DPQL344", "0 in all"),
        ("epsilon: 1\n  unit: row", "DPQL342", "`person_id`"),
        ("epsilon: 1\n  neighbours: replace_one", "DPQL342", "`add_remove`"),
        ("epsilon: 1\n  contributes: {rows: 4, groups: 1}", "DPQL343", "allows 3"),
        ("epsilon: 1\n  contributes: {rows: 3, groups: 2}", "DPQL343", "allows 4"),
    ],
    "by: [district]": [
        (
            "by: [district], contributes: {rows: 1, groups: 3}",
            "DPQL343",
            "allows 2",
        ),
        ("by: [distric]", "DPQL301", "distric"),
    ],
}
NARROWED = {
    "wage: {type: id}": "declares no column",
    "age: {type: float, bounds: [18, 66], unit: year, nulls: drop}": "more than",
    "age: {type: id}": "type is another",
    AGE.replace("18", "14"): "bounds are [16, 100]",
    AGE.replace("18, 66", "17, 67"): "in steps of 2",
    AGE.replace("step: 2", "step: 4"): "more than bounds",
    AGE.replace("drop", "{as: 18}"): "more than bounds",
    "district: {type: category, keys: [north, far]}": "`far` is no key",
}


def find(name: str) -> Source | None:
    """Find the one dataset file that there is."""
    return examine(OWNER, "datasets/wages.yaml") if name == "wages" else None


def loaded(text: str, form: str = "yaml") -> Spec:
    """Return the meaning of a spec that may ask the dataset."""
    return load_text(text, source=f"s.{form}", form=form, find=find)


def faults(text: str, form: str = "yaml") -> list[tuple[str, str, str | None]]:
    """Return code, message and hint of every fault."""
    with pytest.raises(SpecError) as caught:
        loaded(text, form)
    assert all(each.hint for each in caught.value.diagnostics)
    return [(each.code, each.message, each.hint) for each in caught.value.diagnostics]


def test_a_spec_means_what_it_would_mean_written_out() -> None:
    """The owner's declarations are put in; the rest is the spec's."""
    written = f"""\
dpql: 1
release: heads
purpose: Who lives where.
data:
  source: wages
{OWNER[OWNER.index("rows:") : OWNER.index("privacy:")].replace("  ", "    ")}
privacy:
  unit: person_id
  contributes: {{rows: 3, groups: 2, total: 4}}
  epsilon: 1
statistics:
  heads: {{count: rows, by: [district], spend: {{share: 1}}}}
""".replace("\nrows", "\n  rows").replace("\ncolumns", "\n  columns")
    assert loaded(ASKING) == loaded(written)


def test_both_forms_mean_the_same_and_keep_their_comments() -> None:
    """Also with narrowed columns, and with a restated promise."""
    narrow = ASKING.replace("data: wages\nprivacy:", NARROW.format(column=AGE))
    promise = "  unit: person_id\n  contributes: {rows: 1, groups: 2}  # few\n  eps"
    for text in (ASKING, narrow, narrow.replace("  eps", promise)):
        twin = format_text(text, form="yaml", to="dpql")
        assert loaded(text) == loaded(twin, "dpql")
        again = format_text(twin, form="dpql", to="yaml")
        assert loaded(text) == loaded(again)
        assert ("# few" in text) == ("# few" in again)


@pytest.mark.parametrize(
    ("right", "wrong", "code", "words"),
    [(right, *each) for right, many in WRONG.items() for each in many],
)
def test_what_widens_is_refused_rule_by_rule(
    right: str, wrong: str, code: str, words: str
) -> None:
    """The fault that the rule names, with its cure."""
    found = faults(ASKING.replace(right, wrong, 1))
    assert words in next(message for each, message, _ in found if each == code)


@pytest.mark.parametrize(("column", "words"), NARROWED.items())
def test_columns_may_be_narrowed_and_not_widened(column: str, words: str) -> None:
    """Bounds on the owner's grid, some of the keys, nothing else."""
    text = ASKING.replace("data: wages\nprivacy:", NARROW.format(column=column))
    ((code, message, _),) = faults(text)
    assert "DPQL345" == code
    assert words in message


def test_faults_of_the_owner_point_into_the_owners_file() -> None:
    """Also those that only resolving finds."""
    for right, wrong in (("[16, 100]", "[100, 16]"), ("rows: 3", "rows: 0")):
        broken = OWNER.replace(right, wrong)
        with pytest.raises(SpecError) as caught:
            load_text(
                ASKING, form="yaml", find=lambda _, text=broken: examine(text, "o")
            )
        sources = {each.span.source for each in caught.value.diagnostics if each.span}
        assert {"o"} == sources


def test_a_dataset_file_alone_is_checked_whole() -> None:
    """Syntax, shape and meaning; the name is that of the file."""
    found = declared(examine(OWNER, "o"), "wages")
    assert ("wages", 4) == (found.name, found.cap)
    for right, wrong, code in (
        ("dataset: wages", "dataset: people", "DPQL341"),
        ("dataset: wages", "", "DPQL201"),
        ("unit: person_id", "unit: person", "DPQL301"),
        ("epsilon: 4", "epsilon: 0", "DPQL310"),
        ("cap:", "cop:", "DPQL202"),
        ("  contributes: {rows: 3, groups: 2, total: 4}\n", "", "DPQL315"),
    ):
        with pytest.raises(SpecError) as caught:
            declared(examine(OWNER.replace(right, wrong), "o"), "wages")
        assert code == caught.value.diagnostics[0].code


def test_a_dataset_file_is_no_spec_and_has_one_form() -> None:
    """It asks for nothing; its layout is canonical YAML."""
    assert "DPQL346" == faults(OWNER)[0][0]
    again = format_text(OWNER, form="yaml")
    assert format_text(again, form="yaml") == again
    with pytest.raises(SpecError, match="DPQL347"):
        format_text(OWNER, form="yaml", to="dpql")


def test_a_text_without_rows_is_told_how_to_declare_them() -> None:
    """The hint is written in the form of the text."""
    text = format_text(REFERENCE, form="yaml", to="dpql")
    broken = text.replace(" with at most 2_000_000 rows", "").replace(
        "from wages", "from other"
    )
    ((code, _, hint),) = faults(broken, "dpql")
    assert "DPQL340" == code
    assert "`from other with at most N rows`" in (hint or "")


def test_the_file_lies_beside_the_project_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes a spec elsewhere cannot bring a dataset file along."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for where, text in ((ours, OWNER), (theirs, OWNER.replace("rows: 3", "rows: 1"))):
        (where / "datasets").mkdir(parents=True)
        (where / "datasets" / "wages.yaml").write_text(text, "utf-8")
    (theirs / "s.yaml").write_text(ASKING, "utf-8")
    (ours / "dpql.toml").write_text("", "utf-8")
    (ours / "below").mkdir()
    monkeypatch.chdir(ours / "below")
    assert Path("../datasets") == folder()
    assert 3 == load(theirs / "s.yaml").privacy.contributes.rows
    assert "wages" == load_dataset(folder() / "wages.yaml").name
    monkeypatch.chdir(ours)
    (ours / "dpql.toml").unlink()
    assert Path("datasets") == folder()


def test_schemas_accept_what_is_read() -> None:
    """Dataset files, and specs that name them."""
    ours = Draft202012Validator(dataset_schema())
    specs = Draft202012Validator(spec_schema())

    def accepted(validator: Draft202012Validator, text: str) -> bool:
        tree = plain(parse_text(text, source="t", form=Form.YAML))
        return not list(validator.iter_errors(tree))

    assert accepted(ours, OWNER)
    assert not accepted(ours, OWNER.replace("rows: {at_most: 2_000_000}\n", ""))
    narrow = ASKING.replace("data: wages\nprivacy:", NARROW.format(column=AGE))
    assert [True, True, True] == [
        accepted(specs, text) for text in (ASKING, narrow, REFERENCE)
    ]
    assert not accepted(specs, ASKING.replace("data: wages", "data: {source: wages}"))
