"""From a file or a text to a `Spec`, in either form."""

from __future__ import annotations

from pathlib import Path

from dpql.language import source as sources
from dpql.language.keys import SPEC
from dpql.language.resolve import resolve
from dpql.language.shape_check import check
from dpql.language.source import Form, Source
from dpql.language.tree import Mapping, Node
from dpql.language.yaml_reader import YamlReader
from dpql.model.spec import Spec


def load(path: str | Path) -> Spec:
    """Return the meaning of a spec file, .yaml or .dpql.

    Raises:
        SpecError: with every fault of the file with its line and column.
    """
    file = Path(path)
    form = sources.form_of(file)
    return _meaning(sources.read(file), form)


def load_text(text: str, *, source: str = "<text>", form: str) -> Spec:
    """Return the meaning of a text; ``source`` names it in faults.

    Raises:
        SpecError: with every fault of the text with its line and column.
    """
    return _meaning(sources.examine(text, source), sources.form_named(form))


def parsed(source: Source, form: Form) -> Node:
    """Return the tree of a source, whatever its shape."""
    if form is Form.YAML:
        return YamlReader(source).read()
    # The parser behind it takes a tenth of a second to build; YAML does without.
    from dpql.language import text_reader

    return text_reader.read(source)


def _meaning(source: Source, form: Form) -> Spec:
    root = parsed(source, form)
    check(root, SPEC, source, "the spec")
    if not isinstance(root, Mapping):
        raise source.error()
    return resolve(root, source)
