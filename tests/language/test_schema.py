"""The JSON Schema agrees with the shape check, and the checked-in file is fresh."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest
import yaml
from jsonschema import Draft202012Validator
from language.fuzz import MUTATIONS
from language.samples import GALLERY, KNOWN_N, REFERENCE, ROOT

from dpql.errors import SpecError
from dpql.language.keys import SPEC
from dpql.language.reading import parsed
from dpql.language.schema import SCHEMAS, rendered, spec_schema, write
from dpql.language.shape_check import check
from dpql.language.source import Form, examine
from dpql.language.tree import Node, plain
from dpql.model.shape import Field, Record, Table, Variants

VALIDATOR = Draft202012Validator(spec_schema())


class Editor(yaml.SafeLoader):
    """Reads YAML as editors do: by version 1.2 there are no dates."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {
        start: [one for one in found if not one[0].endswith("timestamp")]
        for start, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def shape_is_sound(root: Node) -> bool:
    """Tell whether the shape check finds nothing."""
    source = examine("", "t")
    check(root, SPEC, source, "the spec")
    return not source.faults


def tree(text: str) -> Node | None:
    """Return the tree of a YAML text, or None when it has none."""
    try:
        return parsed(examine(text, "t"), Form.YAML)
    except SpecError:
        return None


@pytest.mark.parametrize("name", SCHEMAS)
def test_checked_in_schema_is_fresh(name: str) -> None:
    """The file is what the tables say."""
    path = ROOT / "schemas" / f"{name}.schema.json"
    assert rendered(SCHEMAS[name]()) == path.read_text(encoding="utf-8")


def test_schemas_are_written(tmp_path: Path) -> None:
    """The generator writes one file for each schema."""
    write(tmp_path)
    written = json.loads((tmp_path / "spec.v1.schema.json").read_text("utf-8"))
    assert spec_schema() == written


def test_schema_is_a_schema() -> None:
    """The generated schema is valid by its own dialect."""
    Draft202012Validator.check_schema(spec_schema())


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_gallery_is_accepted_as_text_and_as_an_editor_sees_it(path: Path) -> None:
    """The schema accepts scalars as texts and as another reader types them."""
    text = path.read_text(encoding="utf-8")
    root = tree(text)
    assert root is not None
    assert list(VALIDATOR.iter_errors(plain(root))) == []
    assert list(VALIDATOR.iter_errors(yaml.load(text, Editor))) == []  # noqa: S506  safe, without dates


@pytest.mark.property
def test_schema_and_shape_check_agree_on_mutated_specs() -> None:
    """What one accepts the other accepts, on 500 mutated specs."""
    draw = Random(7)
    starts = [REFERENCE, KNOWN_N]
    judged = {True: 0, False: 0}
    while sum(judged.values()) < 500:
        text = draw.choice(starts)
        for _ in range(draw.choice((1, 1, 2, 3))):
            text = draw.choice(MUTATIONS)(text, draw)
        root = tree(text)
        if root is None:
            continue
        sound = shape_is_sound(root)
        assert sound is VALIDATOR.is_valid(plain(root)), text
        judged[sound] += 1
    assert min(judged.values()) > 50


def test_every_field_is_described() -> None:
    """An editor's hover is the manual: each field has a sentence and an example."""
    fields: list[Field] = []
    pending: list[object] = [SPEC]
    while pending:
        shape = pending.pop()
        if isinstance(shape, Record):
            fields += shape.fields
            pending += [field.shape for field in shape.fields]
        elif isinstance(shape, Variants):
            pending += shape.records.values()
        elif isinstance(shape, Table):
            pending.append(shape.value)
    assert len(fields) > 40
    assert not [field.name for field in fields if not field.summary.endswith(".")]
    assert not [field.name for field in fields if not field.examples]


def test_gallery_names_its_schema() -> None:
    """Every YAML spec of the gallery has the modeline of the language server."""
    line = "# yaml-language-server: $schema=../schemas/spec.v1.schema.json"
    firsts = {path.read_text("utf-8").splitlines()[0] for path in GALLERY}
    assert {line} == firsts
    assert (ROOT / "specs" / "../schemas/spec.v1.schema.json").exists()
