"""Plans of format 3: read with what was added since, written again without it."""

from __future__ import annotations

import hashlib
import json
import tarfile
from typing import Any

import pytest
from golden import VECTORS, gallery_spec

from dpql.errors import PlanFault
from dpql.language import load
from dpql.model.codec import canonical
from dpql.model.plan_bytes import decode_plan
from dpql.planner import audit, audit_published
from dpql.planner.compiler import compiled
from dpql.planner.rules import FORMAT_3

FOLDER = VECTORS / "format3"
GALLERY: dict[str, str] = json.loads((FOLDER / "gallery.json").read_text("utf-8"))
NAMES = ("grouped", "kinds", "replaced", "survey", "targets")


def written(name: str) -> bytes:
    """Return a plan that dpql 0.4 wrote."""
    with tarfile.open(FOLDER / "releases.tar.xz") as archive:
        member = archive.extractfile(f"{name}.plan.json")
        assert member is not None
        return member.read()


@pytest.mark.golden
@pytest.mark.parametrize("name", GALLERY)
def test_the_gallery_compiles_to_the_plans_of_0_4(name: str) -> None:
    """By the rules of format 3 every spec has the plan it had, to the last byte."""
    made = compiled(load(gallery_spec(name)), FORMAT_3)
    assert GALLERY[name] == hashlib.sha256(made.to_json()).hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_keeps_its_bytes_and_passes_by_its_own_rules(name: str) -> None:
    """It may be verified, and is refused as old where it was to be run."""
    data = written(name)
    found = decode_plan(data)
    assert (3, data) == (found.version, found.to_json())
    audit_published(found)
    with pytest.raises(PlanFault, match="DPQL404"):
        audit(found)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "data", "derived"), []),
        (("spec", "data", "columns", 1, "numeric"), False),
        (("spec", "data", "columns", 1, "numeric"), True),
        (("spec", "data", "columns", 1, "digest"), None),
    ],
)
def test_a_member_of_format_4_is_refused(path: tuple[Any, ...], value: Any) -> None:
    """Format 3 has none of them, not even with the value that says nothing."""
    document = json.loads(written("kinds"))
    *parents, last = path
    node = document
    for key in parents:
        node = node[key]
    assert last not in node
    node[last] = value
    with pytest.raises(PlanFault, match="DPQL400"):
        decode_plan(canonical(document))


def test_what_only_format_4_can_say_is_no_plan_of_format_3() -> None:
    """A condition of a new kind is refused, though its members are all known."""
    document = json.loads(written("kinds"))
    null = document["spec"]["statistics"][5]["where"]["operand"]["operands"][1]
    assert {"kind": "is_null", "column": "delay"} == null
    null["kind"] = "reference"
    with pytest.raises(PlanFault, match="DPQL402"):
        audit_published(decode_plan(canonical(document)))
