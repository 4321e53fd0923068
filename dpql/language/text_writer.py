"""A tree to canonical query text: the twin of the YAML, one statement to a line."""

from __future__ import annotations

from dpql.language.comments import Path
from dpql.language.quoting import key_text, quoted_text, subject_text
from dpql.language.tree import Mapping, Node, Scalar, Sequence
from dpql.language.yaml_writer import Line
from dpql.model.notation import is_bare, name_text
from dpql.statistics import ASKING, KEYS, OPTIONS, Option


def text_lines(root: Mapping) -> list[Line]:
    """Return the lines of a tree that has the shape of a spec."""
    name = name_text(_scalar(root, "release"))
    purpose = quoted_text(_scalar(root, "purpose"))
    lines: list[Line] = [
        (("dpql",), f"dpql {_scalar(root, 'dpql')}"),
        (("release",), f"release {name} {purpose}"),
    ]
    lines += _data(root)
    lines += _privacy(_mapping(root, "privacy"))
    if root.get("defaults") is not None:
        settings = _settings(_mapping(root, "defaults"), "alpha", "gamma", "mechanism")
        lines.append((("defaults",), f"default {settings}"))
    lines += _statistics(_mapping(root, "statistics"))
    if root.get("report") is not None:
        signer = quoted_text(_scalar(_mapping(root, "report"), "signer"))
        lines.append((("report",), f"report signed by {signer}"))
    return lines


def _data(root: Mapping) -> list[Line]:
    named = root.get("data")
    if isinstance(named, Scalar):
        return [(("data",), f"from {name_text(named.text)}")]
    data = _mapping(root, "data")
    if data.get("dataset") is not None:
        head = f"from {name_text(_scalar(data, 'dataset'))}"
        return [(("data",), head), *_columns(data)]
    rows = _mapping(data, "rows")
    bound = "exactly" if rows.get("exactly") else "at most"
    count = _scalar(rows, "exactly" if rows.get("exactly") else "at_most")
    head = f"from {name_text(_scalar(data, 'source'))} with {bound} {_rows(count)}"
    return [(("data",), head), *_columns(data)]


def _columns(data: Mapping) -> list[Line]:
    blocks = [name for name in ("columns", "derived") if data.get(name) is not None]
    found = [(name, entry) for name in blocks for entry in _mapping(data, name).entries]
    names = [name_text(entry.name) for _, entry in found]
    width = max(map(len, names), default=0)
    lines: list[Line] = []
    for name, (block, entry) in zip(names, found, strict=True):
        path: Path = ("data", block, entry.name)
        what = f":= {entry.value.text}" if isinstance(entry.value, Scalar) else ""
        if isinstance(entry.value, Mapping):
            what = _column(entry.value)
        lines.append((path, f"  {name.ljust(width)}  {what}"))
    return lines


def _column(column: Mapping) -> str:
    words = [_scalar(column, "type")]
    if column.get("keys") is not None:
        words.append(_keys(column.get("keys")))
    if column.get("others") is not None:
        words.append("with others")
    if column.get("bounds") is not None:
        words.append(f"[{', '.join(_items(column, 'bounds'))}]")
    if column.get("step") is not None:
        words.append(f"step {_scalar(column, 'step')}")
    if column.get("zone") is not None:
        words.append(f"at {quoted_text(_scalar(column, 'zone'))}")
    if column.get("unit") is not None:
        unit = _scalar(column, "unit")
        words.append(unit if is_bare(unit) else quoted_text(unit))
    nulls = column.get("nulls")
    if nulls is None:
        return " ".join(words)
    if isinstance(nulls, Mapping):
        return f"{' '.join(words)}, nulls as {_scalar(nulls, 'as')}"
    return f"{' '.join(words)}, drop nulls"


def _keys(keys: Node | None) -> str:
    match keys:
        case Mapping():
            return f"from {quoted_text(_scalar(keys, 'file'))}"
        case Sequence(items=items):
            found = [item for item in items if isinstance(item, Scalar)]
            words = (key_text(item.text, quoted=item.quoted) for item in found)
            return f"{{{', '.join(words)}}}"
        case _:
            assert isinstance(keys, Scalar)
            return keys.text


def _privacy(privacy: Mapping) -> list[Line]:
    head = "protect"
    if privacy.get("unit") is not None:
        head += f" {subject_text(_scalar(privacy, 'unit'))}"
    if privacy.get("contributes") is not None:
        head += f" {_giving(_mapping(privacy, 'contributes'))}"
    under = f"spending {_settings(privacy, 'epsilon', 'delta')}"
    if privacy.get("neighbours") is not None:
        under = f"under {_scalar(privacy, 'neighbours')} {under}"
    return [(("privacy",), head), (("privacy", "epsilon"), f"  {under}")]


def _giving(given: Mapping) -> str:
    groups = _scalar(given, "groups")
    noun = "group" if groups == "1" else "groups"
    rows = _rows(_scalar(given, "rows"))
    text = f"giving at most {rows} in at most {groups} {noun}"
    if given.get("total") is not None:
        text += f", at most {_scalar(given, 'total')} in all"
    return text


def _statistics(block: Mapping) -> list[Line]:
    names = [name_text(entry.name) for entry in block.entries]
    width = max(map(len, names))
    lines: list[Line] = []
    for name, entry in zip(names, block.entries, strict=True):
        assert isinstance(entry.value, Mapping)
        path: Path = ("statistics", entry.name)
        lines.append((path, f"{name.ljust(width)} = {_statistic(entry.value)}"))
    return lines


def _statistic(statistic: Mapping) -> str:
    word = next(word for word in KEYS if statistic.get(word) is not None)
    of = statistic.get(word)
    inputs = (
        _items(statistic, word)
        if isinstance(of, Sequence)
        else [_scalar(statistic, word)]
    )
    subject = ", ".join(inputs if word in ASKING else map(subject_text, inputs))
    words = [word, subject]
    words += _options(statistic, after_groups=False)
    if statistic.get("where") is not None:
        words.append(f"where {_scalar(statistic, 'where')}")
    if statistic.get("by") is not None:
        words.append(f"by {', '.join(map(name_text, _items(statistic, 'by')))}")
    words += _options(statistic, after_groups=True)
    if statistic.get("contributes") is not None:
        words.append(_giving(_mapping(statistic, "contributes")))
    if statistic.get("mechanism") is not None:
        words.append(f"using {_scalar(statistic, 'mechanism')}")
    words += [
        f"{name} {_scalar(statistic, name)}"
        for name in ("alpha", "gamma")
        if statistic.get(name) is not None
    ]
    spend = _mapping(statistic, "spend").entries[0]
    assert isinstance(spend.value, Scalar)
    words.append(f"spend {spend.name} {spend.value.text}")
    return " ".join(words)


def _options(statistic: Mapping, *, after_groups: bool) -> list[str]:
    return [
        _clause(option, statistic)
        for option in OPTIONS
        if option.after_groups is after_groups and statistic.get(option.name)
    ]


def _clause(option: Option, statistic: Mapping) -> str:
    if isinstance(statistic.get(option.name), Sequence):
        numbers = ", ".join(_items(statistic, option.name))
        return option.clause.format(numbers=f"[{numbers}]")
    number = _scalar(statistic, option.name)
    return option.clause.format(number=number, rows=_rows(number))


def _settings(block: Mapping, *names: str) -> str:
    return ", ".join(
        f"{name} {_scalar(block, name)}"
        for name in names
        if block.get(name) is not None
    )


def _rows(count: str) -> str:
    return f"{count} {'row' if count == '1' else 'rows'}"


def _scalar(block: Mapping, name: str) -> str:
    node: Node | None = block.get(name)
    assert isinstance(node, Scalar)
    return node.text


def _items(block: Mapping, name: str) -> list[str]:
    node = block.get(name)
    assert isinstance(node, Sequence)
    return [item.text for item in node.items if isinstance(item, Scalar)]


def _mapping(block: Mapping, name: str) -> Mapping:
    node = block.get(name)
    assert isinstance(node, Mapping)
    return node
