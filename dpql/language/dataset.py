"""Dataset files: what an owner declares once, and every spec of the data asks within.

    datasets/NAME.yaml   dpql, dataset, rows, columns, derived, privacy, cap
    a spec               data: NAME, or data: {dataset: NAME, columns: {...}}

The file lies in `datasets`, beside `dpql.toml`, which is looked for from the working
directory: a spec names a dataset and never a file. What the owner declares is put into
the spec's tree with the spans of the owner's file, so that a spec means what it would
mean if it were written out, and its plan holds everything.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from dpql.diagnostics import shown
from dpql.errors import Span
from dpql.language import source as sources
from dpql.language.context import entries, number, text, value
from dpql.language.keys import ASKING, DATASET, SPEC
from dpql.language.resolve import resolve
from dpql.language.shape_check import check
from dpql.language.source import Source
from dpql.language.suggestions import did_you_mean
from dpql.language.tree import Entry, Mapping, Node, Scalar
from dpql.language.yaml_reader import YamlReader
from dpql.model.shape import Record
from dpql.model.spec import Spec

FOLDER = "datasets"
_PROJECT = "dpql.toml"

Finder = Callable[[str], Source | None]
"""Returns the dataset file of a name, None where there is none."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset file of sound shape: its tree, and its text for faults."""

    root: Mapping
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a dataset file means: a spec that asks nothing but how many rows there are.

    ``cap`` is the most that may ever be spent on the data, None if it is not said.
    """

    name: str
    spec: Spec
    cap: Fraction | None
    delta: Fraction


def shape_of(root: Node) -> Record:
    """Return the shape that a tree ought to have: of a dataset file or of a spec."""
    if is_dataset(root):
        return DATASET
    return ASKING if asked(root) is not None else SPEC


def is_dataset(root: Node) -> bool:
    """Tell whether a tree is that of a dataset file."""
    named = isinstance(root, Mapping) and root.get("dataset") is not None
    return named and value(root, "release") is None


def asked(root: Node) -> Node | None:
    """Return where a spec names a dataset file, None if it declares its data itself."""
    data = value(root, "data")
    return data if isinstance(data, Scalar) else value(data, "dataset")


def folder() -> Path:
    """Return where dataset files lie, seen from the working directory."""
    here = Path.cwd()
    for above in (here, *here.parents):
        if os.path.lexists(above / _PROJECT):
            return Path(os.path.relpath(above / FOLDER, here))
    return Path(FOLDER)


def in_folder(name: str) -> Source | None:
    """Return the dataset file of that name in the folder of the project."""
    path = folder() / f"{name}.yaml"
    return sources.read(path) if os.path.lexists(path) else None


def _names() -> list[str]:
    """Return the names of the dataset files that there are."""
    with suppress(OSError):
        return sorted(path.stem for path in folder().glob("*.yaml"))
    return []


def dataset_of(root: Mapping, source: Source, find: Finder) -> Dataset:
    """Return the dataset file that a spec asks.

    Raises:
        SpecError: there is none (DPQL340), or it has faults of its own.
    """
    named = asked(root)
    assert isinstance(named, Scalar)
    found = find(named.text)
    if found is None:
        name = shown(named.text)
        close = did_you_mean(named.text, _names())
        raise source.fail(
            "DPQL340",
            f"there is no dataset file `{shown(str(folder() / named.text))}.yaml`",
            named.span,
            close
            or "the owner of the data writes it; without one, declare the data in the "
            + (
                f"spec: `from {name} with at most N rows`, and its columns"
                if source.name.endswith(".dpql")
                else f"spec: `source: {name}`, `rows` and `columns` below `data`"
            ),
        )
    return parse_dataset(found, named.text)


def parse_dataset(source: Source, name: str | None = None) -> Dataset:
    """Return a dataset file whose shape is sound.

    Raises:
        SpecError: with every fault of its syntax and shape, or it is called otherwise
            than it says (DPQL341).
    """
    root = YamlReader(source).read()
    check(root, DATASET, source, "the dataset file")
    source.check()
    assert isinstance(root, Mapping)
    own = root.get("dataset")
    assert isinstance(own, Scalar)
    if name is not None and own.text != name:
        source.add(
            "DPQL341",
            f"the file is called `{shown(name)}.yaml` and says `{shown(own.text)}`",
            own.span,
            f"write `dataset: {shown(name)}`, or rename the file",
        )
    source.check()
    return Dataset(root, source)


def load_dataset(path: Path) -> Declared:
    """Return what a dataset file declares.

    Raises:
        SpecError: with every fault of the file.
    """
    return declared(sources.read(path), path.stem)


def declared(source: Source, name: str | None = None) -> Declared:
    """Return what the text of a dataset file declares.

    Raises:
        SpecError: with every fault of the text.
    """
    dataset = parse_dataset(source, name)
    nowhere = dataset.root.span
    capped = value(dataset.root.get("cap"), "epsilon")
    delta = number(value(dataset.root.get("cap"), "delta")) or Fraction(0)
    spec = resolve(merged(_question(capped, nowhere), dataset), source)
    return Declared(name=spec.data.source, spec=spec, cap=number(capped), delta=delta)


def merged(root: Mapping, dataset: Dataset) -> Mapping:
    """Return the tree of a spec with what the owner declares written out in it."""
    own = dataset.root
    name = own.get("dataset")
    assert name is not None
    asking = root.get("data")
    data = [Entry(Scalar("source", name.span), name)]
    for part in ("rows", "columns", "derived"):
        entry = _over(own.entry(part), _entry(asking, part))
        data += [] if entry is None else [entry]
    privacy = root.entry("privacy")
    at = root.span if privacy is None else privacy.key.span
    promise = _over(own.entry("privacy"), privacy, kept=("unit", "neighbours"))
    blocks = {
        "data": Entry(
            _key(root, "data"), Mapping(tuple(data), _key(root, "data").span)
        ),
        "privacy": promise or Entry(Scalar("privacy", at), Mapping((), at)),
    }
    kept = tuple(blocks.pop(entry.name, entry) for entry in root.entries)
    return Mapping((*kept, *blocks.values()), root.span)


def _over(
    own: Entry | None, asking: Entry | None, *, kept: tuple[str, ...] = ()
) -> Entry | None:
    """Return the owner's block with what the spec says in place of its entries.

    Entries in ``kept`` stay the owner's: one that differs has been noted.
    """
    if own is None or asking is None:
        return own or asking
    said = {entry.name: entry for entry in entries(asking.value)}
    for name in kept:
        said.pop(name, None)
    if not isinstance(own.value, Mapping):
        return asking
    both = tuple(said.pop(entry.name, entry) for entry in own.value.entries)
    return Entry(asking.key, Mapping((*both, *said.values()), asking.key.span))


def _entry(node: Node | None, name: str) -> Entry | None:
    return node.entry(name) if isinstance(node, Mapping) else None


def _key(root: Mapping, name: str) -> Scalar:
    entry = root.entry(name)
    return Scalar(name, root.span) if entry is None else entry.key


def _question(capped: Node | None, at: Span) -> Mapping:
    """Return a spec that asks how many rows there are."""

    def block(**found: Node) -> Mapping:
        keys = tuple(Entry(Scalar(name, at), node) for name, node in found.items())
        return Mapping(keys, at)

    one = Scalar(text(capped) or "1", at)
    ask = block(count=Scalar("rows", at), spend=block(share=Scalar("1", at)))
    return block(
        dpql=Scalar("1", at),
        release=Scalar("rows", at),
        purpose=Scalar("rows", at),
        data=Scalar("", at),
        privacy=block(epsilon=capped or one),
        statistics=block(rows=ask),
    )
