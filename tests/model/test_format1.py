"""Plans of format 1: read without what is gone, written with it, byte by byte."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from golden import VECTORS, gallery_spec
from hypothesis import given
from hypothesis import strategies as st

from dpql.errors import PlanFault
from dpql.language import load
from dpql.model.codec import canonical
from dpql.model.format1 import _moment
from dpql.model.plan import Grid
from dpql.model.plan_bytes import decode_plan
from dpql.planner.compiler import compiled
from dpql.planner.rules import FORMAT_1, NOW

FOLDER = VECTORS / "format1"
GALLERY: dict[str, str] = json.loads((FOLDER / "gallery.json").read_text("utf-8"))
SPECS = Path(__file__).parents[2] / "specs"
NAMES = ("grouped", "replaced", "survey", "targets")


def written(name: str) -> bytes:
    """Return a plan that dpql 0.1 wrote."""
    with tarfile.open(FOLDER / "releases.tar.xz") as archive:
        member = archive.extractfile(f"{name}.plan.json")
        assert member is not None
        return member.read()


@pytest.mark.golden
@pytest.mark.parametrize("name", GALLERY)
def test_the_gallery_compiles_to_the_plans_of_0_1(name: str) -> None:
    """By the rules of format 1 every spec has the plan it had, to the last byte."""
    made = compiled(load(gallery_spec(name)), FORMAT_1)
    assert GALLERY[name] == hashlib.sha256(made.to_json()).hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_keeps_its_bytes_and_loses_what_nobody_does(name: str) -> None:
    """What is read is written again; in memory there is no member of the past."""
    data = written(name)
    found = decode_plan(data)
    assert data == found.to_json()
    assert hashlib.sha256(data).hexdigest() == found.digest
    assert 1 == found.version
    assert {"name"} == {
        field for step in found.steps for m in step.moments for field in m.__slots__
    }


def test_both_formats_of_a_spec_differ() -> None:
    """No plan of one format is taken for one of the other."""
    spec = load(SPECS / "district_wages.yaml")
    old, new = compiled(spec, FORMAT_1), compiled(spec, NOW)
    assert [1, 4] == [old.version, new.version]
    assert old.digest != new.digest


def altered(document: Any, path: tuple[Any, ...], value: Any) -> bytes:
    """Return the canonical bytes of a document with one member altered."""
    *parents, last = path
    node = document
    for key in parents:
        node = node[key]
    if value is None:
        del node[last]
    else:
        node[last] = value
    return canonical(document)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("steps", 0, "moments", 0, "shift"), "7"),
        (("steps", 0, "moments", 0, "safe_rows"), "1"),
        (("steps", 0, "moments", 0, "shift"), None),
        (("steps", 0, "moments", 0, "name"), "w"),
        (("steps", 0, "moments", 0, "name"), ""),
        (("steps", 0, "moments", 0, "name"), "uv"),
        (("steps", 0, "moments", 0, "name"), ["n"]),
        (("steps", 0, "moments", 0), "n"),
        (("steps", 0, "moments"), "n"),
        (("steps", 0, "bound", "excess"), "fill"),
        (("steps", 0, "bound", "excess"), "keep"),
        (("steps", 0, "bound", "excess"), None),
        (("steps", 0, "bound"), "none"),
        (("steps", 0, "bound"), None),
        (("steps", 2, "grids", 0, "steps"), "0"),
        (("steps", 2, "grids", 0, "steps"), "-1"),
        (("steps", 2, "grids"), []),
        (("steps", 0), "step"),
        (("steps",), "none"),
        (("version",), "2"),
        (("version",), "3"),
        (("version",), ["1"]),
        (("version",), None),
    ],
)
def test_what_format_1_would_not_write_is_refused(
    path: tuple[Any, ...], value: Any
) -> None:
    """The members that are gone follow from the rest; any other value is a forgery."""
    data = altered(json.loads(written("grouped")), path, value)
    with pytest.raises(PlanFault) as caught:
        decode_plan(data)
    assert caught.value.diagnostics[0].code in ("DPQL400", "DPQL401")


def test_a_plan_of_format_2_with_members_of_format_1_is_refused() -> None:
    """What is gone does not come back."""
    document = json.loads((SPECS / "district_wages.plan.json").read_bytes())
    document["steps"][0]["moments"][0] |= {"shift": "0", "safe_rows": "9"}
    with pytest.raises(PlanFault, match="DPQL400"):
        decode_plan(canonical(document))


def grid(steps: int) -> Grid:
    """Return a grid of so many steps."""
    from fractions import Fraction

    return Grid(
        column="x",
        lower=Fraction(0),
        upper=Fraction(1),
        steps=steps,
        error=Fraction(0),
    )


@given(
    steps=st.integers(1, 2**46),
    rows=st.integers(1, 2**42),
    name=st.sampled_from(["n", "u", "v", "uu", "uv"]),
)
def test_the_old_split_fitted_its_rows(steps: int, rows: int, name: str) -> None:
    """The worst row, split as stated and taken ``safe_rows`` times, fits 63 bits."""
    moment = _moment(name, (grid(steps), grid(steps)), rows)
    assert moment is not None
    shift, safe = int(moment["shift"]), int(moment["safe_rows"])
    limbs = [steps >> shift, min(steps, 2**shift - 1)] if shift else [steps]
    factors = 0 if name == "n" else len(name)
    worst = max(limbs) ** factors
    assert worst * safe < 2**63
    if name != "n" and not shift:
        assert safe >= max(rows, 2**31)


def test_ages_needed_no_split_and_products_of_fine_grids_did() -> None:
    """As dpql 0.1 wrote them."""
    ages, fine = (grid(84),), (grid(2**31),)
    names = ("n", "u", "uu")
    split = [
        [m["shift"] for name in names if (m := _moment(name, grids, 10**6))]
        for grids in (ages, fine)
    ]
    assert [["0", "0", "0"], ["0", "0", "16"]] == split
