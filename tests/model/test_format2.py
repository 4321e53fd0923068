"""Plans of format 2: read with what was added since, written again without it."""

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
from dpql.planner.rules import FORMAT_2, NOW

FOLDER = VECTORS / "format2"
GALLERY: dict[str, str] = json.loads((FOLDER / "gallery.json").read_text("utf-8"))
NAMES = ("grouped", "replaced", "survey", "targets")


def written(name: str) -> bytes:
    """Return a plan that dpql 0.2 wrote."""
    with tarfile.open(FOLDER / "releases.tar.xz") as archive:
        member = archive.extractfile(f"{name}.plan.json")
        assert member is not None
        return member.read()


@pytest.mark.golden
@pytest.mark.parametrize("name", GALLERY)
def test_the_gallery_compiles_to_the_plans_of_0_2(name: str) -> None:
    """By the rules of format 2 every spec has the plan it had, to the last byte."""
    made = compiled(load(gallery_spec(name)), FORMAT_2)
    assert GALLERY[name] == hashlib.sha256(made.to_json()).hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_keeps_its_bytes_and_passes_by_its_own_rules(name: str) -> None:
    """It may be verified, and is refused as old where it was to be run."""
    data = written(name)
    found = decode_plan(data)
    assert (2, data) == (found.version, found.to_json())
    audit_published(found)
    with pytest.raises(PlanFault, match="DPQL404"):
        audit(found)


def test_means_are_made_in_another_way_since() -> None:
    """The sum about the middle and the count gave way to parts of one."""
    spec = decode_plan(written("grouped")).spec
    old, new = (compiled(spec, rules).step("all_spread") for rules in (FORMAT_2, NOW))
    assert [False, True] == [old.joint, new.joint]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("steps", 0, "joint"), False),
        (("steps", 0, "joint"), True),
        (("steps", 0, "parts", 0, "measure", "scale"), "1"),
    ],
)
def test_a_member_of_format_3_is_refused(path: tuple[Any, ...], value: Any) -> None:
    """Format 2 has none of them, not even with the value that says nothing."""
    document = json.loads(written("grouped"))
    *parents, last = path
    node = document
    for key in parents:
        node = node[key]
    node[last] = value
    with pytest.raises(PlanFault, match="DPQL400"):
        decode_plan(canonical(document))
