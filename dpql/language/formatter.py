"""Canonical layout: one order, one notation, every comment kept, either form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from dpql.errors import InternalFault, SpecError
from dpql.language import comments
from dpql.language.comments import Commentary, Notes, Words
from dpql.language.context import entries, items, value
from dpql.language.dataset import asked, is_dataset, shape_of
from dpql.language.key_lists import are_numbers, marked
from dpql.language.predicate_text import predicate_text
from dpql.language.shape_check import check
from dpql.language.source import Form, Source, examine, form_named
from dpql.language.text_writer import text_lines
from dpql.language.tree import Entry, Mapping, Node, Scalar, plain
from dpql.language.yaml_reader import YamlReader
from dpql.language.yaml_writer import Line, yaml_lines
from dpql.statistics import ASKING

_MARKS = {Form.YAML: "#", Form.DPQL: "--"}


def format_text(
    text: str,
    *,
    source: str = "<text>",
    form: str,
    to: str | None = None,
    explicit: bool = False,
) -> str:
    """Return the text in canonical layout, or in the other form's.

    ``explicit`` writes out what the text leaves to the language. Formatting twice
    changes nothing more, and no comment is lost.

    Raises:
        SpecError: the text has faults of syntax or shape; faults of meaning are let be.
    """
    before = form_named(form)
    after = before if to is None else form_named(to)
    root, commentary = _read(examine(text, source), before)
    if after is Form.DPQL and is_dataset(root):
        raise SpecError.of(
            "DPQL347",
            "a dataset file has one form",
            span=root.span,
            hint="keep it as NAME.yaml; specs in either form may name it",
        )
    if explicit:
        from dpql.language.explicit import with_defaults

        root = with_defaults(root)
    if after is not before:
        commentary = comments.carried(commentary, root, after)
    result = written(root, after, commentary)
    _check(result, root, commentary, after)
    return result


def written(root: Mapping, form: Form, commentary: Commentary | None = None) -> str:
    """Return a tree that has the shape of a spec as text."""
    lines = yaml_lines(root) if form is Form.YAML else text_lines(root)
    return _laid_out(lines, commentary or Commentary(), _MARKS[form])


def _read(source: Source, form: Form) -> tuple[Mapping, Commentary]:
    if form is Form.YAML:
        reader = YamlReader(source)
        root = reader.read()
        found = list(comments.in_yaml(source, reader.gaps()))
    else:
        from dpql.language import text_reader

        root = text_reader.read(source)
        found = list(comments.in_text(source))
    check(root, shape_of(root), source, "the spec")
    source.check()
    assert isinstance(root, Mapping)
    spans = comments.units(root, form, source)
    canonical = _with_conditions(_with_keys(root), source)
    source.check()
    return canonical, comments.attach(found, spans)


def _with_keys(root: Mapping) -> Mapping:
    """Return the tree with those keys in quotes that would be numbers without."""

    def column(node: Node) -> Node:
        return _changed(node, ("keys",), marked)

    def columns(node: Node) -> Node:
        assert isinstance(node, Mapping)
        return _changed(node, [entry.name for entry in node.entries], column)

    def data(node: Node) -> Node:
        return (
            _changed(node, ("columns",), columns) if isinstance(node, Mapping) else node
        )

    return _changed(_changed(root, ("columns",), columns), ("data",), data)


def _numeric_keys(root: Mapping) -> list[bool]:
    """Return of every list of keys, in order, whether they are numbers."""
    data = root.get("data")
    blocks = [root, data] if isinstance(data, Mapping) else [root]
    return [
        are_numbers(items(value(column.value, "keys")))
        for block in blocks
        for column in entries(block.get("columns"))
    ]


def _with_conditions(root: Mapping, source: Source) -> Mapping:
    """Return the tree with every expression in its canonical form."""

    def canonical(node: Node) -> Node:
        return _canonical_condition(node, source, columns)

    columns = _columns(root)

    def derived(node: Node) -> Node:
        assert isinstance(node, Mapping)
        return _changed(node, [entry.name for entry in node.entries], canonical)

    root = _changed(root, ("derived",), derived)
    if isinstance(root.get("data"), Mapping):
        root = _changed(
            root, ("data",), lambda data: _changed(data, ("derived",), derived)
        )
    statistics = root.get("statistics")
    if statistics is None:
        return root
    assert isinstance(statistics, Mapping)
    entries = tuple(
        Entry(
            statistic.key,
            _changed(statistic.value, ("where", *ASKING), canonical),
        )
        for statistic in statistics.entries
    )
    block = replace(statistics, entries=entries)
    return _changed(root, ("statistics",), lambda _: block)


def _changed(
    node: Node, names: Iterable[str], change: Callable[[Node], Node]
) -> Mapping:
    assert isinstance(node, Mapping)
    entries = tuple(
        replace(entry, value=change(entry.value)) if entry.name in names else entry
        for entry in node.entries
    )
    return replace(node, entries=entries)


def _columns(root: Mapping) -> frozenset[str] | None:
    """Return the names of all columns; None where a dataset file has more."""
    if asked(root) is not None:
        return None
    data = root if is_dataset(root) else root.get("data")
    blocks = (value(data, name) for name in ("columns", "derived"))
    return frozenset(entry.name for block in blocks for entry in entries(block))


def _canonical_condition(
    node: Node, source: Source, columns: frozenset[str] | None
) -> Node:
    from dpql.language.grammar import SyntaxFault, parse_condition

    assert isinstance(node, Scalar)
    try:
        condition, complaints = parse_condition(node.text)
    except SyntaxFault as fault:
        complaints = [fault.complaint]
    else:
        node = Scalar(predicate_text(condition, columns), node.span)
    for code, message, start, end, hint in complaints:
        source.add(code, message, node.part(start, end), hint)
    return node


def _laid_out(lines: list[Line], commentary: Commentary, mark: str) -> str:
    output: list[str] = []
    trailing: dict[int, str] = {}
    for path, line in lines:
        notes = commentary.notes.get(path, Notes())
        indent = line[: len(line) - len(line.lstrip())]
        _write_comments(output, notes.before, indent + mark)
        if notes.after is not None:
            trailing[len(output)] = f"{mark} {notes.after}".rstrip()
        output.append(line)
    _write_comments(output, commentary.tail, mark)
    _align(output, trailing)
    while not output[-1]:
        output.pop()
    return "\n".join(output) + "\n"


def _align(output: list[str], trailing: dict[int, str]) -> None:
    """Set the comments at the ends of neighbouring lines one below the other."""
    run: list[int] = []
    for index in range(len(output) + 1):
        if index in trailing:
            run.append(index)
            continue
        width = max((len(output[i]) for i in run), default=0)
        for i in run:
            output[i] = f"{output[i].ljust(width)}  {trailing[i]}"
        run = []


def _write_comments(output: list[str], words: list[Words], mark: str) -> None:
    for word in words:
        if word is not None:
            output.append(f"{mark} {word}".rstrip())
        elif output and output[-1]:
            output.append("")


def _check(result: str, root: Mapping, commentary: Commentary, form: Form) -> None:
    """Read the result again: a formatter that changes anything must not be believed."""
    again, kept = _read(examine(result, "<formatted>"), form)
    same = plain(again) == plain(root) and _numeric_keys(again) == _numeric_keys(root)
    if not same or kept.words() != commentary.words():
        raise InternalFault.of(
            "DPQL900", "formatting would have changed the spec; nothing was written"
        )
