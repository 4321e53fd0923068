"""The schema of plans: checked in, fresh, and true of every plan."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import jsonschema
import pytest

from dpql.language import load
from dpql.model.codec import canonical
from dpql.planner.compiler import compiled
from dpql.planner.rules import FORMAT_1, NOW
from dpql.planner.schema import plan_schema

ROOT = Path(__file__).parents[2]
PLANS = sorted((ROOT / "specs").glob("*.plan.json"))


@pytest.mark.golden
def test_the_checked_in_schema_is_fresh() -> None:
    """schemas/plan.v4.schema.json is what the types say."""
    path = ROOT / "schemas" / "plan.v4.schema.json"
    assert canonical(plan_schema()) == path.read_bytes()


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    """Return a validator of the schema, which is itself valid."""
    schema = plan_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_every_plan_of_the_gallery_fits(
    path: Path, validator: jsonschema.Draft202012Validator
) -> None:
    """Any JSON Schema tool accepts our plans."""
    validator.validate(json.loads(path.read_bytes()))


def test_what_is_no_plan_does_not_fit(
    validator: jsonschema.Draft202012Validator,
) -> None:
    """A number that is no text, an unknown member, a missing one, another version."""
    plan = json.loads(PLANS[0].read_bytes())
    wrong = [copy.deepcopy(plan) for _ in range(4)]
    wrong[0]["epsilon"] = 1
    wrong[1]["note"] = "x"
    del wrong[2]["steps"][0]["parts"]
    wrong[3]["version"] = "1"
    assert [validator.is_valid(document) for document in wrong] == [False] * 4


def test_the_schema_of_format_1_fits_its_plans() -> None:
    """It stays beside today's, for whoever reads what dpql 0.1 wrote."""
    schema = json.loads((ROOT / "schemas" / "plan.v1.schema.json").read_bytes())
    old = jsonschema.Draft202012Validator(schema)
    spec = load(ROOT / "specs" / "district_wages.yaml")
    assert old.is_valid(json.loads(compiled(spec, FORMAT_1).to_json()))
    assert not old.is_valid(json.loads(compiled(spec, NOW).to_json()))
