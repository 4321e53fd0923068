"""Hints that fit the case: in words, and in the form that the author writes.

No hint shows names or numbers of another spec. What only the author can know, such as
bounds, is asked for in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.language.keys import SPEC
from dpql.language.tree import Entry, Mapping, Node, Scalar
from dpql.model.notation import number_text
from dpql.model.shape import ListOf, Record
from dpql.model.text_hints import in_text_form

_MISSING = {
    "dpql": "add `dpql: 1`, the version of the language",
    "release": "add `release:` and a name for what is published",
    "purpose": "add `purpose:` and, in a sentence, who asks and why",
    "data": "add `data:` with `source`, `rows` and `columns`, or the name of a dataset "
    "file",
    "source": "add `source:` and a name for the data; dpql.toml or --data says where "
    "they are",
    "dataset": "add `dataset:` and the name of the owner's dataset file",
    "rows": "add `rows: {at_most: N}` with a public ceiling, or `rows: {exactly: N}` "
    "if the number is public",
    "columns": "add `columns:` and below it each column that is read, with its type",
    "privacy": "add `privacy:` with `unit`, the id column of whom to protect, and "
    "`epsilon`, the budget",
    "unit": "add `unit:` and the id column of whom to protect, or `row` if nobody has "
    "two rows",
    "epsilon": "add `epsilon:` and the budget of this release; 1 is common, less is "
    "more private",
    "statistics": "add `statistics:` and below it a name for each, with what it "
    "computes and `spend`",
    "spend": "add `spend: {share: 1}`",
    "type": "add `type:`",
    "nulls": "add `nulls: drop`, or `nulls: {as: VALUE}` to count missing cells as a "
    "public value",
    "step": "add `step:` and the width that cells are rounded to, such as `0.01`",
    "signer": "add `signer:` and who signs the report",
}
"""What to add where a key is missing, in the form of YAML."""

_MISSING_IN_TEXT = {
    "dpql": "begin with `dpql 1`",
    "release": 'write `release NAME "..."`, a name and who asks and why',
    "purpose": "say in quotes behind the name of the release who asks and why",
    "data": "write `from NAME with at most N rows`, and the columns below it",
    "source": "write `from NAME with at most N rows`",
    "rows": "write `with at most N rows` behind the name of the data, a public "
    "ceiling, or `with exactly N rows`",
    "columns": "write below `from` a line for each column that is read: `NAME TYPE`",
    "privacy": "write `protect UNIT giving at most 1 row spending epsilon E`",
    "unit": "write behind `protect` the id column of whom to protect, or `row` if "
    "nobody has two rows",
    "epsilon": "write `spending epsilon` and the budget of this release; 1 is common, "
    "less is more private",
    "statistics": "write a line for each statistic, such as `rows = count rows spend "
    "share 1`",
    "spend": "add `spend share 1`",
    "nulls": "add `, drop nulls`, or `, nulls as VALUE` to count missing cells as a "
    "public value",
    "step": "add `step` and the width that cells are rounded to, such as `step 0.01`",
    "groups": "add `in at most 1 group`",
    "rows of a unit": "add `at most 1 row`",
}


def missing(record: Record, name: str, what: str, example: str, *, text: bool) -> str:
    """Return what to write where a key of a record is missing.

    ``what`` is the record in words, such as a column's name in backquotes, and
    ``example`` what the key holds elsewhere, for keys that nothing is said about.
    """
    if name == "bounds":
        pair = "`[LOWER, UPPER]`" if text else "`bounds: [LOWER, UPPER]`"
        return f"add {pair}, the public range of {what}; cells beyond it are clamped"
    if name == "keys":
        list_ = "`{A, B}`" if text else "`keys: [A, B]`"
        private = "`private`" if text else "`keys: private`"
        return (
            f"add {list_} with the public values of {what} that are to be counted, or "
            f"{private} if nobody can list them"
        )
    if record.what == "a contribution":
        if text:
            return _MISSING_IN_TEXT["rows of a unit" if name == "rows" else name]
        return f"add `{name}: 1` or more; it is enforced"
    table = _MISSING_IN_TEXT if text else _MISSING
    if name in table:
        return table[name]
    hint = f"add `{name}: {example}`"
    return in_text_form(hint) if text else hint


def misplaced(entries: list[Entry]) -> str | None:
    """Return a hint for keys that stand together in a block that does not have them.

    Most often the line above them is missing, that of the block they belong to.
    """
    names = [entry.name for entry in entries]
    inside = [entry.value for entry in entries if isinstance(entry.value, Mapping)]
    for field in SPEC.fields:
        inner = field.shape
        if isinstance(inner, Record) and all(map(inner.field, names)):
            return f"they are keys of `{field.name}`; is its line missing above them?"
    if len(inside) < len(entries):
        return None
    if all(block.get("type") is not None for block in inside):
        return "they look like columns; is the line `columns:` missing above them?"
    if all(block.get("spend") is not None for block in inside):
        return "they look like statistics; is the line `statistics:` missing above?"
    return None


_BLOCKS = {
    "`rows`": "write `rows: {{at_most: {0}}}` for a public ceiling, or `rows: "
    "{{exactly: {0}}}` if the number is public",
    "`contributes`": "write `contributes: {{rows: {0}, groups: 1}}`",
    "`spend`": "write `spend: {{share: {0}}}` for a part of what is left, or `spend: "
    "{{epsilon: {0}}}`",
    "`nulls`": "write `nulls: drop`, or `nulls: {{as: {0}}}`",
    "`report`": "write `report: {{signer: {0}}}`",
}


def block_for(what: str, node: Node) -> str | None:
    """Return how a single value is written as the block that belongs there."""
    hint = _BLOCKS.get(what)
    if hint is None or not isinstance(node, Scalar) or not _PLAIN.fullmatch(node.text):
        return None
    return hint.format(node.text)


def as_list(node: Node, shape: ListOf) -> str:
    """Return how a single value is written as a list."""
    if shape.longest == shape.shortest == 2:  # noqa: PLR2004  two ends
        return "write both in brackets: `[FIRST, SECOND]`"
    if isinstance(node, Scalar) and _PLAIN.fullmatch(node.text):
        return f"write a list in brackets: `[{node.text}]`"
    return "write a list in brackets: `[FIRST, SECOND]`"


def as_number(text: str) -> str | None:
    """Return how a number of other notations is written, None if it is none."""
    if _PERCENT.fullmatch(text):
        share = Fraction(text[:-1].strip()) / 100
        return f"percent are written as a part of one: `{number_text(share)}`"
    if _COMMA.fullmatch(text):
        return f"write a point: `{text.replace(',', '.')}`"
    if _CURRENCY.fullmatch(text):
        digits = "".join(c for c in text if c.isdigit() or c == ".")
        return f"write the number alone: `{digits}`"
    return None


_PLAIN = re.compile(r"[\w.-]{1,40}")
_PERCENT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?[ ]?%", re.ASCII)
_COMMA = re.compile(r"-?[0-9]{1,15},[0-9]{1,2}|-?[0-9]{1,15},[0-9]{4,9}", re.ASCII)
_CURRENCY = re.compile(r"[$€£]?[ ]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]{1,4})?", re.ASCII)


def several(names: Iterable[str]) -> str:
    """Return names in backquotes; of many the first few and how many more there are."""
    found = [f"`{shown(name)}`" for name in names]
    if len(found) > _FEW + 1:
        found[_FEW:] = [f"{len(found) - _FEW} more"]
    *most, last = found
    return f"{', '.join(most)} and {last}" if most else last


_FEW = 5
