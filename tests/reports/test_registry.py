"""A registry record has what the public registry's form demands.

The form below says in our words what the schema of the Differential Privacy Deployments
Registry says (opendp/deployments-registry-data, schemas/deployments-schema.yaml, as of
commit 057e5d8): which members it requires and which it allows, that no object has a
member more, and its closed vocabularies. Texts must also not be empty here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import jsonschema
import pytest
import spec_text
import yaml
from reports.sample_releases import broad_plan, make_case, small_plan
from reports.test_render import hostile_plan

from dpql.model.plan import Plan
from dpql.planner import plan as compile_plan
from dpql.reports.display import unverified_view
from dpql.reports.registry import CURATOR_TYPES, SECTORS, registry_record

TEXT = {"type": "string", "minLength": 1}


def _object(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {**required, **optional},
    }


CURATOR = {
    "type": "object",
    "required": ["data_curator_name", "data_curator_type"],
    "properties": {
        "data_curator_name": TEXT,
        "data_curator_type": {"enum": ["Government", "Industry", "Nonprofit"]},
    },
}
REFERENCE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        name: {"type": ["string", "number"] if name == "year" else "string"}
        for name in ("author", "note", "publisher", "title", "url", "year")
    },
}
EVIDENCE = _object(
    {
        "evidence_source_type": {
            "enum": [
                "Peer-reviewed publication",
                "Formal publication by the deploying organization",
                "Authorized organizational attestation",
                "Other public source",
            ]
        },
        "misc": REFERENCE,
    }
)
FORM = _object(
    {
        "url_slug": {"type": "string", "pattern": "^[a-z0-9-]+$"},
        "deployment": _object(
            {
                "basic": _object(
                    {
                        "name": TEXT,
                        "data_curators": {
                            "type": "array",
                            "minItems": 1,
                            "items": CURATOR,
                        },
                        "description": TEXT,
                        "intended_use": TEXT,
                        "data_product_type": {
                            "enum": [
                                "Summary statistics",
                                "Machine learning model",
                                "Dataset",
                                "Synthetic data",
                                "Interactive API",
                                "SQL queries",
                            ]
                        },
                        "data_product_region": TEXT,
                        "publication_date": {"type": "string", "format": "date"},
                    },
                    data_product_sector={
                        "enum": [
                            "Technology",
                            "Healthcare",
                            "Education",
                            "Government",
                            "Energy",
                            "Finance",
                        ]
                    },
                ),
                "administrative": _object(
                    {
                        "status": {
                            "enum": [
                                "Converted",
                                "Draft",
                                "Pending",
                                "Changes Required",
                                "Approved",
                                "Approved (Update Requested)",
                                "Approved (Pending)",
                            ]
                        },
                        "registry_authors": {
                            "type": "array",
                            "minItems": 1,
                            "items": TEXT,
                        },
                        "tier": {"enum": [1, 2, 3]},
                    },
                    evidence_sources={
                        "type": "object",
                        "patternProperties": {r"^\w+$": EVIDENCE},
                    },
                ),
            },
            dp_variant=_object(
                {},
                variant_name={
                    "enum": [
                        "Pure DP",
                        "Approximate DP",
                        "Zero-concentrated DP",
                        "Renyi DP",
                        "Custom",
                    ]
                },
                data_domain=TEXT,
                unprotected_quantities=TEXT,
            ),
            privacy_loss=_object(
                {},
                privacy_unit=TEXT,
                privacy_unit_details=TEXT,
                number_of_privacy_units={"type": "integer"},
                privacy_parameters=_object(
                    {},
                    epsilon={"type": "number"},
                    delta={"type": ["number", "string"]},
                    rho={"type": "number"},
                ),
                privacy_parameters_details=TEXT,
            ),
            deployment_model=_object(
                {},
                model_name={
                    "enum": ["Local", "Central", "Shuffle", "Federated", "Varies"]
                },
                model_name_details=TEXT,
                trust_assumptions=TEXT,
                actors=TEXT,
                release_type={"enum": ["One release", "Many releases"]},
                release_type_details=TEXT,
                data_source_type={"enum": ["Static", "Dynamic"]},
                data_source_type_details=TEXT,
                access_type={"enum": ["Interactive", "Non-interactive"]},
                access_type_details=TEXT,
            ),
            implementation=_object(
                {},
                preprocessing_and_hyperparameter_tuning=TEXT,
                mechanisms=TEXT,
                composition=TEXT,
                post_processing=TEXT,
                justification=TEXT,
                utility=TEXT,
                additional_information=TEXT,
            ),
        ),
    }
)


def _record(plan: Plan, **options: Any) -> dict[str, Any]:
    view = unverified_view(make_case(plan).envelope, "ab" * 32)
    options = {"curator": "Statistics Office", **options}
    return registry_record(view.predicate, view.digest, **options)


def _faults(record: object) -> list[object]:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    validator = jsonschema.Draft202012Validator(FORM, format_checker=checker)
    return list(validator.iter_errors(record))


@pytest.mark.parametrize("plan", [small_plan(), broad_plan()])
def test_record_fits_the_form(plan: Plan) -> None:
    """Every demanded member is there, and none that the form does not know."""
    record = _record(plan)
    assert _faults(record) == []
    assert _faults(yaml.safe_load(json.dumps(record))) == []
    epsilon = record["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"]
    assert Fraction(epsilon) >= plan.spent
    assert record["url_slug"] == "test-statistics-office-2026"
    (source,) = record["deployment"]["administrative"]["evidence_sources"].values()
    assert source["misc"]["note"].endswith("ab" * 32)


@pytest.mark.parametrize("kind", CURATOR_TYPES)
@pytest.mark.parametrize("sector", SECTORS)
def test_every_word_we_offer_is_one_of_the_form(kind: str, sector: str) -> None:
    """What the command offers to choose from is what the registry knows."""
    options = {"curator_type": kind, "sector": sector, "region": "Utopia"}
    assert _faults(_record(small_plan(), authors=("A. Clerk",), **options)) == []


def test_number_of_units_is_told_only_where_it_is_public() -> None:
    """A declared number of rows is public; any other number of units is not."""
    declared = spec_text.make_spec(
        {"age": spec_text.integer(0, 9)},
        {"total": {"sum": "age", "spend": "{share: 1}"}},
        rows="{exactly: 10}",
        neighbours="replace_one",
    )
    declared_loss = _record(compile_plan(declared))["deployment"]["privacy_loss"]
    assert declared_loss["number_of_privacy_units"] == 10
    for plan in (small_plan(), broad_plan()):
        loss = _record(plan)["deployment"]["privacy_loss"]
        assert "number_of_privacy_units" not in loss


def test_hostile_names_are_inert_in_a_record() -> None:
    """The registry renders Markdown: no tag, link, code or formula comes of a name."""
    record = _record(hostile_plan())
    assert _faults(record) == []
    text = json.dumps(record, ensure_ascii=False)
    assert all(character.isprintable() for character in text)
    for mark in ("<", "`", "*", "[", "]", "$"):
        texts = list(_texts(record))
        assert not [t for t in texts if re.search(rf"(?<!\\)\{mark}", t)], mark


def _texts(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        for item in node.values():
            yield from _texts(item)
    elif isinstance(node, list):
        for item in node:
            yield from _texts(item)
    elif isinstance(node, str):
        yield node


def test_form_can_refuse() -> None:
    """A record without a date, with a member more, or with an unknown word."""
    record = _record(small_plan())
    record["surprise"] = 1
    deployment = record["deployment"]
    del deployment["basic"]["publication_date"]
    deployment["basic"]["data_curators"][0]["data_curator_type"] = "Academia"
    deployment["administrative"]["tier"] = 0
    deployment["dp_variant"]["variant_name"] = "Snapping DP"
    assert len(_faults(record)) == 5
