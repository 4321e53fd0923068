"""From a file or a text to a `Spec`, in either form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpql.language import from_mapping
from dpql.language import source as sources
from dpql.language.dataset import (
    Finder,
    asked,
    dataset_of,
    declared,
    in_folder,
    merged,
    shape_of,
)
from dpql.language.keys import DATASET, SPEC
from dpql.language.narrowing import check_columns, check_promise
from dpql.language.resolve import resolve
from dpql.language.shape_check import check
from dpql.language.source import Beside, Form, Source
from dpql.language.tree import Mapping as Block
from dpql.language.tree import Node, Scalar
from dpql.language.yaml_reader import YamlReader
from dpql.model.spec import Spec


def load(path: str | Path, *, find: Finder = in_folder) -> Spec:
    """Return the meaning of a spec file, .yaml or .dpql; ``find`` finds dataset files.

    Raises:
        SpecError: with every fault of the file with its line and column.
    """
    file = Path(path)
    form = sources.form_of(file)
    return _meaning(sources.read(file), form, find)


def load_text(
    text: str,
    *,
    source: str = "<text>",
    form: str,
    find: Finder = in_folder,
    beside: Beside | None = None,
) -> Spec:
    """Return the meaning of a text; ``source`` names it in faults.

    ``beside`` reads files that the text names; without it, it may name none.

    Raises:
        SpecError: with every fault of the text with its line and column.
    """
    found = sources.examine(text, source, beside)
    return _meaning(found, sources.form_named(form), find)


def load_mapping(spec: Mapping[str, Any], *, find: Finder = in_folder) -> Spec:
    """Return the meaning of a spec that is a mapping of Python.

    Raises:
        SpecError: with every fault, or of what no text could hold (DPQL118).
    """
    text = from_mapping.text_of(spec)
    return load_text(text, source=from_mapping.NAME, form=Form.YAML, find=find)


def form_of_text(text: str) -> Form:
    """Return the form of a text: that of YAML, unless it begins with `dpql 1`."""
    lines = (line.split("--")[0].split() for line in text.split("\n"))
    first = next(filter(None, lines), [])
    return Form.DPQL if first[:1] == ["dpql"] else Form.YAML


def parse_text(text: str, *, source: str, form: Form) -> Node:
    """Return the tree of a text, whatever its shape.

    Raises:
        SpecError: with every fault of its syntax.
    """
    return parsed(sources.examine(text, source), form)


def parsed(source: Source, form: Form) -> Node:
    """Return the tree of a source, whatever its shape."""
    source.form = form
    if form is Form.YAML:
        return YamlReader(source).read()
    # The parser behind it takes a tenth of a second to build; YAML does without.
    from dpql.language import text_reader

    return text_reader.read(source)


def _meaning(source: Source, form: Form, find: Finder) -> Spec:
    root = parsed(source, form)
    shape = shape_of(root)
    if shape is DATASET:
        raise source.fail(
            "DPQL346",
            "this is a dataset file, which asks for nothing",
            root.span,
            "write a spec that names it: `data: NAME`, and what to release",
        )
    check(root, shape, source, "the spec")
    if not isinstance(root, Block):
        raise source.error()
    if shape is SPEC:
        return resolve(root, source)
    return _within(root, source, find)


def _within(root: Block, source: Source, find: Finder) -> Spec:
    """Return the meaning of a spec whose data a dataset file declares."""
    name = asked(root)
    if not isinstance(name, Scalar) or any(f.span == name.span for f in source.faults):
        raise source.error()
    dataset = dataset_of(root, source, find)
    check_promise(root, dataset, source)
    whole = merged(root, dataset)
    spec = resolve(whole, source, dataset.source)
    check_columns(root, declared(dataset.source).spec, spec, source)
    source.check()
    return spec
